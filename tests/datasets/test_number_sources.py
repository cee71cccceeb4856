"""Sets whose images have numbers, from files: public figures, a CSV of numbers, svmlight with queries."""

from __future__ import annotations

import io
import math
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from label_files import (
    as_mat,
    cell,
    draw,
    pubfig_parts,
    some_numbers_csv,
    some_pubfig,
    some_svmlight,
)
from scipy.io import loadmat, savemat
from test_label_sources import images_and_problems

from ranking.datasets import build_image_set, make_source, mat_file
from ranking.datasets.mat_file import read_mat
from ranking.datasets.svmlight_reader import read_graded
from ranking.types import Problem

# ------------------------------------------------------------------------------------- MATLAB's files


@pytest.mark.parametrize("compress", [True, False])
def test_mat_files_are_read_as_scipy_reads_them(compress):
    random = np.random.default_rng(2)
    told = {
        f"of_{kind}": (random.random((3, 5)) * 9).astype(kind)
        for kind in ("f8", "f4", "i1", "u2", "i4", "u8")
    }
    told |= {
        "whole": np.arange(12.0).reshape(3, 4),
        "large": np.arange(3000.0)[None] * 70000,
        "none": np.zeros((0, 3)),
    }
    told |= {"a_name_of_twenty_five_letters"[:25]: np.ones((1, 1)), "one": np.full((1, 1), 7.5)}
    told |= {"texts": cell(["one", "größer", "", "x" * 255])}
    data = as_mat(told, compress)
    theirs, ours = loadmat(io.BytesIO(data)), read_mat(data, told)
    assert ours.keys() == told.keys()
    for name in told:
        if name == "texts":
            assert ours[name] == ("one", "größer", "", "x" * 255)
        else:
            assert ours[name].tolist() == theirs[name].tolist(), name
            assert ours[name].shape == theirs[name].shape


def test_only_what_is_wanted_is_expanded(monkeypatch):
    data = as_mat({"huge": np.zeros((2000, 2000)), "small": np.ones((2, 2)), "nested": {"a": {"b": 1}}})
    monkeypatch.setattr(mat_file, "MAX_EXPANDED", 10_000)
    assert read_mat(data, ["small", "absent"])["small"].tolist() == [[1, 1], [1, 1]]
    with pytest.raises(
        ValueError, match=r"huge cannot be read: it claims 32,000,0.. bytes, expands to 10,000, may have"
    ):
        read_mat(data, ["huge"])


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(name=b"x", kind=6, flags=0, shape=(1, 2), content=None, shape_kind=5):
    parts = element(6, struct.pack("<II", kind | flags, 0))
    parts += element(shape_kind, struct.pack(f"<{len(shape)}i", *shape)) + element(1, name)
    return element(14, parts + (element(9, bytes(16)) if content is None else content))


HEADER = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
TEXT = matrix(b"", 4, shape=(1, 2), content=element(4, "ab".encode("utf-16-le")))

HOSTILE = [
    (b"", "it is no MATLAB file of level 5; save it again with -v7"),
    (b"\x89HDF\r\n" + bytes(200), r"it is of MATLAB 7\.3, which is not read here; save it again with -v7"),
    (HEADER + bytes(4), "it ends within a tag"),
    (HEADER + struct.pack("<II", 14, 10**9), "an element claims 1,000,000,000 bytes, 0 are left"),
    (HEADER + struct.pack("<II", (9 << 16) | 1, 0), "a short element with more than 4 bytes"),
    (HEADER + element(9, bytes(8)), "expected a matrix, got an element of kind 9"),
    (HEADER + element(14, bytes(0)), "a matrix ends before its content"),
    (HEADER + element(14, element(6, bytes(4)) * 3), "a matrix with 4 bytes of flags, expected 8"),
    (HEADER + struct.pack("<II", 15, 6) + b"broken", "compressed content is damaged"),
    (HEADER + matrix() * 2, "x comes twice"),
    (HEADER + matrix() * 1001, "it has more than 1,000 variables|x comes twice"),
    (HEADER + matrix(kind=3), r"x cannot be read: expected rows and columns .* got an object"),
    (HEADER + matrix(kind=17), "got an object"),
    (HEADER + matrix(kind=5), "got a sparse array"),
    (HEADER + matrix(kind=2), "got a struct"),
    (HEADER + matrix(kind=16), "got a function"),
    (HEADER + matrix(kind=99), "got kind 99"),
    (HEADER + matrix(flags=0x800), "got complex numbers"),
    (HEADER + matrix(shape=(1, 2, 1)), "got 3 dimensions"),
    (HEADER + matrix(shape=(2**31 - 1, 2**31 - 1)), "it claims the shape .* and has 2 numbers"),
    (HEADER + matrix(shape=(-1, -2)), "it claims the shape .* and has 2 numbers"),
    (HEADER + matrix(shape_kind=9, shape=(1, 2)), "a matrix whose shape is of kind 9, expected 5"),
    (HEADER + matrix(content=b""), "and has 0 numbers"),
    (HEADER + matrix(content=element(9, bytes(9))), "9 bytes are no numbers of 8 bytes"),
    (HEADER + matrix(content=element(14, bytes(8))), r"numbers of an unknown kind \(14\)"),
    (HEADER + matrix(kind=1, content=TEXT * 3), r"it claims the shape \(1, 2\), and has 3 texts"),
    (HEADER + matrix(kind=1, shape=(1, 2**30), content=TEXT), "and has 1 texts"),
    (HEADER + matrix(kind=1, content=matrix(kind=1)), "expected a text in each cell, number 1 is something else"),
    (HEADER + matrix(kind=1, content=matrix(b"", 4, content=element(9, bytes(8)))), r"text of an unknown kind \(9\)"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), HOSTILE)
def test_mat_files_that_lie(data, message):
    with pytest.raises(ValueError, match=message):
        read_mat(data, ["x"])


def test_texts_and_tables_of_newer_releases_are_passed_over():
    """They say their name where others say their shape."""
    parts = (
        element(6, struct.pack("<II", 17, 0)),
        element(1, b"x"),
        element(1, b"MCOS"),
        element(1, b"string"),
    )
    newer = element(14, b"".join(parts))
    other = newer.replace(b"x", b"y")
    assert read_mat(HEADER + other + matrix(), ["x"])["x"].size == 2
    with pytest.raises(ValueError, match=r"x cannot be read: expected rows and columns .* got an object"):
        read_mat(HEADER + newer, ["x"])


def test_a_cell_within_cells_without_end_is_not_followed():
    """scipy's reader calls itself for each."""
    inner = TEXT
    for _ in range(2000):
        inner = matrix(b"", 1, shape=(1, 1), content=inner)
    with pytest.raises(ValueError, match="expected a text in each cell"):
        read_mat(HEADER + matrix(kind=1, shape=(1, 1), content=inner), ["x"])


def test_what_expands_a_thousandfold_is_refused(monkeypatch):
    monkeypatch.setattr(mat_file, "MAX_EXPANDED", 2**20)
    plain = matrix(shape=(1, 2**20), content=element(9, bytes(2**23)))
    packed = zlib.compress(plain)
    with pytest.raises(
        ValueError, match=r"x cannot be read: it claims 8,388,\d+ bytes, expands to 1,048,576, may have"
    ):
        read_mat(HEADER + struct.pack("<II", 15, len(packed)) + packed, ["x"])


def test_big_endian_files_are_read():
    parts = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    parts += struct.pack(">HHB3x", 1, 1, ord("x")) + struct.pack(">IIdd", 9, 16, 1.5, -2)
    data = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(parts)) + parts
    assert read_mat(data, ["x"])["x"].tolist() == [[1.5, -2.0]]


# ------------------------------------------------------------------------------------ public figures


def test_public_figures(tmp_path):
    images, problems = build_image_set(
        make_source("Public figures", file=str(some_pubfig(tmp_path))), tmp_path / "set"
    )
    parts = pubfig_parts()
    assert problems == []
    assert images.title == "Public figures"
    assert images.classes == ("Clive Owen", "Zac")
    assert images.criteria == ("Smiling", "Big Lips", "Young")
    people = parts["class_labels"][:, 0].astype(int) - 1
    assert (images.labels.argmax(axis=1) == people).all()
    assert (images.groups == people).all()
    assert (images.numbers == parts["relative_ordering"].T[people]).all()
    assert (images.image_features == parts["feat"].astype(np.float32)).all()
    assert (images.test == (parts["used_for_training"][:, 0] == 0)).all()
    assert images.image_names[3] == "face_3.jpg"


def test_public_figures_themselves(real_data, tmp_path):
    file = real_data / "pubfig" / "pubfig_data.mat"
    if not file.is_file():
        pytest.skip(f"no {file}")
    source = make_source("Public figures", file=str(file))
    told = [image for image in source.records()]
    theirs = loadmat(file)
    assert len(told) == 772
    assert sum(not image.test for image in told) == 241
    assert np.array([image.features for image in told]) == pytest.approx(theirs["feat"], abs=1e-6)
    first = told[0].boxes[0]
    assert (first.classes, first.group) == (("Alex Rodriguez",), "Alex Rodriguez")
    assert len(first.numbers) == 11
    assert (first.numbers["Male"], first.numbers["Visible Forehead"]) == (6, 5)
    # Parikh and Grauman, Table 1: S < M < Z < V < J < A < H < C in masculinity.
    by_person = {image.boxes[0].group: image.boxes[0].numbers["Male"] for image in told}
    assert "".join(name[0] for name in sorted(by_person, key=by_person.get)) == "SMZVJAHC"


def test_people_with_few_images_are_left_out(tmp_path):
    images, problems = images_and_problems(
        make_source("Public figures", file=str(some_pubfig(tmp_path)), least=11)
    )
    assert {image.boxes[0].group for image in images} == {"Clive Owen"}
    assert problems[0] == Problem("face_1.jpg", "at least 11 images of each", "10 of Zac", "image left out")


LIES = [
    ({"feat": None}, "it lacks feat"),
    ({"feat": np.ones((3, 5))}, "feat must be 21 x any number, got 3 x 5"),
    ({"feat": np.ones((21, 0))}, "feat must be 21 x any number, got 21 x 0"),
    ({"feat": np.full((21, 5), np.inf)}, "feat must be finite numbers"),
    ({"feat": cell(["a"])}, "feat must be numbers, got texts"),
    ({"class_labels": np.full((21, 1), 3.0)}, "class_labels must be whole numbers from 1 to 2"),
    ({"class_labels": np.full((21, 1), 1.5)}, "class_labels must be whole numbers from 1 to 2"),
    ({"class_labels": np.ones((1, 21))}, "class_labels must be 21 x 1, got 1 x 21"),
    ({"used_for_training": np.full((21, 1), 2.0)}, "used_for_training must be 0 or 1"),
    ({"relative_ordering": np.ones((2, 3))}, "relative_ordering must be 3 x 2, got 2 x 3"),
    ({"relative_ordering": np.full((3, 2), np.nan)}, "relative_ordering must be finite numbers"),
    ({"class_names": cell(["Zac", "Zac"])}, "class_names must be different and not empty, got Zac, Zac"),
    ({"attribute_names": cell(["a", "", "b"])}, "attribute_names must be different and not empty"),
    ({"im_names": np.ones((1, 21))}, "im_names must be a cell of texts"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), LIES)
def test_public_figures_that_lie(tmp_path, changes, message):
    parts = {name: part for name, part in (pubfig_parts() | changes).items() if part is not None}
    file = tmp_path / "faces.mat"
    file.write_bytes(as_mat(parts))
    with pytest.raises(ValueError, match=rf"faces\.mat is not Relative Attributes: {message}"):
        len(make_source("Public figures", file=str(file)))


def test_a_mat_file_of_another_level(tmp_path):
    file = tmp_path / "old.mat"
    savemat(file, {"feat": np.ones((2, 2))}, format="4")
    with pytest.raises(
        ValueError, match=r"old\.mat is not Relative Attributes: it is no MATLAB file of level 5"
    ):
        len(make_source("Public figures", file=str(file)))


# ----------------------------------------------------------------------------------- CSV of numbers


def numbers_of(folder, text):
    file = folder / "numbers.csv"
    file.write_text(text)
    return make_source("Numbers CSV", file=str(file))


def test_a_csv_of_numbers(tmp_path):
    images, problems = build_image_set(
        make_source("Numbers CSV", file=str(some_numbers_csv(tmp_path))), tmp_path / "set"
    )
    assert problems == []
    assert images.criteria == ("year", "price")
    assert images.classes == ()
    assert images.numbers_of("year").tolist() == list(range(1920, 1932))
    assert np.isnan(images.numbers_of("price")).tolist() == [bool(row % 3) for row in range(12)]
    assert images.test.sum() == 5
    assert images.image_features is None


def test_numbers_that_float32_would_make_equal_stay_apart(tmp_path):
    days = [20261119 + row for row in range(4)]
    for row in range(4):
        draw(tmp_path / f"{row}.png", row)
    text = "image,day\n" + "\n".join(f"{row}.png,{day}" for row, day in enumerate(days))
    images, problems = build_image_set(numbers_of(tmp_path, text), tmp_path / "set")
    assert problems == []
    assert images.numbers_of("day").tolist() == days
    years = text.replace("2026", "")
    assert build_image_set(numbers_of(tmp_path, years), tmp_path / "other")[0].numbers.dtype == np.float32


def test_a_csv_of_numbers_with_groups_and_a_split(tmp_path):
    for number in range(3):
        draw(tmp_path / f"{number}.png", number)
    images, problems = images_and_problems(
        numbers_of(tmp_path, "Group,year,file,split\na,1e3,0.png,train\n,NA,1,test\nb, -2.5 ,2.png,val\n")
    )
    assert problems == []
    told = [(image.name, image.boxes[0].group, image.boxes[0].numbers, image.test) for image in images]
    assert told == [
        ("0.png", "a", {"year": 1000.0}, False),
        ("1", None, {"year": math.nan}, True),
        ("2.png", "b", {"year": -2.5}, False),
    ]


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e999", "new", "1,5", "0x10", "12 km"])
def test_cells_that_are_no_numbers_are_reported(tmp_path, text):
    draw(tmp_path / "0.png", 0)
    _, [problem] = images_and_problems(numbers_of(tmp_path, f'image,year\n0.png,1\n0.png,"{text}"\n'))
    expected = "finite numbers, or ? where unknown"
    assert problem == Problem("numbers.csv, line 3", expected, f"year: '{text}'", "image left out")


BAD_FILES = [
    ("image\n1.png", "line 1: expected different names of columns, an image and numbers, got"),
    ("image,group\n1.png,a", r"numbers\.csv, line 1: expected 1 to 100 columns of numbers, got 0"),
    ("image," + ",".join(map(str, range(101))), "line 1: expected 1 to 100 columns of numbers, got 101"),
    ("image,split\n1.png,train", "expected columns of numbers, got image, split"),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES)
def test_a_csv_without_numbers(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        len(numbers_of(tmp_path, text))


# ----------------------------------------------------------------------------------------- svmlight


def test_svmlight_with_queries(tmp_path):
    file = some_svmlight(tmp_path)
    images, problems = build_image_set(make_source("SVMlight", file=str(file)), tmp_path / "set")
    assert problems == []
    assert images.title == "rank.train"
    assert (images.criteria, images.classes) == (("grade",), ())
    rows = [line.split() for line in file.read_text().splitlines()]
    assert images.numbers_of("grade").tolist() == [float(row[0]) for row in rows]
    queries = [int(row[1].removeprefix("qid:")) - 1 for row in rows]
    assert images.groups.tolist() == queries
    assert images.image_features == pytest.approx(
        np.array([[float(pair.split(":")[1]) for pair in row[2:6]] for row in rows])
    )
    of_test = {query for query, test in zip(queries, images.test, strict=True) if test}
    assert len(of_test) == 2
    assert not of_test & {query for query, test in zip(queries, images.test, strict=True) if not test}


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_svmlight_with_sizes_of_queries_and_a_test_file(tmp_path):
    file = write(tmp_path, "rank.train", "0 0:1\n\n2 3:0.5\n# none\n1 1:2 2:-1\n")
    write(tmp_path, "rank.train.query", "2\n1\n")
    test = write(tmp_path, "rank.test", "1 qid:1 5:7\n")
    images, problems = images_and_problems(make_source("SVMlight", file=file, test_file=test))
    assert problems == []
    assert [(image.name, image.boxes[0].group, image.test) for image in images] == [
        ("train 000001", "train 1", False),
        ("train 000003", "train 1", False),
        ("train 000005", "train 2", False),
        ("test 000001", "test 1", True),
    ]
    assert [image.features for image in images] == [
        (1, 0, 0, 0, 0, 0),
        (0, 0, 0, 0.5, 0, 0),
        (0, 2, -1, 0, 0, 0),
        (0, 0, 0, 0, 0, 7),
    ]


def test_svmlight_as_lightgbm_has_it(real_data):
    from sklearn.datasets import load_svmlight_file

    folder = real_data / "lightgbm_lambdarank"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for name, queries in (("rank.train", 201), ("rank.test", 50)):
        theirs, grades = load_svmlight_file(str(folder / name))
        ours = read_graded((folder / name).read_bytes(), name)
        assert ours.grades.tolist() == grades.tolist()
        assert (ours.dense(ours.width)[:, 1:] == theirs.toarray().astype(np.float32)).all()
        part = make_source("SVMlight", file=str(folder / name))._parts[0]
        sizes = [int(line) for line in (folder / f"{name}.query").read_text().split()]
        assert len(set(part.queries)) == queries
        assert [part.queries.count(str(query)) for query in range(1, queries + 1)] == sizes


BAD_ROWS = [
    ("x qid:1 1:1", "'x' for a number"),
    ("nan qid:1 1:1", "nan, which is not finite"),
    ("1 qid:1 1:1e300", "1e300, which is not finite"),
    ("1 qid:1 1:", "'' for a number"),
    ("1 qid:1 a:1", "feature 'a', expected a number below 100,000"),
    ("1 qid:1 -1:1", "feature '-1', expected a number below 100,000"),
    ("1 qid:1 100000:1", "feature '100000', expected a number below 100,000"),
    ("1 qid:1 2:1 02:1", "feature 2 twice"),
    ("1 qid: 1:1", "a query of 0 characters"),
    (f"1 qid:{'q' * 41} 1:1", "a query of 41 characters"),
]


@pytest.mark.parametrize(("row", "came"), BAD_ROWS)
def test_svmlight_rows_that_cannot_be_used_are_reported(row, came):
    read = read_graded(f"1 qid:1 1:1\n{row}\n2 qid:1 2:1".encode(), "x")
    assert read.grades.tolist() == [1, 2]
    assert read.problems == [Problem("x, line 2", "grade qid:query feature:value ...", came, "row left out")]


BAD_SETS = [
    ("1 qid:1 1:1\n1 1:1", None, "rank: expected qid: in all rows or in none, 1 of 2 have it"),
    ("1 1:1\n1 1:1", None, r"rank\.query"),
    ("1 1:1\n1 1:1", "1", r"rank\.query must count 2 rows, it counts 1"),
    ("1 1:1\n1 1:1", "1\n-1", r"rank\.query must be whole numbers from 1 to 200,000"),
    ("1 1:1\n1 1:1", "0\n2", r"rank\.query must be whole numbers from 1 to 200,000"),
    ("1 1:1\n1 1:1", "9" * 5000, r"rank\.query must be whole numbers from 1 to 200,000"),
    ("1 1:1\nx", "2", r"rank: rows that cannot be read cannot be left out .* rank, line 2: 'x' for a number"),
    ("", None, "rank: expected rows of grades and features, none came that can be read"),
    ("x", None, "none came that can be read; of the first: 'x' for a number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sizes", "message"), BAD_SETS)
def test_svmlight_that_is_none(tmp_path, text, sizes, message):
    file = write(tmp_path, "rank", text)
    if sizes is not None:
        write(tmp_path, "rank.query", sizes)
    with pytest.raises(ValueError, match=message):
        len(make_source("SVMlight", file=file))


def test_millions_of_features_take_little_room():
    line = " ".join(f"{place}:{place}e-3" for place in range(1000, 3000))
    data = "\n".join(f"1 qid:{row} {line}" for row in range(100)).encode()
    tracemalloc.start()
    assert len(read_graded(data, "x").values) == 200_000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most - 2 * len(data) < 200_000 * 30


def test_svmlight_that_is_too_much(monkeypatch):
    with pytest.raises(ValueError, match="x: more than 1,000 rows cannot be read"):
        read_graded(b"x\n" * 1001, "x")
    with pytest.raises(ValueError, match=r"x: expected text in UTF-8, got byte 0 of another kind"):
        read_graded(b"\xff\xff", "x")
    monkeypatch.setattr("ranking.datasets.svmlight_reader.MAX_ROWS", 2)
    with pytest.raises(ValueError, match="x: expected at most 2 rows, more came"):
        read_graded(b"1 1:1\n" * 3, "x")
    monkeypatch.setattr("ranking.datasets.svmlight_reader.MAX_CELLS", 100)
    with pytest.raises(ValueError, match="rows times features may be 100, got 1 rows and 99,999 features"):
        read_graded(b"1 99998:1", "x").dense(99_999)
