"""What is special about YOLO and class folders; test_formats.py tests what they have in common."""

from __future__ import annotations

import math
import time

import pytest
from archives import in_memory
from example_class_folders import some_classes
from example_yolo import some_yolo
from import_folders import build, check_rows, images_and_problems, lay, photograph, read
from PIL import Image
from refusals import refused

from ranking.core import Problem
from ranking.datasets import make_source
from ranking.features.opened import open_image_set
from ranking.files import Unusable, open_tree
from ranking.files.files import LEADS_OUT
from ranking.files.tree import base
from ranking.formats.import_preview import preview_import
from ranking.formats.tree_source import detect
from ranking.formats.yolo_names import parsed_yaml, yaml_names

# ------------------------------------------------------------------------------------------------ YOLO

GOOD = "0 .5 .5 1 1"


def decided(source):
    return {row.about: row for row in source.decisions()}


def yolo_of(tmp_path, files, **settings):
    """The classes of each image, its boxes, and the source, after it was read."""
    source = make_source("YOLO", folder=str(lay(tmp_path / "x", files)), **settings)
    images, _ = images_and_problems(source)
    classes = {image.data.name: [box.classes[0] for box in image.boxes] for image in images}
    return classes, {image.data.name: [box.box for box in image.boxes] for image in images}, source


@pytest.mark.parametrize(
    ("image", "labels"),
    [
        ("image/{}.jpg", "labels/{}.txt"),
        ("Images/{}.jpg", "Labels/{}.txt"),
        ("JPEGImages/{}.jpg", "labels/{}.txt"),
        ("images/train/{}.jpg", "train/labels/{}.txt"),
        ("train_images/{}.jpg", "train_labels/{}.txt"),
        ("photographs/{}.jpg", "boxes of hats/{}.txt"),
        ("{}.jpg", "{}.jpg.txt"),
    ],
)
def test_folders_of_any_name(tmp_path, image, labels):
    files = {image.format(name): None for name in "ab"} | {labels.format(name): GOOD for name in "ab"}
    assert next(iter(detect(open_tree(lay(tmp_path / "x", files))))) == "YOLO"
    assert yolo_of(tmp_path, files)[0] == {image.format(name): ["class 0"] for name in "ab"}


LISTS = {
    "c.yaml": "train: D:\\old\\sets\\one.txt\nval: sets/two.txt\nnames: [cat]",
    "sets/one.txt": "images/a.jpg\n",
    "sets/two.txt": "/home/x/images/b.jpg\n",
}
FOLDER = {"c.yaml": "path: ..\ntrain: [images/a]\nval: x/images/b\nnames: [cat]"}


@pytest.mark.parametrize(
    ("files", "images"), [(LISTS, ["images/a", "images/b"]), (FOLDER, ["images/a/1", "images/b/2"])]
)
def test_split_by_the_paths_of_the_yaml_file(tmp_path, files, images):
    files |= {f"{name}.jpg": None for name in images}
    files |= {f"{name.replace('images', 'labels')}.txt": GOOD for name in images}
    source = make_source("YOLO", folder=str(lay(tmp_path / "x", files)))
    assert [image.test for image in images_and_problems(source)[0]] == [False, True]
    assert decided(source)["split"].value == "annotations"


def test_images_in_no_list_are_left_out_with_a_row(tmp_path):
    files = {f"{name}.jpg": None for name in "abc"} | {f"{name}.txt": GOOD for name in "abc"}
    images, problems = read("YOLO", lay(tmp_path / "x", files | {"train.txt": "a", "val.txt": "b"}))
    assert list(images) == ["a", "b"]
    check_rows(problems, ("1 image", "in no list: c.jpg"))


NAMES = {"1.txt": "1 .5 .5 1 1\n0 .5 .5 1 1", "1.jpg": None}
NEAREST = {"x/1.txt": GOOD, "x/1.jpg": None, "x/classes.txt": "cat\n", "y/2.txt": GOOD, "y/2.jpg": None}


@pytest.mark.parametrize(
    ("files", "chosen", "is_open"),
    [
        (NEAREST | {"y/classes.txt": "dog\n"}, ["cat", "dog"], False),
        (NEAREST | {"classes.txt": "emu\n"}, ["cat", "emu"], True),
        (NEAREST | {"classes.txt": "cat\nemu\n"}, ["cat", "cat"], False),
        (NAMES | {"a.names": "a\nb\nc", "b.names": "c\nd"}, ["d", "c"], False),
        (NAMES | {"a.names": "a\nb", "b.names": "c\nd"}, ["b", "a"], True),
        (
            NAMES | {"a.yaml": "train: ./1.jpg\nnames: [c, d, e]", "b.yaml": "train: x\nnames: [a, b]"},
            ["d", "c"],
            False,
        ),
        (NAMES | {"a.yaml": "names: lists/x.txt", "lists/x.txt": "c\nd"}, ["d", "c"], False),
        (NAMES | {"a.names": "a", "b.names": "c\nd"}, ["d", "c"], False),
    ],
)
def test_names_of_the_nearest_file_that_fits(tmp_path, files, chosen, is_open):
    classes, _, source = yolo_of(tmp_path, files)
    assert [name for names in classes.values() for name in names] == chosen
    row = decided(source)["class names"]
    assert (row.is_open, row.setting) == (is_open, "class_names")
    for other in row.alternatives if is_open else ():
        assert not decided(yolo_of(tmp_path, files, class_names=other)[2])["class names"].is_open


def test_names_of_the_file_that_settings_state(tmp_path):
    lists = {"data/a.names": "a\nb", "data/b.names": "c\nd", "data/l.names": "e\nf\ng"}
    settings = {"cfg/my.data": "classes= 2\nnames = /home/me/data/b.names\nbackup = backup/\n"}
    labels = {f"data/obj/{name}": content for name, content in NAMES.items()}
    files = labels | lists | settings | {"other.data": b"\x00=1\nnames\n"}
    classes, _, source = yolo_of(tmp_path, files)
    assert [name for names in classes.values() for name in names] == ["d", "c"]
    row = decided(source)["class names"]
    assert (row.value, row.is_open, row.alternatives) == (
        "data/b.names",
        False,
        ("data/a.names", "data/l.names"),
    )
    assert row.evidence.endswith("; so cfg/my.data says")
    [others] = [item.came for item in source.records() if isinstance(item, Problem) and "files:" in item.file]
    assert others == "data/a.names, data/l.names, other.data"
    assert yolo_of(tmp_path, files, class_names="data/a.names")[0]["data/obj/1.jpg"] == ["b", "a"]


def test_numbers_from_1_are_refused(tmp_path):
    with refused("labels", "1 to 2"):
        yolo_of(tmp_path, {"1.txt": "1 .5 .5 1 1\n2 .5 .5 1 1", "1.jpg": None, "classes.txt": "cat\ndog"})


HALF, CORNERS = (0.25, 0.25, 0.75, 0.75), "0.25 0.25 0.75 0.25 0.75 0.75 0.25 0.75"
POSE = " ".join(["0.5 0.5 2"] * 2)


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        (["0 .5 .5 .5 .5 .93", "0 .5 .5 .5 .5 1"], "a box and a confidence"),
        (["0 .5 .5 .5 .5 7", "0 .5 .5 .5 .5 1"], "a box and a track"),
        (["0 .5 .5 .5 .5 .9 12", "0 .5 .5 .5 .5 .8 1"], "a box, a confidence and a track"),
        ([f"0 {CORNERS}"], "boxes around corners"),
        ([f"0 {CORNERS} .5 .5", "0 .25 .25 .75 .25 .75 .75"], "boxes around outlines"),
        ([f"0 {CORNERS} .93", f"0 {CORNERS} .5 .5 .71"], "boxes around outlines"),
        ([f"0 .5 .5 .5 .5 {POSE} 0 0 0"], "a box and the points of a pose"),
    ],
)
def test_rows_of_more_than_four_numbers(tmp_path, rows, chosen):
    _, boxes, source = yolo_of(tmp_path, {"1.jpg": None, "1.txt": "\n".join(rows)})
    assert boxes["1.jpg"] == [HALF] * len(rows)
    assert decided(source)["rows of more than four numbers"].chosen == chosen


def test_angles_and_pixels_are_not_read_as_boxes(tmp_path):
    images, problems = read("YOLO", lay(tmp_path / "y", {"1.jpg": None, "1.txt": "0 .5 .5 .5 .5 -1.2"}))
    assert images["1"].boxes == ()
    check_rows(problems, ("1.txt", "row 1"))
    with refused("labels", "2 of 3 rows with numbers up to 320"):
        yolo_of(tmp_path, {"1.jpg": None, "1.txt": f"0 320 240 20 30\n0 20 20 20 20\n{GOOD}"})


def test_rows_of_dota_are_corners_in_pixels(tmp_path):
    text = "imagesource:x\ngsd:0.1\n1 2 11 2 11 9 1 9 plane 0\n"
    classes, boxes, _ = yolo_of(tmp_path, {"images/1.png": photograph(kind="PNG"), "labelTxt/1.txt": text})
    assert (classes, boxes) == ({"images/1.png": ["plane"]}, {"images/1.png": [(1, 2, 11, 9)]})


def test_rows_are_numbered_without_empty_ones_and_poses_are_read_up_to_their_box(tmp_path):
    files = {
        "data.yaml": "kpt_shape: [2, 3]\nnames: [person]\n",
        "images/1.jpg": None,
        "labels/1.txt": f"{GOOD}\n\n0 .5 .5 .5 1 .1 .1 2 .9 .9 2",
    }
    images, _ = read("YOLO", lay(tmp_path / "x", files))
    assert [(box.number, box.box) for box in images["1"].boxes] == [
        (1, (0, 0, 1, 1)),
        (2, (0.25, 0, 0.75, 1)),
    ]


@pytest.mark.parametrize("names", [None, "", "train: x\n", "names:\n", "names: [", "names: &a [*a]"])
def test_classes_that_nothing_names_go_by_numbers(tmp_path, names):
    """None: names that cannot be read."""
    folder = lay(tmp_path / "x", {"images/1.jpg": None, "labels/1.txt": "3 .5 .5 1 1"})
    if names is None:
        (folder / "data.yaml").symlink_to("nothing")
    elif names:
        (folder / "data.yaml").write_text(names)
    source = make_source("YOLO", folder=str(folder))
    images, problems = images_and_problems(source)
    assert images[0].boxes[0].classes == ("class 3",)
    unreadable = names is None or names.startswith("names")
    unread = ["files: 1 .yaml"] if names and not unreadable else []
    assert [row.file for row in problems if row.file != "test split"] == ["data.yaml"] * unreadable + unread
    assert decided(source)["class names"].chosen == "classes are named by their numbers"


def test_labels_without_image_are_counted_and_an_image_without_labels_has_no_box(tmp_path):
    files = {f"labels/{number}.txt": GOOD for number in range(5)}
    files |= {"images/0.jpg": None, "classes.txt": "cat", "README.txt": "?", "labels/classes.txt": "cat"}
    images, problems = read("YOLO", lay(tmp_path / "x", files | {"images/bare.jpg": None}))
    assert {name: len(image.boxes) for name, image in images.items()} == {"0": 1, "bare": 0}
    check_rows(
        problems,
        ("labels", "4", "labels/1.txt", "labels/2.txt", "labels/3.txt"),
        ("files: 1 .txt", "classes.txt"),
    )


def test_labels_that_cannot_be_read(tmp_path):
    folder = some_yolo(tmp_path / "x")
    (folder / "labels/train/a.txt").unlink()
    (folder / "labels/train/a.txt").symlink_to("/etc/passwd")
    images, problems = read("YOLO", folder)
    assert images["train/a"].boxes == ()
    check_rows(problems, ("annotations", "labels/train/a.txt", LEADS_OUT))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: [ # two\n  'cat', # a, [b]\n  # more\n  dog\n]\n", {0: "cat", 1: "dog"}),
        ("names: ['#1', dog#2]", {0: "#1", 1: "dog#2"}),
        ("names:\n  - cat\n  - 'my dog'\n", {0: "cat", 1: "my dog"}),
        ("# x\nnames:\n# y\n\n  0: cat\n  '2': \"a: b\"\nnc: 2\n", {0: "cat", 2: "a: b"}),
        ("names: {0: cat, 4: 'd, e'}", {0: "cat", 4: "d, e"}),
        ("names: ['a', \"b\",\n  dog's bed]  # c\nnc: 3", {0: "a", 1: "b", 2: "dog's bed"}),
        ("names: ['driver''s licence', b]", {0: "driver's licence", 1: "b"}),
        # as PyYAML writes what is not ASCII
        ('names:\n- "\\xDCbung"\n- "\\u732B"\n', {0: "Übung", 1: "猫"}),
        # as JSON
        (r'names: ["say \"a, b\"", "\ud83d\ude00", "c\\"]', {0: 'say "a, b"', 1: "😀", 2: "c\\"}),
        (r'names: ["\ud83d"]', {0: "\ufffd"}),
        ("names: [no, 12, 2020-01-01, [deep]]", {0: "no", 1: "12", 2: "2020-01-01"}),
        # a text, and never a call
        ("names: !!python/object/apply:os.system [ls]", {0: "ls"}),
        ("a: &a [x]\nnames: *a", {0: "x"}),
        ("nc: 3", {}),
        ("- names", {}),
    ],
)
def test_class_names_are_read_from_every_form_of_yaml(text, names):
    assert yaml_names(parsed_yaml(text).get("names")) == names


@pytest.mark.parametrize(
    "text", ["names: [a, b", r'names: ["\U7fffffff"]', "names: \t- a\n", "a\0", "[" * 2**18]
)
def test_yaml_that_cannot_be_read(text):
    with pytest.raises(Unusable):
        parsed_yaml(text)


def test_a_line_without_a_name_has_its_number_and_an_outline_with_nan_is_left_to_the_builder(tmp_path):
    files = {"classes.txt": "\ncat\n\n", "1.jpg": None, "1.txt": "1 .5 .5 1 1\n1 0 nan 1 1 0 1"}
    images, _ = read("YOLO", lay(tmp_path / "x", files))
    assert images["1"].boxes[0].classes == ("cat",)
    assert images["1"].boxes[1].box == pytest.approx([math.nan] * 4, nan_ok=True)


def test_long_yaml_takes_little_time():
    begun = time.process_time()
    assert len(yaml_names(parsed_yaml("names:" + "\n- a" * 2**16)["names"])) == 2**16
    assert time.process_time() - begun < 20, "3 seconds at the most; in the square of its length an hour"


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"images/1.jpg": None, "labels/1.txt": GOOD}, ["YOLO"]),
        ({"1.jpg": None, "1.txt": "a cat on a bed"}, []),
        *(
            (
                {f"{number}.jpg": None for number in range(good + 1)}
                | {f"{number}.txt": GOOD for number in range(good)}
                | {f"{good}.txt": f"{GOOD}\n0 .5 .5 one 1"},
                known,
            )
            for good, known in ((4, ["YOLO"]), (1, ["YOLO"]))
        ),
    ],
)
def test_recognised_without_names_by_rows_of_which_half_are_good(tmp_path, files, known):
    assert list(detect(open_tree(lay(tmp_path / "x", files)))) == known


# ---------------------------------------------------------------------------------- Folders of classes


def test_class_folders_inside_parts_have_the_split_of_the_part(tmp_path):
    image_set, problems = build("Class folders", some_classes(tmp_path / "pets"))
    assert problems == []
    assert image_set.title == "pets"
    names = ["test/cat/1", "test/dog/1", "train/cat/1", "train/cat/2", "train/dog/1"]
    assert image_set.image_names.tolist() == names
    assert image_set.test.tolist() == [True, True, False, False, False]
    assert image_set.relevance("dog").tolist() == [0, 1, 0, 0, 1]
    assert image_set.boxes.tolist() == [[0, 0, 40, 30]] * 5
    assert len(set(image_set.groups.tolist())) == 5


@pytest.mark.parametrize(
    ("names", "classes", "images"),
    [
        (["cat/1.jpg", "dog/1.jpg"], ("cat", "dog"), ["cat/1", "dog/1"]),
        (["cat/1.jpg", "cat/2.jpg"], ("cat",), ["1", "2"]),
        (["train/cat/1.jpg", "train/cat/2.jpg"], ("cat",), ["1", "2"]),
        (["a/b/train/cat/1.png", "a/b/val/cat/2.webp"], ("cat",), ["train/cat/1", "val/cat/2"]),
        (["x/cat/1.jpg", "x/dog/1.jpg"], ("cat", "dog"), ["cat/1", "dog/1"]),
        (["cat/1.jpg", "cat/1.png", "dog/1.jpg"], ("cat", "dog"), ["cat/1.jpg", "cat/1.png", "dog/1"]),
        (["<script>/1.jpg", "b & c/1.jpg"], ("<script>", "b & c"), ["<script>/1", "b & c/1"]),
    ],
)
def test_class_folders_are_found_in_every_layout(tmp_path, names, classes, images):
    read_images, _ = read("Class folders", lay(tmp_path / "x", dict.fromkeys(names, b"")))
    assert list(read_images) == images
    assert tuple(dict.fromkeys(image.boxes[0].classes[0] for image in read_images.values())) == classes


def class_tree(*names):
    """Two images in each of these folders."""
    return {f"{name}/{base(name)} {number}.jpg": None for name in names for number in range(2)}


NESTED = ("animal/cat", "animal/dog", "tool/saw", "tool/axe")


@pytest.mark.parametrize(
    ("folders", "classes", "is_open"),
    [
        (
            (
                "seg_train/seg_train/sea",
                "seg_train/seg_train/ice",
                "seg_test/seg_test/sea",
                "seg_pred/seg_pred",
            ),
            "ice sea",
            False,
        ),
        (("training_set/cat", "training_set/dog", "test_set/cat"), "cat dog", False),
        (("cat", "dog", "test"), "cat dog", False),
        (("train/cat/images", "train/dog/images", "val/images"), "cat dog", False),
        (
            ("x/a/abbey", "x/a/airport", "x/b/bakery/kitchen", "x/b/bakery/shop"),
            "abbey airport bakery/kitchen bakery/shop",
            False,
        ),
        (("a/p1", "a/p2", "b/p1"), "a b", False),
        # patients, each with the same folders; and people, each with other videos
        (("p10/0", "p10/1", "p11/0", "p11/1"), "p10 p11", True),
        (("p10/p10 a", "p10/p10 b", "p11/p11 a", "p11/p11 b"), "p10 p11", True),
        (("p10/v3", "p10/v4", "p11/v5", "p11/v6"), "p10 p11", False),
        (("query", "gallery", "train"), "gallery query", True),
        (("train", "val", "test", "known/cat", "known/dog"), "cat dog", True),
        (("photo/dog", "photo/cat", "art/dog", "art/cat"), "art photo", True),
        (NESTED, "animal tool", True),
        (("images/cat", "images/dog"), "cat dog", False),
    ],
)
def test_levels_of_classes(tmp_path, folders, classes, is_open):
    source = make_source("Class folders", folder=str(lay(tmp_path / "x", class_tree(*folders))))
    images, problems = images_and_problems(source)
    assert sorted({image.boxes[0].classes[0] for image in images}) == classes.split()
    assert decided(source)["classes"].is_open == is_open
    left_out = 2 * len(folders) - len(images)
    assert [row.file for row in problems if row.file != "test split"] == [f"{left_out} images"] * bool(
        left_out
    )


@pytest.mark.parametrize(
    ("level", "classes"),
    [("1", {"animal", "tool"}), ("2", {"axe", "cat", "dog", "saw"}), ("all", set(NESTED))],
)
def test_another_level_can_be_chosen(tmp_path, level, classes):
    folder = lay(tmp_path / "x", class_tree(*NESTED))
    source = make_source("Class folders", folder=str(folder), level=level)
    images, _ = images_and_problems(source)
    assert {image.boxes[0].classes[0] for image in images} == classes
    assert not decided(source)["classes"].is_open
    assert {level, *decided(source)["classes"].alternatives} == {"1", "2", "all"}


def test_masks_are_no_samples(tmp_path):
    def png(mode):
        return in_memory(lambda stream: Image.new(mode, (9, 9)).save(stream, "PNG"))

    of_classes = {f"images/{name}/1.jpg": None for name in ("cat", "dog")}
    masks = {f"masks/{name}/1.png": png("RGB") for name in ("cat", "dog")}
    folder = lay(tmp_path / "x", of_classes | masks)
    images, problems = read("Class folders", folder)
    assert [image.boxes[0].classes[0] for image in images.values()] == ["cat", "dog"]
    check_rows(problems, ("2 images in folders of masks", "masks/cat/1.png, masks/dog/1.png"))
    # a class of faces with a mask
    for mode, count in (("RGB", 2), ("L", 0)):
        names = {"mask/1.png": png(mode), "face/1.png": png("RGB")}
        assert len(detect(open_tree(lay(tmp_path / mode, names)))) == (count == 2), mode


def test_images_that_annotate_those_beside_them_are_no_samples(tmp_path):
    def files(mode, ending):
        drawn = in_memory(lambda stream: Image.new(mode, (9, 9)).save(stream, "PNG"))
        images = {f"{name}/{name} (1).jpg": None for name in ("cat", "dog")}
        return images | {f"{name}/{name} (1){ending}.png": drawn for name in ("cat", "dog")}

    # a face with a mask, and a second picture, are pictures
    for number, (mode, ending, count) in enumerate(
        (("L", "_mask", 2), ("L", "_mask_2", 2), ("1", "_region", 2), ("RGB", "_mask", 4), ("L", "_2", 4))
    ):
        images, problems = read("Class folders", lay(tmp_path / f"{number}", files(mode, ending)))
        assert len(images) == count, (mode, ending)
        assert [row.file for row in problems] == ["2 images"] * (count == 2)


def test_folders_beside_parts_without_classes_are_no_classes(tmp_path):
    folder = lay(tmp_path / "x", class_tree("boxes_train", "boxes_test", "query"))
    words = preview_import(str(folder), None, {}).refused
    assert "boxes_test, boxes_train, query are parts" in words
    assert "a table of the names and labels" in words


def test_classes_of_few_images_and_identifiers_are_left_to_a_person(tmp_path):
    unsorted = {f"{number}.jpg": None for number in range(9)}
    identifiers = {f"p{number}/1.jpg": None for number in range(9)}
    for number, (files, part) in enumerate(
        (
            (unsorted | class_tree("a", "b"), "9 of 13 images lie in no such folder"),
            (identifiers, "identifier"),
        )
    ):
        source = make_source("Class folders", folder=str(lay(tmp_path / f"{number}", files)))
        images_and_problems(source)
        row = decided(source)["classes"]
        assert (row.is_open, part in row.evidence) == (True, True)
        agreed = make_source("Class folders", folder=source.folder, level="1")
        images_and_problems(agreed)
        assert not decided(agreed)["classes"].is_open


def test_the_question_about_levels_shows_the_folders_of_each(tmp_path):
    folder = lay(tmp_path / "x", class_tree(*(f"{place}/{kind}" for place in "pqr" for kind in "ab")))
    with refused("classes") as caught:
        open_image_set(folder)
    assert "level 1: p, q, r; level 2: a, b" in caught.value.came


def test_the_split_counts_the_images_that_are_kept(tmp_path):
    files = {f"{part}/{label}/{n}.jpg": None for part in ("train", "test") for label in "ab" for n in "12"}
    opened = open_image_set(lay(tmp_path / "x", files | {"test/a/1.jpg": b"broken"}))
    [split] = [row for row in opened.reading.decisions if row.about == "split"]
    assert split.chosen == "3 of 7 images for testing"


def birds(tmp_path, files, **settings):
    """The test images of eight in two folders, the decision about the split, and the problems."""
    images = {f"im/{'ab'[number % 2]}/{number}.jpg": None for number in range(1, 9)}
    source = make_source("Class folders", folder=str(lay(tmp_path / "x", images | files)), **settings)
    found, problems = images_and_problems(source)
    return sorted(image.data.name for image in found if image.test), decided(source)["split"], problems


IDS = "".join(f"{10 * number} {'ab'[number % 2]}/{number}.jpg\n" for number in range(1, 9))


@pytest.mark.parametrize(
    ("name", "values", "files", "test", "why"),
    [
        ("train_test_split.txt", "11011101", {}, "37", "1 is train, as is usual"),
        (
            "train_test_split.txt",
            "00100010",
            {"README": "1 if is_test_image"},
            "37",
            "1 is test, as “is test” says",
        ),
        ("is_train.lst", "11011101", {}, "37", "1 is train, as “is train” says"),
        ("split.txt", "0120120x", {}, "36", "0 is train, 1 is val, 2 is test"),
        ("split.txt", ["train", "Test", "val", *["training"] * 5], {}, "2", "stated by split.txt"),
    ],
)
@pytest.mark.parametrize("by_id", [True, False])
def test_lists_of_parts_by_image_or_id(tmp_path, name, values, files, test, why, by_id):
    keys = [line.split()[not by_id] for line in IDS.splitlines()]
    rows = "".join(f"{key} {value}\n" for key, value in zip(keys, values, strict=True))
    files = {**files, name: rows} | ({"images.txt": IDS} if by_id else {})
    tested, decision, problems = birds(tmp_path, files)
    assert [base(image)[0] for image in sorted(tested, key=base)] == list(test)
    assert why in decision.evidence
    assert not decision.is_open
    left_out = (
        [f"1 line without such an image: {keys[-1]} x", "in no list: im/a/8.jpg"] if "x" in values else []
    )
    assert [row.came for row in problems] == left_out


def test_few_of_one_kind_may_be_either_part(tmp_path):
    rows = "".join(f"{number}.jpg {int(number < 3)}\n" for number in range(1, 9))
    _, decision, _ = birds(tmp_path, {"train_test.txt": rows})
    assert (decision.is_open, decision.alternatives) == (True, ("random",))


@pytest.mark.parametrize(
    ("name", "content"),
    [("lists/test_list.mat", b"MATLAB"), ("split.txt", "1.jpg 0\n2.jpg 1\n"), ("val.csv", "x,y\n1,2\n")],
)
def test_files_that_may_name_the_split_but_are_not_read(tmp_path, name, content):
    _, decision, problems = birds(tmp_path, {name: content})
    check_rows(problems, ("split", name))
    assert f"because {name} may state a split" in decision.evidence


def test_frames_of_a_video_are_one_group_and_sampled_together(tmp_path):
    names = [f"{label}/v{video}/{frame}.jpg" for label in ("cat", "dog") for video in "12" for frame in "123"]
    folder = lay(tmp_path / "x", dict.fromkeys([*names, "dog/2.jpg"]))
    for seed in range(2):
        image_set, problems = build("Class folders", folder, seed=seed, test_share=0.5)
        check_rows(problems, ("test split",))
        assert image_set.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 4, 4, 4]
        assert image_set.classes == ("cat", "dog")
        sides = [{*image_set.test[image_set.groups == group].tolist()} for group in range(5)]
        assert {len(side) for side in sides} == {1}
        assert set().union(*sides) == {False, True}


def test_images_outside_of_folders_are_a_row(tmp_path):
    folder = lay(tmp_path / "x", dict.fromkeys(["cat/1.jpg", "dog/1.jpg", "stray.jpg", "cover.png"]))
    images, problems = read("Class folders", folder)
    assert list(images) == ["cat/1", "dog/1"]
    check_rows(problems, ("2 images", "cover.png, stray.jpg"))


def test_classes_in_the_names_of_files_are_left_to_a_person(tmp_path):
    names = [
        f"train/{name}.jpg"
        for name in ("cat.0", "cat.1", "Cat_002", "tabby cat-3", "dog (1)", "dog-12", "dog3")
    ]
    folder = lay(
        tmp_path / "x", dict.fromkeys([*names, "test1/1.jpg"]) | {"a_submission.csv": "id,label\n1,0\n"}
    )
    assert list(detect(open_tree(folder))) == ["Class folders"]
    source = make_source("Class folders", folder=str(folder))
    list(source.records())
    row = decided(source)["classes"]
    assert (row.is_open, row.value) == (True, "file names")
    assert "3 with “cat”, 3 with “dog”" in row.evidence
    images, problems = images_and_problems(
        make_source("Class folders", folder=str(folder), level="file names")
    )
    assert [image.boxes[0].classes for image in images] == [("cat",)] * 3 + [("dog",)] * 3
    check_rows(
        [row for row in problems if row.file != "test split"],
        ("2 images", "test1/1.jpg, train/tabby cat-3.jpg"),
        ("files: 1 .csv", "a_submission.csv"),
    )
    few = lay(tmp_path / "few", dict.fromkeys(("cat.0.jpg", "cat.1.jpg", "dog.0.jpg", "IMG_20200101_1.jpg")))
    assert detect(open_tree(few)) == {}
