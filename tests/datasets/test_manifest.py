"""Tables of images as data frames and spreadsheets write them, and as strangers damage them."""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pyarrow
import pytest
from brought import build, lay, rows, some_table
from pyarrow import parquet
from refusals import refusal, refused
from zipped import zip_of

from ranking.datasets import make_source, manifest, parquet_program, table_file
from ranking.datasets.detection import detect
from ranking.datasets.manifest_roles import ROLES, choose
from ranking.datasets.table_file import MOST_COLUMNS, text_table
from ranking.intake import Limits, Unusable, open_tree
from ranking.types import Problem, SourceImage

SCRIPT = "<script>alert(1)</script>"


def as_parquet(columns, **options):
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream, **options)
    return stream.getvalue()


def as_text(columns, mark=","):
    lines = [columns, *zip(*columns.values(), strict=True)]
    return "\n".join(mark.join(map(str, line)) for line in lines)


def of(root, content, name="t.csv", **settings):
    """A source on a folder with images a.jpg, b.jpg and c.jpg, and this table."""
    folder = lay(root / "x", {name: content, **{f"{image}.jpg": None for image in "abc"}})
    return make_source("Table of images", folder=str(folder), **settings)


def read(source):
    """The images by name, and the problems except those of images without a row and of parts that are sampled."""
    records = list(source.records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    quiet = ("images", "parts")
    return images, [item for item in records if isinstance(item, Problem) and item.file not in quiet]


def test_boxes_labels_split_group_and_size_of_a_folder_or_a_zip_file(tmp_path):
    folder = some_table(tmp_path / "pets")
    image_set, problems = build("Table of images", folder)
    assert problems == []
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog", "tame")
    assert image_set.ids.tolist() == ["a#1", "a#2", "b#1", "c#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.relevance("tame").tolist() == [0, 1, 0, 0]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.groups.tolist() == [0, 0, 0, 1]
    assert image_set.criteria == ()
    for top in ("", "export/of pets"):
        packed, problems = build("Table of images", zip_of(folder, tmp_path / "pets.zip", top))
        assert (packed.key, problems) == (image_set.key, []), top


def test_the_same_table_in_files_of_other_forms(tmp_path):
    columns = {"image": ["a.jpg", "b.jpg"], "class": ["cat", "dog"], "x": [1, 3], "y": [2, 2.5]}
    columns |= {"w": [10, 7], "h": [5, 6], "year": [1957, 1960]}
    for form, (name, table) in {
        "tsv": ("t.tsv", as_text(columns, "\t")),
        "tabs in a CSV": ("t.csv", as_text(columns, "\t")),
        "semicolons": ("t.csv", "\ufeff" + as_text(columns, ";")),
        "parquet": ("t.parquet", as_parquet(columns)),
    }.items():
        images, problems = read(of(tmp_path / form, table, name))
        assert problems == [], form
        assert [(box.box, box.classes, box.numbers) for image in images.values() for box in image.boxes] == [
            ((1, 2, 11, 7), ("cat",), {"year": 1957}),
            ((3, 2.5, 10, 8.5), ("dog",), {"year": 1960}),
        ], form


FORMS = [
    ("xmin,ymin,xmax,ymax", "2,3,10,9", (2, 3, 10, 9)),
    ("XMin,XMax,YMin,YMax", "2,10,3,9", (2, 3, 10, 9)),
    ("x1,y1,x2,y2", "2,3,10,9", (2, 3, 10, 9)),
    ("x0,y0,x1,y1", "2,3,10,9", (2, 3, 10, 9)),
    ("left,top,right,bottom", "2,3,10,9", (2, 3, 10, 9)),
    ("bbox_x,bbox_y,bbox_width,bbox_height", "2,3,8,6", (2, 3, 10, 9)),
    ("left,top,width,height", "2,3,8,6", (2, 3, 10, 9)),
    ("left,top,right,bottom", "0,0,1,2", (0, 0, 1, 2)),  # pixels, few as they are
    ("x,y,w,h", "2,3,8,6", (2, 3, 10, 9)),
    ("x_center,y_center,width,height", "6,6,8,6", (2, 3, 10, 9)),
    ("bbox", '"[20, 13, 8.0, 6]"', (20, 13, 28, 19)),
    ("corners", '"(2, 3, 10, 9)"', (2, 3, 10, 9)),
    ("box", "2 3 10 9", (2, 3, 10, 9)),
]


def test_boxes_in_several_conventions(tmp_path):
    for names, cells, box in FORMS:
        images, problems = read(of(tmp_path, f"image,label,{names}\na.jpg,cat,{cells}\n"))
        assert (images["a"].boxes[0].box, images["a"].boxes[0].relative, problems) == (box, False, []), names


def test_the_width_of_the_image_is_not_that_of_the_box(tmp_path):
    for names, cells in (("x,y,w,h", "2,3,8,6"), ("cx,cy,w,h", "6,6,8,6"), ("x,y,h,w", "2,3,6,8")):
        for table in (
            f"image,width,height,label,{names}\na.jpg,40,30,cat,{cells}\n",
            f"image,label,{names},height,width\na.jpg,cat,{cells},30,40\n",
        ):
            images, problems = read(of(tmp_path, table))
            image = images["a"]
            assert (image.boxes[0].box, image.size, problems) == ((2, 3, 10, 9), (40, 30), []), table


DECIMAL = "image;label;xmin;ymin;xmax;ymax;score\na.jpg;a,5;1,5;2;9,25;8;-,5\n"
OPEN_IMAGES = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded\na,human,cat,1,0.25,0.5,0,1,0\n"
)
TABLES = {
    "names with commas do not separate cells": (
        'image;label;"year, day";size, cm\na.jpg;cat;7;9\n',
        {"a": [(None, ("cat",), {"year, day": 7, "size, cm": 9})]},
    ),
    "decimal commas between ;": (DECIMAL, {"a": [((1.5, 2, 9.25, 8), ("a,5",), {"score": -0.5})]}),
    "decimal commas between tabs": (
        DECIMAL.replace(";", "\t"),
        {"a": [((1.5, 2, 9.25, 8), ("a,5",), {"score": -0.5})]},
    ),
    "fractions of the image": (OPEN_IMAGES, {"a": [((0.25, 0, 0.5, 1), ("cat",), {"Confidence": 1})]}),
    "a column per label": (
        "image,sea,sun,year\na.jpg,1,0,5\nb.jpg,0,1,6\n",
        {"a": [(None, ("sea",), {"year": 5})], "b": [(None, ("sun",), {"year": 6})]},
    ),
    "rows about the whole of one image are one": (
        "image,label,year\na.jpg,sea,?\na.jpg,sun,1957\na.jpg,sea,1957\n",
        {"a": [(None, ("sea", "sun"), {"year": 1957})]},
    ),
    "an image without a box": (
        "image,label,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,9,9\nb.jpg,,,,,\n",
        {"a": [((0, 0, 9, 9), ("cat",), {})], "b": []},
    ),
}


def test_what_tables_say_of_images(tmp_path):
    for what, (table, expected) in TABLES.items():
        images, problems = read(of(tmp_path, table))
        boxes = {
            name: [(box.box, box.classes, box.numbers) for box in image.boxes]
            for name, image in images.items()
        }
        assert (boxes, problems) == (expected, []), what
        relative = {box.relative for image in images.values() for box in image.boxes}
        assert relative == {table == OPEN_IMAGES}, what


def test_numbers_with_underscores_are_names(tmp_path):
    files = {"t.csv": "scan,score\n0012_3,1\n0012_4,2\n", "0012_3.jpg": None, "0012_4.jpg": None}
    images, _ = read(make_source("Table of images", folder=str(lay(tmp_path / "x", files))))
    assert [image.boxes[0].numbers for image in images.values()] == [{"score": 1}, {"score": 2}]
    _, problems = read(of(tmp_path / "y", "image,year\na.jpg,19_57\n", number_columns="year"))
    assert "19_57" in problems[0].came


def test_a_whole_image_with_labels_a_grade_and_parts_in_folders(tmp_path):
    table = (
        "grade,photo,tags,season\n3,train/a,sea|sun,summer\n1,val/a.jpg,,winter\n"
        "?,C:\\old\\train\\b.jpg,sea,winter\n"
    )
    names = ["train/a.jpg", "train/b.jpg", "val/a.jpg"]
    image_set, problems = build(
        "Table of images", lay(tmp_path / "x", {"t.csv": table, **dict.fromkeys(names)})
    )
    assert problems == []
    assert image_set.ids.tolist() == ["train/a#1", "val/a#1", "train/b#1"]
    assert image_set.labels.tolist() == [[True, True], [False, False], [True, False]]
    assert image_set.numbers_of("grade").tolist()[:2] == [3, 1]
    assert math.isnan(image_set.numbers_of("grade")[2])
    assert image_set.image_test.tolist() == [False, True, False]


def test_rows_about_one_image_that_contradict_each_other_are_reported(tmp_path):
    table = "image,label,year,film\na.jpg,sea,1957,f\na.jpg,sun,3,f\na.jpg,sky,,g\na.jpg,sand,1957,f\nb.jpg,sea,1,f\n"
    images, problems = read(of(tmp_path, table, group_column="film"))
    (box,) = images["a"].boxes
    assert (box.classes, box.group, box.numbers) == (("sea", "sand"), "f", {"year": 1957})
    (row,) = [row for row in problems if row.file == "t.csv"]
    assert row.came == "2 times: line 3: another year; line 4: another group"


def test_tables_of_the_parts(tmp_path):
    head = "filename,class,xmin,ymin,xmax,ymax\n"
    files = {f"{part}/_annotations.csv": f"{head}1.jpg,cat,0,0,9,9\n" for part in ("train", "valid", "test")}
    files |= {f"{part}/1.jpg": None for part in ("train", "valid", "test")} | {"notes.csv": "a,b\n1,2\n"}
    image_set, problems = build("Table of images", lay(tmp_path / "x", files))
    assert image_set.image_names.tolist() == ["test/1", "train/1", "valid/1"]
    assert image_set.image_test.tolist() == [True, False, False]
    assert [(row.file, row.came) for row in problems] == [("notes.csv", "a, b")]


# ------------------------------------------------------------------------------------------------- groups


def test_groups_are_sampled_whole(tmp_path):
    names = [f"{number}.jpg" for number in range(12)]
    lines = [f"{name},cat,film {number // 4}" for number, name in enumerate(names)]
    folder = lay(tmp_path / "x", {"t.csv": "image,label,video\n" + "\n".join(lines), **dict.fromkeys(names)})
    for seed in range(5):
        images, problems = read(make_source("Table of images", folder=str(folder), seed=seed))
        by_film = [
            {image.test for image in images.values() if image.boxes[0].group == f"film {film}"}
            for film in range(3)
        ]
        assert sorted(map(list, by_film)) == [[False], [False], [True]], seed
        assert problems == [], seed


def test_images_of_a_single_group_are_sampled_and_groups_on_both_sides_are_reported(tmp_path):
    images, problems = read(of(tmp_path, "image,label,video\na.jpg,cat,f\nb.jpg,cat,f\nc.jpg,dog,f\n"))
    assert sorted(image.test for image in images.values()) == [False, False, True]
    assert [row.file for row in problems] == ["groups"]
    table = "image,label,split,patient\na.jpg,cat,train,p1\nb.jpg,dog,test,p1\nc.jpg,dog,test,p2\n"
    images, (row,) = read(of(tmp_path, table))
    assert [image.test for image in images.values()] == [False, True, True], "kept as named"
    assert (row.file, "p1" in row.came, "p2" in row.came) == ("groups", True, False)


# ------------------------------------------------------------------------------------------------- settings


def test_a_person_says_what_the_columns_are(tmp_path):
    table = 'file,other,a,b,c,d,"year, day",kind,clip,height,width\na.jpg,b.jpg,1,2,8,9,1957,cat,f,30,40\n'
    chosen = {
        "image_column": "other",
        "box_columns": "a, b, c, d",
        "box_form": "left, top, width, height",
        "box_unit": "pixels",
        "label_columns": "kind",
        "number_columns": '"year, day"',
        "group_column": "-",
        "size_columns": "width, height",
    }
    images, problems = read(of(tmp_path, table, **chosen))
    assert problems == []
    (box,) = images["b"].boxes
    assert (box.box, box.classes, box.group) == ((1, 2, 9, 11), ("cat",), None)
    assert (box.numbers, images["b"].size) == ({"year, day": 1957}, (40, 30))
    marks = "image,sea,sun\na.jpg,1,0\nb.jpg,2,1\n"
    _, problems = read(of(tmp_path, marks, label_columns="sea, sun"))
    assert rows(problems) == [("t.csv", "labels marked 0 or 1", "line 3: sea: '2'", "row left out")]


def test_columns_that_cannot_be_chosen(tmp_path):
    header = ["image", "label", "year"]
    for role, named, came in (
        ("labels", "colour", "colour"),
        ("labels", "label, label", "label, label"),
        ("box", "label, year", "2"),
        ("image", "-", "0"),
    ):
        with pytest.raises(Unusable) as caught:
            choose(named, header, ROLES[role])
        assert caught.value.came == came
        assert caught.value.expected.startswith(ROLES[role].label)
    for chosen, came in (
        ({"label_columns": "colour"}, "colour"),
        ({"table": "other.csv"}, "no such table"),
        ({"label_columns": "-", "number_columns": "-"}, "image, label, year"),
    ):
        with refused(str(tmp_path / "x")) as caught:
            len(of(tmp_path, "image,label,year\na.jpg,cat,1957\n", **chosen))
        assert came in caught.value.came


# ------------------------------------------------------------------------------------------------- bad rows

NO_IMAGE = "an image of that name in the folder or ZIP file"
NO_BOX = "four numbers, left, top, right, bottom"
BAD_ROWS = [
    ("a.jpg,cat,0,0,9", "7 columns", "5"),
    ("gone.jpg,cat,0,0,9,9,train", NO_IMAGE, "gone.jpg: none"),
    (",cat,0,0,9,9,train", NO_IMAGE, "no name: none"),
    (f"{SCRIPT},cat,0,0,9,9,train", NO_IMAGE, f"{SCRIPT}: none"),
    ("/etc/passwd,cat,0,0,9,9,train", NO_IMAGE, "/etc/passwd: none"),
    ("t.csv,cat,0,0,9,9,train", NO_IMAGE, "t.csv: none"),
    ("b.jpg,cat,0,0,9,,train", NO_BOX, "0, 0, 9,"),
    ("b.jpg,cat,0,0,9,0x9,train", NO_BOX, "0, 0, 9, 0x9"),
    ("b.jpg,cat,,,,,train", NO_BOX, "none"),
    ("b.jpg,cat,0,0,9,9,later", "split train, val or test", "later"),
    ("b.jpg,cat,0,0,9,9,", "split train, val or test", "an empty cell"),
    ("a.jpg,cat,0,0,9,9,test", "rows of one image with one split and one size", "another for a.jpg"),
]


def test_a_row_that_cannot_be_used_is_a_row_of_the_report(tmp_path):
    head = "image,label,xmin,ymin,xmax,ymax,split\na.jpg,cat,0,0,9,9,train\n"
    for line, expected, came in BAD_ROWS:
        images, problems = read(of(tmp_path, f"{head}{line}\n"))
        assert rows(problems) == [("t.csv", expected, f"line 3: {came}", "row left out")]
        assert len(images["a"].boxes) == 1, line


def test_boxes_that_the_builder_refuses(tmp_path):
    boxes = {
        "0,0,nan,9": ("a box of finite numbers", "0, 0, nan, 9"),
        "0,0,1e999,9": ("a box of finite numbers", "0, 0, inf, 9"),
        "9,0,5,9": ("a box with left < right and top < bottom", "9, 0, 5, 9"),
        "50,0,55,9": ("a box inside the image, 40 x 30", "50, 0, 55, 9, wholly outside"),
    }
    bad = "".join(f"a.jpg,cat,{cells}\n" for cells in boxes)
    table = f"image,label,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,9,9\n{bad}b.jpg,dog,1,1,9,9\n"
    folder = lay(tmp_path / "x", {"t.csv": table, "a.jpg": None, "b.jpg": None})
    chosen = {"box_columns": "xmin, ymin, xmax, ymax", "box_form": "left, top, right, bottom"}
    image_set, problems = build("Table of images", folder, **chosen)
    assert image_set.ids.tolist() == ["a#1", "b#1"]
    assert [(row.file, row.expected, row.came) for row in problems if row.file != "parts"] == [
        ("a.jpg", expected, f"box {number}: {came}")
        for number, (expected, came) in enumerate(boxes.values(), 2)
    ]


def test_images_without_a_row_are_counted(tmp_path):
    problems = [row for row in of(tmp_path, "image,label\na.jpg,cat\n").records() if isinstance(row, Problem)]
    assert ("images", "2 times: b.jpg; c.jpg") in [(row.file, row.came) for row in problems]


NO_TABLES = [
    ("t.csv", "", ""),
    ("t.csv", "image,label\n", "image, label"),
    ("t.csv", "image,label\nz.jpg,cat\n", "image, label"),
    ("t.csv", "image,image\na.jpg,a.jpg\n", "image twice"),
    ("t.csv", b"image,label\n\xff\xfe", "byte 12"),
    ("t.csv", 'image,label\n"a.jpg,cat', "line 2"),
    ("t.csv", "image,label\n" + "n" * 200_000, "131072"),
    ("t.csv", ",".join(map(str, range(MOST_COLUMNS + 1))), "1,003"),
    ("t.parquet", b"PAR1 and no more", parquet_program.BROKEN),
    ("t.parquet", b"", parquet_program.BROKEN),
    ("t.txt", "image,label\na.jpg,cat", "no such table"),
]


def test_a_file_that_is_no_table(tmp_path):
    for number, (name, content, came) in enumerate(NO_TABLES):
        folder = tmp_path / str(number)
        with refused(str(folder / "x")) as caught:
            len(of(folder, content, name))
        assert caught.value.expected == manifest.LAYOUT
        assert came in caught.value.came
        if not name.endswith(".parquet"):
            assert detect(open_tree(folder / "x")) == [], came


def test_a_table_that_breaks_off_keeps_what_came_before(tmp_path):
    good = "".join(f"{image}.jpg,cat\n" for image in "ab") * 200
    images, (row,) = read(of(tmp_path, f'image,label\n{good}"c.jpg,cat'))
    assert list(images) == ["a", "b"]
    assert (row.file, row.expected) == ("t.csv", "comma-separated values, line 402")


def test_limits_on_the_number_and_the_size_of_tables(tmp_path, monkeypatch):
    """Each Parquet file starts a program."""
    looked_into, files = [], {f"{number:03}.parquet": b"" for number in range(60)}
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "MOST_TABLES", 5)
        patched.setattr(
            manifest, "read_table", lambda tree, name, _: looked_into.append(name) or text_table(b"x,y")
        )
        assert detect(open_tree(lay(tmp_path / "many", files | {"1.jpg": None}))) == []
    assert len(looked_into) == 5
    with refused(str(tmp_path / "many"), 60):
        len(make_source("Table of images", folder=str(tmp_path / "many")))
    monkeypatch.setenv("RANKING_INTAKE_TABLE_BYTES", "100")
    with refused(str(tmp_path / "x")) as caught:
        len(of(tmp_path, "image,label\n" + "a.jpg,cat\n" * 20))
    assert "RANKING_INTAKE_TABLE_BYTES" in caught.value.came


def test_a_damaged_csv_is_read_or_refused(tmp_path):
    folder = some_table(tmp_path / "x")
    path = folder / "boxes.csv"
    good, random, built = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(25):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 6)):
            data[place] = random.integers(128)
        path.write_bytes(data)
        with contextlib.suppress(ValueError):
            images, _ = read(make_source("Table of images", folder=str(folder)))
            built += len(images) > 1
    assert built > 5


# ------------------------------------------------------------------------------------------------- Parquet


def test_names_of_columns_of_parquet_neither_separate_cells_nor_hide_others():
    columns = {
        "image": ["a.jpg", "b.jpg"],
        "image.1": ["b", "c"],
        "score.1": [2, 3],
        "score": [1, 1],
        "list": [[1, 2], []],
        "list.x": [3, 4],
        "struct": [{"a": 1}, {"a": 2}],
        "struct.b": [4, 5],
        "left; top; right": ["1,5", "2"],
    }
    table = table_file.parquet_table(as_parquet(columns), Limits())
    assert table.header == tuple(name for name in columns if name != "struct")
    assert table.first(2) == [
        ["a.jpg", "b", "2", "1", "1; 2", "3", "4", "1,5"],
        ["b.jpg", "c", "3", "1", "", "4", "5", "2"],
    ]


def test_parquet_of_many_kinds(tmp_path):
    columns = {
        "image": pyarrow.array(["a.jpg", "b.jpg"]).dictionary_encode(),
        "bbox": [[1.0, 2.0, 11.0, 7.0], [0.0, 0.0, 9.0, 9.0]],
        "labels": [["cat", "tame"], []],
        "year": pyarrow.array([1957, None], pyarrow.int16()),
        "split": ["train", "test"],
        "struct": [{"a": 1}, {"a": 2}],
        "deep": [[[1]], [[2]]],
        "bytes": [b"\xff", b"\0"],
        "dotted.name": [True, False],
    }
    source = of(tmp_path, as_parquet(columns), "t.parquet", number_columns="year, dotted.name")
    images, problems = read(source)
    assert problems == []
    assert [image.boxes[0].box for image in images.values()] == [(1, 2, 11, 7), (0, 0, 9, 9)]
    assert [image.boxes[0].classes for image in images.values()] == [("cat", "tame"), ()]
    assert images["a"].boxes[0].numbers == {"year": 1957, "dotted.name": 1}
    assert math.isnan(images["b"].boxes[0].numbers["year"])
    assert images["b"].test
    assert source.columns() == ["image", "bbox", "labels", "year", "split", "bytes", "dotted.name"]


def test_parquet_that_claims_too_much_is_not_expanded(monkeypatch):
    """Texts that come again are stored once."""
    plain = as_parquet({"image": ["a.jpg"] * 100_000, "label": ["cat"] * 100_000}, use_dictionary=False)
    with pytest.raises(Unusable) as caught:
        table_file.parquet_table(plain, Limits(table_bytes=len(plain) * 2))
    assert "RANKING_INTAKE_TABLE_BYTES" in caught.value.expected
    once, long = {"dictionary_pagesize_limit": 2**24}, ["x" * 200_000]
    for column in (long * 300, [long] * 300):
        data = as_parquet({"image": column}, **once)
        assert len(data) < 2**16
        expected = "texts of at most 131,072 bytes"
        assert refusal(table_file.parquet_table, data, Limits()) == (expected, "one of 200,000")
    data = as_parquet({"image": ["x" * 100_000] * 300}, **once)
    expected = "a table of at most 1 MB (RANKING_INTAKE_TABLE_BYTES)"
    assert refusal(table_file.parquet_table, data, Limits(table_bytes=2**20)) == (expected, "a larger one")
    monkeypatch.setattr(table_file, "MOST_VALUES", 1000)
    assert refusal(table_file.parquet_table, plain, Limits()) == (
        "a table of at most 1,000 values",
        "300,000",
    )


def test_a_reader_that_does_not_end_well_ends_alone(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    monkeypatch.setattr(table_file.parquet_to_csv, "__file__", str(script))
    script.write_text("import os\nos.abort()\n")
    assert refusal(table_file.parquet_table, b"", Limits())[0] == parquet_program.BROKEN
    script.write_text("import time\ntime.sleep(9)\n")
    monkeypatch.setattr(parquet_program, "SECONDS", 0.25)
    expected, came = refusal(table_file.parquet_table, b"", Limits())
    assert (expected, "0.25" in came) == (parquet_program.BROKEN, True)


# ------------------------------------------------------------------------------------------------- detection


def test_recognised_with_its_columns(tmp_path):
    folder = some_table(tmp_path / "x")
    (detected,) = detect(open_tree(folder))
    assert detected.source == "Table of images"
    assert detected.recognised.settings == {
        "image_column": "filename",
        "box_columns": "xmin, ymin, xmax, ymax",
        "label_columns": "class",
        "number_columns": "-",
        "group_column": "clip",
        "split_column": "split",
        "size_columns": "width, height",
    }
    for name in ("boxes.csv", "filename", "xmin, ymin, xmax, ymax", "pixels", "class", "clip", "split"):
        assert name in detected.recognised.why
    proposed, confirmed = (
        make_source("Table of images", folder=str(folder), **more)
        for more in ({}, detected.recognised.settings)
    )
    assert list(proposed.records()) == list(confirmed.records())
