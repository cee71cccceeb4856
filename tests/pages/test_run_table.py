"""What a person does with the training runs of the table, and that it is on disk before the page shows it."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
import sys
import time
import zipfile
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from shapes import HOSTILE
from shown import address, button, button_keys, plain_texts, texts, turn_to

from pages.parts import certificate, export, keys, run_actions, run_table, runs
from pages.parts.frame import escaped
from ranking.run_archive import import_run

UNDO_DELETED = "undo just deleted"
UNDO_HERE = keys.widget("undo deletion")


@pytest.fixture
def change(laboratory):
    """Change the database behind the app's back."""

    def execute(statement, *values):
        with closing(sqlite3.connect(laboratory.home / "ranking.sqlite")) as database, database:
            database.execute(statement, values)

    return execute


def again_from_its_file(store, run_id):
    return import_run(store, export.archive(store.run(run_id)))


def warned_of_export(app):
    return [element for element in app.warning if "ranking." in element.value.replace("\\", "")]


# ------------------------------------------------------------------------------------------------- the table


def test_table_has_the_settings_and_results_of_each_run(laboratory, open_page):
    store = laboratory.store
    store.name_run(laboratory.finished, "=first")
    store.star_run(laboratory.finished)
    app = open_page("train", set=laboratory.digits)
    listed = app.dataframe[0].value
    first = listed.iloc[0]
    result = store.run(laboratory.finished).result
    assert (first["★"], first["Name"], first["Query"], first["Method"]) == ("★", "=first", "3", "AP-SVM")
    assert [part.rpartition(" = ")[2] for part in first["Settings"].split(", ")] == ["100", "0.01"]
    for column, value in (
        ("Test AP", result["test"]["AP"]),
        ("Train AP", result["train"]["AP"]),
        ("Gap, %", 100 * result["certificate"]["relative_gap"]),
        ("Seconds", result["certificate"]["seconds"]),
    ):
        assert np.isclose(first[column], value), column
    states = [runs.STATES[state] for state in ("finished", "finished", "cancelled", "failed")]
    assert list(listed["State"]) == states
    assert "Image set" not in listed
    assert "star runs" not in button_keys(app), "none is chosen"
    assert run_table.NOTICE in texts(app)
    everywhere = turn_to(app, set=laboratory.digits, everywhere="True").dataframe[0].value
    assert list(everywhere["Image set"]).count("shapes") == 1
    assert list(everywhere["Method"]).count("HOB-SVM") == 1
    assert len(everywhere) == len(listed) + 2


def test_table_of_one_run_and_of_none(laboratory, open_page):
    store = laboratory.store
    assert runs.telling(store.run(laboratory.on_shapes)).split(", ")[0] == "C = 1000", "though a default"
    app = open_page("train", set=laboratory.shapes)
    assert run_table.NOTICE not in texts(app), "there is nothing to compare it with"
    for run in store.runs("train", laboratory.shapes):
        store.delete_run(run.id)
    elsewhere = run_actions.counted(len(store.runs("train")))
    assert not any(element.value.startswith(elsewhere) for element in app.markdown)
    app.run()
    assert any(element.value.startswith(elsewhere) for element in app.markdown)


def test_wild_numbers_harm_no_row_and_can_be_deleted(laboratory, open_page):
    """As a file could bring them in before it was refused."""
    store = laboratory.store
    run = store.run(laboratory.finished)

    def holding(wild):
        proof = run.result["certificate"] | {"seconds": wild, "relative_gap": wild}
        return {**run.result, "certificate": proof, "test": {"AP": wild}, "train": {"AP": wild}}

    for wild in (2**64, 10**300, 10**400, -(2**64), True, "many", [1], None):
        harmed = replace(run, result=holding(wild))
        row = run_table._row(harmed)
        number = type(wild) is int and abs(wild) <= sys.float_info.max
        for column in ("Seconds", "Gap, %", "Test AP", "Train AP"):
            factor = 100.0 if column == "Gap, %" else 1.0
            assert row[column] == (factor * float(wild) if number else None), (column, wild)
        assert runs.has_numbers(harmed) == number, wild
    store.update_run(run.id, result=holding(10**400))
    app = open_page("train", run=run.id)
    assert not app.exception
    assert app.warning
    assert "Test AP" not in [metric.label for metric in app.metric]
    assert not open_page("ranked_images", set=laboratory.digits).exception
    button(app, "Delete").click().run()
    assert store.run(run.id).deleted


def test_run_of_a_method_that_is_unknown_here_is_still_listed(laboratory, open_page):
    store = laboratory.store
    settings = store.run(laboratory.finished).settings
    store.update_run(
        laboratory.finished, settings={**settings, "method": "Old", "method_settings": {"D": 2.0}}
    )
    assert runs.telling(store.run(laboratory.finished)) == "D = 2"
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert app.dataframe[0].value.iloc[0]["Method"] == "Old"


def test_what_is_shown_stays_chosen_where_a_browser_forgets_its_rows():
    for rows, shown, chosen in (
        ([], "b", ["b"]),
        ([], None, []),
        ([0], "b", ["a"]),
        ([0, 1], "b", ["a", "b"]),
    ):
        assert run_table.chosen_by(rows, ["a", "b"], shown) == chosen


# ------------------------------------------------------------------------------------------- what is done with runs


def test_star_and_name_are_on_disk(laboratory, open_page):
    def rename(name):
        [box] = [each for each in app.text_input if each.label == "Name"]
        box.set_value(name)
        button(app, "Save").click().run()
        assert not app.exception
        return laboratory.store.run(laboratory.finished).name

    app = open_page("train", run=laboratory.finished)
    for starred in (True, False):
        app.button(key="star runs").click().run()
        assert laboratory.store.run(laboratory.finished).star == starred
    assert rename("a *new* <b>name") == "a *new* <b>name"
    assert escaped("a *new* <b>name") in texts(app)
    assert not app.error
    assert rename("left\u202eright") == "a *new* <b>name"
    assert app.error


def test_delete_undo_restore_and_empty(laboratory, open_page):
    store = laboratory.store
    app = open_page("train", run=laboratory.finished)
    before = len(app.dataframe[0].value)
    button(app, "Delete").click().run()
    assert not app.exception
    assert store.run(laboratory.finished).deleted
    assert run_actions.counted(1) in app.toast[0].value
    assert escaped(runs.short_name(store.run(laboratory.finished))) in texts(app)
    assert [key for key in button_keys(app) if key in (UNDO_DELETED, UNDO_HERE)] == [UNDO_DELETED], (
        "one is enough"
    )
    assert len(app.dataframe[0].value) == before - 1
    app.button(key=UNDO_DELETED).click().run()
    assert store.run(laboratory.finished).deleted is None
    assert len(app.dataframe[0].value) == before
    assert UNDO_DELETED not in button_keys(app)
    for run_id in (laboratory.failed, laboratory.cancelled):
        store.delete_run(run_id)
    app.run()
    app.button(key=f"widget restore {laboratory.failed}").click().run()
    assert store.run(laboratory.failed).deleted is None
    app.button(key="empty deleted").click().run()
    assert store.runs(deleted=True) == []
    assert laboratory.cancelled not in [run.id for run in store.runs()]


def test_runs_that_vanish_while_they_are_acted_on(laboratory, open_page, monkeypatch):
    def gone(store, run_id, *arguments):
        raise ValueError(f"there is no run {run_id}")

    store = laboratory.store
    app = open_page("train", run=laboratory.finished)
    for act, label in (("star_run", "Star"), ("name_run", "Save"), ("delete_run", "Delete")):
        with monkeypatch.context() as patch:
            patch.setattr(type(store), act, gone)
            button(app, label).click().run()
        assert not app.exception, act
        assert laboratory.finished in app.error[0].value, act
        assert not app.toast, act
    for run_id, undo in (
        (laboratory.failed, f"widget restore {laboratory.failed}"),
        (laboratory.finished, UNDO_DELETED),
    ):
        button(turn_to(app, run=run_id), "Delete").click().run()
        store.empty_deleted()  # in another browser
        app.button(key=undo).click().run()
        assert not app.exception
        assert run_id in app.error[0].value
        assert not app.run().error, "once is enough"


@pytest.mark.parametrize("page", ["train", "ranked_images"])
def test_address_of_a_deleted_run_offers_undo(laboratory, open_page, monkeypatch, change, page):
    store, deleted = laboratory.store, laboratory.finished
    store.delete_run(deleted)
    app = open_page(page, run=deleted)
    assert escaped(runs.short_name(store.run(deleted))) in texts(app)
    seen = []

    def chosen():
        seen.append(store.run(deleted).deleted)
        return read()

    read = runs.chosen
    with monkeypatch.context() as patch:
        patch.setattr(runs, "chosen", chosen)
        app.button(key=UNDO_HERE).click().run()
    assert not app.exception
    assert set(seen) == {None}, (
        "it is back before the page runs, which may be run again halfway and forget the press"
    )
    assert UNDO_HERE not in button_keys(app)
    for k, damaged in (("5", "yesterday"), ("6", -1e12), ("7", 1e300)):  # other addresses, other warnings
        change("update run set deleted = ? where id = ?", damaged, deleted)
        turn_to(app, run=deleted, k=k)
        assert app.warning, damaged
        assert address(app).get("run") != deleted, damaged
    change("update run set deleted = ? where id = ?", time.time(), deleted)
    turn_to(app, run=deleted)
    store.empty_deleted()  # in another browser
    app.button(key=UNDO_HERE).click().run()
    assert not app.exception
    assert deleted in app.error[0].value


def test_starting_again_drops_what_was_changed(laboratory, open_page):
    app = open_page("train", run=laboratory.finished, query="7")
    app.button(key="begin again").click().run()
    assert address(app) == {"run": laboratory.finished}
    assert app.selectbox(key="widget query").value == "3"
    assert app.toast


def test_what_was_changed_is_marked_afterwards(laboratory, open_page):
    before, after = (laboratory.store.run(each) for each in (laboratory.finished, laboratory.not_converged))
    app = open_page("train", run=after.id, like=before.id)
    changes = runs.differences(runs.settings_given(before), runs.settings_given(after))
    assert len(changes) == 4
    [element] = [each.value for each in app.markdown if escaped("; ".join(changes)) in each.value]
    assert escaped(runs.short_name(before)) in element
    measured = [f"{run.result['test']['AP']:.3f}" for run in (before, after)]
    assert " → ".join(measured) in element


# ------------------------------------------------------------------------------------------------------- out and in


def test_archive_holds_table_and_picture(laboratory, open_page):
    run = laboratory.store.run(laboratory.on_shapes)
    images = laboratory.store.image_set(laboratory.shapes)
    assert export.lacking(run) == {}
    assert not warned_of_export(open_page("train", run=run.id))
    with zipfile.ZipFile(io.BytesIO(export.archive(run))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("ranking.csv").decode())))
        assert archive.read("ranking.png").startswith(b"\x89PNG")
        assert json.loads(archive.read("run.json"))["left_out"] == {}
    scores = dict(zip(images.ids, np.load(run.scores_file), strict=True))
    assert {row["sample"]: float(row["score"]) for row in rows} == scores
    assert {row["split"] for row in rows} == {"test", "train"}
    for split in ("test", "train"):
        listed = [row for row in rows if row["split"] == split]
        ranks = [int(row["rank"]) for row in listed]
        assert ranks == list(range(1, sum(images.test == (split == "test")) + 1)), split
        assert [float(row["score"]) for row in listed] == sorted(
            (float(row["score"]) for row in listed), reverse=True
        )
        relevant = images.relevance("disc")[images.test == (split == "test")].sum()
        assert sum(int(row["relevant"]) for row in listed) == relevant, split


@pytest.mark.parametrize("harm", ["unlink", "shorten", "spoil"])
def test_export_without_thumbnails_goes_without_its_picture(laboratory, open_page, harm):
    run = laboratory.store.run(laboratory.on_shapes)
    crops = laboratory.home / "sets" / laboratory.shapes / "crops.bin"
    size = crops.stat().st_size
    crops.unlink()  # never written in: other homes share the file
    if harm != "unlink":
        crops.write_bytes(b"" if harm == "shorten" else bytes(size))
    known = harm != "spoil"  # which shows only when a picture is decoded
    assert list(export.lacking(run)) == (["ranking.png"] if known else [])
    if harm == "shorten":
        app = open_page("train", run=run.id)
        assert len(warned_of_export(app)) == 1
        [download] = [each for each in app.get("download_button") if each.proto.id.endswith("export run")]
        assert not download.disabled
    data = export.archive(run)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "ranking.png" not in archive.namelist()
        assert archive.read("ranking.csv").startswith(b"rank,")
        left_out = json.loads(archive.read("run.json"))["left_out"]
    assert list(left_out) == ["ranking.png"]
    assert left_out["ranking.png"]
    assert import_run(laboratory.store, data).has_scores


def test_export_without_its_image_set_leaves_out_both_views(laboratory):
    run = laboratory.store.run(laboratory.on_shapes)
    shutil.rmtree(laboratory.home / "sets" / laboratory.shapes)
    with zipfile.ZipFile(io.BytesIO(export.archive(run))) as archive:
        assert {"run.json", "scores.npy", "model.npz"} <= set(archive.namelist())
        left_out = json.loads(archive.read("run.json"))["left_out"]
    assert list(left_out) == ["ranking.csv", "ranking.png"]
    assert all(left_out.values())


def test_hostile_class_names_are_guarded_in_the_table(laboratory):
    images = laboratory.store.image_set(laboratory.shapes)
    hostile = type(images)(
        **{name: value for name, value in vars(images).items() if name not in ("classes", "test")},
        classes=tuple(f"=cmd|'{name}'" for name in images.classes),
    )
    ranked = export.cache.ranking(laboratory.store.run(laboratory.on_shapes), "test")
    rows = list(csv.DictReader(io.StringIO(export.csv_text(hostile, {"test": ranked}))))
    assert {row["classes"][:2] for row in rows if row["classes"]} == {"'="}
    assert any(HOSTILE in row["classes"] for row in rows)


def test_imported_run_without_its_set_names_the_one_that_is_missing(laboratory, open_page, change):
    store = laboratory.store
    run = again_from_its_file(store, laboratory.on_shapes)
    app = open_page("train", run=run.id)
    assert runs.missing_set(run) not in plain_texts(app)
    change("delete from image_set where key = ?", laboratory.shapes)
    turn_to(app, run=run.id)
    assert laboratory.shapes in runs.missing_set(run)
    assert runs.missing_set(run) in plain_texts(app)
    assert not app.warning, "nothing is wrong with the address"
    assert len(app.get("plotly_chart")) == 1
    assert f"{run.result['test']['AP']:.3f}" in [metric.value for metric in app.metric]
    assert run.id not in [each.id for each in store.runs("train", laboratory.digits)]
    row = turn_to(app, set=laboratory.digits, everywhere="True").dataframe[0].value.iloc[0]
    assert (row["State"], row["Image set"]) == (run_table.state_of(run), run_table._set_title(run, {}))
    assert row["State"].startswith(runs.STATES["finished"])
    assert row["State"] != runs.STATES["finished"]
    assert row["Image set"].startswith("shapes")
    assert row["Image set"] != "shapes"
    ranked = open_page("ranked_images", run=run.id)
    assert not ranked.exception
    assert runs.missing_set(run) in plain_texts(ranked)
    assert button_keys(ranked) == ["widget go to image_sets"]


def test_imported_run_proves_nothing_here(laboratory, open_page):
    store = laboratory.store
    app = open_page("train", run=laboratory.finished)
    for converged, first in ((True, laboratory.finished), (False, laboratory.not_converged)):
        turn_to(app, run=first)
        assert certificate.CLAIMED not in texts(app)
        assert len(app.success) == converged
        turn_to(app, run=again_from_its_file(store, first).id)
        kinds = app.info if converged else app.warning
        assert [certificate.CLAIMED in element.value for element in kinds].count(True) == 1, first
        assert not app.success


def test_what_was_checked_of_an_import_is_listed(laboratory, open_page):
    run = again_from_its_file(laboratory.store, laboratory.finished)
    for checked, expected in (
        (run.imported["checked"], [True, True, False]),
        (None, [False, False, False]),
        ({"metrics": True, "scores": False}, [True, False, False]),
    ):
        imported = {**run.imported, "checked": checked}
        checks = certificate.checks_of(replace(run, result={**run.result, "imported": imported}))
        assert list(checks.values()) == expected
    app = open_page("train", run=run.id)
    assert all(what in plain_texts(app) for what in checks)
