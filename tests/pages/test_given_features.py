"""A set with supplied features, from the import to the ranking: pages offer only those features."""

from __future__ import annotations

import pytest
from example_corel5k import corel5k
from filled_home import train_settings
from imports_here import import_here
from shown import captions, choose, press, turn_to
from training_runs import finished

from ranking.storage.run_settings import LabelTrainSettings


@pytest.fixture
def cards(laboratory, tmp_path):
    """The key of such a set in the laboratory."""
    file = tmp_path / "corel5k.npz"
    file.write_bytes(corel5k())
    return import_here(laboratory.store, "Corel5k", file=str(file), least=1).result["key"]


def test_the_form_offers_only_supplied_features_for_sets_that_have_them(
    laboratory, cards, started, open_page
):
    def offered(app):
        return list(app.button_group[0].options), list(app.button_group[0].value)

    app = open_page("train", set=cards)
    assert offered(app) == (["Given"], ["Given"])
    press(app, "train")
    assert [run.settings["features"] for run in started] == [[["Given", {"scaling": "per column"}]]]
    turn_to(app, set=cards)
    choose(app.selectbox, "set", laboratory.digits)
    options, chosen = offered(app)
    assert "Given" not in options
    assert chosen == ["HOG", "Colour", "CNN"]
    choose(app.selectbox, "set", cards)
    assert offered(app) == (["Given"], ["Given"])


def test_each_page_with_thumbnails_explains_once_why_there_are_none(laboratory, cards, open_page):
    store, given = laboratory.store, [["Given", {}]]
    run, beside = (
        finished(store, {**train_settings(cards, "sea", method), "features": given}).id
        for method in ("SVM", "AP-SVM")
    )
    few = {"max_iterations": 20, "solver": "cutting plane"}
    graph = {"features": given, "graph": "nearest"}
    neighbours = finished(store, {**train_settings(cards, "sea", "HOB-SVM", **few), **graph}).id
    labels = finished(
        store, LabelTrainSettings(cards, (("Given", {}),), "Independent p@k", min_images=1).to_json()
    ).id
    for page, query in (
        ("image_sets", {"set": cards}),
        ("train", {"run": run}),
        ("ranked_images", {"run": run}),
        ("compare", {"compared": f"{run},{beside}"}),
        ("neighbours", {"run": neighbours}),
        ("neighbours", {"run": neighbours, "neighbours_view": "graph"}),
        ("interactive_labelling", {"label_run": labels}),
    ):
        app = open_page(page, **query)
        assert [*app.warning, *app.error] == [], page
        assert captions(app).count("no images") == 1, page
    assert "no images" not in captions(open_page("image_sets", set=laboratory.shapes))
