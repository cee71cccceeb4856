"""Tables of images as data frames and spreadsheets write them, and as strangers damage them."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pyarrow
import pytest
from archives import in_memory
from example_table_of_images import some_table
from import_folders import check_rows, lay, photograph
from pyarrow import parquet
from refusals import refusal, refused

from ranking.core import Problem, SourceImage
from ranking.datasets import build_image_set, make_source
from ranking.files import Limits, Unusable, open_tree
from ranking.formats import table_file
from ranking.formats.import_preview import preview_import
from ranking.formats.table_columns import ROLES, chosen_columns
from ranking.formats.tree_source import detect


def as_parquet(columns, **options):
    return in_memory(lambda stream: parquet.write_table(pyarrow.table(columns), stream, **options))


def as_text(columns, mark=","):
    lines = [columns, *zip(*columns.values(), strict=True)]
    return "\n".join(mark.join(map(str, line)) for line in lines)


def of(root, content, name="t.csv", **settings):
    """A source on a folder with images a.jpg, b.jpg and c.jpg, and this table."""
    folder = lay(root / "x", {name: content, **{f"{image}.jpg": None for image in "abc"}})
    return make_source("Table of images", folder=str(folder), **settings)


def read(source):
    """The images by name, and problems except those of images without a row and of sampled parts."""
    records = list(source.records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    problems = [item for item in records if isinstance(item, Problem) and item.file != "test split"]
    return images, [row for row in problems if row.expected != "a row for every image"]


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
    ("x0,y0,x1,y1", "2,3,10,9", (2, 3, 10, 9)),
    ("bbox_x,bbox_y,bbox_width,bbox_height", "2,3,8,6", (2, 3, 10, 9)),
    ("left,top,width,height", "2,3,8,6", (2, 3, 10, 9)),
    ("Roi.X1,Roi.Y1,Roi.X2,Roi.Y2", "2,3,10,9", (2, 3, 10, 9)),
    ("tlx,tly,brx,bry", "2,3,10,9", (2, 3, 10, 9)),
    ("endX,endY,startX,startY", "10,9,2,3", (2, 3, 10, 9)),
    (
        "Upper left corner X,Upper left corner Y,Lower right corner X,Lower right corner Y",
        "2,3,10,9",
        (2, 3, 10, 9),
    ),
    ("left_x,top_y,width,height", "2,3,8,6", (2, 3, 10, 9)),
    ("x_px,y_px,w_px,h_px", "2,3,8,6", (2, 3, 10, 9)),
    ("face_cx,face_cy,face_w,face_h", "6,6,8,6", (2, 3, 10, 9)),
    # pixels, few as they are
    ("left,top,right,bottom", "0,0,1,2", (0, 0, 1, 2)),
    ("x_center,y_center,width,height", "6,6,8,6", (2, 3, 10, 9)),
    ("bbox", '"[20, 13, 8.0, 6]"', (20, 13, 28, 19)),
    ("corners", '"(2, 3, 10, 9)"', (2, 3, 10, 9)),
    ("box", "2 3 10 9", (2, 3, 10, 9)),
]


def test_boxes_in_several_conventions(tmp_path):
    """Where x, y, w and h are of the box, width and height are of the image."""
    tables = [(f"image,label,{names}\na.jpg,cat,{cells}\n", box, None) for names, cells, box in FORMS]
    for names, cells in (("x,y,w,h", "2,3,8,6"), ("cx,cy,w,h", "6,6,8,6"), ("x,y,h,w", "2,3,6,8")):
        for table in (
            f"image,width,height,label,{names}\na.jpg,40,30,cat,{cells}\n",
            f"image,label,{names},height,width\na.jpg,cat,{cells},30,40\n",
        ):
            tables.append((table, (2, 3, 10, 9), (40, 30)))
    for table, box, size in tables:
        images, problems = read(of(tmp_path, table))
        (only,) = images["a"].boxes
        assert (only.box, only.relative, images["a"].size, problems) == (box, False, size, []), table


DECIMAL = "image;label;xmin;ymin;xmax;ymax;score\na.jpg;a,5;1,5;2;9,25;8;-,5\n"
OPEN_IMAGES = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded\na,human,cat,1,0.25,0.5,0,1,0\n"
)
WITH_COMMAS = 'image;label;"year, day";size, cm\na.jpg;cat;7;9\n'
CONTRADICTING = "image,label,year,clip\na.jpg,sea,1957,f\na.jpg,sun,3,f\na.jpg,sky,,g\na.jpg,sand,1957,f\n"
CAT = (None, ("cat",), {})
TABLES = [
    (WITH_COMMAS, {"a": [(None, ("cat",), {"year, day": 7, "size, cm": 9})]}, []),
    (DECIMAL, {"a": [((1.5, 2, 9.25, 8), ("a,5",), {"score": -0.5})]}, []),
    (DECIMAL.replace(";", "\t"), {"a": [((1.5, 2, 9.25, 8), ("a,5",), {"score": -0.5})]}, []),
    (OPEN_IMAGES, {"a": [((0.25, 0, 0.5, 1), ("cat",), {"Confidence": 1})]}, []),
    (
        "image,sea,sun,year\na.jpg,1,0,5\nC:\\old\\b.jpg,0,1,6\n",
        {"a": [(None, ("sea",), {"year": 5})], "b": [(None, ("sun",), {"year": 6})]},
        [],
    ),
    (
        "image,label,year\na.jpg,sea,?\na.jpg,sun,1957\na.jpg,sea,1957\n",
        {"a": [(None, ("sea", "sun"), {"year": 1957})]},
        [],
    ),
    (
        "image,label,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,9,9\nb.jpg,,,,,\n",
        {"a": [((0, 0, 9, 9), ("cat",), {})], "b": []},
        [],
    ),
    (
        "split,file_name,sea,sun\ntrain,a.jpg,1,0\nVal,b.jpg,0,0\ntest,c,1, 1\nlater,c,1,1\n",
        {"a": [(None, ("sea",), {})], "b": [(None, (), {})], "c": [(None, ("sea", "sun"), {})]},
        ["line 5: later"],
    ),
    ("image,labels\na.jpg,sea; sun|sea\n", {"a": [(None, ("sea", "sun"), {})]}, []),
    ("image,kind\na.jpg,cat\nb.jpg,cat\n", {"a": [CAT], "b": [CAT]}, []),
    ("image,label,width,height\na.jpg,cat,40,30\nb.jpg,cat,wide,30\n", {"a": [CAT]}, ["line 3: wide, 30"]),
    (
        CONTRADICTING,
        {"a": [(None, ("sea", "sand"), {"year": 1957})]},
        ["2 times: line 3: another year; line 4: another group"],
    ),
    (
        "image,label\n" + "a.jpg,cat\nb.jpg,cat\n" * 200 + '"c.jpg,cat',
        {"a": [CAT], "b": [CAT]},
        ["unexpected end of data"],
    ),
]


@pytest.mark.parametrize(("table", "expected", "came"), TABLES)
def test_tables_determine_boxes_classes_and_values_of_images(tmp_path, table, expected, came):
    images, problems = read(of(tmp_path, table))
    assert {
        name: [(box.box, box.classes, box.numbers) for box in image.boxes] for name, image in images.items()
    } == expected
    assert [row.came for row in problems if row.file == "t.csv"] == came
    relative = {box.relative for image in images.values() for box in image.boxes}
    assert relative == {table == OPEN_IMAGES}


def test_tables_in_folders_of_parts_determine_the_split(tmp_path):
    head = "filename,class,xmin,ymin,xmax,ymax\n"
    files = {f"{part}/_annotations.csv": f"{head}1.jpg,cat,0,0,9,9\n" for part in ("train", "valid", "test")}
    files |= {f"{part}/1.jpg": None for part in ("train", "valid", "test")} | {"notes.csv": "a,b\n1,2\n"}
    one_for_all = {"t.csv": "image,label\ntrain/1,cat\nvalid/1.jpg,cat\nC:\\old\\test\\1.jpg,cat\n"}
    for number, table in enumerate((files, dict.fromkeys(list(files)[3:6]) | one_for_all)):
        source = make_source("Table of images", folder=str(lay(tmp_path / f"{number}", table)))
        images, problems = read(source)
        tested = {name: image.test for name, image in images.items()}
        assert tested == {"test/1": True, "train/1": False, "valid/1": False}
        assert [(row.file, row.came) for row in problems] == [("notes.csv", "a, b")] * (number == 0)


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


def test_the_user_assigns_roles_to_columns(tmp_path):
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
    check_rows(problems, ("t.csv", "line 3: sea: '2'"))
    _, problems = read(of(tmp_path, "image,a,b\na.jpg,cat,red\n", label_columns="a, b"))
    check_rows(problems, ("t.csv", "line 2: a: 'cat'"))


def test_invalid_choices_of_columns_are_refused(tmp_path):
    header = ["image", "label", "year"]
    for role, named, came in (
        ("labels", "colour", "colour"),
        ("labels", "label, label", "label, label"),
        ("box", "label, year", "2"),
        ("image", "-", "0"),
    ):
        with pytest.raises(Unusable) as caught:
            chosen_columns(named, header, ROLES[role])
        assert caught.value.came == came
        assert caught.value.expected.startswith(ROLES[role].label)
    for chosen, came in (
        ({"label_columns": "colour"}, "colour"),
        ({"table": "other.csv"}, "no such file"),
        ({"label_columns": "-", "number_columns": "-"}, "image, label, year"),
    ):
        with refused(str(tmp_path / "x")) as caught:
            len(of(tmp_path, "image,label,year\na.jpg,cat,1957\n", **chosen))
        assert came in caught.value.came


def test_images_without_a_row_are_counted(tmp_path):
    problems = [row for row in of(tmp_path, "image,label\na.jpg,cat\n").records() if isinstance(row, Problem)]
    assert ("2 images", "none for b.jpg, c.jpg") in [(row.file, row.came) for row in problems]


# ------------------------------------------------------------------------------------------------- Parquet


def test_parquet_columns_of_many_types_are_read():
    """Names of columns neither separate cells nor hide others."""
    columns = {
        "image": ["a.jpg", "b.jpg"],
        "image.1": pyarrow.array(["b", "c"]).dictionary_encode(),
        "score.1": pyarrow.array([2, None], pyarrow.int16()),
        "score": [True, False],
        "list": [[1.5, 2], []],
        "list.x": [3, 4],
        "struct": [{"a": 1}, {"a": 2}],
        "struct.b": [b"\xff", b"5"],
        "deep": [[[1]], [[2]]],
        "left; top; right": ["1,5", "2"],
    }
    table = table_file.parquet_table(io.BytesIO(as_parquet(columns)), Limits())
    assert table.header == tuple(name for name in columns if name not in ("struct", "deep"))
    assert [cells for _, cells in table.rows()] == [
        ["a.jpg", "b", "2", "1", "1.5; 2", "3", "\N{REPLACEMENT CHARACTER}", "1,5"],
        ["b.jpg", "c", "", "0", "", "4", "5", "2"],
    ]


def test_parquet_that_claims_too_much_is_not_expanded():
    """Texts that come again are stored once."""
    plain = as_parquet({"image": ["a.jpg"] * 100_000, "label": ["cat"] * 100_000}, use_dictionary=False)
    expected, _ = refusal(table_file.parquet_table, io.BytesIO(plain), Limits(table_bytes=len(plain) * 2))
    assert "RANKING_IMPORT_TABLE_BYTES" in expected


def test_damaged_parquet_is_refused():
    whole = as_parquet({"image": [f"{number}.jpg" for number in range(1000)]}, compression="none")
    assert len(list(table_file.parquet_table(io.BytesIO(whole), Limits()).rows())) == 1000
    for data in (b"", b"PAR1" * 3, whole[:-9], whole[:40] + b"\xff" * 40 + whole[80:]):
        expected, _ = refusal(
            lambda data=data: list(table_file.parquet_table(io.BytesIO(data), Limits()).rows())
        )
        assert expected == "a complete Parquet file"


# ------------------------------------------------------------------------------------------------- detection


def test_a_table_is_recognised_with_the_roles_of_its_columns(tmp_path):
    folder = some_table(tmp_path / "x")
    [(source, recognised)] = detect(open_tree(folder)).items()
    assert source == "Table of images"
    assert all(name in recognised.why for name in ("boxes.csv", "filename", "pixels", "clip"))
    proposed = make_source("Table of images", folder=str(folder))
    records = list(proposed.records())
    chosen = {
        row.setting: row.value for row in proposed.decisions() if row.setting.endswith(("column", "columns"))
    }
    assert chosen == {
        "image_column": "filename",
        "box_columns": "xmin, ymin, xmax, ymax",
        "label_columns": "class",
        "number_columns": "-",
        "group_column": "clip",
        "split_column": "split",
        "size_columns": "width, height",
    }
    assert records == list(make_source("Table of images", folder=str(folder), **chosen).records())
    assert preview_import(str(folder), None, {}).content.problem_count == 0


def test_numbers_to_order_by_with_groups_and_a_split(tmp_path):
    """As sets to be put in order have them: no column of labels."""
    table = "Group,year,file,split\na,1e3,a.jpg,train\n,NA,b,test\nb, -2.5 ,c.jpg,val\n"
    images, problems = read(of(tmp_path, table))
    assert problems == []
    rows = [(name, *((box.group, box.numbers) for box in image.boxes)) for name, image in images.items()]
    assert rows[0] == ("a", ("a", {"year": 1000.0}))
    assert rows[2] == ("c", ("b", {"year": -2.5}))
    assert math.isnan(rows[1][1][1]["year"])
    assert [image.test for image in images.values()] == [False, True, False]


def test_numbers_that_float32_would_make_equal_stay_different(tmp_path):
    days = [20261119 + row for row in range(3)]
    for shift, kind in ((0, np.float64), (20260000, np.float32)):
        table = "image,day\n" + "".join(
            f"{name}.jpg,{day - shift}\n" for name, day in zip("abc", days, strict=True)
        )
        folder = tmp_path / f"{shift}"
        images, _ = build_image_set(of(folder, table), folder / "set")
        assert images.numbers.dtype == kind
        assert images.numbers_of("day").tolist() == [day - shift for day in days]


def test_a_path_of_a_table_is_answered_with_that_of_its_folder(tmp_path):
    table = lay(tmp_path, {"t.csv": "image,label\n"}) / "t.csv"
    with refused(str(table), "a table"):
        open_tree(table)


# ------------------------------------------------------------------------------------------ What all rows decide


def decided(source):
    list(source.records())
    return {row.about: row for row in source.decisions()}


def test_a_first_row_that_names_an_image_is_data(tmp_path):
    rows = "a.jpg,2,3,20,28,sheep\nb.jpg,1,2,30,25,cow\nc.jpg,5,5,39,29,cow\n"
    source = of(tmp_path, rows)
    images, problems = read(source)
    assert [image.boxes[0].box for image in images.values()] == [
        (2, 3, 20, 28),
        (1, 2, 30, 25),
        (5, 5, 39, 29),
    ]
    assert [image.boxes[0].classes for image in images.values()] == [("sheep",), ("cow",), ("cow",)]
    assert not any(image.boxes[0].numbers for image in images.values()), "corners are no criteria"
    rows_of = decided(source)
    assert (rows_of["first row"].value, rows_of["first row"].evidence) == ("is data", "a.jpg names an image")
    assert rows_of["box format"].value == "left, top, right, bottom"
    assert not rows_of["box format"].is_open, "as widths, 39 + 5 would reach out of the image"
    assert problems == []
    assert len(read(of(tmp_path, rows, first_row="names the columns"))[0]) == 2


def test_corners_and_widths_that_fit_alike_are_left_to_a_person(tmp_path):
    source = of(tmp_path, "a.jpg,2,3,10,9,sheep\nb.jpg,2,3,10,9,cow\n")
    row = decided(source)["box format"]
    assert (row.is_open, row.setting) == (True, "box_form")
    assert {row.value, *row.alternatives} >= {"left, top, right, bottom", "left, top, width, height"}
    settled = of(tmp_path, "a.jpg,2,3,10,9,sheep\nb.jpg,2,3,10,9,cow\n", box_form="left, top, width, height")
    assert read(settled)[0]["a"].boxes[0].box == (2, 3, 12, 12)
    assert not decided(settled)["box format"].is_open


def test_marks_are_decided_from_all_rows(tmp_path):
    """A table sorted by class: up to row 300, each grade looks like a mark."""
    folder = tmp_path / "x"
    names = [f"{number}.png" for number in range(400)]
    rows = "".join(
        f"{name},{'1' if place < 300 else '2.5'},{place % 7}\n" for place, name in enumerate(names)
    )
    lay(folder, {"t.csv": f"image,grade,year\n{rows}", **dict.fromkeys(names)})
    images, problems = read(make_source("Table of images", folder=str(folder)))
    assert (len(images), problems) == (400, [])
    assert images["399"].boxes[0].numbers["grade"] == 2.5


@pytest.mark.parametrize(
    ("cells", "separator", "labels"),
    [
        (("sea sun", "sun", "sea sky sun", "sky", "sea sky"), "space", ("sea", "sun")),
        (("traffic light", "stop sign", "person", "car", "bus"), "whole cell", ("traffic light",)),
        (('"sea, sun"', "sun", '"sea, sky, sun"', "sky", '"sea, sky"'), "comma", ("sea", "sun")),
        (("\"['sea', 'red sun']\"", "\"['sky']\"", "[]", "\"['sea']\"", "[]"), "list", ("sea", "red sun")),
        (("sea|sun", "sun", "sky", "sea", "sea;sky"), "; or |", ("sea", "sun")),
    ],
)
def test_labels_in_a_cell_are_separated_as_all_cells_say(tmp_path, cells, separator, labels):
    folder = tmp_path / "x"
    rows = "".join(f"{place}.png,{cell}\n" for place, cell in enumerate(cells))
    lay(folder, {"t.csv": f"image,labels\n{rows}", **{f"{place}.png": None for place in range(5)}})
    source = make_source("Table of images", folder=str(folder))
    assert read(source)[0]["0"].boxes[0].classes == labels
    assert decided(source)["separator of labels"].value == separator


def test_marks_of_several_kinds_and_unknown_ones(tmp_path):
    for yes, no in (("1", "-1"), ("1.0", "0.0"), ("True", "False")):
        images, problems = read(of(tmp_path, f"image,sea,sun\na.jpg,{yes},{no}\nb.jpg,{no},{yes}\n"))
        assert [image.boxes[0].classes for image in images.values()] == [("sea",), ("sun",)], yes
        assert problems == []
    unknown = "image,sea,sun\na.jpg,1,0\nb.jpg,-1,1\nc.jpg,,1\n"
    rows = ("t.csv", "2 times: line 3: sea: '-1'; line 4: sea: ''")
    images, problems = read(of(tmp_path, unknown))
    assert [image.boxes[0].classes for image in images.values()] == [("sea",), ("sun",), ("sun",)]
    check_rows(problems, rows)


def test_each_table_has_its_own_columns(tmp_path):
    folder = tmp_path / "x"
    tables = {"train/t.csv": "image,label\na.jpg,cat\n", "test/t.csv": "label,photo\ndog,b.jpg\n"}
    lay(folder, {**tables, "train/a.jpg": None, "test/b.jpg": None})
    images, problems = read(make_source("Table of images", folder=str(folder)))
    shown = [(image.boxes[0].classes, image.test) for image in images.values()]
    assert sorted(shown) == [(("cat",), False), (("dog",), True)]
    assert problems == []


def test_a_table_without_a_part_beside_those_of_parts_gives_no_samples(tmp_path):
    tables = {"Train.csv": "image,label\na.jpg,cat\n", "Test.csv": "image,label\nb.jpg,cat\n"}
    source = folder_of(tmp_path, {**tables, "Signs.csv": "sign,label\nc.jpg,cat\n"})
    images, problems = read(source)
    assert {name: image.test for name, image in images.items()} == {"a": False, "b": True}
    check_rows(problems, ("Signs.csv", "labels of 1 image"))
    left_out = [row for row in source.records() if isinstance(row, Problem) and row.file == "1 image"]
    check_rows(left_out, ("1 image", "none for c.jpg"))


def test_numbers_that_name_images_are_counted(tmp_path):
    source = folder_of(
        tmp_path, {"t.csv": "code,label\n7,cat\na,dog\n5e43,cat\n"}, ("7.jpg", "a.jpg", "5e43.jpg")
    )
    assert decided(source)["Image column"].evidence.startswith("3 of 3 rows")


def test_rows_with_empty_cells_for_the_box_label_the_whole_image(tmp_path):
    rows = "a.jpg,wet,1,2,9,9\na.jpg,dry,,,,\nb.jpg,dry,,,,\nb.jpg,dry,,,,\n"
    source = of(tmp_path, "image,class,x_min,y_min,x_max,y_max\n" + rows)
    images, problems = read(source)
    shown = {name: [(box.box, box.classes) for box in image.boxes] for name, image in images.items()}
    assert shown == {"a": [((1, 2, 9, 9), ("wet",))], "b": [(None, ("dry",))]}
    check_rows(problems, ("t.csv", "line 3"), ("t.csv", "2 times: line 4: none; line 5: none"))


def test_columns_of_repeated_texts_are_left_to_a_person(tmp_path):
    rows = [
        f"{name}.jpg,p{row // 4},{'nm'[row % 2]},{'xyz'[row % 3]}" for row, name in enumerate("abcdefghijkl")
    ]
    table = "image,lesion_id,dx,place\n" + "\n".join(rows)
    source = folder_of(tmp_path / "texts", {"t.csv": table}, [f"{name}.jpg" for name in "abcdefghijkl"])
    images, _ = read(source)
    row = decided(source)["Label columns"]
    assert (images["a"].boxes[0].classes, row.is_open, row.alternatives) == (("n",), True, ("place",))
    named = folder_of(tmp_path / "named", {"t.csv": table.replace("dx", "class")}, ["a.jpg", "b.jpg"])
    row = decided(named)["Label columns"]
    assert (row.value, row.is_open, row.alternatives) == ("class", False, ("place",))


def test_boxes_without_a_class_column_have_one_class(tmp_path):
    table = "image,x,y,w,h,source\na.jpg,2,3,8,6,here\nb.jpg,2,3,8,6,here\n"
    row = decided(of(tmp_path / "open", table))["Label columns"]
    assert (row.value, row.is_open, row.alternatives) == ("source", True, ("-",))
    for number, none in enumerate(("-", "none")):
        source = of(tmp_path / f"{number}", table, label_columns=none)
        images, _ = read(source)
        assert [box.classes for image in images.values() for box in image.boxes] == [("object",)] * 2
        assert "one class" in decided(source)["classes"].evidence
    row = decided(of(tmp_path / "shown", table.replace("source", "animal")))["Label columns"]
    assert (row.value, row.is_open) == ("animal", False)


def test_columns_that_name_folders_tell_equal_names_apart(tmp_path):
    images = [
        f"{site}/{day}/{number}.jpg" for site in ("P", "Q") for day in ("mon", "tue") for number in (1, 2)
    ]
    rows = [",".join(reversed(image.split("/"))) + f",{image.replace('/', ' ')}" for image in images]
    source = folder_of(tmp_path / "two", {"t.csv": "file,day,Site,class\n" + "\n".join(rows)}, images)
    found, problems = read(source)
    assert {name: image.boxes[0].classes for name, image in found.items()} == {
        image.removesuffix(".jpg"): (image.replace("/", " "),) for image in images
    }
    row = decided(source)["folders of images"]
    assert (problems, row.chosen, "8 of 8 rows" in row.evidence) == ([], "Site, day", True)
    source = folder_of(tmp_path / "none", {"t.csv": "file,class\n1.jpg,cat\n"}, images)
    words = " ".join(refusal(lambda: list(source.records())))
    assert "add its folder to the name, got 1.jpg: 4 images, P/mon/1.jpg" in words


def test_identifiers_of_several_files_each_are_refused_with_the_step(tmp_path):
    images = [f"{name}_{colour}.png" for name in ("1a", "2b") for colour in ("red", "green")]
    source = folder_of(tmp_path, {"t.csv": "Id,Target\n1a,16 0\n2b,0\n"}, images)
    assert "Table of images" in detect(open_tree(source.folder))
    words = " ".join(refusal(lambda: list(source.records())))
    assert "keep one file for each" in words
    assert "several files each, by _green.png, _red.png" in words


def test_json_lines_and_spreadsheets(tmp_path):
    lines = '{"file_name": "a.jpg", "objects": {"bbox": [[1, 2, 3, 4], [2, 2, 5, 5]], "categories": ["cat", "dog"]}}\n'
    images, problems = read(
        of(tmp_path, lines + '{"file_name": "b.jpg", "objects": {"bbox": [], "categories": []}}\n', "t.jsonl")
    )
    assert [(box.box, box.classes) for box in images["a"].boxes] == [
        ((1, 2, 4, 6), ("cat",)),
        ((2, 2, 7, 7), ("dog",)),
    ]
    assert (images["b"].boxes, problems) == ((), [])
    damaged = tmp_path / "damaged"
    lay(damaged, {"t.xlsx": "no workbook", "a.jpg": None})
    with refused(str(damaged)) as caught:
        list(make_source("Table of images", folder=str(damaged)).records())
    assert "CSV UTF-8" in caught.value.came


# ------------------------------------------------------------------------------------------- Images in Parquet


def with_images(rows, features, **columns):
    """A Parquet table with a column of images, and with classes as Hugging Face states them."""
    images = [{"bytes": photograph(seed=row), "path": None} for row in rows]
    table = pyarrow.table({"image": images, **columns})
    stated = json.dumps({"info": {"features": features}})
    table = table.replace_schema_metadata({"huggingface": stated})
    return in_memory(lambda stream: parquet.write_table(table, stream, row_group_size=2))


def test_parquet_tables_contain_images_with_named_classes_and_parts(tmp_path):
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "image": {"_type": "Image"}}
    files = {
        f"data/{part}-00000-of-00001.parquet": with_images(range(first, first + 3), features, label=[0, 1, 1])
        for first, part in ((0, "train"), (3, "test"))
    }
    folder = lay(tmp_path / "x", files)
    [(name, recognised)] = detect(open_tree(folder)).items()
    assert name == "Table of images"
    assert "label" in recognised.why
    images, problems = read(make_source(name, folder=str(folder)))
    assert problems == []
    assert [(image.boxes[0].classes, image.test) for image in images.values()] == [
        (label, test) for test in (True, False) for label in (("cat",), ("dog",), ("dog",))
    ]
    built, rows = build_image_set(make_source(name, folder=str(folder)), tmp_path / "set")
    assert (len(built.image_names), [row for row in rows if row.expected.startswith("an image")]) == (6, [])
    for seed in (2, 0, 1):
        image = images[f"train-00000-of-00001.parquet/{seed + 1:06d}"]
        assert image.data.read(10**6) == photograph(seed=seed), "of the second and the first group of rows"


def test_objects_in_parquet_are_boxes_of_width_and_height(tmp_path):
    """An id that is also the number of a row names no image."""
    classes = {"category": {"feature": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "_type": "Sequence"}}
    boxes = [[[1, 2, 3, 4], [2, 2, 5, 5]], [], [[0, 0, 9, 9]]]
    for objects in (
        [{"bbox": box, "category": [place % 2 for place in range(len(box))]} for box in boxes],
        [[{"bbox": one, "category": place % 2} for place, one in enumerate(box)] for box in boxes],
    ):
        feature = {"objects": {"feature": classes, "_type": "Sequence"}}
        table = with_images(range(3), feature, image_id=[3, 1, 2], objects=objects)
        folder = lay(tmp_path / "x", {"train.parquet": table})
        images, problems = read(make_source("Table of images", folder=str(folder)))
        assert problems == []
        assert [[(box.box, box.classes) for box in image.boxes] for image in images.values()] == [
            [((1, 2, 4, 6), ("cat",)), ((2, 2, 7, 7), ("dog",))],
            [],
            [((0, 0, 9, 9), ("cat",))],
        ]
        assert images["000001"].data.read(10**6) == photograph(seed=0)


# ------------------------------------------------------------------------------------------- Further tables and forms


def folder_of(root, tables, images=("a.jpg", "b.jpg", "c.jpg")):
    """A source on a folder with these tables and images."""
    return make_source("Table of images", folder=str(lay(root / "x", {**tables, **dict.fromkeys(images)})))


def test_a_second_table_states_the_split(tmp_path):
    labels = "image,label\na.jpg,cat\nb.jpg,dog\nc.jpg,cat\n"
    for number, table in enumerate(
        (
            "name,split\nb.jpg,train\na.jpg,train\nc,test\n",
            "a,train\nb.jpg,train\nc,test\n",
            "id,is_test\na,0\nb,0\nc,1\n",
            "image_name,is_train\na.jpg,1\nb.jpg,True\nc.jpg,False\n",
        )
    ):
        source = folder_of(
            tmp_path / f"{number}", {"labels.csv": labels, "a_split.csv": table, "z.csv": "u,v\n1,2\n"}
        )
        images, problems = read(source)
        assert [image.test for image in images.values()] == [False, False, True], table
        check_rows(problems, ("z.csv", "u, v"))
        assert "a_split.csv" in decided(source)["split"].evidence


def test_a_second_table_names_the_classes(tmp_path):
    for number, (labels, table) in enumerate(
        (
            ("image,label\na.jpg,1\nb.jpg,0\nc.jpg,1\n", "id,name\n0,cat\n1,dog\n2,bird\n"),
            ("image,class_id\na.jpg,1\nb.jpg,0\nc.jpg,1\n", "class,number\ncat,0\ndog,1\n"),
            ("ImageID,LabelName\na,/m/1\nb,/m/0\nc,/m/1\n", "/m/0,cat\n/m/1,dog\n"),
        )
    ):
        source = folder_of(tmp_path / f"{number}", {"a_classes.csv": table, "labels.csv": labels})
        images, problems = read(source)
        assert [image.boxes[0].classes for image in images.values()] == [("dog",), ("cat",), ("dog",)], table
        assert problems == []
        assert "a_classes.csv" in decided(source)["names of classes"].evidence
    source = folder_of(tmp_path / "both", {"t.csv": "image,class_id,class_name\na.jpg,1,dog\nb.jpg,0,cat\n"})
    assert read(source)[0]["a"].boxes[0].classes == ("dog",)


def test_numbers_that_lost_their_leading_zeros_name_images(tmp_path):
    names = ("0007.jpg", "0012.jpg", "0100.jpg")
    source = folder_of(tmp_path, {"t.csv": "id,name\n7,cat\n12,dog\n100.0,cat\n"}, names)
    images, problems = read(source)
    assert {name: image.boxes[0].classes for name, image in images.items()} == {
        "0007": ("cat",),
        "0012": ("dog",),
        "0100": ("cat",),
    }
    assert problems == []
    assert decided(source)["image names"].chosen == "without leading zeros"
    many = [f"{number:04d}.jpg" for number in range(20)]
    for table, images_of in (("7,cat\n12,dog\n13,cat\n", names), ("1,cat\n2,dog\n3,bird\n", many)):
        with refused(str(tmp_path / "other" / "x")):
            len(folder_of(tmp_path / "other", {"t.csv": f"id,name\n{table}"}, images_of))


def test_flags_and_outlines(tmp_path):
    table = 'image,label,test,polygon\na.jpg,cat,0,"[[1, 9], [5, 2], [3, 4]]"\nb.jpg,dog,1,1 2 7 8 3 9\n'
    source = of(tmp_path, table)
    images, problems = read(source)
    assert [(image.boxes[0].box, image.boxes[0].classes, image.test) for image in images.values()] == [
        ((1, 2, 5, 9), ("cat",), False),
        ((1, 2, 7, 9), ("dog",), True),
    ]
    assert problems == []
    assert "bounding boxes of the points" in decided(source)["box format"].evidence


def test_text_files_are_tables_where_no_other_file_is(tmp_path):
    for number, table in enumerate(
        ("image label\na.jpg cat\nb.jpg dog\n", "a.jpg cat\nb.jpg dog\n", "a.jpg\tcat\nb.jpg\tdog\n")
    ):
        folder = lay(tmp_path / f"{number}", {"t.txt": table, **dict.fromkeys(("a.jpg", "b.jpg"))})
        assert list(detect(open_tree(folder))) == ["Table of images"], table
        images, problems = read(make_source("Table of images", folder=str(folder)))
        assert [image.boxes[0].classes for image in images.values()] == [("cat",), ("dog",)], table
        assert problems == []
    folder = lay(
        tmp_path / "numbers", {"list.txt": "a.jpg 3\nb.jpg 5\n", **dict.fromkeys(("a.jpg", "b.jpg"))}
    )
    assert read(make_source("Table of images", folder=str(folder)))[0]["b"].boxes[0].classes == ("5",)


def test_tables_in_other_encodings(tmp_path):
    for encoding, classes in {
        "cp1252": ("Käfer", "Löwe und Bär"),
        "cp1251": ("собака", "кошка на траве"),
        "cp932": ("テスト写真", "犬と猫の写真"),
        "gbk": ("中国的猫和狗", "一个大的图片"),
    }.items():
        table = f"image,label\na.jpg,{classes[0]}\nb.jpg,{classes[1]}\n".encode(encoding)
        source = of(tmp_path / encoding, table)
        row = decided(source)["encoding of t.csv"]
        assert (row.setting, encoding in (row.value, *row.alternatives)) == ("encoding", True)
        settled = of(tmp_path / encoding, table, encoding=encoding)
        images, problems = read(settled)
        assert [image.boxes[0].classes[0] for image in images.values()] == list(classes), encoding
        assert problems == []
    with refused("encoding", "cp932"):
        len(of(tmp_path / "cp1252", "image,label\na.jpg,Käfer é\n".encode("cp1252"), encoding="cp932"))


# --------------------------------------------------------------------------------- Several tables of the same images


MARKS = "2\nold big wet \n0007.jpg -1  1 -1\n0012.jpg  1 -1 -1\n"


def test_a_count_of_rows_and_a_column_without_a_name(tmp_path):
    for number, text in enumerate((MARKS, MARKS[2:], MARKS.replace("\n", "\r\n"), MARKS.replace("  ", " "))):
        source = folder_of(tmp_path / f"{number}", {"list.txt": text}, ("0007.jpg", "0012.jpg"))
        images, problems = read(source)
        assert [image.boxes[0].classes for image in images.values()] == [("big",), ("old",)], text
        assert problems == []
        rows = decided(source)
        assert "every row has 4 cells" in rows["first column of list.txt"].evidence
        assert ("rows above the header of list.txt" in rows) == text.startswith("2")
    source = of(tmp_path / "trailing", "image,label,year\na.jpg,cat,1950,\nb.jpg,dog,1960,\n")
    images, problems = read(source)
    assert [(image.boxes[0].classes, image.boxes[0].numbers) for image in images.values()] == [
        (("cat",), {"year": 1950}),
        (("dog",), {"year": 1960}),
    ]
    assert problems == []


def test_a_title_above_the_header(tmp_path):
    title = [["My birds"], [], ["a legend", "of two cells"], [], ["", "", "Colours"]]
    rows = [["image", "note", "red", "blue"], ["a", "", "X", ""], ["b", "old", "x", "x"], ["c", "", "", ""]]
    for number, mark in enumerate(",;"):
        text = "\n".join(mark.join(cells) for cells in title + rows)
        source = of(tmp_path / f"{number}", text)
        images, problems = read(source)
        assert [image.boxes[0].classes for image in images.values()] == [("red",), ("red", "blue"), ()]
        assert problems == []
        assert "3 rows" in decided(source)["rows above the header of t.csv"].evidence
        assert "a cross is yes" in decided(source)["marks"].chosen
    # columns of crosses beside a column of few labels, and a column with other letters
    few = "image,class,red,blue\na,,x,\nb,,,x\nc,big,,x\n"
    row = decided(of(tmp_path / "few", few))["Label columns"]
    assert (row.is_open, row.value, row.alternatives) == (True, "class", ("red, blue",))
    letters = "image,breed\na,x\nb,y\nc,x\n"
    assert read(of(tmp_path / "letters", letters))[0]["a"].boxes[0].classes == ("x",)


def test_rounds_of_cross_validation_are_no_split_and_no_labels(tmp_path):
    names = [f"{kind}/{number}.jpg" for kind in ("cat", "dog") for number in range(4)]
    rows = [
        (name, name[:3], f"fold{fold}", "test" if place % 3 == fold else "train", 40)
        for fold in range(3)
        for place, name in enumerate(names)
    ]
    columns = dict(zip(("image", "class", "fold", "grp", "zoom"), zip(*rows, strict=True), strict=True))
    source = folder_of(tmp_path / "labels", {"t.csv": as_text(columns)}, names)
    images, problems = read(source)
    assert [image.boxes[0].classes for image in images.values()] == [("cat",)] * 4 + [("dog",)] * 4
    assert (problems, decided(source)["split"].value) == ([], "random")
    assert "keep the rows of one round" in decided(source)["split by fold, grp"].evidence
    # without labels, the table says only what is in the rounds
    del columns["class"]
    bare = folder_of(tmp_path / "bare", {"folds.csv": as_text(columns)}, names)
    assert list(detect(open_tree(bare.folder))) == ["Class folders"]
    source = make_source("Class folders", folder=bare.folder)
    assert "folds.csv may state a split" in decided(source)["split"].evidence
    # a column for each round
    one = {"image": names, "class": [name[:3] for name in names]}
    one |= {
        f"round {fold}": ["train" if (place + fold) % 3 else "test" for place in range(8)] for fold in (1, 2)
    }
    row = decided(folder_of(tmp_path / "columns", {"t.csv": as_text(one)}, names))["Split column"]
    assert (row.is_open, row.value, row.alternatives) == (True, "round 1", ("round 2",))


def test_equal_names_in_folders_of_parts(tmp_path):
    images = [f"{folder}/{number}.jpg" for folder in ("a. Training Set", "b. Testing Set") for number in "12"]
    tables = {
        "lists/a. Train.csv": "image,class,\n1,x,\n2,y,\n",
        "lists/b. Test.csv": "image,class\n1,y\n2,x\n",
    }
    found, problems = read(folder_of(tmp_path / "parts", tables, images))
    shown = [(image.boxes[0].classes, image.test) for image in found.values()]
    assert shown == [(("x",), False), (("y",), False), (("y",), True), (("x",), True)]
    assert problems == []
    # nothing tells which table is of which folder: no question about tables that cannot be read
    tables = {"p.csv": "image,class\n1,x\n2,y\n", "q.csv": "image,kind,class\n1,s,x\n2,t,y\n"}
    source = folder_of(tmp_path / "none", tables, images)
    words = " ".join(refusal(lambda: list(source.records())))
    assert "add its folder to the name, got 2 times: 1: 2 images" in words


def test_numbers_of_parts_are_the_split_and_other_numbers_no_classes(tmp_path):
    names = [f"{number}.jpg" for number in (11, 12, 13, 14)]
    labels = as_text({"": ["", *names], "a": ["a", -1, 1, 1, -1], "b": ["b", 1, 1, -1, -1]}, " ").split(
        "\n", 1
    )[1]
    people = "11.jpg 2880\n12.jpg 91\n13.jpg 7\n14.jpg 5\n"
    for number, (name, parts, tested) in enumerate(
        (
            ("eval_partition.txt", (0, 0, 1, 2), [False, False, False, True]),
            ("folds.txt", (1, 2, 4, 3), [False, False, True, False]),
            ("split.txt", (1, 0, 0, 0), [True, False, False, False]),
        )
    ):
        lines = "".join(f"{image} {part}\n" for image, part in zip(names, parts, strict=True))
        source = folder_of(
            tmp_path / f"{number}", {"a_people.txt": people, "list.txt": labels.strip(), name: lines}, names
        )
        images, problems = read(source)
        assert [image.test for image in images.values()] == tested, name
        assert [image.boxes[0].classes for image in images.values()] == [("b",), ("a", "b"), ("a",), ()]
        check_rows(problems, ("a_people.txt", "labels of 4 images, 4 of them in list.txt"))
    unclear = "".join(f"{image} {part}\n" for image, part in zip(names, (1, 1, 1, 0), strict=True))
    source = folder_of(tmp_path / "unclear", {"list.txt": labels.strip(), "split.txt": unclear}, names)
    check_rows(read(source)[1], ("split.txt", "the larger one in most rows"))
    table = as_text({"image": names, "label": "abba", "fold": [1, 2, 3, 2]})
    assert [image.test for image in read(folder_of(tmp_path / "f", {"t.csv": table}, names))[0].values()] == [
        False,
        False,
        True,
        False,
    ]
    table = as_text({"image": names, "label": "abba", "split": [1, 1, 1, 0]})
    source = folder_of(tmp_path / "open", {"t.csv": table}, names)
    len(source)
    assert decided(source)["Split column"].is_open


def test_the_table_that_describes_most_images_is_read(tmp_path):
    boxes = "Image Index,Finding Label,Bbox [x,y,w,h]\na.jpg,wet,1,2,5,6\n"
    entries = "Image Index,Finding Labels,Again,Sex,Size[Width,Height],\na.jpg,wet|dry,0,F,9,9,\nb.jpg,none,1,M,9,9,\n"
    entries += "c.jpg,dry,1,M,9,9,\n"
    source = folder_of(tmp_path, {"BBox.csv": boxes, "Entries.csv": entries})
    images, problems = read(source)
    assert [image.boxes[0].classes for image in images.values()] == [("wet", "dry"), ("none",), ("dry",)]
    check_rows(problems, ("BBox.csv", "boxes of 1 image, 1 of them in Entries.csv"))
    rows = decided(source)
    assert (rows["table"].alternatives, rows["table"].is_open) == (("BBox.csv",), False)
    assert rows["Image column"].evidence.startswith("3 of 3 rows")
    assert "Size Width, Size Height" in rows["columns with one value"].evidence
    assert "Sex" in rows["other columns"].evidence
    of_boxes = make_source("Table of images", folder=str(tmp_path / "x"), table="BBox.csv")
    assert read(of_boxes)[0]["a"].boxes[0].box == (1, 2, 6, 8)


def test_labels_in_several_tables_or_columns_are_left_to_a_person(tmp_path):
    tables = {
        "breed.csv": "image,breed\na.jpg,pug\nb.jpg,pug\n",
        "tag.csv": "image,mood,tag\na.jpg,1,sad\nb.jpg,2,glad\n",
    }
    source = folder_of(tmp_path / "tables", tables)
    len(source)
    row = decided(source)["table"]
    assert (row.is_open, {row.value, *row.alternatives}) == (True, set(tables))
    columns = "image,label_name,species,breed\na.jpg,1,cat,tom\nb.jpg,2,dog,pug\nc.jpg,1,dog,tom\n"
    source = folder_of(tmp_path / "columns", {"t.csv": columns})
    images, _ = read(source)
    row = decided(source)["Label columns"]
    assert (images["a"].boxes[0].classes, row.is_open, row.alternatives) == (("cat",), True, ("breed",))
    same = "image,category,category_label\na.jpg,x,1 x\nb.jpg,y,2 y\n"
    source = folder_of(tmp_path / "same", {"t.csv": same})
    len(source)
    assert not decided(source)["Label columns"].is_open


def test_a_submission_is_no_truth(tmp_path):
    images = ("train/a.jpg", "train/b.jpg", "test/1.jpg", "test/2.jpg")
    for number, name in enumerate(("sampleSubmission.csv", "answers.csv")):
        tables = {name: "id,label\n1,0.5\n2,0.5\n", "labels.csv": "id,breed\na,x\nb,y\n"}
        source = folder_of(tmp_path / f"{number}", tables, images)
        read_images, problems = read(source)
        assert sorted(image.boxes[0].classes for image in read_images.values()) == [("x",), ("y",)]
        check_rows(problems, (name, "a form for predictions" if number == 0 else "one number as the label"))
    tables = {"test.csv": "id,label\n1,0\n2,0\n", "train.csv": "id,label\na,1\nb,0\n"}
    read_images, problems = read(folder_of(tmp_path / "same columns", tables, images))
    assert sorted(image.boxes[0].classes for image in read_images.values()) == [("0",), ("1",)]
    check_rows(problems, ("test.csv", "one number as the label"))


def test_points_between_thousands(tmp_path):
    table = "image;price;size\na.jpg;1.250,75;4,25\nb.jpg;9.800;3.5\nc.jpg;1.031.000,00;1\n"
    images, problems = read(of(tmp_path, table))
    assert [image.boxes[0].numbers for image in images.values()] == [
        {"price": 1250.75, "size": 4.25},
        {"price": 9800, "size": 3.5},
        {"price": 1031000, "size": 1},
    ]
    assert problems == []
