"""A set whose features came with it, from the import to the ranking: pages offer those features and no others."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import import_here, train_settings
from shown import choose, press, turn_to
from trainings import finished

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
    colours = np.random.default_rng(0).random((60, 2))
    rows = [f"{red:.3f},{blue:.3f},{int(blue > 0.4)},{int(red > 0.5)}" for red, blue in colours]
    file = tmp_path / "table.arff"
    file.write_text(HEADER + "\n".join(rows))
    return laboratory.store.keep(import_here(laboratory.store, "ARFF", file=str(file), last=2).id)


def test_form_offers_them_alone_and_other_sets_those_of_pictures(laboratory, cards, started, open_page):
    def offered(app):
        return list(app.button_group[0].options), list(app.button_group[0].value)

    app = open_page("train", set=cards)
    assert offered(app) == (["Given"], ["Given"])
    press(app, "train")
    assert [run.settings["features"] for run in started] == [[["Given", {}]]]
    turn_to(app, set=cards)
    choose(app.selectbox, "set", laboratory.digits)
    options, chosen = offered(app)
    assert "Given" not in options
    assert chosen == ["HOG", "Colour"]
    choose(app.selectbox, "set", cards)
    assert offered(app) == (["Given"], ["Given"])


def test_run_by_them_is_shown(laboratory, cards, open_page):
    run = finished(laboratory.store, {**train_settings(cards, "sea"), "features": [["Given", {}]]})
    for page in ("train", "ranked_images", "image_sets"):
        app = open_page(page, run=run.id)
        assert [*app.warning, *app.error] == []
