"""Sets whose images have numbers, from files: public figures, a CSV of numbers, svmlight with queries."""

from __future__ import annotations

import io
import math
import struct
import zlib

import numpy as np
import pytest
from label_files import (
    as_mat,
    cell,
    draw,
    images_and_problems,
    pubfig_parts,
    some_numbers_csv,
    some_pubfig,
    some_svmlight,
)
from refusals import refusal, refused
from scipy.io import loadmat, savemat

from ranking.datasets import build_image_set, make_source, mat_file
from ranking.datasets.mat_file import FILE, read_mat
from ranking.datasets.svmlight_reader import read_graded
from ranking.types import Problem

# ------------------------------------------------------------------------------------- MATLAB's files


def test_mat_files_are_read_as_scipy_reads_them():
    random = np.random.default_rng(2)
    kinds = ("f8", "f4", "i1", "u2", "i4", "u8")
    given = {f"of_{kind}": (random.random((3, 5)) * 9).astype(kind) for kind in kinds}
    given |= {"whole": np.arange(12.0).reshape(3, 4), "large": np.arange(3000.0)[None] * 70000}
    given |= {
        "none": np.zeros((0, 3)),
        "a_name_of_twenty_five_letter": np.ones((1, 1)),
        "one": np.full((1, 1), 7.5),
    }
    given |= {"texts": cell(["one", "größer", "", "x" * 255])}
    for compress in (True, False):
        data = as_mat(given, compress)
        expected, variables = loadmat(io.BytesIO(data)), read_mat(data, given)
        assert variables.keys() == given.keys()
        assert variables.pop("texts") == ("one", "größer", "", "x" * 255)
        for name, variable in variables.items():
            assert variable.tolist() == expected[name].tolist(), (name, compress)
            assert variable.shape == expected[name].shape, (name, compress)


def test_only_what_is_wanted_is_expanded_and_no_more_than_may_be(monkeypatch):
    data = as_mat({"huge": np.zeros((2000, 2000)), "small": np.ones((2, 2)), "nested": {"a": {"b": 1}}})
    monkeypatch.setattr(mat_file, "MAX_EXPANDED", 10_000)
    assert read_mat(data, ["small", "absent"])["small"].tolist() == [[1, 1], [1, 1]]
    with refused("huge") as caught:
        read_mat(data, ["huge"])
    assert "32,000,0" in caught.value.came
    assert "10,000 expanded" in caught.value.came
    packed = zlib.compress(matrix(shape=(1, 2**20), content=element(9, bytes(2**23))))
    with refused("x") as caught:
        read_mat(HEADER + struct.pack("<II", 15, len(packed)) + packed, ["x"])
    assert "8,388," in caught.value.came


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(name=b"x", kind=6, flags=0, shape=(1, 2), content=None, shape_kind=5):
    parts = element(6, struct.pack("<II", kind | flags, 0))
    parts += element(shape_kind, struct.pack(f"<{len(shape)}i", *shape)) + element(1, name)
    return element(14, parts + (element(9, bytes(16)) if content is None else content))


HEADER = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
TEXT = matrix(b"", 4, shape=(1, 2), content=element(4, "ab".encode("utf-16-le")))
NO_TEXT = "something else in cell 1"

HOSTILE = [
    (b"", FILE, "something else"),
    (b"\x89HDF\r\n" + bytes(200), FILE, "MATLAB 7.3, which is not read here"),
    (HEADER + bytes(4), FILE, 4),
    (HEADER + struct.pack("<II", 14, 10**9), FILE, "one that claims 1,000,000,000"),
    (HEADER + struct.pack("<II", (9 << 16) | 1, 0), FILE, 9),
    (HEADER + element(9, bytes(8)), FILE, "an element of kind 9"),
    (HEADER + element(14, bytes(0)), FILE, "one that ends before it"),
    (HEADER + element(14, element(6, bytes(4)) * 3), FILE, 4),
    (HEADER + struct.pack("<II", 15, 6) + b"broken", FILE, "damaged content"),
    (HEADER + matrix() * 2, "x", "two"),
    (HEADER + matrix(b"y") * 1001, FILE, "more"),
    (HEADER + matrix(kind=3), "x", "an object"),
    (HEADER + matrix(kind=17), "x", "an object"),
    (HEADER + matrix(kind=5), "x", "a sparse array"),
    (HEADER + matrix(kind=2), "x", "a struct"),
    (HEADER + matrix(kind=16), "x", "a function"),
    (HEADER + matrix(kind=99), "x", "kind 99"),
    (HEADER + matrix(flags=0x800), "x", "complex numbers"),
    (HEADER + matrix(shape=(1, 2, 1)), "x", "3 dimensions"),
    (HEADER + matrix(shape=(2**31 - 1, 2**31 - 1)), "x", "2 numbers"),
    (HEADER + matrix(shape=(-1, -2)), "x", "2 numbers"),
    (HEADER + matrix(shape_kind=9, shape=(1, 2)), FILE, "kind 9"),
    (HEADER + matrix(content=b""), "x", "0 numbers"),
    (HEADER + matrix(content=element(9, bytes(9))), "x", "9 bytes"),
    (HEADER + matrix(content=element(14, bytes(8))), "x", "kind 14"),
    (HEADER + matrix(kind=1, content=TEXT * 3), "x", "3 texts"),
    (HEADER + matrix(kind=1, shape=(1, 2**30), content=TEXT), "x", "1 texts"),
    (HEADER + matrix(kind=1, content=matrix(kind=1)), "x", NO_TEXT),
    (HEADER + matrix(kind=1, content=matrix(b"", 4, content=element(9, bytes(8)))), "x", "kind 9"),
]


def test_mat_files_that_lie():
    for number, (data, subject, came) in enumerate(HOSTILE):
        result = refusal(read_mat, data, ["x"])
        assert result is not None, number
        assert (result[0], str(result[1]).partition(" (")[0]) == (subject, str(came)), number


def test_texts_and_tables_of_newer_releases_are_passed_over():
    """They give their name where others give their shape."""
    names = (element(1, b"x"), element(1, b"MCOS"), element(1, b"string"))
    newer = element(14, element(6, struct.pack("<II", 17, 0)) + b"".join(names))
    assert read_mat(HEADER + newer.replace(b"x", b"y") + matrix(), ["x"])["x"].size == 2
    with refused("x", "an object"):
        read_mat(HEADER + newer, ["x"])


def test_a_cell_within_cells_without_end_is_not_followed():
    """scipy's reader calls itself for each."""
    inner = TEXT
    for _ in range(2000):
        inner = matrix(b"", 1, shape=(1, 1), content=inner)
    with refused("x", NO_TEXT):
        read_mat(HEADER + matrix(kind=1, shape=(1, 1), content=inner), ["x"])


def test_big_endian_files_are_read():
    parts = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    parts += struct.pack(">HHB3x", 1, 1, ord("x")) + struct.pack(">IIdd", 9, 16, 1.5, -2)
    data = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(parts)) + parts
    assert read_mat(data, ["x"])["x"].tolist() == [[1.5, -2.0]]


# ------------------------------------------------------------------------------------ public figures


def test_public_figures(tmp_path):
    file = str(some_pubfig(tmp_path))
    images, problems = build_image_set(make_source("Public figures", file=file), tmp_path / "set")
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
    records, problems = images_and_problems(make_source("Public figures", file=file, least=11))
    assert {image.boxes[0].group for image in records} == {"Clive Owen"}
    assert (problems[0].file, problems[0].came) == ("face_1.jpg", "10 of Zac")


def test_the_released_public_figures(real_data):
    file = real_data / "pubfig" / "pubfig_data.mat"
    if not file.is_file():
        pytest.skip(f"no {file}")
    table = make_source("Public figures", file=str(file))._table
    assert table.features.shape == (772, 542)
    assert table.features.sum(dtype=float) == pytest.approx(17741.5078, abs=1e-3)
    assert (~table.test).sum() == 241
    assert len(table.attribute_names) == 11
    first = dict(zip(table.attribute_names, table.order[:, table.person[0]], strict=True))
    assert table.class_names[table.person[0]] == "Alex Rodriguez"
    assert (first["Male"], first["Visible Forehead"]) == (6, 5)
    # Parikh and Grauman, Table 1: S < M < Z < V < J < A < H < C in masculinity.
    order = np.argsort(table.order[table.attribute_names.index("Male")])
    assert "".join(table.class_names[person][0] for person in order) == "SMZVJAHC"


LIES = [
    ({"feat": None}, "variables", "none called feat"),
    ({"feat": np.ones((3, 5))}, "feat", "3 x 5"),
    ({"feat": np.ones((21, 0))}, "feat", "21 x 0"),
    ({"feat": np.full((21, 5), np.inf)}, "feat", "NaN or infinity"),
    ({"feat": cell(["a"])}, "feat", "texts"),
    ({"class_labels": np.full((21, 1), 3.0)}, "class_labels", "other numbers"),
    ({"class_labels": np.full((21, 1), 1.5)}, "class_labels", "other numbers"),
    ({"class_labels": np.ones((1, 21))}, "class_labels", "1 x 21"),
    ({"used_for_training": np.full((21, 1), 2.0)}, "used_for_training", "other numbers"),
    ({"relative_ordering": np.ones((2, 3))}, "relative_ordering", "2 x 3"),
    ({"relative_ordering": np.full((3, 2), np.nan)}, "relative_ordering", "NaN or infinity"),
    ({"class_names": cell(["Zac", "Zac"])}, "class_names", "Zac, Zac"),
    ({"attribute_names": cell(["a", "", "b"])}, "attribute_names", "a, , b"),
    ({"im_names": np.ones((1, 21))}, "im_names", "something else"),
]


def test_public_figures_that_lie(tmp_path):
    file = tmp_path / "faces.mat"
    source = make_source("Public figures", file=str(file))
    for changes, subject, came in LIES:
        parts = {name: part for name, part in (pubfig_parts() | changes).items() if part is not None}
        file.write_bytes(as_mat(parts))
        assert refusal(len, source) == (f"{file}, {subject}", came), changes
    savemat(file, {"feat": np.ones((2, 2))}, format="4")
    assert refusal(len, source) == (f"{file}, {FILE}", "something else")


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


def test_numbers_that_float32_would_make_equal_stay_different(tmp_path):
    days = [20261119 + row for row in range(4)]
    for row in range(4):
        draw(tmp_path / f"{row}.png", row)
    text = "image,day\n" + "\n".join(f"{row}.png,{day}" for row, day in enumerate(days))
    images, problems = build_image_set(numbers_of(tmp_path, text), tmp_path / "set")
    assert problems == []
    assert images.numbers_of("day").tolist() == days
    years = text.replace("2026", "")
    assert build_image_set(numbers_of(tmp_path, years), tmp_path / "other")[0].numbers.dtype == np.float32


def test_a_csv_of_numbers_with_groups_and_a_split_and_cells_that_are_no_numbers(tmp_path):
    for number in range(3):
        draw(tmp_path / f"{number}.png", number)
    bad = ["inf", "-Infinity", "1e999", "new", "1,5", "0x10", "12 km"]
    lines = ["Group,year,file,split", "a,1e3,0.png,train", ",NA,1,test", "b, -2.5 ,2.png,val"]
    lines += [f'a,"{text}",0.png,train' for text in bad]
    images, problems = images_and_problems(numbers_of(tmp_path, "\n".join(lines)))
    assert [(image.name, image.boxes[0].group, image.boxes[0].numbers, image.test) for image in images] == [
        ("0.png", "a", {"year": 1000.0}, False),
        ("1", None, {"year": math.nan}, True),
        ("2.png", "b", {"year": -2.5}, False),
    ]
    assert problems == [
        Problem(
            f"numbers.csv, line {line}",
            "finite numbers, or ? where unknown",
            f"year: '{text}'",
            "image left out",
        )
        for line, text in enumerate(bad, 5)
    ]


def test_a_csv_without_numbers_or_with_too_many(tmp_path):
    for text, came in (("image,group\n1.png,a", 0), ("image," + ",".join(map(str, range(101))), 101)):
        assert refusal(len, numbers_of(tmp_path, text)) == ("numbers.csv, line 1", came)


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
    assert [(image.name, image.boxes[0].group, image.test, image.features) for image in images] == [
        ("train 000001", "train 1", False, (1, 0, 0, 0, 0, 0)),
        ("train 000003", "train 1", False, (0, 0, 0, 0.5, 0, 0)),
        ("train 000005", "train 2", False, (0, 2, -1, 0, 0, 0)),
        ("test 000001", "test 1", True, (0, 0, 0, 0, 0, 7)),
    ]


def test_svmlight_as_lightgbm_has_it(real_data):
    from sklearn.datasets import load_svmlight_file

    folder = real_data / "lightgbm_lambdarank"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    (part,) = make_source("SVMlight", file=str(folder / "rank.test"))._parts
    features, grades = load_svmlight_file(str(folder / "rank.test"))
    assert part.rows.grades.tolist() == grades.tolist()
    assert (part.rows.dense(part.rows.width)[:, 1:] == features.toarray().astype(np.float32)).all()
    sizes = [int(line) for line in (folder / "rank.test.query").read_text().split()]
    assert [part.queries.count(str(query)) for query in range(1, 51)] == sizes
    assert len(set(part.queries)) == 50


def test_svmlight_rows_that_cannot_be_used_are_reported():
    rows = {
        "x qid:1 1:1": "'x' for a number",
        "nan qid:1 1:1": "nan, which is not finite",
        "1 qid:1 1:1e300": "1e300, which is not finite",
        "1 qid:1 1:": "'' for a number",
        "1 qid:1 a:1": "feature 'a', expected a number below 100,000",
        "1 qid:1 -1:1": "feature '-1', expected a number below 100,000",
        "1 qid:1 100000:1": "feature '100000', expected a number below 100,000",
        "1 qid:1 2:1 02:1": "feature 2 twice",
        "1 qid: 1:1": "a query of 0 characters",
        f"1 qid:{'q' * 41} 1:1": "a query of 41 characters",
    }
    graded = read_graded("\n".join(["1 qid:1 1:1", *rows, "2 qid:1 2:1"]).encode(), "x")
    assert graded.grades.tolist() == [1, 2]
    assert graded.problems == [
        Problem(f"x, line {line}", "grade qid:query feature:value ...", came, "row left out")
        for line, came in enumerate(rows.values(), 2)
    ]


BAD_SETS = [
    ("1 qid:1 1:1\n1 1:1", None, "rank", "1 of 2 rows with it"),
    ("1 1:1\n1 1:1", "1", "rank.query", 1),
    ("1 1:1\n1 1:1", "1\n-1", "rank.query", "something else"),
    ("1 1:1\n1 1:1", "0\n2", "rank.query", "something else"),
    ("1 1:1\n1 1:1", "9" * 5000, "rank.query", "something else"),
    ("1 1:1\nx", "2", "rank, line 2", "'x' for a number"),
    ("", None, "rank", "none"),
    ("x", None, "rank", "none that can be read; the first: 'x' for a number"),
]


def test_svmlight_that_is_none(tmp_path):
    file = write(tmp_path, "rank", "1 1:1\n1 1:1")
    with pytest.raises(ValueError, match=r"rank\.query"):
        len(make_source("SVMlight", file=file))
    for text, sizes, subject, came in BAD_SETS:
        write(tmp_path, "rank", text)
        if sizes is not None:
            write(tmp_path, "rank.query", sizes)
        assert refusal(len, make_source("SVMlight", file=file)) == (subject, came)


def test_svmlight_that_is_too_much(monkeypatch):
    assert refusal(read_graded, b"x\n" * 1001, "x") == ("x", "more, the last with 'x' for a number")
    assert refusal(read_graded, b"\xff\xff", "x") == ("x", "byte 0 of another kind")
    monkeypatch.setattr("ranking.datasets.svmlight_reader.MAX_ROWS", 2)
    assert refusal(read_graded, b"1 1:1\n" * 3, "x") == ("x", "more")
    monkeypatch.setattr("ranking.datasets.svmlight_reader.MAX_CELLS", 100)
    with refused("rows times features", "1 rows and 99,999 features"):
        read_graded(b"1 99998:1", "x").dense(99_999)
