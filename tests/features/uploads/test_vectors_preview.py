"""Uploaded vectors: the content of the file, how its rows are matched, what is refused and what is left."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from numbered_set import Desk, cards, unit, vectors_of
from refusals import refusal

from ranking.core.errors import InputError
from ranking.features.uploaded_vectors import MAX_COLUMNS, vectors_name
from ranking.features.uploads.array_files import ALL_NUMBERS, array_info, pickled_texts
from ranking.features.uploads.vector_matrix import BY_ORDER, IDS, NOT_CHECKED
from ranking.features.uploads.vector_plot import agreement, principal_components
from ranking.files import Limits


@pytest.fixture
def desk(tmp_path, images):
    return Desk(tmp_path, images)


# ------------------------------------------------------------------------------------------------- what fits


def test_rows_in_order_are_kept(desk):
    for dtype in ("float16", "float32", "float64", ">f8", "int16", "uint8"):
        rows = (vectors_of(desk.images) * 10).clip(0 if dtype == "uint8" else None).astype(dtype)
        rows[:, 0] += 1
        preview = desk.npy(rows)
        assert (preview.vectors, preview.ids, preview.matched) == ("array", BY_ORDER, BY_ORDER), dtype
        assert (preview.samples, preview.columns, preview.size) == (9, 5, 5), dtype
        (row,) = preview.problems
        assert (row.came, row.done) == ("9 rows and 9 samples, matched by order", NOT_CHECKED), dtype
        assert desk.matrix().dtype == np.float32
        assert desk.matrix() == pytest.approx(rows.astype(np.float64), rel=1e-6), dtype
        assert preview.name == vectors_name(desk.matrix()), dtype


def test_equal_numbers_have_one_name(desk, monkeypatch):
    rows = vectors_of(desk.images)
    rows[1:4, 2] = 0.0
    name, order = desk.npy(rows).name, np.random.default_rng(1).permutation(9)
    negative = rows.copy()
    negative[1:4, 2] = -0.0
    for same in (np.asfortranarray(rows), rows[:, :, None, None], negative):
        assert desk.npy(same).name == name
    # a few rows at a time
    monkeypatch.setattr("ranking.features.uploads.vector_matrix.BLOCK", 10)
    monkeypatch.setattr("ranking.features.uploaded_vectors.ROWS_BYTES", 40)
    assert desk.npy(rows).name == name
    assert desk.npz(x=rows[order], id=desk.images.ids[order]).name == name
    # the same for the two rows of each block, and no constant column
    rows[:, 3] = np.arange(9) // 2
    assert desk.npy(rows).size == rows.shape[1]


def test_ids_and_vectors_are_found_by_name(desk):
    rows, order = vectors_of(desk.images), np.random.default_rng(1).permutation(9)
    in_order = desk.npy(rows).name
    for save in (np.savez, np.savez_compressed):
        preview = desk.npz(save, embeddings=rows[order], ids=desk.images.ids[order], other=np.zeros((9, 99)))
        assert (preview.vectors, preview.ids) == ("embeddings", "ids"), "before what is wider"
        assert preview.name == in_order


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (None, "img/{}.jpg#1"),
        (None, "img/{}.jpg"),
        (None, "/data/jpg/{}.jpg"),
        (None, "{}"),
        ("photo.{}", "x/photo.{}.jpg"),
        ("photo.{}", "x/photo.{}.PNG"),
        ("photo.{}", "x/photo.{}"),
        # as a spreadsheet is kept from taking it for a formula
        ("={}+1", "'={}+1#1"),
    ],
)
def test_rows_are_matched_by_ids_in_any_order(tmp_path, names, ids):
    numbers = [f"{number:03d}" for number in range(3)]
    images = cards(tmp_path / "set", [1] * 3, names and [names.format(number) for number in numbers])
    desk, rows = Desk(tmp_path, images), vectors_of(images)
    shown_ids = np.array([ids.format(number) for number in numbers])
    assert desk.npz(x=rows[[2, 0, 1]], id=shown_ids[[2, 0, 1]]).matched == f"by “id”: {IDS}"
    assert desk.matrix() == pytest.approx(rows, abs=1e-6)


def test_whole_numbers_may_be_ids(tmp_path):
    images = cards(tmp_path / "set", [1] * 4)
    assert images.ids.tolist() == [f"img/{number:03d}.jpg#1" for number in range(4)]
    desk = Desk(tmp_path, images)
    preview = desk.npz(x=vectors_of(images), id=np.arange(4))
    assert preview.ids == "id"
    assert "none of the 4 ids in “id”" in preview.refused, (
        "0 is not 000; nothing takes the order instead unasked"
    )
    assert desk.npz(x=vectors_of(images), label=np.arange(4)).ids == BY_ORDER, "nobody called that ids"
    assert desk.preview("my.npz", ids=BY_ORDER).matched == BY_ORDER, "a person chose it"


def test_ids_that_cannot_be_read_are_reported_where_rows_are_taken_by_order(desk):
    """Rows in another order than the samples would pass for theirs, and nothing would say so."""
    ids = desk.images.ids.astype(str)
    for unreadable, came in (
        (np.array([*ids[:8], 3], object), "pickle"),
        (np.arange(9).astype("M8[s]"), "datetime64"),
        (ids[:, None], "9 × 1 (<U"),
    ):
        preview = desk.npz(x=vectors_of(desk.images), ids=unreadable)
        assert preview.ids == BY_ORDER, came
        row = preview.problems[0]
        assert (row.file, came in row.came) == ("array ids", True), row
        assert [row.file for row in preview.problems[1:]] == ["ids"]


def test_rows_of_other_samples_are_ignored_and_reported(desk):
    rows = vectors_of(desk.images)
    ids = [*desk.images.ids, "somebody", "=1+1"]
    preview = desk.npz(x=np.vstack([rows, rows[:2]]), id=np.array(ids))
    assert desk.matrix() == pytest.approx(rows, abs=1e-6)
    assert [(row.file, row.came) for row in preview.problems] == [("row 10", "somebody"), ("row 11", "=1+1")]


def test_constant_columns_are_dropped_and_rows_of_0_stay(desk):
    rows = vectors_of(desk.images)
    rows[:, [1, 3]] = 7, 0
    rows[4] = 0
    rows[4, 1] = 7
    preview = desk.npy(rows)
    assert (preview.columns, preview.size) == (5, 3)
    assert not desk.matrix()[4].any()
    assert [row.file for row in preview.problems] == ["ids", "columns 2, 4", "1 row"]
    assert desk.images.ids[4] in preview.problems[2].came


def test_a_table_of_columns_or_of_lists(desk):
    rows = vectors_of(desk.images).astype(np.float32)
    name = desk.npy(rows).name
    order = np.random.default_rng(1).permutation(9)
    ids = desk.images.ids[order].tolist()
    # as pandas tells columns of the same name apart
    names = ("x", "x.1", "x.2", "x.1.y", "z.x")
    columns = {"sample": ids} | {kind_name: rows[order, place] for place, kind_name in enumerate(names)}
    preview = desk.parquet(columns | {"label": np.arange(9), "note": ["x"] * 9})
    assert (preview.name, preview.vectors, preview.ids) == (name, ALL_NUMBERS, "sample")
    assert [row.file for row in preview.problems] == ["column label"], (
        "no label gets among the features unseen"
    )
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(rows[order].ravel()), 5)
    for feats, options in ((list(rows[order]), {}), (fixed, {"compression": "zstd"})):
        preview = desk.parquet({"feats": feats, "sample": pa.array(ids).dictionary_encode()}, **options)
        assert (preview.name, preview.vectors, preview.ids) == (name, "feats", "sample")


NUMBERED = [f"{number:03d}" for number in range(9)]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("image_path", "/data/img/{}.jpg"),
        ("file_name", "D:\\\\img\\\\{}.jpg"),
        ("whatever", "{}.png"),
        ("url", "https://host.example/a%20b/{}.jpg?size=2#x"),
        ("__index_level_0__", "img/{}.jpg"),
        ("photo", "img%2F{}.jpg"),
    ],
)
def test_the_column_that_names_images_gives_the_order(desk, name, cell):
    rows, order = vectors_of(desk.images).astype(np.float32), np.random.default_rng(2).permutation(9)
    cells = [cell.format(NUMBERED[row]) for row in order]
    others = {"caption": [f"a photo {row}" for row in order], "width": [640] * 9}
    for column in (pa.array(cells), pa.array(cells).dictionary_encode(), pa.array(cells, pa.large_string())):
        preview = desk.parquet({**others, "embedding": list(rows[order]), name: column})
        assert (preview.ids, preview.matched) == (name, f"by “{name}”: {IDS}")
        assert (desk.matrix() == rows).all()


def test_the_path_of_a_struct_names_the_image(desk):
    """As datasets of images are written to Parquet: the bytes and the path are fields of one column."""
    rows, order = vectors_of(desk.images).astype(np.float32), np.random.default_rng(2).permutation(9)
    column = [{"bytes": b"\x89PNG", "path": f"{NUMBERED[row]}.png"} for row in order]
    others = {"label": order % 2, "embeddings": list(rows[order])}
    preview = desk.parquet({"image": column, **others})
    assert preview.matched == f"by “image.path”: {IDS}"
    assert (desk.matrix() == rows).all()
    preview = desk.parquet({"image": column, "image.path": [f"x{row}.png" for row in order], **others})
    assert "none of the 9 ids in “image.path”" in preview.refused, "a column of that name, not the field"


def test_ids_never_are_features_also_where_they_are_numbers(tmp_path):
    images = cards(tmp_path / "set", [1] * 9, [f"{number:03d}" for number in range(100, 109)])
    desk, rows, order = Desk(tmp_path, images), vectors_of(images), np.random.default_rng(2).permutation(9)
    columns = {f"f{place}": rows[order, place] for place in range(5)}
    for name in ("image_id", "number"):
        preview = desk.parquet({name: order + 100, **columns})
        assert (preview.ids, preview.columns, preview.size) == (name, 5, 5), name
        assert (desk.matrix() == rows.astype(np.float32)).all()
    preview = desk.parquet({"row_id": order + 7, "frame": order % 3, **columns})
    assert preview.refused, "it names no sample"
    preview = desk.parquet({"photo_number": np.arange(9) + 3, **columns})
    assert (preview.columns, preview.size) == (6, 5)
    assert [(row.file, row.done) for row in preview.problems] == [
        ("ids", NOT_CHECKED),
        ("column 1", "dropped, because it numbers the rows"),
    ]
    preview = desk.parquet({"__index_level_0__": np.arange(9) + 7, "frame": order % 3, **columns})
    assert (preview.ids, preview.matched) == (BY_ORDER, "by order: no column names images")
    assert preview.columns == 6
    assert [row.file for row in preview.problems] == ["column __index_level_0__", "ids"]


def test_names_that_match_no_image_are_no_reason_to_take_the_order(desk):
    rows = vectors_of(desk.images)
    preview = desk.parquet({"photo": [f"z{number}.jpg" for number in range(9)], "x": list(rows)})
    assert "none of the 9 ids in “photo”" in preview.refused


def test_object_arrays_of_texts_are_read_without_being_unpickled(desk):
    rows, order = vectors_of(desk.images), np.random.default_rng(2).permutation(9)
    names = np.array([f"img/{NUMBERED[row]}.jpg" for row in order], object)
    preview = desk.npz(features=rows[order], filenames=names)
    assert preview.ids == "filenames"
    assert desk.matrix() == pytest.approx(rows, abs=1e-6)
    assert desk.npz(features=rows[order], filenames=names.astype("S")).ids == "filenames"
    repeated = np.array(["same"] * 1500 + [f"text {number}" for number in range(1500)], object)
    assert read_pickled(repeated) == repeated.tolist()
    for mixed in ([1, 2], ["a", None], ["a", ("b",)]):
        array = np.empty(2, object)
        array[:] = mixed
        assert read_pickled(array) == [], mixed


def read_pickled(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    stream.seek(0)
    assert array_info("x", stream, Limits()).dtype == "object"
    return pickled_texts(stream, Limits())


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_tables_of_text_with_and_without_names_of_columns(desk, mark):
    rows, order = vectors_of(desk.images), np.random.default_rng(2).permutation(9)
    lines = [mark.join([f"img/{NUMBERED[row]}.jpg", *map(repr, rows[row].tolist())]) for row in order]
    for header in ([mark.join(["", "a", "b", "c", "a", "d"])], []):
        preview = desk.text("my.csv", "\ufeff" + "\n".join([*header, *lines]))
        assert (preview.vectors, preview.columns) == (ALL_NUMBERS, 5)
        assert desk.matrix() == pytest.approx(rows, abs=1e-6)
    assert "expected comma-separated" in refusal_of(desk, "my.tsv", "a\tb\n1\t2\t3\n")
    # a column is text if its last row is
    preview = desk.text("my.csv", "\n".join(["name,x,y", *(f"{row},{row},0" for row in range(8)), "8,8,?"]))
    assert "constant" not in preview.refused
    assert {info.name: info.holds for info in preview.arrays}["y"] == "text"


@pytest.mark.parametrize(
    "write", [str, lambda row: str(np.array(row)), lambda row: f"array({row}, dtype=float32)"]
)
def test_lists_of_numbers_as_text_are_vectors(desk, write):
    """As a table of lists or arrays becomes CSV."""
    rows, order = vectors_of(desk.images), np.random.default_rng(2).permutation(9)
    head = ",filename,bbox,embedding"
    lines = [
        f'{place},{NUMBERED[row]}.jpg,"[{row}, 2, 3, 4]","{write(rows[row].tolist())}"'
        for place, row in enumerate(order)
    ]
    preview = desk.text("my.csv", "\n".join([head, *lines]))
    assert (preview.vectors, preview.ids, preview.columns) == ("embedding", "filename", 5)
    assert desk.matrix() == pytest.approx(rows, abs=1e-6)
    gap = "\n".join([head, *lines[:8], f'8,{NUMBERED[order[8]]}.jpg,"","[1, ..., 2]"'])
    assert "numbers each in “embedding”, got one of 0 in row 9" in refusal_of(desk, "my.csv", gap)
    # columns of numbers that are more are no less the vectors than the boxes
    wide = [
        f'{NUMBERED[row]}.jpg,"[0, 0, {row}, 9]",' + ",".join(map(repr, rows[row].tolist())) for row in order
    ]
    assert desk.text("my.csv", "\n".join(["filename,bbox,a,b,c,d,e", *wide])).vectors == ALL_NUMBERS


def refusal_of(desk, name, content):
    with pytest.raises(InputError) as caught:
        desk.text(name, content)
    return str(caught.value)


def tensors(arrays, **changes):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, array) in arrays.items():
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + array.nbytes],
        } | changes
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_tensors(desk):
    rows = vectors_of(desk.images).astype("<f4")
    upper = (rows.view("<u4") >> 16).astype("<u2")
    for kind, array, close in (
        ("F32", rows, 0),
        ("F64", rows.astype("<f8"), 0),
        ("F16", rows.astype("<f2"), 0.01),
        ("BF16", upper, 0.1),
    ):
        preview = desk.text("my.safetensors", tensors({"embeddings": (kind, array)}))
        assert preview.vectors == "embeddings", kind
        assert desk.matrix() == pytest.approx(rows, abs=close), kind
    for content in (
        tensors({"x": ("F32", rows)}, shape=[9, 50]),
        tensors({"x": ("F32", rows)}, data_offsets=[4, 184]),
        tensors({"x": ("F8_E4M3", rows.astype("u1"))}),
    ):
        assert "“x”" in desk.text("my.safetensors", content).refused
    for content in (
        b"",
        b"\xff" * 20,
        (2).to_bytes(8, "little") + b"[]",
        tensors({"x": ("F32", rows)}, shape=3),
    ):
        assert "safetensors" in refusal_of(desk, "my.safetensors", content)


def test_half_precision_is_read_and_large_whole_numbers_are_refused_with_a_remedy(desk):
    rows = vectors_of(desk.images)
    lists = pa.array(list(rows.astype(np.float16)), pa.list_(pa.float16()))
    assert desk.parquet({"x": lists}).vectors == "x"
    assert desk.matrix() == pytest.approx(rows, abs=0.01)
    large = {"a": rows[:, 0], "b": np.arange(9) * 2**57}
    assert "at most 1e+15" in desk.parquet(large).refused


def test_the_user_chooses_the_arrays_of_vectors_and_ids(desk):
    rows, other = vectors_of(desk.images), vectors_of(desk.images, seed=5)
    desk.npz(features=rows, other=other[::-1], id=desk.images.ids[::-1])
    preview = desk.preview("my.npz", vectors="other", ids="id")
    assert (preview.vectors, preview.ids) == ("other", "id")
    assert desk.matrix() == pytest.approx(other, abs=1e-6)
    assert desk.preview("my.npz", vectors="features", ids=BY_ORDER).matched == BY_ORDER
    assert "“features”" in desk.preview("my.npz", vectors="nothing").refused


# ------------------------------------------------------------------------------------------- what is refused


def test_another_number_of_rows_is_refused(desk, tmp_path):
    rows = vectors_of(desk.images)
    for count in (8, 10):
        refused = desk.npy(np.resize(rows, (count, 5))).refused
        assert "9" in refused
        assert str(count) in refused
    boxed = cards(tmp_path / "set", [2, 1, 3, 1, 2])
    of_boxes = Desk(tmp_path / "boxed", boxed)
    assert "5 images. Samples are boxes" in of_boxes.npy(np.zeros((5, 3))).refused, (
        "a row per image is not enough"
    )
    names = np.unique(boxed.image_names)
    preview = of_boxes.npz(x=np.ones((5, 2)) * np.arange(5)[:, None], id=names)
    assert (preview.problem_count, preview.refused[:1], IDS in preview.refused) == (7, "7", True), (
        "images with several samples"
    )


def test_ids_that_match_half_or_come_twice_are_refused_with_a_table(desk):
    rows, ids = vectors_of(desk.images), desk.images.ids.copy()
    preview = desk.npz(x=rows[:4], id=ids[:4])
    assert [row.file for row in preview.problems] == ids[4:].tolist()
    assert (preview.problem_count, preview.refused[:6]) == (5, "5 of 9")
    ids[3] = ids[0]
    preview = desk.npz(x=rows, id=ids)
    assert "“id”" in preview.refused
    assert [row.came for row in preview.problems] == [f"{ids[0]} in rows 1 and 4"]


def test_numbers_that_are_not_finite_are_refused_with_a_table(desk):
    for bad in (np.nan, -np.inf, 1e300):
        rows = vectors_of(desk.images)
        rows[[2, 5], 3], rows[5, 4] = bad, bad
        preview = desk.npy(rows)
        assert (preview.problem_count, "2 samples of 9" in preview.refused) == (2, True), bad
        assert [(row.file, row.came) for row in preview.problems] == [
            (f"{desk.images.ids[2]} (row 3)", f"{bad} in column 4"),
            (f"{desk.images.ids[5]} (row 6)", f"{bad} in column 4 and 1 more"),
        ]
    gap = {
        f"f{place}": [None if place == row == 3 else row + place * row for row in range(9)]
        for place in range(4)
    }
    assert "1 sample of 9" in desk.parquet(gap).refused


def test_arrays_of_other_shapes_and_kinds_are_refused(desk):
    for array, came in (
        (np.zeros(9), "9 (float64)"),
        (np.zeros((9, 2, 3)), "9 × 2 × 3"),
        (np.zeros((9, 2), complex), "complex128"),
        (np.zeros((9, 0)), "“array”"),
        (np.array(5.0), "“array”"),
        (np.zeros((9, 2), [("a", "f4")]), "“array”"),
        (np.array([["a"] * 2] * 9), "9 × 2"),
        (np.ones((9, MAX_COLUMNS + 1), np.float16), "65,537"),
        (np.ones((9, 3)), "3 columns"),
    ):
        assert came in desk.npy(array).refused


def test_files_of_other_kinds_are_refused(desk):
    for content, came in (
        (b"", "an empty file"),
        (b"\x80\x04K\x01.", "pickle"),
        (b"1,2,3\n", "another kind"),
    ):
        (desk.folder / "my.npy").write_bytes(content)
        subject, message = refusal(desk.preview, "my.npy")
        assert (subject, came in message) == ("my.npy", True), message
    lists = [[1.0, 2.0]] * 3 + [[1.0, 2.0, 3.0]] * 6
    assert refusal(desk.parquet, {"x": lists}) == ("my.parquet", "one of 3 in row 4")


# ------------------------------------------------------------------------------------------------- the picture


def test_the_plot_shows_the_first_two_principal_components():
    rows = np.random.default_rng(0).normal(size=(40, 7)) * [9, 5, 1, 1, 1, 1, 1]
    points, explained = principal_components(rows)
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    assert np.abs(points) == pytest.approx(np.abs(centred @ vectors[:, :-3:-1]), abs=1e-9)
    assert explained == pytest.approx(values[:-3:-1] / values.sum())
    assert (points[np.abs(points).argmax(axis=0), [0, 1]] > 0).all()
    points, explained = principal_components(np.outer(np.arange(5.0), [1, 2, 2]))
    assert explained == [pytest.approx(1), 0], "on a line"
    assert points[:, 1].tolist() == [0] * 5
    assert principal_components(np.ones((3, 2)))[1] == [0, 0]


def test_agreement_is_the_share_of_nearest_neighbours_of_the_same_class():
    rows = unit(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [0.3, 1]]))
    agreeing, by_chance = agreement(rows, np.array([0, 0, 1, 1, 0]))
    assert agreeing == 4 / 5, "the last one's neighbour is of the other class"
    assert by_chance == (3 * 2 + 2 * 1) / (5 * 4)
    assert agreement(rows, np.zeros(5, int)) == (None, None)


def test_rows_in_another_order_are_noticed(tmp_path):
    images = cards(tmp_path / "set", [1] * 60)
    desk, rows = Desk(tmp_path, images), vectors_of(images)
    right = desk.npy(rows).plot
    assert right.agreeing > 0.9
    assert not right.tells_nothing
    wrong = desk.npy(rows[np.random.default_rng(3).permutation(60)]).plot
    assert wrong.tells_nothing
    assert wrong.by_chance == right.by_chance == pytest.approx(29 / 59)
