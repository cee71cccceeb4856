"""Sets of labelled images from files: what is read, what is refused, what is reported."""

from __future__ import annotations

import io
import os
import zipfile

import numpy as np
import pytest
from label_files import (
    HEADER,
    LABELS,
    XML,
    as_npz,
    corel5k_parts,
    draw,
    drawn_labels,
    images_and_problems,
    some_arff,
    some_corel5k,
    some_csv,
)
from refusals import refusal

from ranking.datasets import build_image_set, make_source
from ranking.datasets.arff import label_names
from ranking.datasets.arff_reader import read_arff
from ranking.datasets.corel5k import read_corel5k
from ranking.types import Problem

# ---------------------------------------------------------------------------------------------- Corel5k


def test_corel5k_rows_features_and_split(tmp_path):
    images, problems = build_image_set(
        make_source("Corel5k", file=str(some_corel5k(tmp_path)), least=1), tmp_path / "set"
    )
    assert problems == []
    assert images.classes == LABELS
    assert (images.labels == drawn_labels()).all()
    assert images.image_features is not None
    assert (images.image_features == (np.random.default_rng(6).random((40, 6)) < 0.5)).all()
    assert images.test.tolist() == [False] * 30 + [True] * 10
    assert images.image_names[:2].tolist() == ["00001", "00002"]


def test_corel5k_itself(real_data):
    file = real_data / "corel5k" / "corel5k.npz"
    if not file.is_file():
        pytest.skip(f"no {file}")
    table = read_corel5k(file.read_bytes())
    assert table.features.shape == (5000, 499)
    assert table.labels.shape == (5000, 374)
    assert (int(table.features.sum()), int(table.labels.sum())) == (41351, 17610)
    assert (~table.test).sum() == 4500
    assert [table.label_names[place] for place in np.flatnonzero(table.labels[0])] == [
        "city",
        "mountain",
        "sky",
        "sun",
    ]
    kept = (table.labels.sum(axis=0) >= 20).sum()
    problem = next(table.records(20))
    assert problem.file == f"{374 - kept} labels"


INT64 = "int64 of shape (1,)"
HOSTILE = [
    ({"Y_indptr": np.array([0, 5])}, "Y_indptr", 2),
    ({"X_indices": np.array([99], np.int32)}, "X_indptr", None),
    ({"X_indices": lambda part: np.concatenate([[-1], part[1:]])}, "X_indices", "-1 to 5"),
    ({"Y_indices": lambda part: np.concatenate([[7], part[1:]])}, "Y_indices", "0 to 7"),
    ({"Y_indptr": lambda part: np.concatenate([[0, 9, 3], part[3:]])}, "Y_indptr", None),
    ({"X_indices": lambda part: part.astype(float)}, "X_indices", None),
    ({"n_train": np.array(41)}, "n_train", 41),
    ({"n_train": np.array([30])}, "n_train", INT64),
    ({"n_features": np.array(10**9)}, "rows times features, and times labels", None),
    ({"label_names": np.array(["a", "a", "b", "c"])}, "label_names", "a, a, b and 1 more"),
    ({"label_names": np.array([1, 2, 3, 4])}, "label_names", "int64 of shape (4,)"),
]


def test_corel5k_that_lies(tmp_path):
    file = tmp_path / "corel5k.npz"
    source = make_source("Corel5k", file=str(file))
    for changes, subject, came in HOSTILE:
        parts = corel5k_parts()
        for name, change in changes.items():
            parts[name] = change(parts[name]) if callable(change) else change
        file.write_bytes(as_npz(parts))
        result = refusal(len, source)
        assert result is not None, subject
        assert result == (f"{file}, {subject}", result[1] if came is None else came)


def test_corel5k_that_is_none(tmp_path):
    """Each is refused by the file's name, or by that of the entry."""
    file = tmp_path / "corel5k.npz"
    with pytest.raises(ValueError, match=r"corel5k\.npz"):
        len(make_source("Corel5k"))
    parts = corel5k_parts()
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<i4", "fortran_order": False, "shape": (10**11,)})
    with zipfile.ZipFile(io.BytesIO(as_npz(parts))) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in (contents | {"X_indices.npy": claim.getvalue() + bytes(8)}).items():
            archive.writestr(name, content)
    for content, name in (
        (None, "corel5k.npz"),
        (b"no zip", "corel5k.npz"),
        (as_npz({key: part for key, part in parts.items() if key != "n_train"}), "n_train"),
        (as_npz(parts | {"spare": np.array(1)}), "spare.npy"),
        (as_npz(parts | {"label_names": np.array([{}, "b"], object)}), "label_names"),
        (packed.getvalue(), "400,000,000,000"),  # bytes that are claimed, and not made room for
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(ValueError, match=name):
            len(make_source("Corel5k", file=str(file)))


# ------------------------------------------------------------------------------------------------- ARFF


def test_arff_dense_and_sparse_rows_say_the_same(tmp_path):
    images, problems = build_image_set(
        make_source("ARFF", file=str(some_arff(tmp_path)), least=1), tmp_path / "set"
    )
    assert problems == []
    assert images.title == "scenes"
    assert images.classes == LABELS
    assert (images.labels == drawn_labels()).all()
    assert images.image_features is not None
    random = np.random.default_rng(7)
    expected = [[*random.random(2).round(3), number % 2] for number in range(40)]
    assert images.image_features == pytest.approx(np.array(expected), abs=1e-6)
    assert images.test.sum() == 16


def test_arff_with_its_labels_at_the_end(tmp_path):
    file = some_arff(tmp_path)
    file.with_suffix(".xml").unlink()
    with pytest.raises(ValueError, match=r"scenes\.xml"):
        len(make_source("ARFF", file=str(file)))
    images, _ = images_and_problems(make_source("ARFF", file=str(file), last=2, least=1))
    assert set().union(*(image.boxes[0].classes for image in images)) == {"sun", "tree"}
    assert len(images[0].features) == 5


def test_arff_with_a_test_file(tmp_path):
    file = some_arff(tmp_path)
    other = tmp_path / "other.arff"
    other.write_text(HEADER + "0,1,0,1,0,0,1\n")
    images, _ = images_and_problems(make_source("ARFF", file=str(file), test_file=str(other)))
    assert [image.test for image in images] == [False] * 40 + [True]
    other.write_text(HEADER.replace("red", "green") + "0,1,0,1,0,0,1\n")
    changed = make_source("ARFF", file=str(file), test_file=str(other))
    assert refusal(len, changed) == ("other.arff", "others")


def test_what_a_sparse_row_leaves_out_is_the_first_value():
    """As in Weka: 0, or the first value of a nominal attribute, even where that is 1."""
    relation = read_arff(
        b"@attribute a {1,0}\n@attribute b {0,1}\n@attribute c real\n@data\n{1 1}\n{}\n{0 0, 2 2.5}", "x"
    )
    assert relation.rows.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 2.5]]


BAD_ROWS = {
    "1,2": "2 of them",
    "1,2,3,1,0,0,1": "another value of an attribute {0,1}",
    "1,?,0,0,0,0,0": "a missing value (?)",
    "1,nan,0,0,0,0,0": "one that is not finite",
    "1e999,0,0,0,0,0,0": "one that is not finite",
    "1,two,0,0,0,0,0": "'two'",
    "{7 1}": "attribute number 7 of 7, counted from 0",
    "{-1 1}": "attribute number -1 of 7, counted from 0",
    "{0 1, 0 2}": "attribute number 0 twice",
    "{0 1": "a sparse row without its end",
    "{0}": "''",
}


def test_arff_rows_that_cannot_be_used_are_reported(tmp_path):
    file = some_arff(tmp_path)
    with file.open("a") as stream:
        stream.write("\n".join([*BAD_ROWS, "1e300,0,0,1,1,1,1"]))
    images, problems = build_image_set(make_source("ARFF", file=str(file)), tmp_path / "set")
    assert len(images) == 40
    assert problems[:-1] == [
        Problem(f"scenes.arff, line {line}", "7 numbers", came, "row left out")
        for line, came in enumerate(BAD_ROWS.values(), 51)
    ]
    assert problems[-1].expected == "features that are finite numbers", "float32 does not hold it"


BAD_HEADERS = {
    b"@attribute a numeric\n1,2": ("x, line 2", "1,2"),
    b"@attribute a numeric\n": ("x", "none"),
    b"@data\n1": ("x", "none"),
    b"@attribute a string\n@data\n1": ("x, line 1", "string"),
    b"@attribute a {x,y}\n@data\n1": ("x, line 1", "{x,y}"),
    b"@attribute a {0,0}\n@data\n1": ("x, line 1", "{0,0}"),
    b"@attribute\n@data\n1": ("x, line 1", "@attribute"),
    b"@attribute a numeric\n@data\nx": ("x", "none that can be read; the first: 'x'"),
    b"\xff\xfe@": ("x", "byte 0 of another kind"),
    b"@attribute a numeric\n@data\n" + b"x\n" * 1001: ("x", "more, the last with 'x'"),
}


def test_arff_whose_header_is_none_or_that_has_a_thousand_bad_rows():
    assert {data: refusal(read_arff, data, "x") for data in BAD_HEADERS} == BAD_HEADERS


BOMB = b'<!DOCTYPE labels [<!ENTITY a "aaaa">]><labels><label name="&a;"/></labels>'


def test_arff_whose_xml_is_none():
    for data in (BOMB, b"<labels>"):
        assert refusal(label_names, data)[0] == "the .xml"
    for data in (b"<labels/>", b'<annotation><label name="a"/></annotation>', b"<labels><label/></labels>"):
        root = data.partition(b">")[0].strip(b"</").decode()
        assert refusal(label_names, data) == ("the .xml", f"<{root}>")


def test_arff_whose_attributes_are_not_labels_and_features(tmp_path):
    file = some_arff(tmp_path)

    def refused_with(**settings):
        return refusal(len, make_source("ARFF", file=str(file), **settings))

    file.with_suffix(".xml").write_text(XML.replace("sea", "lake"))
    assert refused_with() == ("labels of the .xml", "lake")
    assert refused_with(last=7) == ("attributes", "7 labels of 7 attributes")
    assert refused_with(last=6) == ("labels", "other numbers")
    file.write_text(HEADER.replace("'how blue'", "red") + "0,0,0,1,0,0,1")
    assert refused_with(last=1) == ("attributes", "red more than once")


# -------------------------------------------------------------------------------------------------- CSV


def csv_of(folder, text):
    file = folder / "labels.csv"
    file.write_text(text)
    return make_source("Multi-label CSV", file=str(file))


def test_csv_with_a_column_of_labels(tmp_path):
    images, problems = build_image_set(
        make_source("Multi-label CSV", file=str(some_csv(tmp_path))), tmp_path / "set"
    )
    assert problems == []
    assert images.title == "labels"
    assert images.classes == LABELS
    assert (images.labels == drawn_labels(12)).all()
    assert (images.boxes == (0, 0, 30, 20)).all()
    assert images.test.sum() == 5


def test_csv_with_a_column_per_label_and_a_split(tmp_path):
    for number in range(3):
        draw(tmp_path / "pictures" / f"{number}.jpg", number)
    file = tmp_path / "labels.csv"
    file.write_text("split,file_name,sea,sun\ntrain,0.jpg,1,0\nVal,1.jpg,0,0\ntest,2,1, 1\nlater,2,1,1\n")
    images, [problem] = images_and_problems(
        make_source("Multi-label CSV", file=str(file), folder=str(tmp_path / "pictures"))
    )
    assert [(image.name, image.boxes[0].classes, image.test) for image in images] == [
        ("0.jpg", ("sea",), False),
        ("1.jpg", (), False),
        ("2", ("sea", "sun"), True),
    ]
    assert (problem.expected, problem.came) == ("split train, val, valid, validation, test", "later")


INSIDE = "a regular file inside the chosen folder"
BAD_LINES = {
    "0.png,yes,0": ("labels marked 0 or 1", "sea: 'yes'"),
    "0.png,1": ("3 columns", "2"),
    ",1,0": ("the name of an image", "an empty cell"),
    "9.png,1,0": ("an image of that name in the folder", "no 9.png"),
    "../secret.png,1,0": (INSIDE, "../secret.png"),
    "/etc/passwd,1,0": (INSIDE, "/etc/passwd"),
    "link.png,1,0": (INSIDE, "link.png: a link to nothing or out of it"),
    "sub,1,0": (INSIDE, "sub: something else"),
}


def test_csv_lines_that_cannot_be_used_are_reported(tmp_path):
    folder = tmp_path / "pictures"
    draw(folder / "0.png", 0)
    draw(folder / "1.png", 1)
    draw(tmp_path / "secret.png", 2)
    os.symlink(tmp_path / "secret.png", folder / "link.png")
    (folder / "sub").mkdir()
    text = "\n".join(["image,sea,sun", "1.png,1,1", *BAD_LINES])
    images, problems = images_and_problems(csv_of(folder, text))
    assert [image.name for image in images] == ["1.png"]
    assert sorted(problems, key=lambda row: (len(row.file), row.file)) == [
        Problem(f"labels.csv, line {line}", expected, came, "image left out")
        for line, (expected, came) in enumerate(BAD_LINES.values(), 3)
    ]


def test_csv_that_is_none(tmp_path):
    first, columns = "labels.csv, line 1", "image," + ",".join(map(str, range(1002)))
    for text, expected in (
        ("image\n1.png", (first, "('image',)")),
        ("image,a,a\n1.png,1,1", (first, "('image', 'a', 'a')")),
        ("image,split\n1.png,train", (first, "image, split")),
        ("", (first, "()")),
        ("image,sea\n", ("labels.csv", "0 rows that cannot be used")),
        ('image,sea\n"1.png,1', ("labels.csv", "unexpected end of data")),
        (columns, ("labels.csv", "1,003")),
    ):
        assert refusal(len, csv_of(tmp_path, text)) == expected


def test_csv_without_its_folder(tmp_path):
    nowhere = str(tmp_path / "nowhere")
    source = make_source("Multi-label CSV", file=str(some_csv(tmp_path)), folder=nowhere)
    assert refusal(list, source.records()) == (nowhere, "no folder of that name")
