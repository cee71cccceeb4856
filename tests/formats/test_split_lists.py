"""Lists of images that state the split: several sets of them, and lists in several folders."""

from __future__ import annotations

import pytest
from example_coco import box, coco
from import_folders import lay

from ranking.core import SourceImage
from ranking.datasets import make_source

IMAGES = {f"{kind}/{kind}{number}.jpg": None for kind in ("cat", "dog") for number in range(3)}


def split_of(folder, source="Class folders", **settings):
    """The names of training and of test images, and the decision about sets of lists, None if there is none."""
    reader = make_source(source, folder=str(folder), **settings)
    images = [item for item in reader.records() if isinstance(item, SourceImage)]
    sides = [
        sorted(item.name.split("/")[-1] for item in images if item.test == test) for test in (False, True)
    ]
    return *sides, next((row for row in reader.decisions() if row.about == "set of lists"), None)


@pytest.mark.parametrize("form", ["{part}{fold}.txt", "fold_{fold}/{part}.txt", "{part}_fold{fold}.txt"])
def test_sets_of_lists_with_different_test_images_are_a_question(tmp_path, form):
    lists = {}
    for fold in range(3):
        of_fold = [name for name in IMAGES if name.endswith(f"{fold}.jpg")]
        lists[form.format(part="test", fold=fold)] = "\n".join(of_fold)
        lists[form.format(part="train", fold=fold)] = "\n".join(IMAGES.keys() - set(of_fold))
    folder = lay(tmp_path / "x", IMAGES | lists)
    _, tested, row = split_of(folder)
    assert (tested, row.is_open, len(row.alternatives)) == (["cat0", "dog0"], True, 2)
    _, tested, row = split_of(folder, lists=row.alternatives[1])
    assert (tested, row.is_open) == (["cat2", "dog2"], False)


def test_lists_that_agree_about_test_images_are_no_question(tmp_path):
    files = {
        "train.txt": "\n".join(IMAGES),
        "val.txt": "cat/cat0.jpg",
        "cat_train.txt": "cat1\ncat2",
        "cat_val.txt": "cat0",
    }
    _, tested, row = split_of(lay(tmp_path / "x", IMAGES | files))
    assert (tested, row) == (["cat0"], None)


def test_coco_files_of_several_rounds_are_a_question(tmp_path):
    names = ["1.jpg", "2.jpg", "3.jpg"]
    files = {"a.json": coco(names, [box(number, 1, [0, 0, 9, 9]) for number in (1, 2, 3)])}
    for number, name in enumerate(names):
        for part, own in (("train", [other for other in names if other != name]), ("test", [name])):
            files[f"a_{number}_{part}.json"] = coco(own, [box(1, 1, [0, 0, 9, 9])])
    folder = lay(tmp_path / "x", files | dict.fromkeys(names))
    _, tested, row = split_of(folder, "COCO")
    assert (tested, row.value, row.alternatives, row.is_open) == (["1"], "a_0", ("a_1", "a_2"), True)
    assert split_of(folder, "COCO", lists="a_2")[1] == ["3"]


def test_lists_of_folders_without_common_images_are_joined(tmp_path):
    files = {f"{part}/{name[:-4]}{part}.jpg": None for part in "AB" for name in IMAGES}
    for part in "AB":
        files[f"{part}/lists/train.txt"] = f"cat0{part}\ncat1{part}\ndog0{part}"
        files[f"{part}/lists/test.txt"] = f"cat2{part}\ndog1{part}\ndog2{part}"
    train, tested, row = split_of(lay(tmp_path / "x", files), level="2")
    assert train == ["cat0A", "cat0B", "cat1A", "cat1B", "dog0A", "dog0B"]
    assert (len(tested), row) == (6, None)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_test_part_without_annotations_leaves_the_test_split_to_val(tmp_path, labelled):
    names = ["1.jpg", "2.jpg", "3.jpg"]
    files = {"train.json": coco(names[:2], [box(number, 1, [0, 0, 9, 9]) for number in (1, 2)])}
    files["val_half.json"] = coco(["2.jpg"], [box(1, 1, [0, 0, 9, 9])])
    files["test.json"] = coco(["3.jpg"], [box(1, 1, [0, 0, 9, 9])] if labelled else [])
    reader = make_source("COCO", folder=str(lay(tmp_path / "x", files | dict.fromkeys(names))))
    tested = [item.name for item in reader.records() if isinstance(item, SourceImage) and item.test]
    assert tested == (["3"] if labelled else ["2"])
    said = [row.evidence for row in reader.decisions() if row.about == "validation images"]
    assert len(said) == labelled, "val becomes training, which is said"
    assert all(row.startswith("1 image named val by ") for row in said)


def test_a_random_split_names_the_text_whose_header_has_the_parts(tmp_path):
    rows = [f"{name.split('/')[1]} 1 1 {1 + place % 3}" for place, name in enumerate(sorted(IMAGES))]
    files = IMAGES | {"classes.txt": "\n".join(["Name | Class | Light | Train/Val/Test", *rows])}
    reader = make_source("Class folders", folder=str(lay(tmp_path / "x", files)))
    assert [item.came for item in reader.records() if not isinstance(item, SourceImage)] == ["classes.txt"]
