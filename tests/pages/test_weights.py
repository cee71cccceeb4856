"""The weights of a linear method as strokes and colours, and where the page Ranked images shows them."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import train_settings
from image_sets import png
from shown import pictures_of
from training_runs import finished

from pages.parts.app import keys
from pages.parts.rankings import weights
from pages.parts.rankings.weights import AVERAGED, SIDE, average_of, figure_of, hog_weights_of, of_sign
from ranking.features import make_feature

HOG_AND_COLOUR = [["Colour", {"bins": 2}], ["HOG", {"side": 32}], ["GIST", {}]]
SIZES = [make_feature(name, **settings).size for name, settings in HOG_AND_COLOUR]


def learned_of(hog=(), colours=()):
    """A look at weights that are 0 but for those of some HOG entries and colour bins, by number."""
    direction = np.zeros(sum(SIZES))
    for first, given in ((0, colours), (SIZES[0], hog)):
        for number, weight in dict(given).items():
            direction[first + number] = weight
    [learned] = hog_weights_of(HOG_AND_COLOUR, direction)
    return learned


def weights_in(app):
    """What the charts of weights show, in words."""
    return [chart.proto.alt for chart in app.get("plotly_chart") if "HOG" in chart.proto.alt]


def shades_of(learned, sign):
    """The opacities of the strokes of one sign."""
    return [
        trace.line.color.split(",")[-1].strip(")")
        for trace in figure_of(learned, sign).data
        if trace.mode == "lines"
    ]


def test_each_sign_has_its_panel_with_its_largest_colours_and_both_one_scale():
    learned = learned_of({0: 2.0, 10: -1.0, 11: 0.001}, {1: 1.0, 6: 3.0, 3: -2.0})
    strengths = [of_sign(learned.strokes, sign)[1].tolist() for sign in (1, -1)]
    assert strengths == [[1.0], [pytest.approx(0.5**1.5)]], "what cannot be seen is not drawn"
    assert [shades_of(learned, sign) for sign in (1, -1)] == [["1"], ["0.4"]]
    middles = ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in make_feature("Colour", bins=2).middles]
    for sign, colours in ((1, [middles[6], middles[1]]), (-1, [middles[3]])):
        [swatches] = [trace for trace in figure_of(learned, sign).data if trace.mode == "markers"]
        assert list(swatches.marker.color) == colours
        assert swatches.marker.line.color == "white", "a dark swatch stands out from the dark ground"
    assert [shades_of(learned_of(), sign) for sign in (1, -1)] == [[], []], "of weights of 0"


def test_only_the_strongest_strokes_of_a_cell_are_plotted():
    learned = learned_of({0: 4.0, 1: 3.0, 2: 2.0, 3: -1.0, 9: 0.5})
    ends, strengths = of_sign(learned.strokes, 1)
    assert strengths.tolist() == pytest.approx([0.125**1.5, 0.75**1.5, 1.0]), (
        "the weakest of the three is left out"
    )
    assert np.floor((ends[:, :2] + ends[:, 2:]) / 2).tolist()[1:] == [[0, 0], [0, 0]]
    assert len(of_sign(learned.strokes, -1)[0]) == 1
    plotted = sorted(zip(figure_of(learned, 1).data[-1].x, figure_of(learned, 1).data[-1].y, strict=True))[:2]
    assert np.allclose(plotted, sorted([tuple(ends[-1, :2]), tuple(ends[-1, 2:])]))


def test_the_average_is_that_of_squares():
    average = average_of([png(np.full((20, 30, 3), [red, 0, 0])) for red in (100, 200)])
    assert average.shape == (SIDE, SIDE, 3)
    assert (average == [150, 0, 0]).all()


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=rf"\D{sum(SIZES)}\D.*\D{sum(SIZES)}\D.*\D1\D"):
        learned_of({0: np.nan})


def test_the_page_shows_weights_only_where_they_can_be_plotted(laboratory, open_page, monkeypatch):
    with monkeypatch.context() as patch:
        # which is not called before the picture is unfolded
        patch.delattr(weights, "direction_of")
        app = open_page("ranked_images", run=laboratory.finished)
    captions = len(app.caption)
    app.session_state[keys.widget("weights")] = True
    app.run()
    assert not app.error
    assert not weights_in(app)
    assert len(app.caption) == captions + 1, "there is no HOG among the features"
    laboratory.store.runs.get(laboratory.finished).model_file.unlink()
    weights.direction_of.clear()
    assert len(app.run().error) == 1


def test_with_hog_the_page_shows_the_weights_of_edges(laboratory, open_page):
    features = [["HOG", {"side": 32}], ["Colour", {}]]
    run = finished(laboratory.store, {**train_settings(laboratory.digits), "features": features})
    app = open_page("ranked_images", run=run.id)
    app.session_state[keys.widget("weights")] = True
    app.run()
    first, second = weights_in(app)
    assert all("4 by 4" in alt for alt in (first, second))
    [average] = pictures_of(app)
    assert str(AVERAGED) in average
    assert [button for button in app.get("download_button") if "HTML" in button.proto.label]
    assert any("20°" in caption.value for caption in app.caption)
