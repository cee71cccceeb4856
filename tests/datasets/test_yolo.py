"""YOLO's labels as tools export them, and as strangers spoil them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from brought import build, lay, photograph, rows, some_yolo
from PIL import Image
from zipped import zip_of

from ranking.datasets.detection import detect
from ranking.datasets.yolo_names import yaml_names
from ranking.intake import open_tree


def test_parts(tmp_path):
    image_set, problems = build("YOLO", some_yolo(tmp_path / "pets"))
    assert rows(problems) == [("1 image", "at least one usable box", "none in train/empty", "image left out")]
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["train/a#1", "train/a#2", "train/b#1", "val/a#1"]
    assert image_set.boxes.tolist() == [[0, 0, 40, 30], [0, 0, 20, 15], [0, 0, 20, 30], [10, 8, 30, 23]]
    assert image_set.test.tolist() == [False, False, False, True]


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_yolo(tmp_path / "pets")
    packed, _ = build("YOLO", zip_of(folder, tmp_path / "pets.zip", top))
    assert packed.key == build("YOLO", folder)[0].key


LAYOUTS = {
    "Roboflow": ("data.yaml", "names: ['cat', \"dog\"]\n", "train/images/1.jpg", "train/labels/1.txt"),
    "Label Studio": ("classes.txt", "cat\ndog\n", "images/1.jpg", "labels/1.txt"),
    "CVAT": ("obj.names", "cat\ndog\n", "obj_train_data/1.jpg", "obj_train_data/1.txt"),
    "FiftyOne": ("dataset.yaml", "names:\n- cat\n- dog\npath: x\n", "images/val/1.jpg", "labels/val/1.txt"),
}


def test_an_export_of_label_studio_is_not_taken_for_coco(tmp_path):
    """Beside it lies a file that begins as those of COCO do."""
    notes = '{\n  "categories": [\n    {\n      "id": 0,\n      "name": "cat"\n    }\n  ],\n  "info": {}\n}'
    files = {"classes.txt": "cat", "notes.json": notes, "images/1.jpg": None, "labels/1.txt": "0 .5 .5 1 1"}
    assert [one.source for one in detect(open_tree(lay(tmp_path / "x", files)))] == ["YOLO"]


@pytest.mark.parametrize("tool", LAYOUTS)
def test_exports(tmp_path, tool):
    named, names, image, labels = LAYOUTS[tool]
    second = {image.replace("1.", "2."): None, labels.replace("1.", "2."): "0 .5 .5 1 1"}
    files = {named: names, image: None, labels: "1 0.5 0.5 1 1", **second}
    image_set, problems = build("YOLO", lay(tmp_path / "x", files))
    assert image_set.image_names.tolist() == ["1", "2"]
    assert image_set.labels.tolist() == [[False, True], [True, False]]
    assert [row.file for row in problems] == ["parts"]


ROW = "rows of class, x, y, width and height, or of class and the corners of an outline"


@pytest.mark.parametrize(
    ("bad", "file", "expected", "came"),
    [
        ("0 0.5 0.5 1", "labels/1.txt", ROW, "row 2: 0 0.5 0.5 1"),
        ("cat 0.5 0.5 1 1", "labels/1.txt", ROW, "row 2: cat 0.5 0.5 1 1"),
        ("0 0.5 0.5 1 1_0", "labels/1.txt", ROW, "row 2: 0 0.5 0.5 1 1_0"),
        ("-1 0.5 0.5 1 1", "labels/1.txt", ROW, "row 2: -1 0.5 0.5 1 1"),
        ("0.5 0.5 0.5 1 1", "labels/1.txt", ROW, "row 2: 0.5 0.5 0.5 1 1"),
        ("nan 0.5 0.5 1 1", "labels/1.txt", ROW, "row 2: nan 0.5 0.5 1 1"),
        ("0 0 0 1 1 0 1 1", "labels/1.txt", ROW, "row 2: 0 0 0 1 1 0 1 1"),
        ("<script>alert(1)</script>", "labels/1.txt", ROW, "row 2: <script>alert(1)</script>"),
        ("7 0.5 0.5 1 1", "labels/1.txt", "one of the 2 classes that are named", "row 2: class 7"),
        ("0 nan 0.5 1 1", "images/1.jpg", "a box of finite numbers", "box 2: nan, 0, nan, 30"),
        ("0 0 nan 1 1 0 1", "images/1.jpg", "a box of finite numbers", "box 2: nan, nan, nan, nan"),
        ("0 0.5 0.5 1e999 1", "images/1.jpg", "a box of finite numbers", "box 2: -inf, 0, inf, 30"),
        (
            "0 3 0.5 1 1",
            "images/1.jpg",
            "a box inside the image, 40 x 30",
            "box 2: 100, 0, 140, 30, wholly outside",
        ),
        ("0 0.5 0.5 -1 1", "images/1.jpg", "a box with left < right and top < bottom", "box 2: 40, 0, 0, 30"),
    ],
)
def test_a_row_that_cannot_be_used_is_told(tmp_path, bad, file, expected, came):
    labels = f"0 .5 .5 1 1\n{bad}\n\n1 .5 .5 1 1\n"
    files = {"classes.txt": "cat\ndog", "images/1.jpg": None, "labels/1.txt": labels}
    image_set, problems = build("YOLO", lay(tmp_path / "x", files))
    assert image_set.ids.tolist() == ["1#1", "1#3"]
    assert [row[:3] for row in rows(problems) if row[0] not in ("parts", "x")] == [(file, expected, came)]


def test_a_box_that_reaches_out_is_clipped(tmp_path):
    files = {"classes.txt": "cat", "images/1.jpg": None, "labels/1.txt": "0 .5 .5 1 2\n0 .5 .5 1e308 .5"}
    image_set, problems = build("YOLO", lay(tmp_path / "x", files))
    assert image_set.boxes.tolist() == [[0, 0, 40, 30], [0, 8, 40, 23]]
    assert [row.done for row in problems[1:3]] == ["box clipped to the image"] * 2


def test_poses_are_read_up_to_their_box(tmp_path):
    files = {
        "data.yaml": "kpt_shape: [2, 3]\nnames: [person]\n",
        "images/1.jpg": None,
        "labels/1.txt": "0 .5 .5 .5 1 .1 .1 2 .9 .9 2",
    }
    image_set, _ = build("YOLO", lay(tmp_path / "x", files))
    assert image_set.boxes.tolist() == [[10, 0, 30, 30]]


@pytest.mark.parametrize("names", [None, "train: x\n", "names:\n", "names: [", "names: &a [*a]"])
def test_classes_that_nothing_names_go_by_numbers(tmp_path, names):
    files = {"images/1.jpg": None, "labels/1.txt": "3 .5 .5 1 1"}
    image_set, problems = build("YOLO", lay(tmp_path / "x", files | ({"data.yaml": names} if names else {})))
    if names == "names: &a [*a]":  # no list in the forms that tools write
        assert problems[0].expected == "a list of the names of classes"
    assert image_set.classes == ("class 3",)
    assert problems[0].done == "classes go by their numbers"


def test_labels_without_image_are_counted(tmp_path):
    files = {f"labels/{number}.txt": "0 .5 .5 1 1" for number in range(5)}
    files |= {
        "images/0.jpg": None,
        "classes.txt": "cat",
        "README.txt": "see there",
        "labels/classes.txt": "cat",
    }
    _, problems = build("YOLO", lay(tmp_path / "x", files))
    came = "4 times: labels/1.txt; labels/2.txt; labels/3.txt; ..."
    assert rows(problems)[0] == ("labels", "an image for every file of labels", came, "labels left out")


def test_labels_that_cannot_be_read(tmp_path):
    folder = some_yolo(tmp_path / "x")
    (folder / "labels/train/a.txt").unlink()
    (folder / "labels/train/a.txt").symlink_to("/etc/passwd")
    image_set, problems = build("YOLO", folder)
    assert image_set.image_names.tolist() == ["train/b", "val/a"]
    assert rows(problems)[0] == (
        "labels/train/a.txt", "a regular file inside the chosen folder", "a link to nothing or out of it",
        "labels left out",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: [ # two\n  'cat', # a, [b]\n  # more\n  dog\n]\n", {0: "cat", 1: "dog"}),
        ("names: ['#1', dog#2]", {0: "#1", 1: "dog#2"}),
        ("names:\n  - cat\n  - 'my dog'\n", {0: "cat", 1: "my dog"}),
        ("# x\nnames:\n# y\n\n  0: cat\n  '2': \"a: b\"\nnc: 2\n  3: no", {0: "cat", 2: "a: b"}),
        ("names: {0: cat, 4: 'd, e'}", {0: "cat", 4: "d, e"}),
        ("names: ['a', \"b\",\n  dog's bed]  # c\nnc: 3", {0: "a", 1: "b", 2: "dog's bed"}),
        ("names: ['driver''s licence', b]", {0: "driver's licence", 1: "b"}),
        ('names:\n- "\\xDCbung"\n- "\\u732B"\n', {0: "Übung", 1: "猫"}),  # as PyYAML writes what is not ASCII
        (
            r'names: ["say \"a, b\"", "\ud83d\ude00", "c\\"]',
            {0: 'say "a, b"', 1: "😀", 2: "c\\"},
        ),  # as JSON does
        (r'names: ["\U7fffffff", "\ud83d"]', {0: "\ufffd", 1: "\ufffd"}),
        ("names: [a, b", {}),
        ("names: !!python/object:os.system [ls]", {}),
        ("nc: 3", {}),
    ],
)
def test_names_in_yaml(text, names):
    assert yaml_names(text) == names


def test_a_line_without_a_name_has_its_number_all_the_same(tmp_path):
    files = {"classes.txt": "\ncat\n\n", "1.jpg": None, "1.txt": "1 .5 .5 1 1"}
    assert build("YOLO", lay(tmp_path / "x", files))[0].classes == ("cat",)


def test_hostile_yaml_takes_no_time():
    begun = time.process_time()
    for text in (" " * 2**18 + '"', "[" * 2**18, "'" * 2**18, "a " * 2**17 + '"', "\n- a" * 2**16):
        for start in (
            "names: [",
            "names: {",
            "names:\n- ",
            "names:\n 1: ",
            "names" + text[:1] * 2**17 + ": [",
        ):
            yaml_names(start + text)
    assert time.process_time() - begun < 5, "each a fraction of a second; in the square of its length an hour"


def test_yaml_without_end_is_read_line_by_line_once():
    assert len(yaml_names("names:" + "\n- a" * 2**16)) == 2**16
    assert yaml_names("names: [" + "a," * 2**17 + "b]") == {number: "a" for number in range(2**17)} | {
        2**17: "b"
    }


def test_shares_are_of_the_picture_as_it_is_shown(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    files = {"classes.txt": "cat", "images/1.jpg": photograph(exif=exif), "labels/1.txt": "0 .5 .25 1 .5"}
    image_set, _ = build("YOLO", lay(tmp_path / "x", files))
    assert image_set.image_sizes.tolist() == [[30, 40]]
    assert image_set.boxes.tolist() == [[0, 0, 30, 20]]


def test_nothing_of_yolo(tmp_path):
    with pytest.raises(ValueError, match=r"expected images, and beside them .* has none"):
        build("YOLO", lay(tmp_path / "x", {"1.jpg": None, "README.txt": "x"}))


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (
            {"classes.txt": "cat"},
            "text files hold rows of YOLO for 1 image, and classes.txt names the classes",
        ),
        ({}, "text files hold rows of YOLO for 1 image, and no file names the classes"),
    ],
)
def test_recognised(tmp_path, files, why):
    labels = {"images/1.jpg": None, "labels/1.txt": "0 .5 .5 1 1"}
    (detected,) = detect(open_tree(lay(tmp_path / "x", labels | files)))
    assert (detected.source, detected.recognised.why) == ("YOLO", why)


def test_captions_are_not_yolo(tmp_path):
    assert detect(open_tree(lay(tmp_path / "x", {"1.jpg": None, "1.txt": "a cat on a bed"}))) == []


@pytest.mark.parametrize(("good", "known"), [(4, ["YOLO"]), (2, ["YOLO"]), (1, [])])
def test_a_bad_row_among_good_files_does_not_hide_what_they_are(tmp_path, good, known):
    files = {f"{number}.jpg": None for number in range(good + 1)} | {"0.txt": "0 .5 .5 1 1\n0 .5 .5 one 1"}
    files |= {f"{number}.txt": "0 .5 .5 1 1" for number in range(1, good + 1)}
    assert [one.source for one in detect(open_tree(lay(tmp_path / "x", files)))] == known


def test_random_labels(tmp_path):
    random = np.random.default_rng(0)
    files = {"classes.txt": "cat", "images/good.jpg": None, "labels/good.txt": "0 .5 .5 1 1"}
    letters = np.frombuffer(b"0123456789 .-e\nnaif\xff\0\t", np.uint8)
    for number in range(60):
        files |= {f"images/{number}.jpg": None}
        files[f"labels/{number}.txt"] = random.choice(letters, 200).tobytes() + b"\n0 .5 .5 1 1"
    image_set, problems = build("YOLO", lay(tmp_path / "x", files))
    assert len(image_set.image_names) == 61
    assert all(row.came.isprintable() for row in problems)


def test_names_that_cannot_be_read_are_told(tmp_path):
    """As in a ZIP file that is damaged where they lie."""
    data = bytearray(zip_of(some_yolo(tmp_path / "x"), tmp_path / "x.zip").read_bytes())
    place = data.index(b"data.yaml")
    data[place - 30 : place - 26] = b"PK\x03\x05"
    (tmp_path / "x.zip").write_bytes(data)
    assert "YOLO" in [one.source for one in detect(open_tree(tmp_path / "x.zip"))]
    image_set, problems = build("YOLO", tmp_path / "x.zip")
    assert image_set.classes == ("class 0", "class 1")
    told = ("data.yaml", "an intact entry of the ZIP file", "classes go by their numbers")
    assert told in [(row.file, row.expected, row.done) for row in problems]
