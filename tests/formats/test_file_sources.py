"""Sets from one file: Corel5k, public figures, svmlight with queries."""

from __future__ import annotations

import gzip
import io
import os
import shutil

import numpy as np
import pytest
from example_corel5k import LABELS, corel5k, random_features, random_labels
from example_files import FILES
from example_public_figures import as_mat, pubfig_parts
from import_folders import images_and_problems, lay
from refusals import refusal, refused

from ranking.datasets import build_image_set, make_source
from ranking.features.opened import open_image_set
from ranking.files import Limits
from ranking.formats.corel5k import read_corel5k
from ranking.formats.import_preview import preview_import
from ranking.formats.svmlight import EXTRACT, read_graded


def built(tmp_path, source, file=None, **settings):
    """The set from a file that has nothing wrong, the small good one where none is given."""
    file = str(file or FILES[source](tmp_path))
    images, problems = build_image_set(make_source(source, file=file, **settings), tmp_path / "set")
    assert problems == []
    return images


def read_files(source, place, files, **settings):
    """The images and problems of a source whose file is the first of these."""
    file = lay(place, files) / next(iter(files))
    return images_and_problems(make_source(source, file=str(file), **settings))


# ------------------------------------------------------------------------------------------ Good files


def test_a_corel5k_file_is_imported_with_labels_features_and_split(tmp_path):
    images = built(tmp_path, "Corel5k", least=1)
    assert images.classes == LABELS
    assert (images.labels == random_labels()).all()
    assert (images.image_features == random_features()).all()
    assert images.test.tolist() == [False] * 30 + [True] * 10
    assert images.image_names[:2].tolist() == ["00001", "00002"]


def test_the_released_corel5k_has_its_published_sizes(real_data):
    file = real_data / "corel5k" / "corel5k.npz"
    if not file.is_file():
        pytest.skip(f"no {file}")
    table = read_corel5k(file.read_bytes())
    assert (table.features.shape, table.labels.shape) == ((5000, 499), (5000, 374))
    assert (int(table.features.sum()), int(table.labels.sum())) == (41351, 17610)
    assert (~table.test).sum() == 4500
    first = [table.label_names[place] for place in np.flatnonzero(table.labels[0])]
    assert first == ["city", "mountain", "sky", "sun"]
    kept = (table.labels.sum(axis=0) >= 20).sum()
    assert next(make_source("Corel5k", file=str(file)).records()).file == f"{374 - kept} labels"


def test_public_figures_are_imported_with_people_as_classes_and_groups(tmp_path):
    file, parts = FILES["Public figures"](tmp_path), pubfig_parts()
    images = built(tmp_path, "Public figures", file)
    assert (images.title, images.classes) == ("Public figures", ("Clive Owen", "Zac"))
    assert images.criteria == ("Smiling", "Big Lips", "Young")
    people = parts["class_labels"][:, 0].astype(int) - 1
    assert (images.labels.argmax(axis=1) == people).all()
    assert (images.groups == people).all()
    assert (images.numbers == parts["relative_ordering"].T[people]).all()
    assert (images.image_features == parts["feat"].astype(np.float32)).all()
    assert (images.test == (parts["used_for_training"][:, 0] == 0)).all()
    assert images.image_names[3] == "face_3.jpg"
    records, problems = images_and_problems(make_source("Public figures", file=str(file), least=11))
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
    # Parikh and Grauman, Table 1: S < M < Z < V < J < A < H < C in masculinity.
    order = np.argsort(table.order[table.attribute_names.index("Male")])
    assert "".join(table.class_names[person][0] for person in order) == "SMZVJAHC"


def test_svmlight_with_queries(tmp_path):
    file = FILES["SVMlight"](tmp_path)
    images = built(tmp_path, "SVMlight", file)
    assert (images.title, images.criteria, images.classes) == ("rank.train", ("grade",), ())
    rows = [line.split() for line in file.read_text().splitlines()]
    assert images.numbers_of("grade").tolist() == [float(row[0]) for row in rows]
    queries = np.array([int(row[1].removeprefix("qid:")) - 1 for row in rows])
    assert (images.groups == queries).all()
    features = [[float(pair.split(":")[1]) for pair in row[2:6]] for row in rows]
    assert images.image_features == pytest.approx(np.array(features))
    of_test = set(queries[images.test].tolist())
    assert len(of_test) == 2
    assert not of_test & set(queries[~images.test].tolist())


def test_svmlight_with_sizes_of_queries_and_a_test_file(tmp_path):
    files = {"rank.train": "0 0:1\n\n2 3:0.5\n# none\n1 1:2 2:-1\n", "rank.train.query": "2\n1\n"}
    test = str(lay(tmp_path, {"rank.test": "1 qid:1 5:7\n"}) / "rank.test")
    images, problems = read_files("SVMlight", tmp_path, files, test_file=test)
    assert problems == []
    assert [(image.name, image.boxes[0].group, image.test, image.features) for image in images] == [
        ("train 000001", "train 1", False, (1, 0, 0, 0, 0, 0)),
        ("train 000003", "train 1", False, (0, 0, 0, 0.5, 0, 0)),
        ("train 000005", "train 2", False, (0, 2, -1, 0, 0, 0)),
        ("test 000001", "test 1", True, (0, 0, 0, 0, 0, 7)),
    ]


def decided(source):
    return {decision.about: (decision.chosen, decision.evidence) for decision in source.decisions()}


def test_svmlight_in_the_forms_of_its_publishers(tmp_path):
    """Compressed, names of queries, features in any order, values that are missing, grades of any kind, comments."""
    rows = b"""-1 qid:AP-7 2:4\t1:NULL 3:1 # docid = GX000 inc = 1
0.5\tqid:AP-7 1:3 2:NULL 3:2

# nothing
2 qid:B 1:7 2:null 3:3
1 qid:AP-7 1:-2 2:5 3:nan
"""
    (tmp_path / "train.txt.gz").write_bytes(gzip.compress(rows))
    source = make_source("SVMlight", file=str(tmp_path / "train.txt.gz"))
    images, problems = images_and_problems(source)
    [row] = problems
    assert row.came == "4 times NULL or NaN"
    assert [(image.boxes[0].group, dict(image.boxes[0].numbers), image.features) for image in images] == [
        ("AP-7", {"grade": -1}, (-2, 4, 1)),
        ("AP-7", {"grade": 0.5}, (3, 4, 2)),
        # no row of the query has it
        ("B", {"grade": 2}, (7, 0, 3)),
        ("AP-7", {"grade": 1}, (-2, 5, 1)),
    ]
    decisions = decided(source)
    assert decisions["queries"] == ("2 queries", "qid: in 4 rows")
    assert decisions["first feature"][0] == "number 1"
    assert decisions["grades"] == ("-1 to 2", "4 different in 4 rows")
    assert "least value" in decisions["missing values"][0]
    assert decisions["missing values"][1] == "train.txt.gz: 4 times NULL or NaN"


@pytest.mark.parametrize("mark", ["1.7976931348623157E308", "-1.79769313486232e+308", "3.4028235E38"])
def test_svmlight_files_of_a_folder_are_train_validation_and_test(tmp_path, mark):
    row = "{} qid:{} 1:{} 2:NULL #docid = GX000\n"
    files = {"train.txt": row.format(1, 1, 5) + row.format(0, 1, mark), "Vali.txt": row.format(2, 1, 3)}
    folder = lay(tmp_path / "x", {f"Fold1/{name}": rows for name, rows in files.items()})
    (folder / "Fold1/test.txt.gz").write_bytes(gzip.compress(row.format(0, 1, 7).encode()))
    opened = open_image_set(folder)
    assert opened.images.image_names.tolist() == [
        "train 000001",
        "train 000002",
        "validation 000001",
        "test 000001",
    ]
    assert opened.images.image_test.tolist() == [False, False, False, True]
    assert opened.images.image_features[:, 0].tolist() == [5, 5, 3, 7]
    decisions = {row.about: row for row in opened.reading.decisions}
    assert decisions["validation rows"].evidence == "1 row of Vali.txt"
    assert opened.problems[0].came == "2 times NULL or NaN and 1 times the largest number"
    (folder / "Fold1/test.txt.gz").unlink()
    assert open_image_set(folder).images.image_test.tolist() == [False, False, True]


def test_several_folders_of_svmlight_files_are_refused_with_their_names(tmp_path):
    row = "1 qid:1 1:1\n2 qid:1 1:2\n3 qid:2 1:2\n1 qid:2 1:5\n"
    folder = lay(
        tmp_path / "x",
        {f"web/Fold{fold}/{part}.txt": row for fold in (1, 2) for part in ("train", "vali", "test")},
    )
    for source in (None, "SVMlight"):
        with refused(str(folder)) as caught:
            open_image_set(folder, source=source)
        step = "web/Fold1, web/Fold2; give the path of one of them"
        assert caught.value.remedy == f"2 folders of graded samples: {step}"
    problems = open_image_set(folder / "web/Fold2/train.txt", source="SVMlight").problems
    assert [(row.file, row.done.split()[4]) for row in problems] == [
        ("test.txt", "test_file"),
        ("vali.txt", "validation_file"),
    ]


def test_every_other_file_of_a_folder_of_svmlight_is_reported(tmp_path):
    """The first rows of a file may lack features; a file without any is no file of features."""
    judged = "# grade\n4\tqid:1 #\t7555\n1\tqid:2 #\t7\n"
    files = {
        "a.txt": judged,
        "train.txt": judged + "3\tqid:1\t1:5 # 7555\n1\tqid:1\t1:2\n",
        "c.txt": "1 qid:3 1:1\n",
        "notes.md": "?",
    }
    opened = open_image_set(lay(tmp_path / "x", files))
    assert len(opened.images) == 4
    rows = {row.file: (row.came, row.done) for row in opened.problems}
    assert rows["a.txt"] == ("grades and queries without features", "not read")
    assert rows["c.txt"][1] == "not read; the setting file with its path reads it"
    [row] = [row for row in opened.reading.decisions if row.about == "other files"]
    assert row.evidence == "in the same folder: a.txt, c.txt, notes.md"


@pytest.mark.parametrize("ending", ["zip", "gztar"])
def test_an_archive_of_svmlight_files_is_refused_with_the_step(tmp_path, ending):
    folder = lay(tmp_path / "x", {"Fold1/train.txt": "1 qid:1 1:1\n" * 9})
    archive = shutil.make_archive(str(tmp_path / "x"), ending, folder)
    for source in (None, "SVMlight"):
        with refused(archive) as caught:
            open_image_set(archive, source=source)
        assert caught.value.remedy.endswith(EXTRACT)
    assert preview_import(archive, None, {}).refused.endswith(EXTRACT)


@pytest.mark.parametrize("beside", ["a.train.query", "a.train.group", "a.group", "a.query"])
def test_svmlight_with_a_file_of_queries_by_each_usual_name(tmp_path, beside):
    for content, groups in (("2\n1\n", ["1", "1", "2"]), ("7\nx\n7\n", ["7", "x", "7"])):
        lay(tmp_path, {"a.train": "1 0:1\n0 0:2\n1 0:3\n", beside: content})
        source = make_source("SVMlight", file=str(tmp_path / "a.train"))
        images, _ = images_and_problems(source)
        assert [image.boxes[0].group for image in images] == groups
        decisions = decided(source)
        assert beside in decisions["queries"][1]
        assert decisions["first feature"] == ("number 0", "a row has feature 0")


def test_svmlight_without_queries_is_refused_with_the_two_ways_to_name_them(tmp_path):
    file = lay(tmp_path, {"train.txt": "1 1:1\n"}) / "train.txt"
    with refused("train.txt") as caught:
        len(make_source("SVMlight", file=str(file)))
    assert "qid:QUERY" in caught.value.remedy
    assert "train.txt.query" in caught.value.remedy


def test_many_rows_share_the_cards_of_their_grades(tmp_path, monkeypatch):
    monkeypatch.setattr("ranking.formats.svmlight.MANY", 20)
    file = FILES["SVMlight"](tmp_path)
    images = built(tmp_path, "SVMlight", file)
    grades = len(np.unique(images.numbers))
    assert len(images) > 20
    assert len(set(images.image_files.tolist())) == len(os.listdir(images.folder / "images")) == grades
    shown = [images.open_image(image).tobytes() for image in range(len(images))]
    assert len(set(shown)) == grades
    source = make_source("SVMlight", file=str(file))
    assert decided(source)["cards"] == ("one for each grade", f"{len(images)} rows, more than 20")


def test_svmlight_files_of_lightgbm_are_read(real_data):
    from sklearn.datasets import load_svmlight_file

    folder = real_data / "lightgbm_lambdarank"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    (part,) = make_source("SVMlight", file=str(folder / "rank.test"))._parts
    features, grades = load_svmlight_file(str(folder / "rank.test"))
    assert part.grades.tolist() == grades.tolist()
    assert (part.features[:, 1:] == features.toarray().astype(np.float32)).all()
    sizes = [int(line) for line in (folder / "rank.test.query").read_text().split()]
    assert [part.queries.count(f"{query}") for query in range(1, len(sizes) + 1)] == sizes


# ------------------------------------------------------------------------------ Files that are refused


def mat(**changes):
    return as_mat({name: part for name, part in (pubfig_parts() | changes).items() if part is not None})


PACKED = gzip.compress(b"1 qid:1 1:1\n1 qid:1 1:2")
NO_NUMBER = "could not convert string to float: b'x'"
NOT_FINITE = "infinity, a number too large, or no grade"
REFUSED = {
    ("Corel5k", "corel5k.npz"): [
        (corel5k(n_train=None), "arrays", "none called n_train"),
    ],
    ("Public figures", "faces.mat"): [
        (mat(feat=None), "variables", "none called feat"),
        (mat(feat=np.ones((3, 5))), "feat", "3 x 5"),
        (mat(class_labels=np.full((21, 1), 3.0)), "class_labels", "other numbers"),
        (mat(class_labels=np.ones((1, 21))), "class_labels", "1 x 21"),
    ],
    ("SVMlight", "rank"): [
        ("1 qid:1 1:1\n1 1:1", "rank", "1 of 2 rows with qid"),
        ("", "rank", "none"),
        ("x", "rank, line 1", NO_NUMBER),
        (b"# good\n1 qid:1 1:1\n\nx qid:1 1:1\n1 qid:1 1:1\ny", "rank, line 4", NO_NUMBER),
        ("1 qid:1 1:1\nnan qid:1 1:1\n1 qid:1 1:inf", "rank, line 2", NOT_FINITE),
        ("1 qid:1 1:1\n\n2 qid:1\n1 qid:1 2:1e300", "rank, line 4", NOT_FINITE),
        ("1 qid:1 1:", "rank, line 1", "1:"),
        ("1 qid:1 1:2:3 4", "rank, line 1", "1:2:3"),
        ("1 qid:1 -1:1", "rank, line 1", "-1:1"),
        ("1 qid:1 100000:1", "rank, line 1", "feature 100000, expected numbers below 100,000"),
        ("1 qid:1 2:1 02:1", "rank, line 1", "a feature that occurs twice"),
        (PACKED[:-9], "rank", "Compressed file ended before the end-of-stream marker was reached"),
    ],
}


@pytest.mark.parametrize(("source", "name"), REFUSED)
def test_files_that_are_refused(tmp_path, source, name):
    file = tmp_path / name
    for content, subject, came in REFUSED[source, name]:
        lay(tmp_path, {name: content})
        message, why = refusal(len, make_source(source, file=str(file)))
        assert (message.removeprefix(f"{file}, "), why) == (subject, came)


def test_mat_files_that_are_damaged_or_of_another_level(tmp_path):
    file = tmp_path / "faces.mat"
    level = b"MATLAB 7.3".ljust(124) + b"\0\x02IM" + bytes(200)
    for content, part in (
        (mat()[:400], "read"),
        (b"", "truncated"),
        (b"no mat", "truncated"),
        (level, "MATLAB 7.3"),
    ):
        lay(tmp_path, {"faces.mat": content})
        with refused(f"{file}") as caught:
            len(make_source("Public figures", file=str(file)))
        assert part in str(caught.value)


def test_invalid_corel5k_files_are_refused(tmp_path):
    file = tmp_path / "corel5k.npz"
    for content, subject, came in (
        (None, f"{file}", "no file"),
        (b"no zip", f"{file}", ""),
        (corel5k()[:-30], f"{file}", ""),
        (corel5k(label_names=np.array([{}, "b"], object)), f"{file}", "allow_pickle"),
        (corel5k(X_indices=np.array([99], np.int32)), f"{file}", ""),
        (corel5k(Y_indices=lambda part: np.concatenate([[7], part[1:]])), f"{file}", "< 4"),
    ):
        if content is not None:
            lay(tmp_path, {"corel5k.npz": content})
        with refused(subject) as caught:
            len(make_source("Corel5k", file=str(file)))
        assert came in str(caught.value.came)


@pytest.mark.parametrize(
    ("rows", "sizes", "subject", "came"),
    [
        ("1 1:1\n1 1:1", "1", "rank.query", 1),
        ("1 1:1\n1 1:1\n1 1:1", "4\n-1", "rank.query", "something else"),
        ("1 1:1\n1 1:1\n1 1:1", "0\n3", "rank.query", "something else"),
        ("1 1:1\n1 1:1", "99", "rank.query", "something else"),
        ("1 1:1\nx", "2", "rank, line 2", NO_NUMBER),
    ],
)
def test_sizes_of_queries_that_do_not_fit(tmp_path, rows, sizes, subject, came):
    folder = lay(tmp_path, {"rank": rows, "rank.query": sizes})
    assert refusal(len, make_source("SVMlight", file=str(folder / "rank"))) == (subject, came)


def test_svmlight_files_with_too_many_rows_or_cells_are_refused(monkeypatch):
    with refused("x", "more") as caught:
        read_graded(io.BytesIO(b"1 1:1\n" * 3), "x", Limits(samples=2))
    assert "RANKING_IMPORT_SAMPLES" in str(caught.value)
    monkeypatch.setattr("ranking.formats.svmlight.MAX_CELLS", 100)
    with refused("rows times features", "1 rows and 99,999 features"):
        read_graded(io.BytesIO(b"1 99998:1"), "x")
