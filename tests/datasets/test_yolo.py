"""YOLO's labels as tools export them, and as strangers spoil them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from brought import build, check_rows, lay, photograph, read, some_yolo
from PIL import Image
from refusals import refused
from zipped import zip_of

from ranking.datasets.detection import detect
from ranking.datasets.yolo_names import yaml_names
from ranking.intake import open_tree
from ranking.intake.files import LEADS_OUT
from ranking.intake.zip_tree import INTACT


def test_parts(tmp_path):
    image_set, problems = build("YOLO", some_yolo(tmp_path / "pets"))
    check_rows(problems, ("1 image", "train/empty"))
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["train/a#1", "train/a#2", "train/b#1", "val/a#1"]
    assert image_set.boxes.tolist() == [[0, 0, 40, 30], [0, 0, 20, 15], [0, 0, 20, 30], [10, 8, 30, 23]]
    assert image_set.test.tolist() == [False, False, False, True]


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
    assert [detected.source for detected in detect(open_tree(lay(tmp_path / "x", files)))] == ["YOLO"]


@pytest.mark.parametrize("tool", LAYOUTS)
def test_exports(tmp_path, tool):
    named, names, image, labels = LAYOUTS[tool]
    second = {image.replace("1.", "2."): None, labels.replace("1.", "2."): "0 .5 .5 1 1"}
    files = {named: names, image: None, labels: "1 0.5 0.5 1 1", **second}
    images, problems = read("YOLO", lay(tmp_path / "x", files))
    assert problems == []
    assert {name: item.boxes[0].classes for name, item in images.items()} == {"1": ("dog",), "2": ("cat",)}


def folder_of_rows(root, *lines, names="cat\ndog"):
    return lay(root, {"classes.txt": names, "images/1.jpg": None, "labels/1.txt": "\n".join(lines)})


def test_a_row_that_cannot_be_used_is_told(tmp_path):
    bad = [
        "0 0.5 0.5 1",
        "cat 0.5 0.5 1 1",
        "0 0.5 0.5 1 1_0",
        "-1 0.5 0.5 1 1",
        "0.5 0.5 0.5 1 1",
        "nan 0.5 0.5 1 1",
        "0 0 0 1 1 0 1 1",
        "<script>alert(1)</script>",
    ]
    for row, came in [*((row, row) for row in bad), ("7 0.5 0.5 1 1", "class 7")]:
        folder = folder_of_rows(tmp_path / "x", "0 .5 .5 1 1", row, "", "1 .5 .5 1 1")
        images, problems = read("YOLO", folder)
        assert [box.number for box in images["1"].boxes] == [1, 3], row
        check_rows(problems, ("labels/1.txt", f"row 2: {came}"))


def test_what_the_builder_makes_of_boxes(tmp_path):
    rows = {
        "0 .5 .5 1 1": "",
        "0 nan 0.5 1 1": "nan, 0, nan, 30",
        "0 0 nan 1 1 0 1": "nan, nan, nan, nan",
        "0 0.5 0.5 1e999 1": "-inf, 0, inf, 30",
        "0 3 0.5 1 1": "100, 0, 140, 30",
        "0 0.5 0.5 -1 1": "40, 0, 0, 30",
        "0 .5 .5 1 2": "0, -15, 40, 45",
        "0 .5 .5 1e308 .5": "-",
    }
    image_set, problems = build("YOLO", folder_of_rows(tmp_path / "x", *rows))
    assert dict(zip(image_set.ids.tolist(), image_set.boxes.tolist(), strict=True)) == {
        "1#1": [0, 0, 40, 30],
        "1#7": [0, 0, 40, 30],
        "1#8": [0, 8, 40, 23],
    }
    came = [("images/1.jpg", f"box {number}: {text}") for number, text in enumerate(rows.values(), 1) if text]
    check_rows([row for row in problems if row.file == "images/1.jpg"], *came)


def test_poses_are_read_up_to_their_box(tmp_path):
    files = {
        "data.yaml": "kpt_shape: [2, 3]\nnames: [person]\n",
        "images/1.jpg": None,
        "labels/1.txt": "0 .5 .5 .5 1 .1 .1 2 .9 .9 2",
    }
    images, _ = read("YOLO", lay(tmp_path / "x", files))
    assert images["1"].boxes[0].box == (0.25, 0, 0.75, 1)


@pytest.mark.parametrize("names", [None, "train: x\n", "names:\n", "names: [", "names: &a [*a]"])
def test_classes_that_nothing_names_go_by_numbers(tmp_path, names):
    files = {"images/1.jpg": None, "labels/1.txt": "3 .5 .5 1 1"}
    images, problems = read("YOLO", lay(tmp_path / "x", files | ({"data.yaml": names} if names else {})))
    assert images["1"].boxes[0].classes == ("class 3",)
    check_rows(problems, ("data.yaml" if names and names.startswith("names") else "classes",))


def test_labels_without_image_are_counted(tmp_path):
    files = {f"labels/{number}.txt": "0 .5 .5 1 1" for number in range(5)}
    files |= {
        "images/0.jpg": None,
        "classes.txt": "cat",
        "README.txt": "see there",
        "labels/classes.txt": "cat",
    }
    _, problems = read("YOLO", lay(tmp_path / "x", files))
    check_rows(problems, ("labels", "4", "labels/1.txt", "labels/2.txt", "labels/3.txt"))


def test_labels_that_cannot_be_read(tmp_path):
    folder = some_yolo(tmp_path / "x")
    (folder / "labels/train/a.txt").unlink()
    (folder / "labels/train/a.txt").symlink_to("/etc/passwd")
    images, problems = read("YOLO", folder)
    assert images["train/a"].boxes == ()
    check_rows(problems, ("labels/train/a.txt", LEADS_OUT))


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
    images, _ = read("YOLO", folder_of_rows(tmp_path, "1 .5 .5 1 1", names="\ncat\n\n"))
    assert images["1"].boxes[0].classes == ("cat",)


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
    folder = lay(tmp_path / "x", {"1.jpg": b"", "README.txt": "x"})
    with refused(str(folder)):
        read("YOLO", folder)


def test_recognised_by_rows_without_names(tmp_path):
    (detected,) = detect(
        open_tree(lay(tmp_path / "x", {"images/1.jpg": None, "labels/1.txt": "0 .5 .5 1 1"}))
    )
    assert detected.source == "YOLO"
    assert "1 image" in detected.recognised.why


def test_captions_are_not_yolo(tmp_path):
    assert detect(open_tree(lay(tmp_path / "x", {"1.jpg": None, "1.txt": "a cat on a bed"}))) == []


def test_a_bad_row_among_good_files_does_not_hide_what_they_are(tmp_path):
    for good, known in ((4, ["YOLO"]), (2, ["YOLO"]), (1, [])):
        files = {f"{number}.jpg": None for number in range(good + 1)} | {
            "0.txt": "0 .5 .5 1 1\n0 .5 .5 one 1"
        }
        files |= {f"{number}.txt": "0 .5 .5 1 1" for number in range(1, good + 1)}
        tree = open_tree(lay(tmp_path / str(good), files))
        assert [detected.source for detected in detect(tree)] == known, good


def test_random_labels(tmp_path):
    random = np.random.default_rng(0)
    files = {"classes.txt": "cat", "images/good.jpg": b"", "labels/good.txt": "0 .5 .5 1 1"}
    letters = np.frombuffer(b"0123456789 .-e\nnaif\xff\0\t", np.uint8)
    for number in range(60):
        files |= {f"images/{number}.jpg": b""}
        files[f"labels/{number}.txt"] = random.choice(letters, 200).tobytes() + b"\n0 .5 .5 1 1"
    images, problems = read("YOLO", lay(tmp_path / "x", files))
    assert len(images) == 61
    assert all(image.boxes[-1].box == (0, 0, 1, 1) for image in images.values())
    assert all(row.came.isprintable() for row in problems)


def test_names_that_cannot_be_read_are_told(tmp_path):
    """As in a ZIP file that is damaged where they lie."""
    data = bytearray(zip_of(some_yolo(tmp_path / "x"), tmp_path / "x.zip").read_bytes())
    place = data.index(b"data.yaml")
    data[place - 30 : place - 26] = b"PK\x03\x05"
    (tmp_path / "x.zip").write_bytes(data)
    assert "YOLO" in [detected.source for detected in detect(open_tree(tmp_path / "x.zip"))]
    images, problems = read("YOLO", tmp_path / "x.zip")
    assert {box.classes for image in images.values() for box in image.boxes} == {("class 0",), ("class 1",)}
    check_rows(problems, ("data.yaml",))
    assert problems[0].expected == INTACT
