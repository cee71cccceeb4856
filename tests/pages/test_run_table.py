"""What a person does with the trainings of the table, and that it is on disk before the page says so."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
import sys
import zipfile
from contextlib import closing

import numpy as np
import pytest
from shapes import HOSTILE

from pages.parts import export, jobs_panel, run_table, runs
from ranking import jobs
from ranking.run_archive import import_run


def texts(app):
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


def button(app, label):
    [found] = [one for one in app.button if one.label == label]
    return found


def test_the_table_tells_settings_and_results_of_each(laboratory, open_page):
    store = laboratory.store
    store.name_run(laboratory.finished, "=first")
    store.star_run(laboratory.finished)
    listed = open_page("train", set=laboratory.digits).dataframe[0].value
    first = listed.iloc[0]
    result = store.run(laboratory.finished).result
    assert (first["★"], first["Name"], first["Query"], first["Method"]) == ("★", "=first", "3", "AP-SVM")
    assert first["Settings"] == "C = 100, Stop at this duality gap = 0.01"
    for column, value in (
        ("Test AP", result["test"]["AP"]),
        ("Train AP", result["train"]["AP"]),
        ("Gap, %", 100 * result["certificate"]["relative_gap"]),
        ("Seconds", result["certificate"]["seconds"]),
    ):
        assert np.isclose(first[column], value)
    assert "Image set" not in listed
    everywhere = open_page("train", set=laboratory.digits, everywhere="True").dataframe[0].value
    assert list(everywhere["Image set"]).count("shapes") == 1
    assert list(everywhere["Method"]).count("HOB-SVM") == 1
    assert len(everywhere) == len(listed) + 2


def test_what_to_notice_of_several_trainings_is_not_said_of_one(laboratory, open_page):
    for key, several in ((laboratory.digits, True), (laboratory.shapes, False)):
        app = open_page("train", set=key)
        [told] = [caption.value for caption in app.caption if "Choose rows by the box" in caption.value]
        assert ("**Notice** where a higher train AP" in told) == several


def test_the_main_settings_are_listed_though_they_are_defaults(laboratory):
    assert runs.telling(laboratory.store.run(laboratory.on_shapes)).startswith("C = 1000")


@pytest.mark.parametrize(
    "wild", [2**64, 10**300, 10**400, -(2**64), True, "many", [1], None], ids=lambda wild: str(wild)[:5]
)
def test_a_wild_number_harms_no_row_and_can_be_deleted(laboratory, open_page, wild):
    """As a file could bring it in before it was refused."""
    store = laboratory.store
    result = store.run(laboratory.finished).result
    result["certificate"] |= {"seconds": wild, "relative_gap": wild}
    store.update_run(laboratory.finished, result={**result, "test": {"AP": wild}, "train": {"AP": wild}})
    app = open_page("train", set=laboratory.digits)
    assert not app.exception
    row = app.dataframe[0].value.iloc[0]
    number = type(wild) is int and abs(wild) <= sys.float_info.max
    for column, value in (("Seconds", wild), ("Gap, %", wild), ("Test AP", wild), ("Train AP", wild)):
        factor = 100.0 if column == "Gap, %" else 1.0
        assert row[column] == factor * float(value) if number else np.isnan(float(row[column] or "nan"))
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert number != ("not in numbers that can be shown" in texts(app))
    assert not open_page("ranked_images", set=laboratory.digits).exception
    button(app, "Delete").click().run()
    assert store.run(laboratory.finished).deleted


def test_trainings_on_other_sets_are_counted_where_this_one_has_none(laboratory, open_page):
    for run in laboratory.store.runs("train", laboratory.shapes):
        laboratory.store.delete_run(run.id)
    there = len(laboratory.store.runs("train"))
    app = open_page("train", set=laboratory.shapes)
    assert f"{there} trainings on other image sets" in texts(app)
    assert "on other image sets" not in texts(open_page("train", set=laboratory.digits))


def test_what_is_gone_for_good_meanwhile_is_said_in_place(laboratory, open_page):
    store = laboratory.store
    for run_id, key in (
        (laboratory.failed, f"widget restore {laboratory.failed}"),
        (laboratory.finished, "undo just deleted"),
    ):
        app = open_page("train", run=run_id)
        button(app, "Delete").click().run()
        store.empty_deleted()  # in another browser
        app.button(key=key).click().run()
        assert not app.exception
        assert f"'{run_id}'" in app.error[0].value.replace("\\", "")
        app.run()
        assert not app.error, "once is enough"


@pytest.mark.parametrize("act", ["star_run", "name_run", "delete_run", "restore_run"])
def test_a_training_that_goes_while_it_is_acted_on_is_said(laboratory, open_page, monkeypatch, act):
    def gone(store, run_id, *arguments):
        raise ValueError(f"there is no run {run_id}")

    if act == "restore_run":
        laboratory.store.delete_run(laboratory.finished)
    app = open_page("train", run=laboratory.finished)
    monkeypatch.setattr(type(laboratory.store), act, gone)
    labels = {"star_run": "Star", "name_run": "Save", "delete_run": "Delete", "restore_run": "Undo"}
    button(app, labels[act]).click().run()
    assert not app.exception
    assert f"there is no run {laboratory.finished}" in app.error[0].value
    assert not app.toast


def test_the_training_of_the_address_is_the_chosen_one(laboratory, open_page):
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert not button(app, "Star").disabled
    none = open_page("train", set=laboratory.digits)
    assert "Star" not in [one.label for one in none.button]
    assert "Choose a training to open" in texts(none)


def test_star_and_name_are_on_disk(laboratory, open_page):
    app = open_page("train", run=laboratory.finished)
    button(app, "Star").click().run()
    assert laboratory.store.run(laboratory.finished).star
    button(app, "Take star away").click().run()
    assert not laboratory.store.run(laboratory.finished).star
    [name] = [one for one in app.text_input if one.label == "Name"]
    name.set_value("a *new* <b>name")
    button(app, "Save").click().run()
    assert not app.exception
    assert laboratory.store.run(laboratory.finished).name == "a *new* <b>name"
    assert "#### a \\*new\\* \\<b\\>name" in texts(app)
    [name] = [one for one in app.text_input if one.label == "Name"]
    name.set_value("left\u202eright")
    button(app, "Save").click().run()
    assert "control character" in app.error[0].value
    assert laboratory.store.run(laboratory.finished).name == "a *new* <b>name"


def test_delete_and_undo(laboratory, open_page):
    app = open_page("train", run=laboratory.finished)
    before = len(app.dataframe[0].value)
    button(app, "Delete").click().run()
    assert not app.exception
    assert laboratory.store.run(laboratory.finished).deleted
    assert "Deleted 1 training" in app.toast[0].value
    assert "Deleted: AP\\-SVM on “3”." in texts(app)
    assert len([one for one in app.button if one.label == "Undo"]) == 1
    assert len(app.dataframe[0].value) == before - 1
    assert "was deleted on" in texts(app)
    app.button(key="undo just deleted").click().run()
    assert laboratory.store.run(laboratory.finished).deleted is None
    assert len(app.dataframe[0].value) == before
    assert "was deleted on" not in texts(app)


@pytest.mark.parametrize("page", ["train", "ranked_images"])
def test_the_address_of_a_deleted_training_offers_undo(laboratory, open_page, page):
    laboratory.store.delete_run(laboratory.finished)
    app = open_page(page, run=laboratory.finished)
    assert not app.exception
    assert "AP\\-SVM on “3” was deleted on" in texts(app)
    app.button(key="widget undo deletion").click().run()
    assert laboratory.store.run(laboratory.finished).deleted is None
    assert "was deleted on" not in texts(app)


@pytest.mark.parametrize("page", ["train", "ranked_images"])
def test_undo_is_done_before_the_page_runs(laboratory, open_page, monkeypatch, page):
    """A page that is run again halfway has forgotten then that a button was pressed in it."""
    laboratory.store.delete_run(laboratory.finished)
    app = open_page(page, run=laboratory.finished)
    seen = []

    def chosen():
        seen.append(laboratory.store.run(laboratory.finished).deleted)
        return read()

    read = runs.chosen
    monkeypatch.setattr(runs, "chosen", chosen)
    app.button(key="widget undo deletion").click().run()
    assert not app.exception
    assert set(seen) == {None}, "it is back already"


@pytest.mark.parametrize("page", ["train", "ranked_images"])
@pytest.mark.parametrize("time", ["yesterday", -1e12, 1e300])
def test_a_time_of_deletion_that_is_damaged_is_said(laboratory, open_page, page, time):
    with closing(sqlite3.connect(laboratory.home / "ranking.sqlite")) as database, database:
        database.execute("update run set deleted = ? where id = ?", (time, laboratory.finished))
    app = open_page(page, run=laboratory.finished)
    assert not app.exception
    assert "its row in the database is damaged" in app.warning[0].value.replace("\\", "")


def test_a_training_that_is_gone_before_undo_is_said_on_its_page(laboratory, open_page):
    laboratory.store.delete_run(laboratory.finished)
    app = open_page("ranked_images", run=laboratory.finished)
    laboratory.store.empty_deleted()  # in another browser
    app.button(key="widget undo deletion").click().run()
    assert not app.exception
    assert f"'{laboratory.finished}'" in app.error[0].value.replace("\\", "")


def test_a_live_training_is_not_deleted(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    button(app, "Delete").click().run()
    assert "is still going on: cancel it first" in app.error[0].value.replace("\\", "")
    assert laboratory.store.run(started[0].id).deleted is None


def test_what_was_deleted_can_be_restored_or_emptied(laboratory, open_page):
    store = laboratory.store
    for run_id in (laboratory.failed, laboratory.cancelled):
        store.delete_run(run_id)
    app = open_page("train", set=laboratory.digits)
    app.button(key=f"widget restore {laboratory.failed}").click().run()
    assert store.run(laboratory.failed).deleted is None
    app.button(key="empty deleted").click().run()
    assert store.runs(deleted=True) == []
    with pytest.raises(ValueError, match=laboratory.cancelled):
        store.run(laboratory.cancelled)


def test_starting_again_drops_what_was_changed(laboratory, open_page):
    app = open_page("train", run=laboratory.finished, query="7")
    button(app, "Start again with one thing changed").click().run()
    assert dict(app.query_params) == {"run": laboratory.finished}
    assert app.selectbox(key="widget query").value == "3"
    assert "Change one of them" in app.toast[0].value


def test_what_was_changed_is_marked_afterwards(laboratory, open_page):
    app = open_page("train", run=laboratory.not_converged, like=laboratory.finished)
    changes = (
        "query 3 → 4\\; C 100 → 1e\\+06\\; Stop at this duality gap 0\\.01 → 1e\\-07\\; Iterations at most"
    )
    assert f"Like **AP\\-SVM on “3”** but **{changes}" in texts(app)
    values = [
        laboratory.store.run(one).result["test"]["AP"]
        for one in (laboratory.finished, app.query_params["run"])
    ]
    assert f"Test AP {values[0]:.3f} → {values[1]:.3f}." in texts(app)


def test_when_training_stops_is_said_before_and_meanwhile(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    assert "stops by itself when the gap is at most 0.1% of the objective" in texts(app)
    app.button(key="train").click().run()
    line = (
        '{"event": "iteration", "iteration": 1, "primal": 2.0, "dual": 1.0, "gap": 1, "relative_gap": 0.5}\n'
    )
    started[0].events_file.write_text(line)
    app.run()
    assert "Gap now: **50% of the objective** · stops by itself when the gap is at most 0.1%" in texts(app)


def test_a_training_that_waits_says_for_how_many(laboratory, started, open_page, monkeypatch):
    monkeypatch.setattr(jobs_panel.jobs, "MOST_AT_ONCE", 1)
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    assert "Waits for" not in str(app.get("progress")[0].proto)
    app.selectbox(key="widget query").select("5").run()
    app.button(key="train").click().run()
    assert "Waits for 1 other training or simulation to end" in str(app.get("progress")[0].proto)
    assert jobs.waits_for(laboratory.store, started[1]) == 1


# ------------------------------------------------------------------------------------------- out and in


def test_the_archive_holds_table_and_picture(laboratory):
    run = laboratory.store.run(laboratory.on_shapes)
    images = laboratory.store.image_set(laboratory.shapes)
    with zipfile.ZipFile(io.BytesIO(export.archive(run))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("ranking.csv").decode())))
        assert archive.read("ranking.png").startswith(b"\x89PNG")
    scores = dict(zip(images.ids, np.load(run.scores_file), strict=True))
    assert {row["sample"]: float(row["score"]) for row in rows} == scores
    assert {row["split"] for row in rows} == {"test", "train"}
    for split in ("test", "train"):
        assert [int(row["rank"]) for row in rows if row["split"] == split] == list(
            range(1, sum(images.test == (split == "test")) + 1)
        )


@pytest.mark.parametrize("harm", ["unlink", "shorten", "spoil"])
def test_an_export_without_thumbnails_goes_without_its_picture_and_says_so(laboratory, open_page, harm):
    run = laboratory.store.run(laboratory.on_shapes)
    crops = laboratory.home / "sets" / laboratory.shapes / "crops.bin"
    size = crops.stat().st_size
    crops.unlink()  # never written in: other homes share the file
    if harm != "unlink":
        crops.write_bytes(b"" if harm == "shorten" else bytes(size))
    app = open_page("train", run=run.id)
    assert not app.exception
    warned = [one.value.replace("\\", "") for one in app.warning if "The export goes without" in one.value]
    if harm == "spoil":  # which shows only when a picture is decoded
        assert not warned
    else:
        [said] = warned
        assert said.startswith("The export goes without ranking.png: ")
        assert said.endswith("import the image set again")
    [button] = [one for one in app.get("download_button") if one.label == "Export"]
    assert not button.disabled
    data = export.archive(run)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "ranking.png" not in archive.namelist()
        assert archive.read("ranking.csv").startswith(b"rank,")
        told = json.loads(archive.read("run.json"))
    assert list(told["left_out"]) == ["ranking.png"]
    assert told["left_out"]["ranking.png"]
    assert import_run(laboratory.store, data).has_scores


def test_an_export_without_its_image_set_leaves_out_both_views(laboratory, open_page):
    run = laboratory.store.run(laboratory.on_shapes)
    shutil.rmtree(laboratory.home / "sets" / laboratory.shapes)
    with zipfile.ZipFile(io.BytesIO(export.archive(run))) as archive:
        assert {"run.json", "scores.npy", "model.npz"} <= set(archive.namelist())
        left_out = json.loads(archive.read("run.json"))["left_out"]
    assert list(left_out) == ["ranking.csv", "ranking.png"]
    assert all("import it again" in why for why in left_out.values())


def test_an_export_with_all_its_files_leaves_nothing_out(laboratory, open_page):
    run = laboratory.store.run(laboratory.on_shapes)
    assert export.lacking(run) == {}
    with zipfile.ZipFile(io.BytesIO(export.archive(run))) as archive:
        assert json.loads(archive.read("run.json"))["left_out"] == {}
    assert not [one for one in open_page("train", run=run.id).warning if "export goes" in one.value]


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


def test_an_imported_training_without_its_set_says_which_is_missing(laboratory, open_page):
    store = laboratory.store
    run = import_run(store, export.archive(store.run(laboratory.on_shapes)))
    here = open_page("train", run=run.id)
    assert "This training was imported. Checked here: its metrics against its scores, its scores" in texts(
        here
    )
    assert "Claimed elsewhere, not checked here: its bounds and its curve." in texts(here)
    assert "not here" not in texts(here)
    with closing(sqlite3.connect(laboratory.home / "ranking.sqlite")) as database, database:
        database.execute("delete from image_set where key = ?", (laboratory.shapes,))
    app = open_page("train", run=run.id)
    assert not app.exception
    assert not app.warning, "nothing is wrong with the address"
    assert f"is not here\\: shapes\\, with the key {laboratory.shapes}" in texts(app)
    assert "Import the same images on the page Image sets" in texts(app).replace("\\", "")
    assert len(app.get("plotly_chart")) == 1
    assert f"{run.result['test']['AP']:.3f}" in [metric.value for metric in app.metric]
    app.run()
    assert not app.exception
    ranked = open_page("ranked_images", run=run.id)
    assert not ranked.exception
    assert f"shapes\\, with the key {laboratory.shapes}" in texts(ranked)
    assert [one.label for one in ranked.button] == ["Import images"]
    assert run.id not in [one.id for one in store.runs("train", laboratory.digits)]
    listed = open_page("train", set=laboratory.digits, everywhere="True").dataframe[0].value
    assert listed.iloc[0]["State"] == "✓ finished, imported"
    assert listed.iloc[0]["Image set"] == "shapes (not here)"


@pytest.mark.parametrize("trained", ["finished", "not_converged"])
def test_an_imported_training_proves_nothing_here(laboratory, open_page, trained):
    store = laboratory.store
    first = store.run(getattr(laboratory, trained))
    said = texts(open_page("train", run=first.id))
    assert "says the laboratory" not in said
    assert ("this is proof" in said) == (trained == "finished")
    verdict = "**Converged" if trained == "finished" else "**Not converged"
    app = open_page("train", run=import_run(store, export.archive(first)).id)
    assert not app.exception
    assert f"{verdict}, says the laboratory that trained it.**" in texts(app)
    assert "this is proof" not in texts(app)
    assert not app.success


@pytest.mark.parametrize("checked", [None, {"metrics": True, "scores": False}])
def test_what_was_not_checked_of_an_import_is_said(laboratory, open_page, checked):
    store = laboratory.store
    run = import_run(store, export.archive(store.run(laboratory.finished)))
    imported = {name: value for name, value in run.imported.items() if name != "checked"}
    imported |= {} if checked is None else {"checked": checked}
    store.update_run(run.id, result={**run.result, "imported": imported})
    said = texts(open_page("train", run=run.id))
    assert "not checked here: " in said
    claimed = said.partition("not checked here: ")[2]
    assert "its scores against its model" in claimed
    assert ("its metrics against its scores" in claimed) == (checked is None)
    assert ("Checked here: " in said) == (checked is not None)


def test_a_training_of_a_method_that_is_unknown_here_is_still_listed(laboratory, open_page):
    store = laboratory.store
    settings = store.run(laboratory.finished).settings
    store.update_run(
        laboratory.finished, settings={**settings, "method": "Old", "method_settings": {"D": 2.0}}
    )
    assert runs.telling(store.run(laboratory.finished)) == "D = 2"
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert app.dataframe[0].value.iloc[0]["Method"] == "Old"


@pytest.mark.parametrize(
    ("rows", "shown", "chosen"),
    [([], "b", ["b"]), ([], None, []), ([0], "b", ["a"]), ([0, 1], "b", ["a", "b"])],
)
def test_what_is_shown_stays_chosen_where_a_browser_forgets_its_rows(rows, shown, chosen):
    assert run_table.chosen_by(rows, ["a", "b"], shown) == chosen
