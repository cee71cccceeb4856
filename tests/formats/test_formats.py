"""Common behaviour of all formats of folders: exports of tools, corrupted files, and hostile names."""

from __future__ import annotations

import pytest
from example_coco import box, coco
from import_folders import check_rows, lay, read
from refusals import refused

from ranking.files import open_tree
from ranking.formats.table_file import MAX_COLUMNS
from ranking.formats.tree_source import detect

SCRIPT = "<script>alert(1)</script>"

# -------------------------------------------------------------------------------- As tools export them

TWO = coco(["1.jpg", "2.jpg"], [box(1, 1, [0, 0, 9, 9]), box(2, 2, [0, 0, 9, 9])])


def rows_in(folder):
    return {f"{folder}1.txt": "0 0.5 0.5 1 1", f"{folder}2.txt": "1 .5 .5 1 1"}


EXPORTS = {
    "COCO by FiftyOne": ("data/", {"labels.json": TWO}),
    "COCO by Roboflow": ("", {"_annotations.coco.json": TWO}),
    "COCO by CVAT": ("images/", {"a/instances_default.json": TWO}),
    "YOLO by Roboflow": (
        "train/images/",
        {"data.yaml": "names: ['cat', \"dog\"]\n", **rows_in("train/labels/")},
    ),
    # Beside it lies a file that begins as those of COCO do.
    "YOLO by Label Studio": (
        "images/",
        {"classes.txt": "cat\ndog\n", "notes.json": {"categories": [], "info": {}}, **rows_in("labels/")},
    ),
    "YOLO by CVAT": ("obj_train_data/", {"obj.names": "cat\ndog\n", **rows_in("obj_train_data/")}),
    "YOLO by FiftyOne": (
        "images/val/",
        {"dataset.yaml": "names:\n- cat\n- dog\npath: x\n", **rows_in("labels/val/")},
    ),
}


@pytest.mark.parametrize("tool", EXPORTS)
def test_exports_of_tools_are_recognised_and_read(tmp_path, tool):
    images, files = EXPORTS[tool]
    folder = lay(tmp_path / "x", {**files, f"{images}1.jpg": None, f"{images}2.jpg": None})
    source = tool.partition(" ")[0]
    assert list(detect(open_tree(folder))) == [source]
    records, problems = read(source, folder)
    # Label Studio adds notes.json
    assert [row for row in problems if row.came != "notes.json"] == []
    assert {name: image.boxes[0].classes for name, image in records.items()} == {
        "1": ("cat",),
        "2": ("dog",),
    }


# ------------------------------------ What cannot be used is a row of the report, and the rest is kept


def deep(levels=500):
    nested = []
    for _ in range(levels):
        nested = [nested]
    return nested


def spoilt_coco(annotation):
    return {"a.json": coco(["1.jpg"], [box(1, 1, [0, 0, 20, 15]), annotation])}


def spoilt_yolo(row):
    return {"1.txt": f"0 .5 .5 1 1\n{row}\n", "classes.txt": "cat\ndog"}


def spoilt_table(row):
    head = "image,label,xmin,ymin,xmax,ymax,split"
    return {"t.csv": f"{head}\n1.jpg,cat,0,0,9,9,train\n{row}\n", "2.jpg": None}


SPOILT = {
    ("COCO", spoilt_coco): [
        (box(9, 1, [0, 0, 9, 9]), "image_id 9"),
        (box([1], 1, [0, 0, 9, 9]), "image_id [1]"),
        (box(True, 1, [0, 0, 9, 9]), "image_id True"),
        ("no object", "image_id None"),
        (box(1, 7, [0, 0, 9, 9]), "image 1, box 2: 7"),
        (box(1, {"a": 1}, [0, 0, 9, 9]), "image 1, box 2: an object of a"),
        (box(1, 1, [0, 0, 9]), "image 1, box 2: [0, 0, 9]"),
        (box(1, 1, [0, 0, 9, True]), "image 1, box 2: [0, 0, 9, True]"),
        (box(1, 1, deep()), "image 1, box 2: a list of 1"),
    ],
    ("YOLO", spoilt_yolo): [
        *((row, f"row 2: {row}") for row in ("0 0.5 0.5 1", "cat 0.5 0.5 1 1", "0 0.5 0.5 1 1_0", SCRIPT)),
        *((row, f"row 2: {row}") for row in ("-1 0.5 0.5 1 1", "0.5 .5 .5 1 1", "nan .5 .5 1 1")),
        ("0 0 0 1 1 0 1 1", "row 2: 0 0 0 1 1 0 1 1"),
        ("7 0.5 0.5 1 1", "row 2: class 7"),
    ],
    ("Table of images", spoilt_table): [
        ("1.jpg,cat,0,0,9", "line 3: 5"),
        ("2.jpg,cat,0,0,9,,train", "line 3: 0, 0, 9,"),
        ("2.jpg,cat,0,0,9,0x9,train", "line 3: 0, 0, 9, 0x9"),
        ("2.jpg,cat,,,,,train", "line 3: none"),
        ("2.jpg,cat,0,0,9,9,later", "line 3: later"),
        ("2.jpg,cat,0,0,9,9,", "line 3: an empty cell"),
        ("1.jpg,cat,0,0,9,9,test", "line 3: another one for 1.jpg"),
    ],
}


@pytest.mark.parametrize(("source", "spoilt"), SPOILT)
def test_unusable_annotations_are_reported_in_one_row(tmp_path, source, spoilt):
    for number, (bad, came) in enumerate(SPOILT[source, spoilt]):
        files = {**spoilt(bad), "1.jpg": None}
        images, problems = read(source, lay(tmp_path / f"{number}", files))
        assert len(images["1"].boxes) == 1, came
        check_rows(
            [row for row in problems if not row.file.endswith(("image", "images"))], (next(iter(files)), came)
        )


# -------------------------------------------------------------- Names are looked up and never followed

NAMING = {
    "COCO": lambda *names: {"a.json": coco(names, [box(1, 1, [0, 0, 20, 15])])},
    "Table of images": lambda *names: {"a.csv": "image,label\n" + "".join(f"{name},cat\n" for name in names)},
}
MATCHING = ["../../secret/1.jpg", "/etc/1.jpg", "C:\\photos\\1.jpg", "./1.jpg", "elsewhere/images/1.jpg", "1"]
UNMATCHED = ["", "..", "n" * 5000, SCRIPT, "/etc/passwd", "a.json", "gone.jpg"]


@pytest.mark.parametrize("source", NAMING)
def test_a_name_is_looked_up_and_never_followed(tmp_path, source):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    for number, name in enumerate(MATCHING):
        folder = lay(tmp_path / f"{number}", {**NAMING[source](name), "images/1.jpg": None})
        images, problems = read(source, folder)
        assert (list(images), problems) == (["1"], []), name
        assert images["1"].data.name == "images/1.jpg"
    for name in UNMATCHED:
        folder = lay(tmp_path / "x", {**NAMING[source]("1.jpg", name), "1.jpg": None})
        images, problems = read(source, folder)
        assert list(images) == ["1"], name
        check_rows(problems, (next(iter(NAMING[source]())),))
        assert problems[0].came.isprintable()
        assert len(problems[0].came) < 400


# ------------------------------------------------------------------ Files of which nothing can be used

UNUSABLE = [
    ("COCO", "a.json", '{"images": [', "a.json"),
    ("COCO", "a.json", '{"images": ' + "[" * 100_000, "a.json"),
    ("COCO", "a.json", '{"images": []}', "annotations"),
    ("COCO", "a.json", '{"images": {}, "annotations": [], "categories": []}', "images, got dict"),
    ("COCO", "a.json", '{"images": [], "annotations": [], "categories": []}', "none"),
    ("COCO", "a.json", b'{"images": "\xff\xfe"}', "position 12"),
    ("COCO", "a.json", '{"images": ' + "1" * 5000 + "}", "a.json"),
    ("COCO", "a.json", '{"name": "x"}', "no such file"),
    ("YOLO", "README.txt", "x", "no such file"),
    ("Class folders", "train/notes.txt", "x", "no folder with images"),
    ("Table of images", "t.csv", "", ""),
    ("Table of images", "t.csv", "image,label\n", "image, label"),
    ("Table of images", "t.csv", "image,label\nz.jpg,cat\n", "image, label"),
    ("Table of images", "t.csv", "image,image\n1.jpg,1.jpg\n", "image twice"),
    ("Table of images", "t.csv", b"image,label\n\xff\xfe", "image, label"),
    ("Table of images", "t.csv", 'image,label\n"1.jpg,cat', "line 2"),
    ("Table of images", "t.csv", "image,label\n" + "n" * 200_000, "131072"),
    ("Table of images", "t.csv", ",".join(map(str, range(MAX_COLUMNS + 1))), "1,003"),
    ("Table of images", "t.dat", "image,label\n1.jpg,cat", "no such file"),
    ("Table of images", "t.parquet", b"PAR1 and no more", "a complete Parquet file"),
    ("Table of images", "t.parquet", b"", "a complete Parquet file"),
]


def test_files_without_usable_annotations_are_refused(tmp_path):
    for number, (source, name, content, came) in enumerate(UNUSABLE):
        folder = lay(tmp_path / f"{number}", {name: content, "1.jpg": b""})
        with refused(str(folder)) as caught:
            read(source, folder)
        assert came in caught.value.came, (source, content[:80])
