"""What a person does with the training runs of the table, and that it is on disk before the page shows it."""

from __future__ import annotations

import csv
import io
import json
import shutil

import numpy as np
import pytest
from archives import unpacked
from shown import address, button, button_keys, plain, plain_texts, press, texts, turn_to

from pages.parts.app import cache, keys
from pages.parts.app.frame import escaped
from pages.parts.training import export, run_actions, run_table, runs

DELETE, UNDO_DELETED, UNDO_HERE = "delete runs", "undo just deleted", keys.widget("undo deletion")


def test_table_has_the_settings_and_results_of_each_run(laboratory, open_page):
    store = laboratory.store
    store.runs.rename(laboratory.finished, "=first")
    store.runs.star(laboratory.finished)
    app = open_page("train", set=laboratory.digits, query="3")
    listed = app.dataframe[0].value
    first, result = listed.iloc[0], store.runs.get(laboratory.finished).result
    assert (first["★"], first["Name"], first["Query"], first["Method"]) == ("★", "=first", "3", "AP-SVM")
    assert [part.rpartition(" = ")[2] for part in first["Settings"].split(", ")] == ["100", "0.01"]
    assert runs.telling(store.runs.get(laboratory.on_shapes)).split(", ")[0] == "C = 1000", "though a default"
    for column, value in (
        ("Test AP", result["test"]["AP"]),
        ("Train AP", result["train"]["AP"]),
        ("Duality gap, %", 100 * result["certificate"]["relative_gap"]),
        ("Seconds", result["certificate"]["seconds"]),
    ):
        assert np.isclose(first[column], value), column
    states = [runs.STATES[state] for state in ("finished", "finished", "cancelled", "failed")]
    assert list(listed["State"]) == states
    assert "Image set" not in listed
    assert "star runs" not in button_keys(app), "none is chosen"
    everywhere = turn_to(app, set=laboratory.digits, query="3", everywhere="True").dataframe[0].value
    assert list(everywhere["Image set"]).count("shapes") == 1
    assert len(everywhere) == len(listed) + 2
    store.runs.delete(laboratory.on_shapes)
    elsewhere = run_actions.counted(len(store.runs.all("train")), "samples")
    assert elsewhere in texts(turn_to(app, set=laboratory.shapes))


def test_run_of_a_method_that_is_unknown_here_is_still_listed(laboratory, open_page):
    store = laboratory.store
    settings = store.runs.get(laboratory.finished).settings | {"method": "Old", "method_settings": {"D": 2.0}}
    store.runs.update(laboratory.finished, settings=settings)
    assert runs.telling(store.runs.get(laboratory.finished)) == "D = 2"
    app = open_page("train", run=laboratory.finished)
    assert app.dataframe[0].value.iloc[0]["Method"] == "Old"


def test_the_shown_run_stays_selected_when_the_browser_clears_its_rows():
    for rows, shown, chosen in (([], "b", ["b"]), ([], None, []), ([0], "b", ["a"])):
        assert run_table.chosen_by(rows, ["a", "b"], shown) == chosen


def test_star_and_name_are_on_disk(laboratory, open_page):
    def rename(name):
        [box] = [each for each in app.text_input if each.label == "Name"]
        box.set_value(name)
        button(app, "Save").click().run()
        return laboratory.store.runs.get(laboratory.finished).name

    app = open_page("train", run=laboratory.finished)
    for starred in (True, False):
        press(app, "star runs")
        assert laboratory.store.runs.get(laboratory.finished).star == starred
    assert rename("a *new* <b>name") == "a *new* <b>name"
    assert escaped("a *new* <b>name") in texts(app)
    assert not app.error
    assert rename("left\u202eright") == "a *new* <b>name"
    assert app.error


def test_delete_undo_restore_and_empty(laboratory, open_page):
    store = laboratory.store
    app = open_page("train", run=laboratory.finished)
    before = len(app.dataframe[0].value)
    press(app, DELETE)
    assert store.runs.get(laboratory.finished).deleted
    assert run_actions.counted(1, "samples") in app.toast[0].value
    assert escaped(runs.short_name(store.runs.get(laboratory.finished))) in texts(app)
    assert UNDO_HERE not in button_keys(app), "one is enough"
    assert len(app.dataframe[0].value) == before - 1
    press(app, UNDO_DELETED)
    assert store.runs.get(laboratory.finished).deleted is None
    assert len(app.dataframe[0].value) == before
    assert UNDO_DELETED not in button_keys(app)
    for run_id in (laboratory.failed, laboratory.cancelled):
        store.runs.delete(run_id)
    app.run()
    press(app, f"widget restore {laboratory.failed}")
    assert store.runs.get(laboratory.failed).deleted is None
    press(app, "empty deleted")
    assert store.runs.all(deleted=True) == []
    assert laboratory.cancelled not in [run.id for run in store.runs.all()]


@pytest.mark.parametrize("page", ["train", "ranked_images"])
def test_url_of_a_deleted_run_offers_undo(laboratory, open_page, page):
    store, deleted = laboratory.store, laboratory.finished
    store.runs.delete(deleted)
    app = open_page(page, run=deleted)
    assert escaped(runs.short_name(store.runs.get(deleted))) in texts(app)
    press(app, UNDO_HERE)
    assert store.runs.get(deleted).deleted is None
    assert UNDO_HERE not in button_keys(app)
    store.runs.delete(deleted)
    turn_to(app, run=deleted)
    # in another browser
    store.runs.empty_trash()
    press(app, UNDO_HERE)
    assert deleted in app.error[0].value
    assert not app.run().error, "once is enough"


def test_starting_again_drops_changed_settings(laboratory, open_page):
    app = open_page("train", run=laboratory.finished, query="7")
    press(app, "begin again")
    assert address(app) == {"run": laboratory.finished}
    assert app.selectbox(key="widget query").value == "3"
    assert app.toast


def test_changed_settings_are_marked_after_training(laboratory, open_page):
    before, after = (
        laboratory.store.runs.get(each) for each in (laboratory.finished, laboratory.not_converged)
    )
    app = open_page("train", run=after.id, like=before.id)
    changes = runs.differences(runs.settings_given(before), runs.settings_given(after))
    assert len(changes) == 4
    [element] = [each.value for each in app.markdown if escaped("; ".join(changes)) in each.value]
    assert escaped(runs.short_name(before)) in element
    assert " → ".join(f"{run.result['test']['AP']:.3f}" for run in (before, after)) in element


def test_archive_contains_table_and_contact_sheet(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.on_shapes)
    assert export.lacking(run) == {}
    assert not open_page("train", run=run.id).warning
    files = unpacked(export.archive(run))
    assert files["ranking.png"].startswith(b"\x89PNG")
    assert json.loads(files["run.json"])["left_out"] == {}
    rows = list(csv.DictReader(io.StringIO(files["ranking.csv"].decode())))
    images = laboratory.store.sets.get(laboratory.shapes)
    assert len(rows) == len(images)
    for split in ("test", "train"):
        ranked, listed = cache.ranking(run, split), [row for row in rows if row["split"] == split]
        assert [int(row["rank"]) for row in listed] == list(range(1, len(ranked) + 1)), split
        assert [row["sample"] for row in listed] == images.ids[ranked.samples].tolist(), split
        assert [float(row["score"]) for row in listed] == ranked.scores.tolist(), split
        assert [int(row["relevant"]) for row in listed] == ranked.relevance.tolist(), split


def test_export_without_thumbnails_omits_the_contact_sheet(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.on_shapes)
    (laboratory.home / "sets" / laboratory.shapes / "crops.bin").unlink()
    assert list(export.lacking(run)) == ["ranking.png"]
    app = open_page("train", run=run.id)
    assert "ranking.png" in plain(app.warning[0]), "said before it is made"
    [download] = [each for each in app.get("download_button") if each.proto.id.endswith("export run")]
    assert not download.disabled
    files = unpacked(export.archive(run))
    assert "ranking.png" not in files
    assert files["ranking.csv"].startswith(b"rank,")
    assert [name for name, why in json.loads(files["run.json"])["left_out"].items() if why] == ["ranking.png"]


def test_run_without_its_set_names_the_one_that_is_missing(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.on_shapes)
    shutil.rmtree(laboratory.home / "sets" / laboratory.shapes)
    app = open_page("train", run=run.id)
    assert not app.warning, "nothing is wrong with the address"
    assert f"{run.result['test']['AP']:.3f}" in [metric.value for metric in app.metric]
    table = turn_to(app, set=laboratory.digits, query="3", everywhere="True").dataframe[0].value
    assert f"{laboratory.shapes[:8]} (missing)" in list(table["Image set"])
    ranked = open_page("ranked_images", run=run.id)
    assert laboratory.shapes in runs.missing_set(run)
    assert runs.missing_set(run) in plain_texts(ranked)
    assert button_keys(ranked) == ["widget go to image_sets"]
