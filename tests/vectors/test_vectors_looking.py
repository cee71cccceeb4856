"""Vectors that a person brings: what is in the file, how its rows are matched, what is refused, what is left behind."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from numbered_set import cards, unit, vectors_of
from pyarrow import parquet

from ranking.intake import Limits
from ranking.spreadsheets import guarded
from ranking.types import Problem
from ranking.vector_files import vectors_name
from ranking.vectors import VectorsLook, look_at_vectors
from ranking.vectors.matching import BY_ORDER
from ranking.vectors.parquet_vectors import ALL_NUMBERS
from ranking.vectors.picture import agreement, principal_components


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Nine samples in nine images."""
    return cards(tmp_path_factory.mktemp("cards") / "set", [1] * 9)


@pytest.fixture(scope="module")
def boxed(tmp_path_factory):
    """Nine samples in five images."""
    return cards(tmp_path_factory.mktemp("boxed") / "set", [2, 1, 3, 1, 2])


class Desk:
    """Where files are written and looked at."""

    def __init__(self, folder, images) -> None:
        self.folder, self.images, self.target = folder, images, folder / "run" / "vectors.npy"
        self.target.parent.mkdir()

    def npy(self, array, **options):
        np.save(self.folder / "my.npy", array, **options)
        return self.look("my.npy")

    def npz(self, save=np.savez, **arrays):
        save(self.folder / "my.npz", **arrays)
        return self.look("my.npz")

    def parquet(self, columns, **options):
        parquet.write_table(pa.table(columns), self.folder / "my.parquet", **options)
        return self.look("my.parquet")

    def look(self, name, **asked) -> VectorsLook:
        self.target.unlink(missing_ok=True)
        found = look_at_vectors(self.folder / name, name, self.images, self.target, **asked)
        assert not (self.target.parent / "scratch").exists()
        assert self.target.exists() == (not found.refused), "a refused look leaves nothing"
        assert VectorsLook.from_json(json.loads(json.dumps(found.to_json()))) == found
        return found

    def matrix(self):
        return np.load(self.target, allow_pickle=False)


@pytest.fixture
def desk(tmp_path, images):
    return Desk(tmp_path, images)


# ------------------------------------------------------------------------------------------------- what fits


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f8", "int16", "uint8"])
def test_rows_in_order_are_kept_with_length_1(desk, dtype):
    rows = (vectors_of(desk.images) * 10).clip(0 if dtype == "uint8" else None).astype(dtype)
    rows[:, 0] += 1
    found = desk.npy(rows)
    assert (found.vectors, found.ids, found.matched) == ("array", BY_ORDER, BY_ORDER)
    assert (found.samples, found.columns, found.size, found.problems) == (9, 5, 5, [])
    assert desk.matrix().dtype == np.float32
    assert desk.matrix() == pytest.approx(unit(rows.astype(np.float64)), abs=1e-6)
    assert found.name == vectors_name(desk.matrix())


def test_arrays_in_fortran_order_and_with_trailing_ones_are_the_same(desk):
    rows = vectors_of(desk.images)
    name = desk.npy(rows).name
    assert desk.npy(np.asfortranarray(rows)).name == name
    assert desk.npy(rows[:, :, None, None]).name == name


def test_equal_numbers_have_one_name(desk):
    rows = vectors_of(desk.images)
    rows[1:4, 2] = 0.0
    name = desk.npy(rows).name
    rows[1:4, 2] = -0.0
    assert desk.npy(rows).name == name


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_are_matched_by_ids_in_any_order(desk, save):
    rows, order = vectors_of(desk.images), np.random.default_rng(1).permutation(9)
    in_order = desk.npy(rows).name
    found = desk.npz(save, embeddings=rows[order], keys=desk.images.ids[order], other=np.zeros((9, 99)))
    assert (found.vectors, found.ids) == ("embeddings", "keys"), "what is called so goes before what is wider"
    assert found.known == {"keys": 9}
    assert found.matched == "by sample in “keys”"
    assert found.name == in_order


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (lambda name: f"{name}#1", "sample"),
        (lambda name: name, "image"),
        (lambda name: f"/data/jpg/{name.rpartition('/')[2]}", "image without folder and ending"),
        (lambda name: name[4:-4], "image without folder and ending"),
    ],
)
def test_ids_may_be_those_of_samples_or_of_images_with_one_sample(desk, named, words):
    rows = vectors_of(desk.images)
    ids = [named(str(name)) for name in desk.images.image_names]
    found = desk.npz(x=rows[::-1], id=np.array(ids[::-1]))
    assert found.matched == f"by {words} in “id”"
    assert desk.matrix() == pytest.approx(unit(rows), abs=1e-6)


def test_whole_numbers_may_be_ids(tmp_path):
    images = cards(tmp_path / "set", [1] * 4)
    assert images.ids.tolist() == [f"img/{number:03d}.jpg#1" for number in range(4)]
    desk = Desk(tmp_path, images)
    found = desk.npz(x=vectors_of(images), id=np.arange(4))
    assert found.ids == BY_ORDER, "0 is not 000: what names no sample is not taken for ids"
    assert found.known == {"id": 0}
    expected, done = (
        "ids of samples or images of the set",
        "not used: rows are taken in the order of the samples",
    )
    assert found.problems == [Problem("array id", expected, "none of them", done)]
    assert desk.npz(x=vectors_of(images), label=np.arange(4)).problems == [], "nobody called that ids"
    assert desk.look("my.npz", ids=BY_ORDER).problems == [], "a person has said so"


@pytest.mark.parametrize(
    ("called", "came"),
    [
        (lambda ids: ids.astype(object), "it holds Python objects (a pickle), which are never opened"),
        (lambda ids: ids.astype("S"), ", got |S"),
        (lambda ids: ids[:, None], "text of 9 × 1 (<U"),
    ],
)
def test_ids_that_cannot_be_read_are_told_where_rows_are_taken_by_order(desk, called, came):
    """Rows in another order than the samples would pass for theirs, and nothing would say so."""
    found = desk.npz(x=vectors_of(desk.images), ids=called(desk.images.ids.astype(str)))
    assert found.ids == BY_ORDER
    (row,) = found.problems
    assert (row.file, row.done) == ("array ids", "not used: rows are taken in the order of the samples")
    assert came in row.came


def test_names_with_points_are_told_apart(tmp_path):
    images = cards(tmp_path / "set", [1] * 3, [f"photo.{number}" for number in range(3)])
    desk, rows = Desk(tmp_path, images), vectors_of(images)
    for ending in (".jpg", ".PNG", ""):
        ids = np.array([f"x/photo.{number}{ending}" for number in (2, 0, 1)])
        found = desk.npz(x=rows[[2, 0, 1]], id=ids)
        assert found.matched == "by image without folder and ending in “id”"
        assert desk.matrix() == pytest.approx(unit(rows), abs=1e-6)


def test_ids_may_be_as_the_list_of_samples_writes_them(tmp_path):
    """An apostrophe stands before what a spreadsheet would take for a formula."""
    images = cards(tmp_path / "set", [1] * 3, ["=1+1", "@x", "c"])
    desk, rows = Desk(tmp_path, images), vectors_of(images)
    ids = [guarded(name) for name in images.ids.tolist()]
    assert ids[:2] == ["'=1+1#1", "'@x#1"]
    found = desk.npz(x=rows[[2, 0, 1]], id=np.array(ids)[[2, 0, 1]])
    assert found.matched == "by sample in “id”"
    assert desk.matrix() == pytest.approx(unit(rows), abs=1e-6)


def test_rows_of_other_samples_are_left_out_and_told(desk):
    rows = vectors_of(desk.images)
    ids = [*desk.images.ids, "somebody", "=1+1"]
    found = desk.npz(x=np.vstack([rows, rows[:2]]), id=np.array(ids))
    assert desk.matrix() == pytest.approx(unit(rows), abs=1e-6)
    assert [(row.file, row.came, row.done) for row in found.problems] == [
        ("row 10", "somebody", "left out"),
        ("row 11", "=1+1", "left out"),
    ]


def test_columns_of_parquet_may_have_points_in_their_names(desk):
    rows = vectors_of(desk.images)
    names = ("x", "x.1", "x.2", "x.1.y", "z.x")[: rows.shape[1]]  # as pandas tells columns of one name apart
    found = desk.parquet(dict(zip(names, rows.T, strict=True)))
    assert (found.vectors, found.size) == (ALL_NUMBERS, len(names))
    assert desk.matrix() == pytest.approx(unit(rows), abs=1e-6)


def test_constant_columns_are_left_out_and_rows_of_0_stay(desk):
    rows = vectors_of(desk.images)
    rows[:, [1, 3]] = 7, 0
    rows[4] = 0
    rows[4, 1] = 7
    found = desk.npy(rows)
    assert (found.columns, found.size) == (5, 3)
    assert not desk.matrix()[4].any()
    assert [(row.file, row.came, row.done) for row in found.problems] == [
        ("columns 2, 4", "the same for all", "left out: it tells nothing"),
        ("1 row", f"all 0: {desk.images.ids[4]}", "kept: it stays 0"),
    ]


def test_a_table_of_columns_or_of_lists(desk):
    rows = vectors_of(desk.images).astype(np.float32)
    name = desk.npy(rows).name
    order = np.random.default_rng(1).permutation(9)
    ids = desk.images.ids[order].tolist()
    columns = {"sample": ids} | {f"f{place}": rows[order, place] for place in range(5)}
    found = desk.parquet(columns | {"label": np.arange(9), "note": ["x"] * 9})
    assert (found.name, found.vectors, found.ids) == (name, ALL_NUMBERS, "sample")
    assert [row.file for row in found.problems] == ["column label"], "no label gets among the features unseen"
    found = desk.parquet({"feats": list(rows[order]), "sample": pa.array(ids).dictionary_encode()})
    assert (found.name, found.vectors, found.ids) == (name, "feats", "sample")
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 5)
    assert desk.parquet({"feats": fixed}, compression="zstd").name == name


def test_one_chooses_what_is_read(desk):
    rows, other = vectors_of(desk.images), vectors_of(desk.images, seed=5)
    desk.npz(features=rows, other=other[::-1], id=desk.images.ids[::-1])
    found = desk.look("my.npz", vectors="other", ids="id")
    assert (found.vectors, found.ids) == ("other", "id")
    assert desk.matrix() == pytest.approx(unit(other), abs=1e-6)
    assert desk.look("my.npz", vectors="features", ids=BY_ORDER).matched == BY_ORDER
    assert "got “features”" in desk.look("my.npz", vectors="nothing").refused


def test_all_samples_are_written_some_at_a_time(desk, monkeypatch):
    rows, order = vectors_of(desk.images), np.random.default_rng(1).permutation(9)
    whole = desk.npy(rows).name
    monkeypatch.setattr("ranking.vectors.drafting.BLOCK", 10)
    monkeypatch.setattr("ranking.vector_files.ROWS_BYTES", 40)
    assert desk.npy(rows).name == whole
    assert desk.npz(x=rows[order], id=desk.images.ids[order]).name == whole
    rows[:, 3] = np.arange(9) // 2  # the same for the two rows of each block, and no constant column
    assert desk.npy(rows).size == rows.shape[1]


# ------------------------------------------------------------------------------------------- what is refused


def refusal(found):
    assert found.refused
    assert not found.name
    return found.refused


def test_another_number_of_rows_is_refused(desk, boxed, tmp_path):
    rows = vectors_of(desk.images)
    assert "expected one row a sample, 9, got 8" in refusal(desk.npy(rows[:8]))
    other = Desk((tmp_path / "boxed").absolute(), boxed) if (tmp_path / "boxed").mkdir() is None else None
    said = refusal(other.npy(np.zeros((5, 3))))
    assert "9 samples in 5 images; one row an image is not enough" in said


def test_ids_that_match_half_are_refused_with_a_table(desk):
    rows = vectors_of(desk.images)
    found = desk.npz(x=rows[:4], id=desk.images.ids[:4])
    assert refusal(found).startswith("5 of 9 samples of Cards have no row, matched by sample")
    assert [row.file for row in found.problems] == desk.images.ids[4:].tolist()
    assert found.count == 5


def test_images_with_several_samples_are_not_named_by_the_image(boxed, tmp_path):
    desk = Desk(tmp_path, boxed)
    names = np.unique(boxed.image_names)
    found = desk.npz(x=np.ones((5, 2)) * np.arange(5)[:, None], id=names)
    assert refusal(found).startswith("7 of 9 samples of Cards have no row, matched by image")


def test_ids_that_come_twice_are_refused_with_a_table(desk):
    rows, ids = vectors_of(desk.images), desk.images.ids.copy()
    ids[3] = ids[0]
    found = desk.npz(x=rows, id=ids)
    assert refusal(found) == "1 id in “id” came before"
    assert [row.came for row in found.problems] == [f"{ids[0]} in rows 1 and 4"]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_that_are_not_finite_are_refused_with_a_table(desk, bad):
    rows = vectors_of(desk.images)
    rows[[2, 5], 3], rows[5, 4] = bad, bad
    found = desk.npy(rows)
    assert refusal(found).startswith("2 samples of 9 have numbers that are not finite")
    assert [row.file for row in found.problems] == [
        f"{desk.images.ids[row]} (row {row + 1})" for row in (2, 5)
    ]
    assert [row.came for row in found.problems] == [f"{bad} in column 4", f"{bad} in column 4 and 1 more"]


def test_one_gap_is_told_of_in_the_singular(desk):
    rows = vectors_of(desk.images)
    rows[2, 3] = np.nan
    assert refusal(desk.npy(rows)).startswith("1 sample of 9 has numbers that are not finite")


def test_gaps_of_a_table_are_not_finite(desk):
    columns = {
        f"f{place}": [None if place == row == 3 else float(row + place * row) for row in range(9)]
        for place in range(4)
    }
    assert "are not finite" in refusal(desk.parquet(columns))


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.zeros(9), "got “array”: numbers of 9 (float64)"),
        (np.zeros((9, 2, 3)), "numbers of 9 × 2 × 3"),
        (np.zeros((9, 2), complex), ", got complex128"),
        (np.zeros((9, 0)), "it is empty"),
        (np.array(5.0), "one number"),
        (np.zeros((9, 2), [("a", "f4")]), "numbers or text"),
        (np.array([["a"] * 2] * 9), "text of 9 × 2"),
        (np.ones((9, 70_000), np.float16), "expected at most 65,536 columns, got 70,000"),
        (np.ones((9, 3)), "all 3 columns are the same for every sample"),
    ],
)
def test_arrays_of_other_shapes_and_kinds_are_refused(desk, array, why):
    assert why in refusal(desk.npy(array))


def test_lists_of_different_lengths_are_refused(desk):
    with pytest.raises(ValueError, match=r"expected lists of 2 numbers each, got one of 3 in row 4"):
        desk.parquet({"x": [[1.0, 2.0]] * 3 + [[1.0, 2.0, 3.0]] * 6})


def test_a_file_of_another_kind_is_refused(desk):
    for content, came in (
        (b"", "an empty file"),
        (b"\x80\x04K\x01.", "a pickle, which is never opened"),
        (b"1,2,3\n", "something else"),
    ):
        (desk.folder / "my.npy").write_bytes(content)
        with pytest.raises(ValueError, match=came):
            desk.look("my.npy")


# ------------------------------------------------------------------------------------------------- the picture


def test_the_picture_is_the_first_two_principal_components():
    rows = np.random.default_rng(0).normal(size=(40, 7)) * [9, 5, 1, 1, 1, 1, 1]
    points, explained = principal_components(rows)
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    for place in (0, 1):
        expected = centred @ vectors[:, -1 - place]
        assert np.abs(points[:, place]) == pytest.approx(np.abs(expected), abs=1e-9)
        assert explained[place] == pytest.approx(values[-1 - place] / values.sum())
        assert points[np.abs(points[:, place]).argmax(), place] > 0


def test_rows_on_a_line_have_one_component():
    points, explained = principal_components(np.outer(np.arange(5.0), [1, 2, 2]))
    assert explained == [pytest.approx(1), 0]
    assert points[:, 1].tolist() == [0] * 5
    assert principal_components(np.ones((3, 2)))[1] == [0, 0]


def test_agreement_is_the_share_of_nearest_neighbours_of_the_same_kind():
    rows = unit(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [0.3, 1]]))
    agreeing, by_chance = agreement(rows, np.array([0, 0, 1, 1, 0]))
    assert agreeing == 4 / 5, "the last one's neighbour is of the other kind"
    assert by_chance == (3 * 2 + 2 * 1) / (5 * 4)
    assert agreement(rows, np.zeros(5, int)) == (None, None)


def test_rows_in_another_order_are_given_away(tmp_path):
    images = cards(tmp_path / "set", [1] * 60)
    desk, rows = Desk(tmp_path, images), vectors_of(images)
    right = desk.npy(rows).picture
    assert right.agreeing > 0.9
    assert not right.tells_nothing
    wrong = desk.npy(rows[np.random.default_rng(3).permutation(60)]).picture
    assert wrong.tells_nothing
    assert wrong.by_chance == right.by_chance == pytest.approx(29 / 59)


# ------------------------------------------------------------------------------------------------- limits


def limited(monkeypatch, **limits):
    monkeypatch.setattr(Limits, "from_environment", classmethod(lambda cls: cls(**limits)))


def test_an_array_above_the_limit_is_refused_before_it_is_read(desk, monkeypatch):
    limited(monkeypatch, vector_bytes=1_000)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was read"))
    np.save(desk.folder / "my.npy", np.zeros((9, 1000)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(desk, "target", desk.target)
        found = desk.look("my.npy")
    assert (
        "it has 72,128 bytes, expected at most 1,000; RANKING_INTAKE_VECTOR_BYTES says how many"
        in found.refused
    )


def test_a_table_above_the_limit_is_refused_before_it_is_expanded(desk, monkeypatch):
    limited(monkeypatch, vector_bytes=4_000)
    with pytest.raises(
        ValueError,
        match=r"expected a table of at most 0.00762939 MB \(twice RANKING_INTAKE_VECTOR_BYTES\), got one of",
    ):
        desk.parquet({f"f{place}": np.zeros(9) for place in range(300)})
