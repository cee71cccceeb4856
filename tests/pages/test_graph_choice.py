"""Pairs from a CSV on the page Train: read at once, on disk before they are confirmed, used by all pages."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from filled_home import train_settings
from homes import trained_besides
from shown import (
    address,
    choose,
    compared,
    components,
    errors,
    numbers_in,
    press,
    texts,
    turn_to,
    warnings,
)
from training_runs import finished

from pages.parts.app import cache, home
from pages.parts.neighbours import graph_models
from pages.parts.training import export, graph_choice, runs
from ranking.features.graph.image_graph import default_graph
from ranking.features.graph.uploaded_pairs import edges_name, short_name
from ranking.storage.uploads import edges_in

METHOD = "HOB-SVM"


def as_csv(images, edges):
    return "i,j\n" + "".join(f"{images.ids[i]},{images.ids[j]}\n" for i, j in edges)


def upload(app, text):
    return app.file_uploader[0].set_value(("pairs.csv", text.encode(), "text/csv")).run()


def box(app):
    return app.selectbox(key="widget graph")


@pytest.fixture
def images(laboratory):
    return laboratory.store.sets.get(laboratory.shapes)


@pytest.fixture
def edges(images):
    """Pairs of each sample and the next of the same class, whatever the split, in ascending order."""
    pairs = set()
    for name in images.classes:
        rows = np.flatnonzero(images.relevance(name) > 0)
        pairs |= {tuple(sorted(pair)) for pair in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True)}
    return np.array(sorted(pairs))


@pytest.fixture
def on_edges(laboratory, homes, monkeypatch, edges):
    """A run on pairs that a person uploaded, in the home of the app."""

    def train(here):
        graph = here.store.features.add_edges(here.shapes, edges)
        settings = train_settings(here.shapes, "disc", METHOD, max_iterations=20, solver="cutting plane")
        return finished(here.store, {**settings, "graph": graph}).id

    here, run_id = trained_besides("on edges", train, laboratory, homes, monkeypatch)
    return here.store.runs.get(run_id)


@pytest.fixture
def form(laboratory, open_page):
    """The page Train with a method that uses a graph."""
    return open_page("train", set=laboratory.shapes, method=METHOD)


# ---------------------------------------------------------------------------------------------------- uploading them


def test_csv_is_on_the_disk_before_it_is_chosen_and_settings_name_it(
    laboratory, started, form, images, edges
):
    upload(form, as_csv(images, edges))
    graph = edges_name(edges)
    np.testing.assert_array_equal(laboratory.store.features.edges_of(laboratory.shapes, graph), edges)
    assert address(form)["graph"] == box(form).value == graph
    assert box(form).options[-1] == graph_choice.words(graph)
    assert short_name(graph) in graph_choice.words(graph)
    [place, *_] = form.file_uploader
    assert place.value is None, "there is room for the next one"
    assert place.proto.max_upload_size_mb == graph_choice.MAX_MEGABYTES, "the browser asks no server either"
    assert graph_choice.in_words(images, edges) in texts(form)
    press(form, "train")
    assert started[0].settings["graph"] == graph
    turn_to(form, set=laboratory.digits, method=METHOD)
    turn_to(form, set=laboratory.shapes, method=METHOD, graph=graph)
    assert box(form).value == graph, "a link names it too"


def test_pairs_across_the_splits_are_counted_and_ignored(images, edges):
    ends_in_test = images.test[edges].sum(axis=1)
    train, joins, test = np.bincount(ends_in_test)
    assert min(train, joins, test) > 1
    of_train, of_test = (~images.test).sum(), images.test.sum()
    joined = [len(np.unique(edges[ends_in_test == count])) for count in (0, 2)]
    counts = [len(edges), train, joined[0], of_train, test, joined[1], of_test, joins]
    assert numbers_in(graph_choice.in_words(images, edges)) == counts
    for pairs, counts in (
        (edges[ends_in_test == 0][:1], [1, 1, 2, of_train, 0, 0, of_test, 0]),
        (edges[ends_in_test == 1][:1], [1, 0, 0, of_train, 0, 0, of_test, 1]),
    ):
        assert numbers_in(graph_choice.in_words(images, pairs)) == counts


def test_refused_pairs_name_their_line_and_nothing_is_kept(laboratory, form, images, edges):
    good = as_csv(images, edges[:3])
    upload(form, good + "nobody,x\n")
    [refusal] = errors(form)
    assert refusal.startswith("pairs.csv, line 5: ")
    assert box(form).value == default_graph(images)
    assert not list((laboratory.home / "edges").rglob("*.npy"))
    assert errors(form.run()) == [refusal], "as long as the file is there"
    choose(form.selectbox, "set", laboratory.digits)
    assert not form.error, "another set has nothing to do with it"
    choose(form.selectbox, "set", laboratory.shapes)
    form.file_uploader[0].clear().run()
    assert not form.error
    upload(form, good)
    assert not form.error
    assert box(form).value == edges_name(edges[:3])


def test_csv_that_is_too_large_is_refused_before_it_is_read(images, monkeypatch):
    monkeypatch.setattr(graph_choice, "MAX_MEGABYTES", 1)
    # which has nothing to be read
    large = SimpleNamespace(name="pairs.csv", size=3 * 2**19)
    with pytest.raises(ValueError, match=r"pairs\.csv: .*1 MB.*1\.5 MB"):
        graph_choice.store_pairs(images, large)


def test_each_name_of_a_class_is_guarded(images):
    """A spreadsheet that takes ; for the end of a cell would run one in the midst of a cell, too."""
    hostile = replace(images, classes=("kind", "=1+1"), labels=np.ones((len(images), 2), np.bool_))
    for row in csv.DictReader(io.StringIO(export.samples_csv(hostile))):
        assert row["classes"] == "kind;'=1+1"


def test_list_of_samples_names_them_as_a_csv_of_pairs_does(form, images):
    rows = list(csv.DictReader(io.StringIO(export.samples_csv(images))))
    assert [row["id"] for row in rows] == images.ids.tolist()
    assert [row["split"] == "test" for row in rows] == images.test.tolist()
    assert [row["image"] for row in rows] == images.image_names[images.image_of].tolist()
    assert [int(row["left"]) for row in rows] == images.boxes[:, 0].tolist()
    assert ":material/list:" in [each.proto.icon for each in form.get("download_button")]
    assert f"i,j\n{images.ids[0]},{images.ids[1]}" in [code.value for code in form.code]
    pair = f"i,j\n{rows[0]['id']},{rows[2]['id']}\n"
    assert box(upload(form, pair)).value == edges_name(np.array([[0, 2]]))


# ------------------------------------------------------------------------------------------------- finding them again


def test_every_page_uses_the_uploaded_pairs_of_a_run(laboratory, open_page, on_edges, images, edges):
    inside = {tuple(edge) for edge in edges.tolist() if images.test[edge[0]] == images.test[edge[1]]}
    known = graph_models.neighbourhood(on_edges)
    assert {tuple(sorted(edge)) for edge in known.components.edges.tolist()} == inside
    assert not open_page("neighbours", run=on_edges.id).error
    app = open_page("neighbours", neighbours_view="graph", run=on_edges.id)
    assert not app.error
    [graph] = components(app, "ranking_sample_graph")
    row = {str(name): number for number, name in enumerate(images.ids)}
    edges_shown = {
        tuple(sorted(row[drawing["nodes"][tie[end]]["id"]] for end in ("first", "second")))
        for drawing in graph["drawings"]
        for tie in drawing["ties"]
    }
    assert edges_shown
    assert edges_shown <= inside


def test_a_run_and_its_sheet_name_them_and_another_set_does_not_offer_them(
    laboratory, open_page, on_edges, images
):
    graph = on_edges.settings["graph"]
    assert runs.telling(on_edges).endswith(f" = {short_name(graph)}")
    title = export.title_of(on_edges, images, cache.ranking(on_edges, "test"), "test")
    assert title.endswith(f": {short_name(graph)}")
    app = open_page("train", run=on_edges.id, graph="none")
    assert [f"{short_name(graph)} → none" in difference for difference in compared(app)] == [True]
    turn_to(app, set=laboratory.digits, method=METHOD, graph=graph)
    assert box(app).value == "nearest", "whose images have one sample each"
    assert graph_choice.words(graph) not in box(app).options
    assert short_name(graph) in warnings(app)


def test_damaged_and_missing_pairs_are_uploaded_again(open_page, on_edges, images, edges):
    graph = on_edges.settings["graph"]
    file = edges_in(home.store().home / "edges", images.key).path(graph)
    file.write_bytes(b"x")
    app = open_page("train", run=on_edges.id)
    assert any(short_name(graph) in error for error in errors(app))
    assert app.file_uploader, "where they can be uploaded again"
    file.unlink()
    graph_models.neighbourhood.clear()
    shown = [
        open_page("neighbours", neighbours_view=view, run=on_edges.id) for view in ("labellings", "graph")
    ]
    assert [len(missing.error) for missing in shown] == [1, 1]
    turn_to(app, run=on_edges.id)
    assert short_name(graph) in warnings(app)
    assert "edges.npy" in warnings(app), "what an export goes without"
    assert box(app).value == default_graph(images)
    upload(app, as_csv(images, edges[::-1]))
    assert box(app).value == graph, "in any order"
    for missing in shown:
        turn_to(missing, run=on_edges.id)
        assert not missing.error
        assert missing.metric
