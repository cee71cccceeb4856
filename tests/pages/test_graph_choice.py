"""Pairs from a CSV on the page Train: read at once, on the disk before the page says so, found by all pages."""

from __future__ import annotations

import csv
import io
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from filled_home import run_here, train_settings
from test_ranked_images import components
from test_train import texts

from pages.parts import cache, export, graph_choice, runs
from ranking import apart, similarity
from ranking.edge_files import edges_file, edges_name, short_name
from ranking.store import Store

METHOD = "HOB-SVM"


def of_classes(images):
    """Pairs of each sample and the next of the same class, whatever the split, in ascending order."""
    found = set()
    for name in images.classes:
        rows = np.flatnonzero(images.relevance(name) > 0)
        found |= {tuple(sorted(pair)) for pair in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True)}
    return np.array(sorted(found))


def as_csv(images, edges):
    return "i,j\n" + "".join(f"{images.ids[i]},{images.ids[j]}\n" for i, j in edges)


def upload(app, text, name="pairs.csv"):
    data = text if isinstance(text, bytes) else text.encode()
    app.file_uploader[0].set_value((name, data, "text/csv")).run()
    assert not app.exception
    return app


def box(app):
    return app.selectbox(key="widget graph")


def errors(app):
    return [error.value.replace("\\", "") for error in app.error]


@pytest.fixture
def images(laboratory):
    return laboratory.store.image_set(laboratory.shapes)


@pytest.fixture
def edges(images):
    return of_classes(images)


@pytest.fixture
def on_edges(laboratory, edges):
    """A training on pairs that a person brought."""
    graph = laboratory.store.keep_edges(laboratory.shapes, edges)
    asked = train_settings(laboratory.shapes, "disc", METHOD, max_iterations=20, solver="cutting plane")
    return run_here(laboratory.store, {**asked, "graph": graph})


# --------------------------------------------------------------------------------------------------- bringing them


def test_a_csv_is_on_the_disk_before_it_is_chosen_and_settings_name_it(
    laboratory, started, open_page, images, edges
):
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    upload(app, as_csv(images, edges))
    graph = edges_name(edges)
    np.testing.assert_array_equal(Store(laboratory.home).edges_of(laboratory.shapes, graph), edges)
    assert app.query_params["graph"] == graph
    assert box(app).value == graph
    assert box(app).options[-1] == f"Pairs of {short_name(graph)}"
    assert not app.error
    assert app.file_uploader[0].value is None, "there is room for the next one"
    app.button(key="train").click().run()
    assert started[0].settings["graph"] == graph
    assert box(app).value == graph, "the training stands for it"
    again = open_page("train", set=laboratory.shapes, method=METHOD, graph=graph)
    assert box(again).value == graph, "a link names it too"


def test_pairs_that_join_the_splits_are_counted_and_left_out(laboratory, open_page, images, edges):
    app = upload(open_page("train", set=laboratory.shapes, method=METHOD), as_csv(images, edges))
    sides = images.test[edges].sum(axis=1)
    train, joins, test = (int((sides == count).sum()) for count in (0, 1, 2))
    assert min(train, joins, test) > 1
    samples = [len(np.unique(edges[sides == count])) for count in (0, 2)]
    assert (
        f"Of {len(edges)} pairs, {train} lie among {samples[0]} of the {(~images.test).sum()} training samples and "
        f"{test} lie among {samples[1]} of the {images.test.sum()} test samples. **{joins} join a training sample to "
        "a test sample and are left out**, for training may not see test samples."
    ) in texts(app)


def test_one_pair_is_said_as_one(images):
    [train, other], [test] = np.flatnonzero(~images.test)[:2], np.flatnonzero(images.test)[:1]
    told = graph_choice.told_of(images, np.array([[train, other]]))
    assert told.startswith("Of 1 pair, 1 lies among 2 of the ")
    assert "left out" not in told
    assert "**1 joins a training sample to a test sample and is left out**" in graph_choice.told_of(
        images, np.array([sorted((train, test))])
    )


def test_what_is_wrong_is_said_with_its_line_and_nothing_is_kept(laboratory, open_page, images, edges):
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    good = as_csv(images, edges[:3])
    for text, why in (
        (good + "nobody,x\n", "pairs.csv, line 5: "),
        (good + good.splitlines()[2], "pairs.csv, line 5: "),
        ("a,b\n", "pairs.csv, line 1: "),
        ("i,j\n", "pairs.csv, line 2: "),
        (b"i,j\n\xff,\xff\n", "pairs.csv, line 2: "),
        (b"\x00\x01", "pairs.csv, line 1: "),
    ):
        upload(app, text)
        [said] = errors(app)
        assert said.startswith(why)
        assert box(app).value == "same image"
        assert not list(laboratory.store.edges.rglob("*.npy"))
        assert errors(app.run()) == [said], "as long as the file is there"
    app.file_uploader[0].clear().run()
    assert not app.error
    upload(app, good)
    assert not app.error
    assert box(app).value == edges_name(edges[:3])


def test_a_refusal_is_not_said_of_another_set(laboratory, open_page):
    app = upload(open_page("train", set=laboratory.shapes, method=METHOD), "no pairs")
    assert app.error
    app.selectbox(key="widget set").select(laboratory.digits).run()
    assert not app.exception
    assert not app.error


def test_a_csv_that_is_too_large_is_refused_before_it_is_read(laboratory, open_page, images, monkeypatch):
    def read(*_):
        raise AssertionError("it was read")

    monkeypatch.setattr(graph_choice, "MOST_MEGABYTES", 1)
    monkeypatch.setattr(graph_choice, "keep_pairs_apart", read)
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    assert app.file_uploader[0].proto.max_upload_size_mb == 1, "the browser asks no server either"
    large = SimpleNamespace(name="pairs.csv", size=3 * 2**19, getvalue=read)
    with pytest.raises(
        ValueError,
        match=r"pairs.csv: expected at most 1 MB, got 1.5 MB; leave other columns out, or some pairs",
    ):
        graph_choice.keep(images, large)


def test_a_csv_is_read_by_another_process_within_limits(laboratory, open_page, images, edges, monkeypatch):
    def read(*_):
        raise AssertionError("it was read here")

    monkeypatch.setattr(similarity, "_lines", read)
    app = upload(open_page("train", set=laboratory.shapes, method=METHOD), as_csv(images, edges))
    assert not app.error
    assert box(app).value == edges_name(edges)
    monkeypatch.setattr(apart, "SECONDS", 0.01)
    upload(app, as_csv(images, edges[:2]))
    [error] = errors(app)
    assert "0.02 seconds" in error


def test_a_home_that_cannot_be_written_is_said(laboratory, open_page, images, edges):
    laboratory.store.edges.mkdir(exist_ok=True)
    (laboratory.store.edges / laboratory.shapes).write_text("in the way")
    app = upload(open_page("train", set=laboratory.shapes, method=METHOD), as_csv(images, edges))
    [said] = errors(app)
    assert said.startswith("cannot use the home folder ")
    assert box(app).value == "same image"


def test_the_list_of_samples_names_them_as_a_csv_of_pairs_does(laboratory, open_page, images):
    rows = list(csv.DictReader(io.StringIO(export.samples_csv(images))))
    assert [row["id"] for row in rows] == images.ids.tolist()
    assert [row["split"] == "test" for row in rows] == images.test.tolist()
    assert [row["image"] for row in rows] == images.image_names[images.image_of].tolist()
    assert [int(row["left"]) for row in rows] == images.boxes[:, 0].tolist()
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    assert "List of samples (CSV)" in [button.label for button in app.get("download_button")]
    assert f"i,j\n{images.ids[0]},{images.ids[1]}" in [code.value for code in app.code]
    pair = f"i,j\n{rows[0]['id']},{rows[2]['id']}\n"
    assert box(upload(app, pair)).value == edges_name(np.array([[0, 2]]))


def test_pairs_of_another_set_are_not_offered(laboratory, open_page, on_edges):
    graph = on_edges.settings["graph"]
    app = open_page("train", set=laboratory.digits, method=METHOD, graph=graph)
    assert not app.exception
    assert box(app).value == "same image"
    assert graph not in box(app).options
    said = app.warning[0].value.replace("\\", "")
    assert f"the pairs of {short_name(graph)} were not brought for this image set in this home" in said


# ------------------------------------------------------------------------------------------------- finding them again


def test_every_page_finds_them_again(laboratory, open_page, on_edges, images, edges):
    inside = {tuple(edge) for edge in edges.tolist() if images.test[edge[0]] == images.test[edge[1]]}
    found = cache.neighbourhood(on_edges)
    assert {tuple(sorted(edge)) for edge in found.components.edges.tolist()} == inside
    for page in ("max_marginals", "sample_graph"):
        app = open_page(page, run=on_edges.id)
        assert not app.exception
        assert not app.error
    [graph] = components(app, "ranking_sample_graph")
    row = {str(name): number for number, name in enumerate(images.ids)}
    drawn = {
        tuple(sorted(row[one["nodes"][tie[end]]["id"]] for end in ("first", "second")))
        for one in graph["drawings"]
        for tie in one["ties"]
    }
    assert drawn
    assert drawn <= inside
    words = short_name(on_edges.settings["graph"])
    assert runs.telling(on_edges).endswith(f"neighbours = {words}")
    title = export.title_of(on_edges, images, cache.ranking(on_edges, "test"), "test")
    assert title.endswith(f"neighbours: {words}")
    app = open_page("train", run=on_edges.id, graph="none")
    assert any(f"neighbours {words} → none" in info.value.replace("\\", "") for info in app.info)


@pytest.mark.parametrize("page", ["max_marginals", "sample_graph"])
def test_pairs_that_are_gone_are_said_and_brought_again(laboratory, open_page, on_edges, images, edges, page):
    file = edges_file(laboratory.store.edges, laboratory.shapes, on_edges.settings["graph"])
    file.unlink()
    cache._neighbourhood.clear()
    app = open_page(page, run=on_edges.id)
    assert not app.exception
    [said] = errors(app)
    assert short_name(on_edges.settings["graph"]) in said
    app = open_page("train", run=on_edges.id)
    assert not app.exception
    assert "bring that CSV once more below" in app.warning[0].value
    [lacking] = [one.value for one in app.warning if "export goes without edges" in one.value]
    assert short_name(on_edges.settings["graph"]) in lacking
    assert box(app).value == "same image"
    upload(app, as_csv(images, edges[::-1]))
    assert box(app).value == on_edges.settings["graph"], "in any order"
    app = open_page(page, run=on_edges.id)
    assert not app.error
    assert app.metric


def test_damaged_pairs_are_said_where_they_are_chosen(laboratory, open_page, on_edges):
    graph = on_edges.settings["graph"]
    edges_file(laboratory.store.edges, laboratory.shapes, graph).write_bytes(b"x")
    app = open_page("train", run=on_edges.id)
    assert not app.exception
    assert any(f"pairs of {short_name(graph)}" in said for said in errors(app))
    assert app.file_uploader, "where they can be brought again"


def test_on_another_home_they_come_with_the_export(laboratory, open_page, on_edges, tmp_path, monkeypatch):
    data = export.archive(on_edges)
    home = tmp_path / "another"
    shutil.copytree(laboratory.home, home)
    shutil.rmtree(home / "edges")
    monkeypatch.setenv("RANKING_HOME", str(home))
    app = open_page("train", set=laboratory.shapes)
    [uploader] = [one for one in app.file_uploader if one.label.startswith("A ZIP file")]
    uploader.set_value(("training.zip", data, "application/zip"))
    [button] = [one for one in app.button if one.label == "Import"]
    button.click().run()
    assert not app.exception
    assert box(app).value == on_edges.settings["graph"]
    app = open_page("max_marginals", run=app.query_params["run"])
    assert not app.error
    assert app.metric
