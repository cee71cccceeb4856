"""A set whose features came with it, from the import to the ranking: pages offer those features and no others."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import import_here, train_settings

from ranking import worker
from ranking.events import Report

HEADER = """@relation r
@attribute red numeric
@attribute blue numeric
@attribute sea {0,1}
@attribute sun {0,1}
@data
"""


@pytest.fixture
def cards(laboratory, tmp_path):
    """The key of such a set in the laboratory."""
    random = np.random.default_rng(0)
    rows = [
        f"{red:.3f},{blue:.3f},{int(blue > 0.4)},{int(red > 0.5)}" for red, blue in random.random((60, 2))
    ]
    file = tmp_path / "table.arff"
    file.write_text(HEADER + "\n".join(rows))
    return laboratory.store.keep(import_here(laboratory.store, "ARFF", file=str(file), last=2).id)


def test_train_offers_them_alone(laboratory, cards, started, open_page):
    app = open_page("train", set=cards)
    assert not app.exception
    assert (list(app.button_group[0].options), list(app.button_group[0].value)) == (["Given"], ["Given"])
    app.button(key="train").click().run()
    assert [run.settings["features"] for run in started] == [[["Given", {}]]]


def test_another_set_offers_features_of_pictures(laboratory, cards, open_page):
    app = open_page("train", set=cards)
    app.selectbox(key="widget set").select(laboratory.digits).run()
    assert not app.exception
    assert "Given" not in app.button_group[0].options
    assert list(app.button_group[0].value) == ["HOG", "Colour"]
    app.selectbox(key="widget set").select(cards).run()
    assert list(app.button_group[0].value) == ["Given"]


@pytest.mark.parametrize("page", ["train", "ranked_images", "image_sets"])
def test_a_training_by_them_is_shown(laboratory, cards, open_page, page):
    store = laboratory.store
    run = store.create_run("train", {**train_settings(cards, "sea"), "features": [["Given", {}]]})
    store.end_run(run.id, "finished", result=worker.train(store, run, Report(run.folder / "events.jsonl")))
    app = open_page(page, run=run.id)
    assert not app.exception
    assert not app.warning
    assert not app.error
