"""A training leaves its home as one file and comes back exactly; whatever else comes in a file is refused."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import PICKLED, npy, packed, unpacked
from labelled_pictures import patches_of
from ranking.storage.row_files import ROW
from refusals import refused
from training_runs import finished
from working import files_of, refuses

from ranking import method_class
from ranking.files.archives import check_text, open_zip
from ranking.jobs import run_archive
from ranking.jobs.events import events
from ranking.jobs.run_archive import (
    EVENTS,
    MODEL,
    PLAYBACK,
    PROJECTION,
    RUN,
    SCORES,
    VIEWS,
    export_run,
    import_run,
)
from ranking.jobs.run_json import read_run
from ranking.storage.run import STAYS, TRAVELS, Run
from ranking.storage.store import Store

SAMPLES = 48  # of the image set


def settings_of(store: Store, **changes: Any) -> dict[str, Any]:
    """The settings of a training on the one image set of a home."""
    settings = {"set": store.sets.rows()[0].key, "features": [["Colour", {}]], "query": "day"}
    settings |= {"method": "AP-SVM", "method_settings": {"C": 10.0}, "warm_start": None, "graph": None}
    return {**settings, **changes}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A home with an image set and one training, that has a name and a star."""
    store = Store(tmp_path_factory.mktemp("origin"))
    patches_of(store, SAMPLES)
    run = finished(store, settings_of(store), "=Größe 🏅")
    store.runs.star(run.id)
    return store


@pytest.fixture(scope="module")
def exported(origin: Store) -> bytes:
    [run] = origin.runs.all("train")
    return export_run(origin, run.id, {"ranking.csv": b"rank\n", "ranking.png": b"no picture"})


@pytest.fixture
def copy(origin: Store, tmp_path: Path) -> Store:
    """A copy of the home, to be changed."""
    shutil.copytree(origin.home, tmp_path / "copy")
    return Store(tmp_path / "copy")


def with_files(exported: bytes, files: dict[str, bytes]) -> bytes:
    return packed({**unpacked(exported), **files})


# ------------------------------------------------------------------------------------------- there and back


def test_a_training_comes_back_as_it_was(origin, exported, elsewhere):
    [run] = origin.runs.all("train")
    back = import_run(elsewhere, exported)
    for column in fields(Run):
        if column.name in TRAVELS and column.name != "result":
            assert getattr(run, column.name) != column.default, f"give the run another {column.name}"
            assert getattr(back, column.name) == getattr(run, column.name), column.name
    assert {name: value for name, value in back.result.items() if name != "imported"} == run.result
    assert back.imported is not None
    assert (back.imported["run"], back.imported["set_title"]) == (run.id, "Patches")
    assert np.array_equal(np.load(back.scores_file), np.load(run.scores_file))
    assert events(back) == events(run)
    theirs, ours = (method_class("AP-SVM").load(each.model_file) for each in (run, back))
    assert np.array_equal(theirs.weights, ours.weights)
    assert theirs.certificate == ours.certificate
    assert back.id != run.id
    assert elsewhere.runs.all() == [back]


def test_corrected_labels_come_along(copy, elsewhere):
    key = copy.sets.rows()[0].key
    ids = copy.sets.get(key).ids.tolist()
    run = finished(copy, settings_of(copy, corrections=ids[:2]))
    data = export_run(copy, run.id)
    assert import_run(elsewhere, data).settings == import_run(copy, data).settings == run.settings
    assert run.settings["corrections"] == ids[:2]


def test_every_column_of_a_run_travels_or_stays(origin):
    with closing(sqlite3.connect(origin.home / "ranking.sqlite")) as database:
        columns = {row[1] for row in database.execute("pragma table_info(run)")}
    assert len({*TRAVELS, *STAYS}) == len(TRAVELS) + len(STAYS)
    assert (
        columns - {"number"}
        == {*TRAVELS, *STAYS}
        == {item.name for item in fields(Run)} - {"folder", "shared"}
    )


def test_the_archive_says_what_it_is_about_also_when_it_is_exported_again(origin, exported, elsewhere):
    before = unpacked(exported)
    first = json.loads(before[RUN])
    [row] = origin.sets.rows()
    counts = {"images": SAMPLES, "samples": SAMPLES}
    title = {"key": row.key, "title": "Patches"}
    assert first["image_set"] == {**title, "classes": list(row.classes), **counts}
    assert (first["format"], first["exported_by"]["numpy"]) == (1, np.__version__)
    assert "imported" not in first["result"]
    again = unpacked(export_run(elsewhere, import_run(elsewhere, exported).id))
    for name in (SCORES, MODEL, EVENTS, PLAYBACK):
        assert again[name] == before[name], name
    second = json.loads(again[RUN])
    for part in ("settings", "result", "state"):
        assert first[part] == second[part]
    assert second["image_set"] == title


def test_views_are_never_imported_and_omitted_ones_are_listed_with_the_reason(origin, exported, elsewhere):
    [run] = origin.runs.all("train")
    gone = {"ranking.png": "its pictures are gone"}
    data = export_run(origin, run.id, {"ranking.csv": b"1,=cmd|'/c calc'!A0\n"}, gone)
    assert set(unpacked(exported)) - set(unpacked(data)) == {"ranking.png"}
    assert json.loads(unpacked(data)[RUN])["left_out"] == gone
    back = import_run(elsewhere, data)
    assert {file.name for file in back.folder.iterdir()} == {EVENTS, SCORES, MODEL, PLAYBACK, ROW}


def test_a_failed_training_is_exported_with_its_reason(copy, elsewhere):
    failed = copy.runs.create("train", copy.runs.all("train")[0].settings)
    copy.runs.end(failed.id, "failed", "the oracle is silent")
    back = import_run(elsewhere, export_run(copy, failed.id))
    assert (back.state, back.reason, set(back.result)) == ("failed", "the oracle is silent", {"imported"})


def test_what_cannot_be_exported_is_refused(origin, exported, elsewhere):
    queued = elsewhere.runs.create("train", {"set": "x" * 8})
    of_labels = elsewhere.runs.create("train", {"set": "x" * 8, "task": "labels"})
    elsewhere.runs.end(of_labels.id, "finished")
    for run, came in ((queued, "a queued training run"), (of_labels, "a finished label-ranking run")):
        with refused(f"run {run.id}", came):
            export_run(elsewhere, run.id)
    run = import_run(elsewhere, exported)
    run.scores_file.unlink()
    with refused(f"{SCORES} of run {run.id}"):
        export_run(elsewhere, run.id)
    with refused("view", "'x'"):
        export_run(origin, origin.runs.all("train")[0].id, {"x": b""})


# ------------------------------------------------------------------------------------------ hostile archives


def test_what_is_no_archive_of_ours_is_refused_before_it_is_expanded(exported, elsewhere, monkeypatch):
    files = unpacked(exported)
    for name in ("../../../etc/passwd", "/tmp/x", "lock", "events.jsonl/"):
        refuses(elsewhere, packed({**files, name: b"x"}), "names in the archive", f"{name!r}")
    for name in (RUN, MODEL, SCORES):
        rest = {each: files[each] for each in files if each != name}
        refuses(elsewhere, packed(rest), "archive" if name == RUN else f"{MODEL}, {SCORES} and {PROJECTION}")
    refuses(elsewhere, packed({f"file {number}": b"" for number in range(500)}), "table of contents")
    refuses(elsewhere, packed(files, zipfile.ZIP_LZMA), "'run.json'")
    bomb = packed({**files, EVENTS: bytes(19_000_000)})
    expanded = 19_000_000 + sum(len(content) for name, content in files.items() if name != EVENTS)
    refuses(elsewhere, bomb, "all that the archive expands to", expanded)
    refuses(elsewhere, packed({**files, RUN: bytes(3_000_000)}), "'run.json'", 3_000_000)
    monkeypatch.setattr(run_archive, "MOST_BYTES", len(exported) - 1)
    refuses(elsewhere, exported, "archive", len(exported))


def test_what_is_no_whole_zip_file_is_refused(exported, elsewhere):
    for size in (0, 1, 21, 22, 1000):
        refuses(elsewhere, exported[:size], "archive")
        refuses(elsewhere, exported[size + 1 :][:-1], "archive")
    refuses(elsewhere, exported[:-2] + b"\x01\0x", "archive")  # with a comment
    table = int.from_bytes(exported[-6:-2], "little")
    refuses(elsewhere, exported[:table] + b"xx" + exported[table + 2 :], "archive")


def test_damage_anywhere_is_noticed(exported, elsewhere):
    """Each of some bytes in turn: whatever is not refused is read back exactly."""
    sound = {name: content for name, content in unpacked(exported).items() if name not in VIEWS}
    refusals = 0
    for position in np.random.default_rng(0).integers(0, len(exported), 60):
        damaged = bytearray(exported)
        damaged[position] ^= 0x55
        try:
            run = import_run(elsewhere, bytes(damaged))
        except ValueError:
            refusals += 1
            continue
        assert run.scores_file.read_bytes() == sound[SCORES]
        assert run.model_file.read_bytes() == sound[MODEL]
        assert json.dumps(run.settings) == json.dumps(json.loads(sound[RUN])["settings"])
    assert refusals > 50


def test_overlapping_entries_are_refused(exported, elsewhere):
    """Two names for one content: the trick by which a small file expands to a huge one."""
    files = unpacked(exported)
    whole = bytearray(packed({RUN: files[RUN], EVENTS: b"first", "ranking.csv": b"other"}))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        offset = archive.getinfo(EVENTS).header_offset
    entry = whole.rindex(b"PK\x01\x02")  # that of ranking.csv
    whole[entry + 42 : entry + 46] = struct.pack("<I", offset)
    refuses(elsewhere, bytes(whole), "'ranking.csv'")
    with refused("'ranking.csv'"):
        open_zip(bytes(whole), run_archive.ROOM.get, 200.0)


def test_two_entries_of_one_name_are_refused(exported, elsewhere):
    stream = io.BytesIO(exported)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(RUN, "{}")
    refuses(elsewhere, stream.getvalue(), "names in the archive", "'run.json' twice")


# -------------------------------------------------------------------------------------------- hostile content

GONE: Any = object()


def changed(exported: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The archive with another run.json."""
    record = json.loads(unpacked(exported)[RUN])
    change(record)
    return with_files(exported, {RUN: json.dumps(record).encode()})


def with_value(exported: bytes, path: str, value: Any) -> bytes:
    """The archive with another value at `path` of its run.json, keys with a dot between two. A dictionary is added to
    one that is there; GONE takes the value away."""

    def change(record: dict[str, Any]) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            record = record[parent]
        if value is GONE:
            del record[name]
        elif isinstance(value, dict) and isinstance(record.get(name), dict):
            record[name].update(value)
        else:
            record[name] = value

    return changed(exported, change)


def proof(primal: Any, dual: Any, **values: Any) -> dict[str, Any]:
    """The numbers of a certificate that follow from its bounds, but for `values`."""
    gap = None if dual is None or primal is None else primal - dual
    return {"primal": primal, "dual": dual, "gap": gap, "relative_gap": gap, **values}


EXACT = {"large": 0, "samples": 0, "of": 48, "excess": 0.0, "score": 0.5}
CERTIFICATE = "result.certificate"
OPEN = {"converged": False}
CHANGES: list[tuple[str, Any, str]] = [
    ("format", 2, "run.json"),
    ("note", json.loads("[" * 20 + "]" * 20), "run.json"),
    ("reason", "\ud800", "run.json"),
    ("state", "running", "state"),
    ("name", "a\u202eb", "name"),
    ("star", 1, "star"),
    ("created", None, "created"),
    ("ended", 1e300, "ended"),
    ("result", [], "result"),
    (CERTIFICATE, GONE, "result"),
    ("result.test.AP", 10**400, "metrics of test"),
    ("result.train.P@7", 1.0, "metrics of train"),
    ("result.test.samples", 1e300, "metrics of test"),
    ("result.test.positives", 1.5, "metrics of test"),
    ("result.test.samples", 15, SCORES),
    ("result.test.NDCG", 1.5, "test NDCG"),
    ("result.bounds", [], "bounds"),
    ("result.bounds", {**EXACT, "of": 1.5}, "bounds"),
    ("result.bounds", {**EXACT, "excess": -1}, "bounds"),
    (f"{CERTIFICATE}.primal", "<b>", "certificate"),
    (f"{CERTIFICATE}.gap", None, "converged"),
    (f"{CERTIFICATE}.gap", True, "certificate"),
    (f"{CERTIFICATE}.converged", 1, "converged"),
    (f"{CERTIFICATE}.iterations", -1, "iterations and seconds"),
    (f"{CERTIFICATE}.seconds", -1.0, "iterations and seconds"),
    ("settings.query", GONE, "settings of the training run"),
    ("settings.run", "x", "settings of the training run"),
    ("settings.set", "../../x", "set and query"),
    ("settings.query", "", "set and query"),
    ("settings.query", "7 of 9", ""),
    ("settings.method", "Oracle", ""),
    ("settings.method", "SVM", ""),
    ("settings.method_settings.C", -1.0, ""),
    ("settings.method_settings.name", 1, ""),
    ("settings.features", [["Smell", {}]], ""),
    ("settings.features", [["HOG", {"name": 1}]], ""),
    ("settings.features", [["HOG", [[1, 2]]]], ""),
    ("settings.projection", {"kind": "ICA"}, ""),
    ("settings.warm_start", "../x", "warm_start"),
    ("settings.graph", "friends", "graph"),
    ("settings.corrections", "s1", "corrections"),
    ("settings.corrections", [1], "corrections"),
    ("settings.corrections", ["nobody"], "corrected label"),
]


@pytest.mark.parametrize(("path", "value", "subject"), CHANGES)
def test_what_no_training_of_ours_would_say_is_refused(origin, exported, path, value, subject):
    refuses(origin, with_value(exported, path, value), subject)  # where the set is: all checks are made


def test_bounds_and_how_exact_max_marginals_are_come_back_as_a_worker_writes_them(exported):
    unknown = {"dual": None, "gap": None, "relative_gap": None, **OPEN}
    for bounds in (
        proof(1.0, 1.0 + 1e-9),  # rounding
        {"primal": 0.0, "dual": 0.0, "gap": 0.0, "relative_gap": 0.0},
        {"primal": 0.0, "dual": -1.0, "gap": 1.0, "relative_gap": None, **OPEN},
        {"primal": 1.0, **unknown},
        {"primal": 1e308, **unknown, "dual": -1e308},  # beyond a double
    ):
        record = unpacked(with_value(exported, CERTIFICATE, bounds))[RUN]
        assert bounds.items() <= read_run(record).result["certificate"].items()
    assert "bounds" not in read_run(unpacked(exported)[RUN]).result
    exact = {**EXACT, "samples": 3, "excess": 0.25}
    record = unpacked(with_value(exported, "result.bounds", {**exact, "unknown": "<b>"}))[RUN]
    assert read_run(record).result["bounds"] == exact


def test_what_this_version_does_not_know_is_omitted(exported, elsewhere):
    run = import_run(elsewhere, with_value(exported, "result", {"decision": "kept", "x": [1]}))
    assert set(run.result) == {"certificate", "train", "test", "imported"}


def test_what_is_no_json_is_refused(exported, elsewhere):
    texts = [b"", b"\xff", b"[]", b"[" * 100_000, b'{"kind": NaN}', b"{" + b'"a":{' * 5000]
    for text in (*texts, b'{"x": ' + b"[" * 700 + b"]" * 700 + b"}"):
        refuses(elsewhere, with_files(exported, {RUN: text}), "run.json")
    refuses(elsewhere, with_files(exported, {EVENTS: b"{}\n" * 100_001}), EVENTS, 100_001)


def claiming(array: bytes, shape: str, claimed: str) -> bytes:
    """The bytes of an array whose header claims another shape."""
    before, after = (f"({text},), }}".encode().ljust(len(claimed) + 20) for text in (shape, claimed))
    assert before in array
    return array.replace(before, after)


MANY = "30000000000000"
EMPTY_TEXTS = claiming(npy(np.zeros(0, "U1")).replace(b"<U1", b"<U0"), "0", MANY)
LARGE = claiming(npy(np.zeros(3)), "3", MANY)
CUT_SHORT = b"\x93NUMPY\x01\x00" + (16).to_bytes(2, "little") + b"{'descr': '<f8',"


@pytest.mark.parametrize(
    ("scores", "came"),
    [
        (b"", None),
        (b"\x93NUMPY", None),
        (b"\x93NUMPY\x03\x00" + npy(np.zeros(3))[8:], "format (3, 0)"),
        (CUT_SHORT, None),
        (npy(np.zeros(3)).replace(b"(3,), }", b"(3,,(   "), None),
        (PICKLED, "object"),
        (EMPTY_TEXTS, "text of length 0"),
        (LARGE, 24),
        (npy(np.zeros(3))[:-1], 23),
        (npy(np.zeros((3, 1))), "float64 of shape (3, 1)"),
        (npy(np.zeros(3, np.float32)), "float32 of shape (3,)"),
        (npy(np.array([np.nan])), "float64 of shape (1,)"),
        (npy(np.zeros(0)), "float64 of shape (0,)"),
    ],
)
def test_scores_are_numbers_and_nothing_else(exported, elsewhere, scores, came):
    refuses(elsewhere, with_files(exported, {SCORES: scores}), SCORES, came)


@pytest.mark.parametrize("order", "<>")
def test_letters_that_unicode_does_not_have_are_no_text(order):
    letters = np.array([65, 0x10FFFF, 0x110000, 0xFFFFFFFF], f"{order}u4").view(f"{order}U1")
    for text in (letters[:2], np.array("a"), letters[:0]):
        check_text(text, "x")
    for last in (3, 4):
        with refused("x"):
            check_text(letters[:last], "x")


def test_a_recording_is_one_of_the_samples_that_the_scores_are_of(exported, elsewhere):
    sound = unpacked(unpacked(exported)[PLAYBACK])
    few = {
        **sound,
        "scores.npy": npy(np.zeros((len(np.load(io.BytesIO(sound["primal.npy"]))), 3), np.float32)),
    }
    scores, iterations = (np.load(io.BytesIO(sound[f"{name}.npy"])) for name in ("scores", "iterations"))
    longer = np.append(iterations[:-1], iterations[-1] + 1_000_000_000)
    for data, inner in (
        (packed(few), "scores of a recording"),
        (packed({**sound, "scores.npy": npy(np.zeros_like(scores))}), "playback.npz"),
        (packed({**sound, "iterations.npy": npy(longer)}), "playback.npz"),
        (packed({**sound, "scores.npy": PICKLED}), "scores.npy"),
        (b"no recording", "archive"),
    ):
        refuses(elsewhere, with_files(exported, {PLAYBACK: data}), inner)
    alone = {name: content for name, content in unpacked(exported).items() if name != PLAYBACK}
    assert import_run(elsewhere, packed(alone)).has_scores, "older archives have none"


def test_scores_of_another_set_are_refused_where_the_set_is_here(origin, exported, elsewhere):
    alone = packed({name: content for name, content in unpacked(exported).items() if name != PLAYBACK})
    few = with_files(alone, {SCORES: npy(np.arange(SAMPLES - 1.0))})
    refuses(elsewhere, few, SCORES, SAMPLES - 1)
    refuses(elsewhere, with_value(exported, "result.test.NDCG", 1.5), "test NDCG")
    train = json.loads(unpacked(exported)[RUN])["result"]["train"]["samples"]
    fewer = with_value(few, "result.train.samples", train - 1)
    refuses(origin, fewer, SCORES, SAMPLES - 1)
    assert import_run(elsewhere, fewer).has_scores, "no set, no check"


def test_a_model_is_checked_by_its_method(exported, elsewhere):
    arrays = unpacked(unpacked(exported)[MODEL])
    for model, inner in (
        (b"no zip", "archive"),
        (packed({**arrays, "direction.npy": PICKLED}), "direction.npy"),
        (packed({**arrays, "direction.npy": LARGE}), "direction.npy"),
        (packed({**arrays, "../x.npy": b""}), "names in the archive"),
        (packed({"direction.npy": arrays["direction.npy"]}), ""),
        (packed({**arrays, "header.npy": npy(np.array("[" * 100_000))}), ""),
    ):
        refuses(elsewhere, with_files(exported, {MODEL: model}), MODEL, inner=inner)


# -------------------------------------------------------------------------------------- a model of its scores


def with_weights(exported: bytes, change: Callable[[Any], Any]) -> bytes:
    """The archive with other weights in its model, and everything else kept."""
    arrays = unpacked(unpacked(exported)[MODEL])
    weights = np.load(io.BytesIO(arrays["direction.npy"]))
    return with_files(exported, {MODEL: packed({**arrays, "direction.npy": npy(change(weights))})})


def test_weights_are_finite_and_one_a_column_wherever_they_come(exported, elsewhere):
    changes: list[tuple[Callable[[Any], Any], str]] = [
        (lambda weights: np.append(np.nan, weights[1:]), f"weights of {MODEL}"),
        (lambda weights: np.append(np.inf, weights[1:]), f"weights of {MODEL}"),
        (lambda weights: weights[:-1], MODEL),
        (lambda weights: np.append(weights, 0.0), MODEL),
        (lambda weights: weights[:, None], MODEL),
        (lambda weights: np.stack([weights, weights]), MODEL),
        (lambda weights: weights.astype(str), MODEL),
    ]
    for change, subject in changes:
        refuses(elsewhere, with_weights(exported, change), subject)


def test_an_imported_training_is_marked_whatever_its_file_says(origin, exported):
    for claim in ({"imported": None}, {"imported": {"run": "<b>", "checked": {"scores": True}}}):
        back = import_run(origin, with_value(exported, "result", claim))
        assert back.imported is not None
        assert set(back.imported) == {"run", "set_title", "exported"}
        assert back.imported["run"] == origin.runs.all("train")[-1].id


def test_a_full_disk_in_an_import_leaves_nothing(exported, elsewhere, monkeypatch):
    write = Path.write_bytes

    def fill(path: Path, content: bytes) -> int:
        if path.name == MODEL:
            write(path, content[:10])
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill)
    before = files_of(elsewhere)
    with pytest.raises(OSError, match="No space left on device"):
        import_run(elsewhere, exported)
    assert (elsewhere.runs.all(), files_of(elsewhere)) == ([], before)
