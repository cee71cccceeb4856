"""What is shown of a source before anything is stored."""

from __future__ import annotations

import io

import pytest
from brought import box, check_rows, coco, lay, some_classes, some_coco, some_table, some_yolo
from PIL import Image
from voc_tree import two_images

from ranking.datasets import make_source, preview, tally
from ranking.datasets.preview import preview as preview_of


def some_voc(root):
    two_images(root)
    return root


def shown(source, folder, **settings):
    return preview_of(make_source(source, folder=str(folder)), **settings)


def test_a_crop_of_each_image(tmp_path):
    seen = shown("COCO", some_coco(tmp_path / "pets"))
    assert (seen.title, seen.images, seen.problems) == ("pets", 3, [])
    assert [(crop.image, crop.classes) for crop in seen.crops] == [
        ("train2017/1", ("cat",)),
        ("train2017/2", ("dog",)),
        ("val2017/1", ("cat",)),
    ]
    first = Image.open(io.BytesIO(seen.crops[0].webp))
    assert first.format == "WEBP"
    assert first.width / first.height == pytest.approx(20 / 15)


def test_classes_take_turns(tmp_path):
    names = [f"{number}.jpg" for number in range(4)]
    boxes = [box(image, category, [0, 0, 9, 9]) for image in range(1, 5) for category in (1, 2)]
    seen = shown("COCO", lay(tmp_path / "x", {"a.json": coco(names, boxes), **dict.fromkeys(names)}))
    assert [crop.classes for crop in seen.crops] == [("cat",), ("dog",), ("cat",), ("dog",)]


def test_it_ends_with_the_last_crop_and_writes_nothing(tmp_path):
    folder = some_classes(tmp_path / "x")
    (folder / "train/dog/1.jpg").write_bytes(b"broken")  # the last, which is not looked at
    before = sorted(tmp_path.rglob("*"))
    seen = shown("Class folders", folder, crops=2)
    assert (len(seen.crops), seen.problems) == (2, [])
    assert sorted(tmp_path.rglob("*")) == before


def test_all_labels_are_counted_and_no_more_images_decoded(tmp_path, monkeypatch):
    files = {
        f"{name}/{number}.jpg": None for name, count in (("ant", 2), ("bee", 5)) for number in range(count)
    }
    folder = lay(tmp_path / "x", files)
    (folder / "bee/4.jpg").write_bytes(b"broken")
    seen = preview_of(make_source("Class folders", folder=str(folder), test_share=0.5), 3)
    assert list(seen.tally.classes.items()) == [("bee", 5), ("ant", 2)]
    assert seen.tally.train + seen.tally.test == 7
    assert seen.tally.test in (3, 4)
    assert all(part in seen.tally.split_from for part in ("50%", "seed 0"))
    assert (seen.tally.others, seen.tally.whole) == (0, True)
    assert [row for row in seen.problems if "bee" in row.file] == []
    monkeypatch.setattr(tally, "MOST_CLASSES", 1)
    seen = shown("Class folders", folder)
    assert (seen.tally.classes, seen.tally.others) == ({"bee": 5}, 1)


def test_counting_ends_in_time_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "COUNT_SECONDS", -1.0)
    seen = shown(
        "Class folders", lay(tmp_path / "x", {f"cat/{number}.jpg": None for number in range(9)}), crops=2
    )
    assert (seen.tally.classes, seen.tally.whole) == ({"cat": 2}, False)


@pytest.mark.parametrize(
    ("source", "make", "settings", "counts", "parts"),
    [
        ("COCO", some_coco, {}, (2, 1), ("val",)),
        (
            "Class folders",
            some_classes,
            {"split": "draw", "test_share": 0.5},
            None,
            ("50%", "seed 0", "Split"),
        ),
        ("Table of images", some_table, {}, (2, 1), ("test", "split")),
        ("PASCAL VOC", some_voc, {}, (1, 1), ("test", "trainval")),
    ],
)
def test_where_the_split_comes_from(tmp_path, source, make, settings, counts, parts):
    tally = preview_of(make_source(source, folder=str(make(tmp_path / "x")), **settings)).tally
    assert all(part in tally.split_from for part in parts)
    assert counts in (None, (tally.train, tally.test))


def test_problems_on_the_way_are_told(tmp_path):
    folder = some_yolo(tmp_path / "x")
    (folder / "images/train/a.jpg").write_bytes(b"broken")
    seen = shown("YOLO", folder)
    assert [crop.image for crop in seen.crops] == ["train/b", "val/a"]
    check_rows(seen.problems, ("images/train/a.jpg",))


def test_it_gives_up_on_a_folder_of_broken_images(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "MOST_IMAGES", 3)
    files = {f"cat/{number}.jpg": b"broken" for number in range(9)}
    seen = shown("Class folders", lay(tmp_path / "x", files))
    assert (seen.crops, seen.images) == ([], 9)
    assert len([row for row in seen.problems if row.file.endswith(".jpg")]) == 3
