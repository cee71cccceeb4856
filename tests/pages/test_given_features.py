"""A set whose features came with it, from the import to the ranking: pages offer those features and no others."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import import_here, run_here, train_settings

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


def test_form_offers_them_alone_and_other_sets_those_of_pictures(laboratory, cards, started, open_page):
    def offered(app):
        assert not app.exception
        return list(app.button_group[0].options), list(app.button_group[0].value)

    app = open_page("train", set=cards)
    assert offered(app) == (["Given"], ["Given"])
    app.button(key="train").click().run()
    assert [run.settings["features"] for run in started] == [[["Given", {}]]]
    app = open_page("train", set=cards)
    options, chosen = offered(app.selectbox(key="widget set").select(laboratory.digits).run())
    assert "Given" not in options
    assert chosen == ["HOG", "Colour"]
    assert offered(app.selectbox(key="widget set").select(cards).run()) == (["Given"], ["Given"])


def test_run_by_them_is_shown(laboratory, cards, open_page):
    settings = {**train_settings(cards, "sea"), "features": [["Given", {}]]}
    run = run_here(laboratory.store, settings)
    for page in ("train", "ranked_images", "image_sets"):
        app = open_page(page, run=run.id)
        assert not app.exception
        assert not app.warning
        assert not app.error
