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
    some_arff,
    some_corel5k,
    some_csv,
)

from ranking.datasets import build_image_set, make_source
from ranking.datasets.arff import label_names
from ranking.datasets.arff_reader import read_arff
from ranking.datasets.corel5k import read_corel5k
from ranking.types import Problem, SourceImage


def images_and_problems(source):
    records = list(source.records())
    images = [one for one in records if isinstance(one, SourceImage)]
    return images, [one for one in records if isinstance(one, Problem)]


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


HOSTILE = [
    ({"Y_indptr": np.array([0, 5])}, "Y_indptr must have 41 numbers as X_indptr has, got 2"),
    ({"X_indices": np.array([99], np.int32)}, "X_indptr must rise from 0 to 1"),
    ({"X_indices": "negative"}, "X_indices must be from 0 to 5, got -1 to 5"),
    ({"Y_indices": "large"}, "Y_indices must be from 0 to 3, got 0 to 7"),
    ({"Y_indptr": "falling"}, "Y_indptr must rise from 0 to"),
    ({"X_indices": "floats"}, "X_indices must be a row of whole numbers, got float64"),
    ({"n_train": np.array(41)}, "n_train must be from 0 to 40, the number of rows, got 41"),
    ({"n_train": np.array([30])}, r"n_train must be one whole number, got int64 of shape \(1,\)"),
    ({"n_features": np.array(10**9)}, "rows times features, and times labels, may be 200,000,000; got 40 rows"),
    ({"label_names": np.array(["a", "a", "b", "c"])}, "label_names must be different and not empty"),
    ({"label_names": np.array([1, 2, 3, 4])}, r"label_names must be \(L,\) text, got int64"),
    ({"label_names": np.array([{}, "b"], object)}, "label_names: .*object"),
    ({"spare": np.array(1)}, "names in the archive: .*'spare.npy'"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), HOSTILE, ids=lambda value: str(value)[:40])
def test_corel5k_that_lies(tmp_path, changes, message):
    parts = corel5k_parts()
    bad = {
        "negative": lambda part: np.concatenate([[-1], part[1:]]),
        "large": lambda part: np.concatenate([[7], part[1:]]),
        "falling": lambda part: np.concatenate([[0, 9, 3], part[3:]]),
        "floats": lambda part: part.astype(float),
    }
    for name, change in changes.items():
        parts[name] = bad[change](parts[name]) if isinstance(change, str) else change
    file = tmp_path / "corel5k.npz"
    file.write_bytes(as_npz(parts))
    with pytest.raises(ValueError, match=f"corel5k.npz is not Corel5k as NPZ: {message}"):
        len(make_source("Corel5k", file=str(file)))


def test_corel5k_that_is_none(tmp_path):
    file = tmp_path / "corel5k.npz"
    with pytest.raises(ValueError, match=r"type the path of corel5k\.npz"):
        len(make_source("Corel5k"))
    with pytest.raises(ValueError, match=r"no file .*corel5k.npz; expected corel5k\.npz"):
        len(make_source("Corel5k", file=str(file)))
    file.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="archive: "):
        len(make_source("Corel5k", file=str(file)))
    parts = corel5k_parts()
    del parts["n_train"]
    file.write_bytes(as_npz(parts))
    with pytest.raises(ValueError, match="it lacks n_train"):
        len(make_source("Corel5k", file=str(file)))


def test_an_array_that_claims_more_than_it_holds_is_not_made_room_for(tmp_path):
    file = some_corel5k(tmp_path)
    with zipfile.ZipFile(file) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<i4", "fortran_order": False, "shape": (10**11,)})
    contents["X_indices.npy"] = claim.getvalue() + bytes(8)
    with zipfile.ZipFile(file, "w") as archive:
        for one, content in contents.items():
            archive.writestr(one, content)
    with pytest.raises(ValueError, match=r"X_indices: .*400,000,000,000 .*, got 8"):
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
    with pytest.raises(
        ValueError, match=r"no file .*scenes\.xml; expected the \.xml that names the labels; or say"
    ):
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
    with pytest.raises(
        ValueError, match=r"other\.arff must have the attributes of the first file, it has others"
    ):
        len(make_source("ARFF", file=str(file), test_file=str(other)))


def test_what_a_sparse_row_leaves_out_is_the_first_value():
    """As Weka has it: 0, or the first value of a nominal attribute, be it 1."""
    relation = read_arff(
        b"@attribute a {1,0}\n@attribute b {0,1}\n@attribute c real\n@data\n{1 1}\n{}\n{0 0, 2 2.5}", "x"
    )
    assert relation.rows.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 2.5]]


BAD_ROWS = [
    ("1,2", "2 of them"),
    ("1,2,3,1,0,0,1", "another value of an attribute {0,1}"),
    ("1,?,0,0,0,0,0", "a missing value (?)"),
    ("1,nan,0,0,0,0,0", "one that is not finite"),
    ("1e999,0,0,0,0,0,0", "one that is not finite"),
    ("1,two,0,0,0,0,0", "'two'"),
    ("{7 1}", "attribute number 7 of 7, counted from 0"),
    ("{-1 1}", "attribute number -1 of 7, counted from 0"),
    ("{0 1, 0 2}", "attribute number 0 twice"),
    ("{0 1", "a sparse row without its end"),
    ("{0}", "''"),
]


@pytest.mark.parametrize(("row", "came"), BAD_ROWS)
def test_arff_rows_that_cannot_be_used_are_reported(tmp_path, row, came):
    file = some_arff(tmp_path)
    with file.open("a") as stream:
        stream.write(row + "\n")
    images, [problem] = images_and_problems(make_source("ARFF", file=str(file)))
    assert len(images) == 40
    assert problem == Problem("scenes.arff, line 51", "7 numbers", came, "row left out")


BAD_HEADERS = [
    (b"@attribute a numeric\n1,2", "x, line 2: expected @relation, @attribute or @data, got 1,2"),
    (b"@attribute a numeric\n", "x: expected a line @data, none came"),
    (b"@data\n1", "x: expected @attribute lines before @data, got none"),
    (
        b"@attribute a string\n@data\n1",
        "attribute a must be numeric or {0,1}, got string; turn it into such ones",
    ),
    (b"@attribute a {x,y}\n@data\n1", "attribute a must be numeric or {0,1}, got {x,y}"),
    (b"@attribute a {0,0}\n@data\n1", "attribute a must be numeric or {0,1}, got {0,0}"),
    (b"@attribute\n@data\n1", "x, line 1: expected @attribute name type, got @attribute"),
    (
        b"@attribute a numeric\n@data\nx",
        "x: expected rows after @data, none came that can be read; of the first: 'x'",
    ),
    (b"\xff\xfe@", "x: expected text in UTF-8, got byte 0 of another kind"),
]


@pytest.mark.parametrize(("data", "message"), BAD_HEADERS)
def test_arff_whose_header_is_none(data, message):
    with pytest.raises(ValueError, match=message.replace("{", r"\{").replace("(", r"\(")):
        read_arff(data, "x")


def test_arff_with_a_thousand_bad_rows_is_given_up():
    with pytest.raises(ValueError, match="x: more than 1,000 rows cannot be read"):
        read_arff(b"@attribute a numeric\n@data\n" + b"x\n" * 1001, "x")


BOMB = b'<!DOCTYPE labels [<!ENTITY a "aaaa">]><labels><label name="&a;"/></labels>'
BAD_XML = [
    (BOMB, "the .xml cannot be read"),
    (b"<labels>", "the .xml cannot be read"),
    (b"<labels/>", "the .xml must be <labels>"),
    (b'<annotation><label name="a"/></annotation>', "the .xml must be <labels>"),
    (b"<labels><label/></labels>", "the .xml must be <labels>"),
]


@pytest.mark.parametrize(("data", "message"), BAD_XML)
def test_arff_whose_xml_is_none(data, message):
    with pytest.raises(ValueError, match=message):
        label_names(data)


def test_arff_whose_xml_names_others(tmp_path):
    file = some_arff(tmp_path)
    file.with_suffix(".xml").write_text(XML.replace("sea", "lake"))
    with pytest.raises(ValueError, match=r"the \.xml names labels that are no attributes: lake"):
        len(make_source("ARFF", file=str(file)))
    with pytest.raises(ValueError, match="expected labels and features, got 7 labels of 7 attributes"):
        len(make_source("ARFF", file=str(file), last=7))
    with pytest.raises(ValueError, match="labels must be 0 or 1 in every row, other numbers came"):
        len(make_source("ARFF", file=str(file), last=6))
    file.write_text(HEADER.replace("'how blue'", "red") + "0,0,0,1,0,0,1")
    with pytest.raises(
        ValueError, match="every attribute must have a name of its own, these come again: red"
    ):
        len(make_source("ARFF", file=str(file), last=1))


def test_a_number_that_no_feature_holds_leaves_its_row_out(tmp_path):
    file = some_arff(tmp_path)
    with file.open("a") as stream:
        stream.write("1e300,0,0,1,1,1,1\n")
    images, [problem] = build_image_set(make_source("ARFF", file=str(file)), tmp_path / "set")
    assert len(images) == 40
    assert problem.expected == "features that are finite numbers"


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


def test_csv_with_a_column_for_each_label_and_a_split(tmp_path):
    for number in range(3):
        draw(tmp_path / "pictures" / f"{number}.jpg", number)
    file = tmp_path / "labels.csv"
    file.write_text("split,file_name,sea,sun\ntrain,0.jpg,1,0\nVal,1.jpg,0,0\ntest,2,1, 1\n")
    images, problems = images_and_problems(
        make_source("Multi-label CSV", file=str(file), folder=str(tmp_path / "pictures"))
    )
    assert problems == []
    assert [(image.name, image.boxes[0].classes, image.test) for image in images] == [
        ("0.jpg", ("sea",), False),
        ("1.jpg", (), False),
        ("2", ("sea", "sun"), True),
    ]


BAD_LINES = [
    ("0.png,yes,0", "labels marked 0 or 1", "sea: 'yes'"),
    ("0.png,1", "3 columns", "2"),
    (",1,0", "the name of an image", "an empty cell"),
    ("9.png,1,0", "an image of that name in the folder", "no 9.png"),
    ("../secret.png,1,0", "a regular file inside the chosen folder", "../secret.png"),
    ("/etc/passwd,1,0", "a regular file inside the chosen folder", "/etc/passwd"),
    ("link.png,1,0", "a regular file inside the chosen folder", "link.png: a link to nothing or out of it"),
    ("sub,1,0", "a regular file inside the chosen folder", "sub: something else"),
]


@pytest.mark.parametrize(("line", "expected", "came"), BAD_LINES)
def test_csv_lines_that_cannot_be_used_are_reported(tmp_path, line, expected, came):
    folder = tmp_path / "pictures"
    draw(folder / "0.png", 0)
    draw(folder / "1.png", 1)
    draw(tmp_path / "secret.png", 2)
    os.symlink(tmp_path / "secret.png", folder / "link.png")
    (folder / "sub").mkdir()
    images, [problem] = images_and_problems(csv_of(folder, f"image,sea,sun\n1.png,1,1\n{line}\n"))
    assert [image.name for image in images] == ["1.png"]
    assert problem == Problem("labels.csv, line 3", expected, came, "image left out")


def test_csv_whose_split_is_unknown(tmp_path):
    draw(tmp_path / "1.png", 1)
    _, [problem] = images_and_problems(csv_of(tmp_path, "image,split,sea\n1.png,train,1\n1.png,later,1\n"))
    assert (problem.expected, problem.came) == ("split train, val, valid, validation, test", "later")


BAD_FILES = [
    ("image\n1.png", "expected different names of columns, an image and labels"),
    ("image,a,a\n1.png,1,1", "expected different names of columns"),
    ("image,split\n1.png,train", "expected columns of labels, got image, split"),
    ("", "expected different names of columns"),
    ("image,sea\n", "expected a row for each image, 0 came"),
    ('image,sea\n"1.png,1', "expected comma-separated values, line 2"),
    ("image," + ",".join(map(str, range(1002))), "expected at most 1,002 columns, got 1,003"),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES)
def test_csv_that_is_none(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        len(csv_of(tmp_path, text))


def test_csv_without_its_folder(tmp_path):
    file = some_csv(tmp_path)
    source = make_source("Multi-label CSV", file=str(file), folder=str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"no folder .*nowhere; expected the folder of the images"):
        list(source.records())
