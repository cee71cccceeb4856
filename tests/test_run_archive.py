"""A training leaves its home as one file and comes back exactly; whatever else comes in a file is refused."""

from __future__ import annotations

import io
import json
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

from ranking import method_class, run_archive, worker
from ranking.archives import check_text, open_zip
from ranking.events import Report, events
from ranking.run import STAYS, TRAVELS, Run
from ranking.run_archive import EVENTS, MODEL, RUN, SCORES, export_run, import_run
from ranking.run_json import read_run
from ranking.store import Store

Files = dict[str, bytes]


def trained(store: Store, key: str, **settings: Any) -> Run:
    asked = {"set": key, "features": [["Colour", {}]], "query": "3", "method": "AP-SVM"}
    run = store.create_run(
        "train", {**asked, "method_settings": {"C": 10.0, **settings}, "warm_start": None, "graph": None}
    )
    report = Report(run.events_file)
    store.end_run(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    return store.run(run.id)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A home with the digits and one training, that has a name and a star."""
    store = Store(tmp_path_factory.mktemp("origin"))
    asked = store.create_run("import", {"source": "Digits", "source_settings": {}})
    store.end_run(asked.id, "finished", result=worker.import_images(store, asked, Report(asked.events_file)))
    run = trained(store, store.keep(asked.id))
    store.name_run(run.id, "=Größe 🏅")
    store.star_run(run.id)
    return store


@pytest.fixture(scope="module")
def exported(origin: Store) -> bytes:
    [run] = origin.runs("train")
    return export_run(origin, run.id, {"ranking.csv": b"rank\n", "ranking.png": b"no picture"})


@pytest.fixture
def elsewhere(tmp_path: Path) -> Store:
    return Store(tmp_path / "elsewhere")


def unpacked(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


# ------------------------------------------------------------------------------------------- there and back


def test_a_training_comes_back_as_it_was(origin: Store, exported: bytes, elsewhere: Store) -> None:
    [run] = origin.runs("train")
    back = import_run(elsewhere, exported)
    for column in fields(Run):
        if column.name in TRAVELS and column.name != "result":
            assert getattr(run, column.name) != column.default, (
                f"give the run of origin another {column.name}"
            )
            assert getattr(back, column.name) == getattr(run, column.name), column.name
    assert {name: value for name, value in back.result.items() if name != "imported"} == run.result
    assert back.imported is not None
    assert (back.imported["run"], back.imported["set_title"]) == (run.id, "Digits")
    assert np.array_equal(np.load(back.scores_file), np.load(run.scores_file))
    assert events(back) == events(run)
    theirs, ours = (method_class("AP-SVM").load(one.model_file) for one in (run, back))
    assert np.array_equal(theirs.weights, ours.weights)
    assert theirs.certificate == ours.certificate
    assert back.id != run.id
    assert elsewhere.runs() == [back]


def test_every_column_of_a_run_travels_or_stays(origin: Store) -> None:
    with closing(sqlite3.connect(origin.home / "ranking.sqlite")) as database:
        columns = {row[1] for row in database.execute("pragma table_info(run)")}
    assert len({*TRAVELS, *STAYS}) == len(TRAVELS) + len(STAYS)
    assert columns - {"number"} == {*TRAVELS, *STAYS} == {item.name for item in fields(Run)} - {"folder"}


def test_what_was_imported_can_be_exported_again(exported: bytes, elsewhere: Store) -> None:
    again = unpacked(export_run(elsewhere, import_run(elsewhere, exported).id))
    before = unpacked(exported)
    assert {name: again[name] for name in (SCORES, MODEL, EVENTS)} == {
        name: before[name] for name in (SCORES, MODEL, EVENTS)
    }
    first, second = json.loads(before[RUN]), json.loads(again[RUN])
    for part in ("settings", "result", "state"):
        assert first[part] == second[part]
    assert second["image_set"] == {name: first["image_set"][name] for name in ("key", "title")}


def test_the_archive_says_what_it_is_about(origin: Store, exported: bytes) -> None:
    told = json.loads(unpacked(exported)[RUN])
    [row] = origin.image_sets()
    assert told["image_set"] == {
        "key": row.key,
        "title": "Digits",
        "classes": list(row.classes),
        "images": 1797,
        "samples": 1797,
    }
    assert (told["format"], told["exported_by"]["numpy"]) == (1, np.__version__)
    assert "imported" not in told["result"]


def test_what_was_left_out_is_told_with_the_reason(origin: Store, elsewhere: Store) -> None:
    [run] = origin.runs("train")
    data = export_run(origin, run.id, {"ranking.csv": b"rank\n"}, {"ranking.png": "its pictures are gone"})
    assert "ranking.png" not in unpacked(data)
    assert json.loads(unpacked(data)[RUN])["left_out"] == {"ranking.png": "its pictures are gone"}
    assert import_run(elsewhere, data).has_scores


def test_views_are_never_read_back(exported: bytes, elsewhere: Store) -> None:
    files = unpacked(exported)
    lies = {**files, "ranking.csv": b"rank,score\n1,=cmd|'/c calc'!A0\n", "ranking.png": b"\x89PNG lies"}
    without = {name: content for name, content in files.items() if not name.startswith("ranking.")}
    first, second = import_run(elsewhere, packed(lies)), import_run(elsewhere, packed(without))
    assert np.array_equal(np.load(first.scores_file), np.load(second.scores_file))
    assert {file.name for file in first.folder.iterdir()} == {RUN, EVENTS, SCORES, MODEL} - {RUN}


def test_a_failed_training_goes_along_with_its_reason(origin: Store, elsewhere: Store) -> None:
    run = origin.create_run("train", trained_settings(origin))
    origin.end_run(run.id, "failed", "the oracle is silent")
    try:
        back = import_run(elsewhere, export_run(origin, run.id))
    finally:
        origin.delete_run(run.id)
        origin.empty_deleted()
    assert (back.state, back.reason, set(back.result)) == ("failed", "the oracle is silent", {"imported"})


def trained_settings(store: Store) -> dict[str, Any]:
    return store.runs("train")[0].settings


def test_what_cannot_be_exported_is_said(origin: Store, exported: bytes, elsewhere: Store) -> None:
    going = elsewhere.create_run("train", {"set": "x" * 8})
    expected = (
        r"only a training that ranks images and has ended can be exported; run .* is a queued training$"
    )
    with pytest.raises(ValueError, match=expected):
        export_run(elsewhere, going.id)
    of_labels = elsewhere.create_run("label", {"set": "x" * 8})
    elsewhere.end_run(of_labels.id, "finished")
    with pytest.raises(ValueError, match=r"run .* is a finished training of labels$"):
        export_run(elsewhere, of_labels.id)
    run = import_run(elsewhere, exported)
    run.scores_file.unlink()
    with pytest.raises(ValueError, match=rf"scores.npy of training {run.id} is gone from .*; train again"):
        export_run(elsewhere, run.id)
    with pytest.raises(ValueError, match=r"no view is called 'x'; choose among ranking.csv, ranking.png"):
        export_run(origin, origin.runs("train")[0].id, {"x": b""})


# ------------------------------------------------------------------------------------------ hostile archives


def refused(store: Store, data: bytes, why: str) -> None:
    """Refused for that reason, with nothing left behind."""
    before = store.runs()
    with pytest.raises(ValueError, match=why) as caught:
        import_run(store, data)
    assert str(caught.value).startswith("this file cannot be imported: ")
    assert "Expected a training that a ranking laboratory has exported" in str(caught.value)
    assert store.runs() == before
    kept = {run.id for run in before}
    assert {folder.name for folder in (store.home / "runs").iterdir()} == kept
    assert not list((store.home / "trash").iterdir())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../../../etc/passwd", r"'\.\./\.\./\.\./etc/passwd', which is not expected"),
        ("/tmp/x", "'/tmp/x', which is not expected"),
        ("lock", "'lock', which is not expected"),
        ("events.jsonl/", "'events.jsonl/', which is not expected"),
    ],
)
def test_no_other_name_is_let_in(exported: bytes, elsewhere: Store, name: str, why: str) -> None:
    refused(elsewhere, packed({**unpacked(exported), name: b"x"}), why)


@pytest.mark.parametrize("size", [0, 1, 21, 22, 1000])
def test_what_is_no_zip_is_refused(exported: bytes, elsewhere: Store, size: int) -> None:
    refused(elsewhere, exported[:size], "not a whole ZIP file")
    refused(elsewhere, exported[size + 1 :][:-1], "not a whole ZIP file")


def test_damage_anywhere_is_noticed(exported: bytes, elsewhere: Store) -> None:
    """Each of some bytes in turn: whatever is not refused is read back exactly."""
    sound = {name: content for name, content in unpacked(exported).items() if not name.startswith("ranking.")}
    refusals = 0
    for place in np.random.default_rng(0).integers(0, len(exported), 60):
        damaged = bytearray(exported)
        damaged[place] ^= 0x55
        try:
            run = import_run(elsewhere, bytes(damaged))
        except ValueError:
            refusals += 1
            continue
        assert run.scores_file.read_bytes() == sound[SCORES]
        assert run.model_file.read_bytes() == sound[MODEL]
        assert json.dumps(run.settings) == json.dumps(json.loads(sound[RUN])["settings"])
    assert refusals > 50


def test_a_bomb_is_not_expanded(exported: bytes, elsewhere: Store) -> None:
    bomb = packed({**unpacked(exported), EVENTS: bytes(19_000_000)})
    assert len(bomb) < 95_000
    refused(elsewhere, bomb, "it expands to 19,.* bytes, expected at most")
    refused(
        elsewhere, packed({**unpacked(exported), RUN: bytes(3_000_000)}), "'run.json' has 3,000,000 bytes"
    )


def test_overlapping_entries_are_refused(exported: bytes, elsewhere: Store) -> None:
    """Two names for one content: the trick by which a small file expands to a huge one."""
    files = unpacked(exported)
    whole = bytearray(packed({RUN: files[RUN], EVENTS: b"first", "ranking.csv": b"other"}))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        offset = archive.getinfo(EVENTS).header_offset
    entry = whole.rindex(b"PK\x01\x02")  # that of ranking.csv
    whole[entry + 42 : entry + 46] = struct.pack("<I", offset)
    refused(elsewhere, bytes(whole), "overlap|Overlap")
    with pytest.raises(ValueError, match=r"overlaps another entry|Overlapped"):
        open_zip(bytes(whole), run_archive.ROOM.get, 200.0)


def test_two_entries_of_one_name_are_refused(exported: bytes, elsewhere: Store) -> None:
    stream = io.BytesIO(exported)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(RUN, "{}")
    refused(elsewhere, stream.getvalue(), "holds 'run.json' twice")


def test_a_long_table_of_contents_is_refused_before_it_is_read(elsewhere: Store) -> None:
    refused(elsewhere, packed({f"file {number}": b"" for number in range(500)}), "table of contents has")


def test_unusual_compression_is_refused(exported: bytes, elsewhere: Store) -> None:
    refused(elsewhere, packed(unpacked(exported), zipfile.ZIP_LZMA), "compressed in an unusual way")


def test_an_archive_that_is_too_large_is_refused(
    exported: bytes, elsewhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_archive, "MOST_BYTES", len(exported) - 1)
    refused(elsewhere, exported, rf"it has {len(exported):,} bytes, expected at most")


# -------------------------------------------------------------------------------------------- hostile content


def changed(exported: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    files = unpacked(exported)
    told = json.loads(files[RUN])
    change(told)
    return packed({**files, RUN: json.dumps(told).encode()})


def claim(**values: Any) -> Callable[[dict[str, Any]], object]:
    """The certificate of run.json tells `values` instead."""
    return lambda told: told["result"]["certificate"].update(values)


def of_part(part: str, change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object]:
    return lambda told: change(told["result"][part])


LONG = "x" * 81
EXACT = {"large": 0, "samples": 0, "of": 48, "excess": 0.0, "score": 0.5}
TEN = {"primal": 10.0, "dual": 9.99, "gap": 10.0 - 9.99, "relative_gap": (10.0 - 9.99) / 10.0}
CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda told: told.update(format=2), "of format 1"),
    (lambda told: told.update(kind="recipe"), "must be a ranking laboratory training"),
    (lambda told: told.update(state="running"), "state must be one of finished, cancelled, failed"),
    (lambda told: told.update(state=None), "state must be str, got None"),
    (lambda told: told.update(name=LONG), "at most 80 characters, got 81"),
    (lambda told: told.update(name="a\u202eb"), "control character"),
    (lambda told: told.update(star=1), "star must be bool, got 1"),
    (lambda told: told.update(created=None), "created must be a time"),
    (lambda told: told.update(ended=1e300), "ended must be a time in seconds"),
    (lambda told: told.update(reason="\ud800"), "is not JSON"),
    (lambda told: told.update(result=[]), "result must be dict"),
    (lambda told: told["result"].pop("certificate"), "certificate, train and test, or nothing"),
    (lambda told: told["result"]["test"].update(AP="1"), "metrics of test must be numbers"),
    (lambda told: told["result"]["test"].update(AP=10**400), "metrics of test must be numbers"),
    (lambda told: told["result"]["test"].update(AP=0.999), "its test AP is 0.999, its scores give 0"),
    (lambda told: told["result"].update(bounds=[]), "bounds must be dict"),
    (
        lambda told: told["result"].update(bounds={**EXACT, "of": None}),
        "bounds must hold large, samples, of, excess, score",
    ),
    (
        lambda told: told["result"].update(bounds={**EXACT, "of": 1.5}),
        "bounds must hold large, samples, of, excess, score",
    ),
    (lambda told: told["result"].update(bounds={**EXACT, "excess": -1}), "bounds must hold large"),
    (lambda told: told["result"].update(bounds={**EXACT, "score": 10**400}), "bounds must hold large"),
    (lambda told: told["result"]["certificate"].update(primal="<b>"), "the certificate must hold primal"),
    (lambda told: told["result"]["certificate"].update(gap=None), "converged must know its bounds"),
    (lambda told: told["result"]["certificate"].update(iterations=10**400), "count its iterations"),
    (claim(iterations=-1), "count its iterations and seconds, from 0"),
    (claim(seconds=-1.0), "count its iterations and seconds, from 0"),
    (
        claim(primal=10.0, dual=1.0, gap=9.0, relative_gap=1e-5),
        "relative_gap is 1e-05, its primal and dual give 0.9",
    ),
    (claim(**{**TEN, "gap": 0.011}), r"gap is 0\.011, its primal and dual give 0\.01"),
    (claim(primal=None, dual=1.0, converged=False), "gap is .*, its primal and dual give inf"),
    (claim(primal=1.0, dual=5.0, gap=-4.0, relative_gap=-4.0), "dual 5 lies above its primal 1"),
    (
        claim(primal=1.0, dual=1.0 + 1e-5, gap=1.0 - (1.0 + 1e-5), relative_gap=1.0 - (1.0 + 1e-5)),
        "dual 1.00001 lies above its primal 1",
    ),
    (
        claim(primal=-1.0, dual=-1.001, gap=1.001 - 1.0, relative_gap=1.001 - 1.0),
        "primal must not be negative, got -1",
    ),
    (
        claim(primal=-1.0, dual=None, gap=None, relative_gap=None, converged=False),
        "primal must not be negative, got -1",
    ),
    (
        claim(primal=1.0, dual=0.5, gap=0.5, relative_gap=0.5),
        "converged at a relative gap of 0.5, .* is 0.001",
    ),
    (claim(**TEN, converged=False), "model.npz holds another certificate than run.json"),
    (claim(converged=False), "model.npz holds another certificate"),
    (lambda told: told["result"].update(certificate=None), "model.npz holds another certificate"),
    (of_part("test", lambda told: told.pop("AP")), r"metrics of test must be AP, P@10, .*, got P@10"),
    (of_part("train", lambda told: told.update({"P@7": 1.0})), "metrics of train must be AP, .*, got .*P@7"),
    (
        of_part("test", lambda told: told.update(samples=1e300)),
        "test must count its positives and its samples",
    ),
    (of_part("test", lambda told: told.pop("positives")), "test must count its positives"),
    (of_part("test", lambda told: told.update(positives=1.5)), "test must count its positives"),
    (of_part("test", lambda told: told.update(samples=told["samples"] - 1)), "train and test count others"),
    (of_part("test", lambda told: told.update(NDCG=1.5)), "test NDCG must be from 0 to 1, got 1.5"),
    (lambda told: told["settings"].pop("query"), "lack query"),
    (lambda told: told["settings"].update(run="x"), "have an unknown run"),
    (lambda told: told["settings"].update(set="../../x"), "key of letters and digits"),
    (lambda told: told["settings"].update(query=3), "query must be a text, got 3"),
    (lambda told: told["settings"].update(query="7 of 9"), "'7 of 9'"),
    (lambda told: told["settings"].update(method="TOP"), "'TOP'"),
    (lambda told: told["settings"]["method_settings"].update(C=-1.0), "C of AP-SVM|AP-SVM: C"),
    (lambda told: told["settings"]["method_settings"].update(C=11.0), "with other settings than run.json"),
    (lambda told: told["settings"].update(features=[["SIFT", {}]]), "'SIFT'"),
    (lambda told: told["settings"].update(warm_start="../x"), "warm_start must be the id of a run"),
    (lambda told: told["settings"].update(warm_start=5), "warm_start must be a text, got 5"),
    (lambda told: told["settings"].update(warm_start=""), "warm_start must be the id of a run"),
    (lambda told: told["settings"].update(graph="friends"), "graph must be one of same image, .*'friends'"),
    (lambda told: told["settings"].update(graph=5), "graph must be a text, got 5"),
    (lambda told: told["settings"].update(method="SVM"), "AP-SVM|settings of SVM"),
    (lambda told: told.update(note=json.loads("[" * 20 + "]" * 20)), "at most 12 levels deep"),
]


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[why for _, why in CHANGES])
def test_what_no_training_of_ours_would_say_is_refused(
    origin: Store, exported: bytes, elsewhere: Store, change: Callable[[dict[str, Any]], object], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        import_run(origin, changed(exported, change))  # where the set is, so that all checks are made
    assert len(origin.runs("train")) == 1


@pytest.mark.parametrize(
    "bounds",
    [
        {"primal": 1.0, "dual": 1.0 + 1e-9, "gap": 1.0 - (1.0 + 1e-9), "relative_gap": 1.0 - (1.0 + 1e-9)},
        {"primal": 0.0, "dual": 0.0, "gap": 0.0, "relative_gap": 0.0},
        {"primal": 0.0, "dual": -1.0, "gap": 1.0, "relative_gap": None, "converged": False},
        {"primal": 1.0, "dual": None, "gap": None, "relative_gap": None, "converged": False},
        {"primal": 1e308, "dual": -1e308, "gap": None, "relative_gap": None, "converged": False},
    ],
    ids=["rounding", "nothing to lose", "primal 0", "no dual yet", "beyond a double"],
)
def test_bounds_that_a_worker_can_write_are_read(exported: bytes, bounds: dict[str, Any]) -> None:
    told = json.loads(unpacked(exported)[RUN])
    told["result"]["certificate"].update(bounds)
    read = read_run(json.dumps(told).encode()).result["certificate"]
    assert bounds.items() <= read.items()


def test_how_exact_its_max_marginals_are_comes_back(exported: bytes) -> None:
    told = json.loads(unpacked(exported)[RUN])
    assert "bounds" not in read_run(json.dumps(told).encode()).result
    told["result"]["bounds"] = {**EXACT, "samples": 3, "excess": 0.25, "unknown": "<b>"}
    assert read_run(json.dumps(told).encode()).result["bounds"] == {**EXACT, "samples": 3, "excess": 0.25}


def test_what_this_version_does_not_know_is_left_out(exported: bytes, elsewhere: Store) -> None:
    run = import_run(elsewhere, changed(exported, lambda told: told["result"].update(decision="kept", x=[1])))
    assert set(run.result) == {"certificate", "train", "test", "imported"}


CUT_SHORT = b"\x93NUMPY\x01\x00" + (16).to_bytes(2, "little") + b"{'descr': '<f8',"
HOSTILE_FILES = [
    ({RUN: b'{"x": ' + b"[" * 700 + b"]" * 700 + b"}"}, ""),
    ({SCORES: CUT_SHORT}, ""),
    ({EVENTS: b"{}\n" * 100_001}, "events.jsonl has 100,001 lines, expected at most 100,000"),
]
HOSTILE_SETTINGS = [
    lambda told: told["settings"].update(warm_start=5),
    lambda told: told["settings"]["method_settings"].update(name=1),
    lambda told: told["settings"]["method_settings"].update(self=1),
    lambda told: told["settings"].update(features=[["HOG", {"name": 1}]]),
    lambda told: told["settings"].update(features=[["HOG", [[1, 2]]]]),
]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"method": "Oracle"}, "'Oracle'"),
        ({"method_settings": {"C": -1.0}}, "C.*got -1"),
        ({"features": [["Smell", {}]]}, "'Smell'"),
        ({"features": [["HOG", {"smell": 1}]]}, "'?smell'?"),
        ({"projection": {"kind": "ICA"}}, "'ICA'"),
    ],
)
def test_what_a_training_says_it_was_made_with_is_checked_before_anything_is_kept(
    exported: bytes, settings: dict[str, Any], why: str
) -> None:
    told = json.loads(unpacked(exported)[RUN])
    told["settings"].update(settings)
    with pytest.raises(ValueError, match=why):
        read_run(json.dumps(told).encode())


@pytest.mark.parametrize(("files", "why"), HOSTILE_FILES, ids=["deep", "cut short", "long curve"])
def test_what_fails_a_reader_is_refused_in_words(
    exported: bytes, elsewhere: Store, files: Files, why: str
) -> None:
    refused(elsewhere, packed({**unpacked(exported), **files}), f"this file cannot be imported: .*{why}")


@pytest.mark.parametrize("change", HOSTILE_SETTINGS)
def test_settings_that_fail_their_makers_are_refused_in_words(
    exported: bytes, elsewhere: Store, change: Callable[[dict[str, Any]], object]
) -> None:
    refused(elsewhere, changed(exported, change), "this file cannot be imported: ")


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"kind": NaN}', b"{" + b'"a":{' * 5000], ids=repr
)
def test_what_is_no_json_is_refused(exported: bytes, elsewhere: Store, text: bytes) -> None:
    refused(elsewhere, packed({**unpacked(exported), RUN: text}), "run.json")


def npy(array: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


EMPTY_TEXTS = npy(np.zeros(0, "U1")).replace(b"<U1", b"<U0")
EMPTY_TEXTS = EMPTY_TEXTS.replace(b"(0,), }             ", b"(30000000000000,), }")
assert b"(30000000000000,)" in EMPTY_TEXTS
PICKLED = npy(np.array([{}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        (b"", "scores.npy is not an array"),
        (b"\x93NUMPY", "scores.npy is not an array"),
        (
            npy(np.zeros(3)).replace(b"(3,), }", b"(3,,(   "),
            "scores.npy is not an array .*multi-line statement",
        ),
        (PICKLED, "must hold numbers or text, got object"),
        (EMPTY_TEXTS, "must hold numbers or text, got text of length 0"),
        (npy(np.zeros(3))[:-1], "claims 24 bytes, it holds 23"),
        (npy(np.zeros((3, 1))), r"must be \(n,\) finite float64"),
        (npy(np.zeros(3, np.float32)), r"must be \(n,\) finite float64"),
        (npy(np.array([np.nan])), r"must be \(n,\) finite float64"),
        (npy(np.zeros(0)), r"must be \(n,\) finite float64"),
    ],
)
def test_scores_are_numbers_and_nothing_else(
    exported: bytes, elsewhere: Store, scores: bytes, why: str
) -> None:
    refused(elsewhere, packed({**unpacked(exported), SCORES: scores}), why)


@pytest.mark.parametrize("order", "<>")
def test_letters_that_unicode_does_not_have_are_no_text(order: str) -> None:
    letters = np.array([65, 0x10FFFF, 0x110000, 0xFFFFFFFF], f"{order}u4").view(f"{order}U1")
    check_text(letters[:2], "x")
    check_text(np.array("a"), "x")
    check_text(letters[:0], "x")
    for last in (3, 4):
        with pytest.raises(ValueError, match="x must hold text, got letters that Unicode does not have"):
            check_text(letters[:last], "x")


def test_an_array_that_claims_more_than_it_holds_takes_no_memory(exported: bytes, elsewhere: Store) -> None:
    claim = npy(np.zeros(3)).replace(b"'shape': (3,), }               ", b"'shape': (30000000000000,), }  ")
    assert b"30000000000000" in claim
    refused(elsewhere, packed({**unpacked(exported), SCORES: claim}), "claims 240,000,000,000,000 bytes")
    files = unpacked(unpacked(exported)[MODEL])
    model = packed({**files, "direction.npy": claim})
    refused(
        elsewhere, packed({**unpacked(exported), MODEL: model}), "direction.npy claims 240,000,000,000,000"
    )


def test_scores_of_another_set_are_refused_where_the_set_is_here(origin: Store, exported: bytes) -> None:
    few = packed({**unpacked(exported), SCORES: npy(np.arange(1796.0))})
    refused(origin, few, "1796 numbers, the metrics of train and test count others")
    fewer = changed(few, of_part("train", lambda told: told.update(samples=told["samples"] - 1)))
    refused(origin, fewer, "must have 1797 numbers, one a sample of Digits, got 1796")


@pytest.mark.parametrize("missing", [SCORES, MODEL])
def test_half_a_result_is_refused(exported: bytes, elsewhere: Store, missing: str) -> None:
    files = unpacked(exported)
    del files[missing]
    refused(elsewhere, packed(files), "must hold model.npz and scores.npy exactly where")


def test_a_model_is_checked_by_its_method(exported: bytes, elsewhere: Store) -> None:
    files = unpacked(exported)
    arrays = unpacked(files[MODEL])
    for model, why in (
        (b"no zip", "model.npz: it is not a whole ZIP file"),
        (packed({**arrays, "direction.npy": PICKLED}), "direction.npy must hold numbers or text"),
        (packed({"direction.npy": arrays["direction.npy"]}), "model.npz is not a trained AP-SVM"),
        (packed({**arrays, "../x.npy": b""}), "which is not expected"),
        (packed({**arrays, "header.npy": npy(np.array("[" * 100_000))}), "model.npz is not a trained AP-SVM"),
    ):
        refused(elsewhere, packed({**files, MODEL: model}), why)


# -------------------------------------------------------------------------------------- a model of its scores


def with_weights(exported: bytes, change: Callable[[Any], Any]) -> bytes:
    """The archive with other weights in its model, and everything else kept."""
    files = unpacked(exported)
    arrays = unpacked(files[MODEL])
    weights = np.load(io.BytesIO(arrays["direction.npy"]))
    return packed({**files, MODEL: packed({**arrays, "direction.npy": npy(change(weights))})})


def with_first(weights: Any, value: float) -> Any:
    return np.concatenate([[value], weights[1:]])


FOREIGN: list[tuple[Callable[[Any], Any], str]] = [
    (lambda weights: with_first(weights, np.nan), "must have 512 finite weights"),
    (lambda weights: with_first(weights, np.inf), "must have 512 finite weights"),
    (lambda weights: weights[:-1], "does not fit 512 columns of features .*trained on 511 features"),
    (
        lambda weights: np.append(weights, 0.0),
        "does not fit 512 columns of features .*trained on 513 features",
    ),
    (lambda weights: weights[:, None], "does not fit 512 columns of features .*must have shape"),
    (
        lambda weights: np.stack([weights, weights]),
        "does not fit 512 columns of features .*trained on 2 features",
    ),
    (lambda weights: weights.astype(str), "does not fit 512 columns of features"),
]


@pytest.mark.parametrize(("change", "why"), FOREIGN, ids=[str(number) for number in range(len(FOREIGN))])
def test_weights_are_finite_and_one_a_column_wherever_they_come(
    exported: bytes, elsewhere: Store, change: Callable[[Any], Any], why: str
) -> None:
    refused(elsewhere, with_weights(exported, change), why)


@pytest.mark.parametrize("change", [np.negative, np.flip, lambda w: 1.001 * w, lambda w: 1e308 * w])
def test_weights_of_other_scores_are_refused_where_the_features_are_here(
    origin: Store, exported: bytes, elsewhere: Store, change: Callable[[Any], Any]
) -> None:
    foreign = with_weights(exported, change)
    refused(origin, foreign, "scores.npy gives sample .* the score .*, model.npz gives it")
    back = import_run(elsewhere, foreign)
    assert back.imported is not None
    assert back.imported["checked"] == {"metrics": False, "scores": False}, "and is marked"


def test_what_was_checked_is_marked_and_no_feature_is_computed(
    origin: Store, exported: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = changed(exported, lambda told: told["result"].update(imported={"checked": {"scores": True}}))
    kept = []
    try:
        kept.append(import_run(origin, exported))
        monkeypatch.setattr(Store, "features", origin.home / "empty")
        kept.append(import_run(origin, lies))
        assert not (origin.home / "empty").exists()
    finally:
        for run in kept:
            origin.delete_run(run.id)
        origin.empty_deleted()
    assert [(run.imported or {})["checked"] for run in kept] == [
        {"metrics": True, "scores": True},
        {"metrics": True, "scores": False},
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"method_settings": {"C": 1e8, "tolerance": 1e-7, "max_iterations": 20}},
        {"method_settings": {"C": 1e-8}},
        {"method": "SVM", "method_settings": {"C": 1e8, "tolerance": 1e-7, "max_iterations": 20}},
        {"method": "NDCG-SVM", "features": [["Colour", {}], ["HOG", {"side": 32}]]},
    ],
    ids=str,
)
def test_an_honest_training_at_the_ends_of_what_can_be_asked_is_let_in(
    origin: Store, given: dict[str, Any]
) -> None:
    """Rounding is allowed for: certificate and scores are those of a worker, at bounds of all sizes."""
    [first] = origin.runs("train")
    asked = {**first.settings, **given}
    run = origin.create_run("train", asked)
    origin.end_run(run.id, "finished", result=worker.train(origin, run, Report(run.events_file)))
    kept = [run]
    try:
        kept.append(import_run(origin, export_run(origin, run.id)))
        assert (kept[1].imported or {})["checked"] == {"metrics": True, "scores": True}
    finally:
        for one in kept:
            origin.delete_run(one.id)
        origin.empty_deleted()


def test_a_full_disk_in_an_import_leaves_nothing(
    exported: bytes, elsewhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def fill(path: Path, content: bytes) -> int:
        if path.name == MODEL:
            write(path, content[:10])
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space left on device; free some space there"):
        import_run(elsewhere, exported)
    assert elsewhere.runs() == []
    assert not list((elsewhere.home / "runs").iterdir())
    assert not list((elsewhere.home / "trash").iterdir())
