"""Tables of images as data frames and spreadsheets write them, and as strangers spoil them."""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pyarrow
import pytest
from brought import build, lay, rows, some_table
from pyarrow import parquet
from zipped import zip_of

from ranking.datasets import make_source, manifest, parquet_program, table_file
from ranking.datasets.detection import detect
from ranking.datasets.table_file import text_table
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


def told(source):
    """The images by name, and the problems but for images that no row is about and for parts that are drawn."""
    records = list(source.records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    quiet = ("images", "parts")
    return images, [item for item in records if isinstance(item, Problem) and item.file not in quiet]


def test_boxes_labels_split_group_and_size(tmp_path):
    image_set, problems = build("Table of images", some_table(tmp_path / "pets"))
    assert problems == []
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog", "tame")
    assert image_set.ids.tolist() == ["a#1", "a#2", "b#1", "c#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.relevance("tame").tolist() == [0, 1, 0, 0]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.groups.tolist() == [0, 0, 0, 1]
    assert image_set.criteria == ()


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_table(tmp_path / "pets")
    packed, problems = build("Table of images", zip_of(folder, tmp_path / "pets.zip", top))
    assert problems == []
    assert packed.key == build("Table of images", folder)[0].key


@pytest.mark.parametrize("kind", ["tsv", "semicolons", "parquet", "tabs in a CSV"])
def test_other_files_of_the_same_table(tmp_path, kind):
    columns = {"image": ["a.jpg", "b.jpg"], "class": ["cat", "dog"], "x": [1, 3], "y": [2, 2.5]}
    columns |= {"w": [10, 7], "h": [5, 6], "year": [1957, 1960]}
    made = {
        "tsv": ("t.tsv", as_text(columns, "\t")),
        "tabs in a CSV": ("t.csv", as_text(columns, "\t")),
        "semicolons": ("t.csv", "\ufeff" + as_text(columns, ";")),
        "parquet": ("t.parquet", as_parquet(columns)),
    }
    name, table = made[kind]
    images, problems = told(of(tmp_path, table, name))
    assert problems == []
    assert [(box.box, box.classes, box.numbers) for image in images.values() for box in image.boxes] == [
        ((1, 2, 11, 7), ("cat",), {"year": 1957}),
        ((3, 2.5, 10, 8.5), ("dog",), {"year": 1960}),
    ]


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


@pytest.mark.parametrize(("names", "cells", "box"), FORMS)
def test_boxes_in_several_conventions(tmp_path, names, cells, box):
    images, problems = told(of(tmp_path, f"image,label,{names}\na.jpg,cat,{cells}\n"))
    assert problems == []
    assert images["a"].boxes[0].box == box
    assert not images["a"].boxes[0].relative


def test_names_with_commas_do_not_part_cells(tmp_path):
    images, problems = told(of(tmp_path, 'image;label;"year, day";size, cm\na.jpg;cat;7;9\n'))
    assert (images["a"].boxes[0].numbers, problems) == ({"year, day": 7, "size, cm": 9}, [])


@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas(tmp_path, mark):
    table = "image;label;xmin;ymin;xmax;ymax;score\na.jpg;a,5;1,5;2;9,25;8;-,5\n".replace(";", mark)
    images, problems = told(of(tmp_path, table))
    (box,) = images["a"].boxes
    assert (box.box, box.classes, box.numbers, problems) == ((1.5, 2, 9.25, 8), ("a,5",), {"score": -0.5}, [])


def test_a_group_that_is_named_for_both_sides_is_told(tmp_path):
    table = "image,label,split,patient\na.jpg,cat,train,p1\nb.jpg,dog,test,p1\nc.jpg,dog,test,p2\n"
    images, problems = told(of(tmp_path, table))
    assert [image.test for image in images.values()] == [False, True, True]
    done = "kept as named; the setting Split can draw"
    assert rows(problems) == [("groups", "a group on one side of the split", "1 group on both: p1", done)]


def test_numbers_apart_by_underscores_are_names(tmp_path):
    files = {"t.csv": "scan,score\n0012_3,1\n0012_4,2\n", "0012_3.jpg": None, "0012_4.jpg": None}
    images, _ = told(make_source("Table of images", folder=str(lay(tmp_path / "x", files))))
    assert [image.boxes[0].numbers for image in images.values()] == [{"score": 1}, {"score": 2}]
    _, problems = told(of(tmp_path / "y", "image,year\na.jpg,19_57\n", number_columns="year"))
    assert "19_57" in problems[0].came


@pytest.mark.parametrize(
    ("names", "cells", "box"),
    [
        ("x,y,w,h", "2,3,8,6", (2, 3, 10, 9)),
        ("cx,cy,w,h", "6,6,8,6", (2, 3, 10, 9)),
        ("x,y,h,w", "2,3,6,8", (2, 3, 10, 9)),
    ],
)
@pytest.mark.parametrize("first", ["width,height,", ""])
def test_the_width_of_the_image_is_not_that_of_the_box(tmp_path, names, cells, box, first):
    last, sizes = ("", ("40,30,", "")) if first else (",height,width", ("", ",30,40"))
    table = f"image,{first}label,{names}{last}\na.jpg,{sizes[0]}cat,{cells}{sizes[1]}\n"
    images, problems = told(of(tmp_path, table))
    assert (images["a"].boxes[0].box, images["a"].size, problems) == (box, (40, 30), [])


def test_shares_of_the_image(tmp_path):
    table = (
        "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded\na,human,cat,1,0.25,0.5,0,1,0\n"
    )
    images, problems = told(of(tmp_path, table))
    assert problems == []
    (box,) = images["a"].boxes
    assert (box.box, box.relative, box.classes, box.numbers) == (
        (0.25, 0, 0.5, 1),
        True,
        ("cat",),
        {"Confidence": 1},
    )


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


def test_a_column_for_each_label(tmp_path):
    images, problems = told(of(tmp_path, "image,sea,sun,year\na.jpg,1,0,5\nb.jpg,0,1,6\n"))
    assert [image.boxes[0].classes for image in images.values()] == [("sea",), ("sun",)]
    assert images["a"].boxes[0].numbers == {"year": 5}
    assert problems == []
    chosen = {"label_columns": "sea, sun"}
    _, problems = told(of(tmp_path, "image,sea,sun\na.jpg,1,0\nb.jpg,2,1\n", **chosen))
    assert rows(problems) == [("t.csv", "labels marked 0 or 1", "line 3: sea: '2'", "row left out")]


def test_rows_about_the_whole_of_one_image_are_one(tmp_path):
    images, problems = told(of(tmp_path, "image,label,year\na.jpg,sea,?\na.jpg,sun,1957\na.jpg,sea,1957\n"))
    (box,) = images["a"].boxes
    assert (box.box, box.classes, box.numbers, problems) == (None, ("sea", "sun"), {"year": 1957}, [])


def test_rows_about_one_image_that_say_different_things_are_told(tmp_path):
    table = "image,label,year,film\na.jpg,sea,1957,f\na.jpg,sun,3,f\na.jpg,sky,,g\na.jpg,sand,1957,f\nb.jpg,sea,1,f\n"
    images, problems = told(of(tmp_path, table, group_column="film"))
    (box,) = images["a"].boxes
    assert (box.classes, box.group, box.numbers) == (("sea", "sand"), "f", {"year": 1957})
    expected = "rows of one image with one group, and one number of a kind"
    came = "2 times: line 3: another year; line 4: another group"
    assert ("t.csv", expected, came, "row left out") in rows(problems)


def test_tables_of_the_parts(tmp_path):
    head = "filename,class,xmin,ymin,xmax,ymax\n"
    files = {f"{part}/_annotations.csv": f"{head}1.jpg,cat,0,0,9,9\n" for part in ("train", "valid", "test")}
    files |= {f"{part}/1.jpg": None for part in ("train", "valid", "test")} | {"notes.csv": "a,b\n1,2\n"}
    image_set, problems = build("Table of images", lay(tmp_path / "x", files))
    assert image_set.image_names.tolist() == ["test/1", "train/1", "valid/1"]
    assert image_set.image_test.tolist() == [True, False, False]
    assert rows(problems) == [
        ("notes.csv", "columns that name images and tell of them", "a, b", "table left out"),
    ]


def test_groups_are_drawn_whole(tmp_path):
    names = [f"{number}.jpg" for number in range(12)]
    table = "image,label,video\n" + "".join(
        f"{name},cat,film {place // 4}\n" for place, name in enumerate(names)
    )
    for seed in range(5):
        folder = lay(tmp_path / "x", {"t.csv": table, **dict.fromkeys(names)})
        images, problems = told(make_source("Table of images", folder=str(folder), seed=seed))
        by_film = [
            {image.test for image in images.values() if image.boxes[0].group == f"film {film}"}
            for film in range(3)
        ]
        assert sorted(map(list, by_film)) == [[False], [False], [True]]
        assert problems == []


def test_one_group_of_all_images_is_drawn_from(tmp_path):
    images, problems = told(of(tmp_path, "image,label,video\na.jpg,cat,f\nb.jpg,cat,f\nc.jpg,dog,f\n"))
    assert sorted(image.test for image in images.values()) == [False, False, True]
    assert problems == [
        Problem(
            "groups",
            "groups enough to draw some for the test",
            "too few",
            "images of one group are drawn for training and for the test",
        )
    ]


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
    images, problems = told(of(tmp_path, table, **chosen))
    assert problems == []
    (box,) = images["b"].boxes
    assert (box.box, box.classes, box.group, box.numbers) == (
        (1, 2, 9, 11),
        ("cat",),
        None,
        {"year, day": 1957},
    )
    assert images["b"].size == (40, 30)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (
            {"label_columns": "colour"},
            "t.csv: expected Columns of the labels: different ones of image, label, year, got colour",
        ),
        ({"label_columns": "label, label"}, "got label, label"),
        ({"box_columns": "label, year"}, "expected Columns of the boxes: 0 or 1 or 4, got 2"),
        ({"image_column": "-"}, "expected Column of the images: 1, got 0"),
        ({"table": "other.csv"}, "expected images and a table of them .* has no such table"),
        (
            {"label_columns": "-", "number_columns": "-"},
            "expected columns that name images and tell of them, got image, label, year",
        ),
    ],
)
def test_a_person_says_what_cannot_be(tmp_path, chosen, message):
    table = "image,label,year\na.jpg,cat,1957\n"
    with pytest.raises(ValueError, match=message):
        len(of(tmp_path, table, **chosen))


BAD_ROWS = [
    ("a.jpg,cat,0,0,9", "7 columns", "line 3: 5"),
    ("gone.jpg,cat,0,0,9,9,train", "an image of that name in the folder or ZIP file", "line 3: gone.jpg: none"),
    (",cat,0,0,9,9,train", "an image of that name in the folder or ZIP file", "line 3: no name: none"),
    (f"{SCRIPT},cat,0,0,9,9,train", "an image of that name in the folder or ZIP file", f"line 3: {SCRIPT}: none"),
    ("/etc/passwd,cat,0,0,9,9,train", "an image of that name in the folder or ZIP file", "line 3: /etc/passwd: none"),
    ("t.csv,cat,0,0,9,9,train", "an image of that name in the folder or ZIP file", "line 3: t.csv: none"),
    ("b.jpg,cat,0,0,9,,train", "four numbers, left, top, right, bottom", "line 3: 0, 0, 9,"),
    ("b.jpg,cat,0,0,9,0x9,train", "four numbers, left, top, right, bottom", "line 3: 0, 0, 9, 0x9"),
    ("b.jpg,cat,,,,,train", "four numbers, left, top, right, bottom", "line 3: none"),
    ("b.jpg,cat,0,0,9,9,later", "split train, val or test", "line 3: later"),
    ("b.jpg,cat,0,0,9,9,", "split train, val or test", "line 3: an empty cell"),
    ("a.jpg,cat,0,0,9,9,test", "rows of one image with one split and one size", "line 3: another for a.jpg"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected", "came"), BAD_ROWS)
def test_a_row_that_cannot_be_used_is_a_row_of_the_report(tmp_path, line, expected, came):
    head = "image,label,xmin,ymin,xmax,ymax,split\na.jpg,cat,0,0,9,9,train\n"
    images, problems = told(of(tmp_path, f"{head}{line}\n"))
    assert [(row.file, row.expected, row.came, row.done) for row in problems] == [
        ("t.csv", expected, came, "row left out")
    ]
    assert len(images["a"].boxes) == 1


@pytest.mark.parametrize(
    ("cells", "expected", "came"),
    [
        ("0,0,nan,9", "a box of finite numbers", "box 2: 0, 0, nan, 9"),
        ("0,0,1e999,9", "a box of finite numbers", "box 2: 0, 0, inf, 9"),
        ("9,0,5,9", "a box with left < right and top < bottom", "box 2: 9, 0, 5, 9"),
        ("50,0,55,9", "a box inside the image, 40 x 30", "box 2: 50, 0, 55, 9, wholly outside"),
    ],
)
def test_boxes_that_the_builder_refuses(tmp_path, cells, expected, came):
    table = f"image,label,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,9,9\na.jpg,cat,{cells}\nb.jpg,dog,1,1,9,9\n"
    folder = lay(tmp_path / "x", {"t.csv": table, "a.jpg": None, "b.jpg": None})
    chosen = {"box_columns": "xmin, ymin, xmax, ymax", "box_form": "left, top, right, bottom"}
    image_set, problems = build("Table of images", folder, **chosen)
    assert image_set.ids.tolist() == ["a#1", "b#1"]
    assert [(row.file, row.expected, row.came) for row in problems if row.file != "parts"] == [
        ("a.jpg", expected, came)
    ]


def test_an_image_without_a_box_is_no_error(tmp_path):
    images, problems = told(of(tmp_path, "image,label,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,9,9\nb.jpg,,,,,\n"))
    assert (images["b"].boxes, problems) == ((), [])


def test_images_that_no_row_is_about_are_counted(tmp_path):
    problems = [
        item for item in of(tmp_path, "image,label\na.jpg,cat\n").records() if isinstance(item, Problem)
    ]
    assert Problem("images", "a row for every image", "2 times: b.jpg; c.jpg", "image left out") in problems


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "expected columns that name images"),
        ("t.csv", "image,label\n", "expected columns that name images"),
        ("t.csv", "image,label\nz.jpg,cat\n", "expected columns that name images"),
        ("t.csv", "image,image\na.jpg,a.jpg\n", "expected different names of columns, got image twice"),
        ("t.csv", b"image,label\n\xff\xfe", "expected text in UTF-8, got byte 12 of another kind"),
        ("t.csv", 'image,label\n"a.jpg,cat', "expected comma-separated values, line 2, got unexpected end of data"),
        ("t.csv", "image,label\n" + "n" * 200_000, "got field larger than field limit"),
        ("t.csv", ",".join(map(str, range(1003))), "expected at most 1,002 columns, got 1,003"),
        ("t.parquet", b"PAR1 and no more", "expected Parquet that can be read, got "),
        ("t.parquet", b"", "expected Parquet that can be read, got "),
        ("t.txt", "image,label\na.jpg,cat", "has no such table"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table(tmp_path, name, content, message):
    with pytest.raises(ValueError, match=message):
        len(of(tmp_path, content, name))
    assert detect(open_tree(tmp_path / "x")) == []


def test_a_table_that_breaks_off_keeps_what_came_before(tmp_path):
    good = "".join(f"{image}.jpg,cat\n" for image in "ab") * 200
    images, problems = told(of(tmp_path, f'image,label\n{good}"c.jpg,cat'))
    assert list(images) == ["a", "b"]
    assert rows(problems) == [
        ("t.csv", "comma-separated values, line 402", "unexpected end of data", "the rest left out")
    ]


def test_of_very_many_tables_only_some_are_looked_into(tmp_path, monkeypatch):
    """Each Parquet file starts a program."""
    read, files = [], {f"{number:03}.parquet": b"" for number in range(60)}
    monkeypatch.setattr(manifest, "MOST_TABLES", 5)
    monkeypatch.setattr(manifest, "read_table", lambda tree, name, _: read.append(name) or text_table(b"x,y"))
    assert detect(open_tree(lay(tmp_path / "x", files | {"1.jpg": None}))) == []
    assert len(read) == 5


def test_a_table_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_TABLE_BYTES", "100")
    with pytest.raises(
        ValueError,
        match=r"expected a table of at most .* MB \(RANKING_INTAKE_TABLE_BYTES\), got a larger file",
    ):
        len(of(tmp_path, "image,label\n" + "a.jpg,cat\n" * 20))


# ------------------------------------------------------------------------------------------------- Parquet


def parquet_of(columns, limits=None, **options):
    return table_file.parquet_table(as_parquet(columns, **options), limits or Limits())


def test_names_of_columns_do_not_decide_what_parts_the_cells_of_parquet():
    table = parquet_of({"image": ["a.jpg", "b.jpg"], "left; top; right": ["1,5", "2"]})
    assert table.header == ("image", "left; top; right")
    assert table.first(2) == [["a.jpg", "1,5"], ["b.jpg", "2"]]


def test_names_of_columns_with_points_do_not_hide_others_of_parquet():
    columns = {
        "image": ["a.jpg"],
        "image.1": ["b"],
        "score.1": [2],
        "score": [1],
        "list": [[1, 2]],
        "list.x": [3],
    }
    table = parquet_of(columns | {"struct": [{"a": 1}], "struct.b": [4]})
    assert table.header == ("image", "image.1", "score.1", "score", "list", "list.x", "struct.b")
    assert table.first(1) == [["a.jpg", "b", "2", "1", "1; 2", "3", "4"]]


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
    images, problems = told(
        of(tmp_path, as_parquet(columns), "t.parquet", number_columns="year, dotted.name")
    )
    assert problems == []
    assert [image.boxes[0].box for image in images.values()] == [(1, 2, 11, 7), (0, 0, 9, 9)]
    assert [image.boxes[0].classes for image in images.values()] == [("cat", "tame"), ()]
    assert images["a"].boxes[0].numbers == {"year": 1957, "dotted.name": 1}
    assert math.isnan(images["b"].boxes[0].numbers["year"])
    assert images["b"].test
    assert parquet_of(columns).header == ("image", "bbox", "labels", "year", "split", "bytes", "dotted.name")


def test_parquet_that_claims_too_much_is_not_expanded(monkeypatch):
    columns = {"image": ["a.jpg"] * 100_000, "label": ["cat"] * 100_000}
    data = as_parquet(columns, use_dictionary=False)
    with pytest.raises(Unusable) as caught:
        table_file.parquet_table(data, Limits(table_bytes=len(data) * 2))
    assert caught.value.expected.startswith("a table of at most")
    monkeypatch.setattr(table_file, "MOST_VALUES", 1000)
    with pytest.raises(Unusable) as caught:
        table_file.parquet_table(data, Limits())
    assert (caught.value.expected, caught.value.came) == ("a table of at most 1,000 values", "300,000")


LONG = ["x" * 200_000]


@pytest.mark.parametrize("column", [LONG * 300, [LONG] * 300])
def test_a_long_text_in_every_row_is_not_copied(column):
    data = as_parquet({"image": column}, dictionary_pagesize_limit=2**24)
    assert len(data) < 2**16  # it is stored once
    with pytest.raises(Unusable) as caught:
        table_file.parquet_table(data, Limits())
    assert (caught.value.expected, caught.value.came) == ("texts of at most 131,072 bytes", "one of 200,000")


def test_many_texts_that_are_stored_once(tmp_path):
    data = as_parquet({"image": ["x" * 100_000] * 300}, dictionary_pagesize_limit=2**24)
    with pytest.raises(Unusable) as caught:
        table_file.parquet_table(data, Limits(table_bytes=2**20))
    assert (caught.value.expected, caught.value.came) == (
        "a table of at most 1 MB (RANKING_INTAKE_TABLE_BYTES)",
        "a larger one",
    )


@pytest.mark.parametrize("ends", ["os.abort()", "time.sleep(9)"])
def test_a_reader_that_does_not_end_well_ends_alone(tmp_path, monkeypatch, ends):
    script = tmp_path / "script.py"
    script.write_text(f"import os, time\n{ends}\n")
    monkeypatch.setattr(table_file.parquet_to_csv, "__file__", str(script))
    monkeypatch.setattr(parquet_program, "SECONDS", 1)
    with pytest.raises(Unusable, match=r"one on which the reader broke off|nothing within 1 seconds"):
        table_file.parquet_table(b"", Limits())


def test_mutated_parquet():
    good, random, read = (
        as_parquet({"image": ["a.jpg", "b.jpg"] * 20, "year": list(range(40))}),
        np.random.default_rng(0),
        0,
    )
    for _ in range(4):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 4)):
            data[place] = random.integers(256)
        with contextlib.suppress(Unusable):
            read += len(table_file.parquet_table(bytes(data), Limits()).first(100)) == 40
    assert read < 4


def test_mutated_csv(tmp_path):
    folder = some_table(tmp_path / "x")
    path = folder / "boxes.csv"
    good, random, built = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(25):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 6)):
            data[place] = random.integers(128)
        path.write_bytes(data)
        with contextlib.suppress(ValueError):
            images, _ = told(make_source("Table of images", folder=str(folder)))
            built += len(images) > 1
    assert built > 5


# ------------------------------------------------------------------------------------------------- detection


def test_recognised_with_its_columns(tmp_path):
    folder = some_table(tmp_path / "x")
    (detected,) = detect(open_tree(folder))
    assert detected.source == "Table of images"
    assert detected.recognised.why == (
        "in boxes.csv, filename names the images, xmin, ymin, xmax, ymax the boxes (left, top, right, bottom, in "
        "pixels), class the labels, clip the group, split the split"
    )
    assert detected.recognised.settings == {
        "image_column": "filename",
        "box_columns": "xmin, ymin, xmax, ymax",
        "label_columns": "class",
        "number_columns": "-",
        "group_column": "clip",
        "split_column": "split",
        "size_columns": "width, height",
    }
    proposed, confirmed = (
        make_source("Table of images", folder=str(folder), **more)
        for more in ({}, detected.recognised.settings)
    )
    assert list(proposed.records()) == list(confirmed.records())


# ------------------------------------------------------------------------------------------------- real data


def test_blood_cells_come_back_identical(real_data, tmp_path):
    place = real_data / "bccd"
    if not place.is_dir():
        pytest.skip(f"no {place}")
    voc = [
        item
        for item in make_source("PASCAL VOC", folder=str(place)).records()
        if isinstance(item, SourceImage)
    ]
    header = ["image", "width", "height", "left", "top", "right", "bottom", "label", "split", "group"]
    columns = {name: [] for name in header}
    for image in voc:
        for box in image.boxes:
            part = "test" if image.test else "train"
            cells = (f"{image.name}.jpg", *image.size, *box.box, ";".join(box.classes), part, image.name)
            for name, cell in zip(header, cells, strict=True):
                columns[name].append(cell)
    for kind, table in {"csv": as_text(columns), "parquet": as_parquet(columns)}.items():
        files = {f"JPEGImages/{file.name}": b"" for file in (place / "JPEGImages").iterdir()}
        folder = lay(tmp_path / kind / "bccd", {f"cells.{kind}": table, **files})
        images, problems = told(make_source("Table of images", folder=str(folder)))
        assert problems == []
        assert len(images) > 300
        for image in voc:
            again = images[image.name]
            assert (again.test, again.size) == (image.test, image.size)
            assert [(box.box, box.classes) for box in again.boxes] == [
                (box.box, box.classes) for box in image.boxes
            ]
            assert {box.group for box in again.boxes} == {image.name}
