"""The picture of a linear method's weights, as SVG and PNG, and where the page Ranked images shows it."""

from __future__ import annotations

import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from filled_home import train_settings
from PIL import Image
from shown import pictures_of
from trainings import finished

from pages.parts.app import cache, keys
from pages.parts.views import weights_picture as weights
from pages.parts.views.weights import AVERAGED
from ranking.features import make_feature

HOG_AND_COLOUR = [["Colour", {"bins": 2}], ["HOG", {"side": 32}], ["GIST", {}]]
SIZES = [make_feature(name, **settings).size for name, settings in HOG_AND_COLOUR]
SVG = "{http://www.w3.org/2000/svg}"


def look_at(hog=(), colours=()):
    """A look at weights that are 0 but for those of some HOG entries and colour bins, by number."""
    direction = np.zeros(sum(SIZES))
    for first, given in ((0, colours), (SIZES[0], hog)):
        for number, weight in dict(given).items():
            direction[first + number] = weight
    [look] = weights.looks_of(HOG_AND_COLOUR, direction)
    return look


def opacities_of(drawn):
    """Those of the strokes of each panel; before each stands the group of its glyph."""
    groups = ElementTree.fromstring(drawn).findall(f"{SVG}g")[1::2]
    return [[path.get("stroke-opacity") for path in group] for group in groups]


def pixels_of(look, mode="L"):
    return np.asarray(Image.open(io.BytesIO(weights.as_png(look))).convert(mode)).astype(int)


def test_each_sign_has_its_panel_with_its_largest_colours_and_both_one_scale():
    look = look_at({0: 2.0, 10: -1.0, 11: 0.001}, {1: 1.0, 6: 3.0, 3: -2.0})
    whole = opacities_of(weights.as_svg(look))
    assert whole == [["1.00"], ["0.35"]], "the share to the power of 1.5; what cannot be seen is not drawn"
    middles = ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in make_feature("Colour", bins=2).middles]
    for panel, swatches in enumerate(([middles[6], middles[1]], [middles[3]])):
        alone = weights.as_svg(look, panel)
        root = ElementTree.fromstring(alone)
        assert float(root.get("width")) == weights.PANEL
        assert opacities_of(alone) == [whole[panel]]
        assert [rect.get("fill") for rect in root.findall(f"{SVG}rect")] == [weights.DARK, *swatches]
    assert opacities_of(weights.as_svg(look_at())) == [[], []], "of weights of 0"


def test_only_the_strongest_strokes_of_a_cell_are_drawn():
    look = look_at({0: 4.0, 1: 3.0, 2: 2.0, 3: -1.0})
    _, strengths = weights.of_sign(look, 1)
    assert strengths.tolist() == pytest.approx([0.75**1.5, 1.0]), "the weakest of the three is left out"
    assert len(weights.of_sign(look, -1)[0]) == 1
    assert set(weights.cells_of(look)[-3:]) == {0}


def test_the_png_is_the_same_picture():
    look = look_at({0: 2.0, 10: -1.0}, {0: 1.0})
    pixels = pixels_of(look)
    assert pixels.shape == (2 * look.size()[1], 2 * look.size()[0])
    panel = slice(2 * weights.HEADER, 2 * (weights.HEADER + weights.PANEL))
    left, right = pixels[panel, : 2 * weights.PANEL], pixels[panel, 2 * (weights.PANEL + weights.GAP) :]
    assert left.max() == 255
    assert right.max() == pytest.approx(20 + 0.5**1.5 * (255 - 20), abs=3)
    glyphs = pixels[: 2 * weights.HEADER, 2 * 10 : 2 * 28]
    assert glyphs.max() == 255, "also where no font has them"
    below = panel.stop + 2 * 4
    column = pixels[below : below + 2 * weights.SWATCH, 2 * (6 + weights.SWATCH // 2)]
    assert (column[: 2 * weights.EDGE] == 255).all(), "a dark swatch stands out from the dark ground"
    assert column[weights.SWATCH] < 255 // 3


def test_the_average_stands_beside_the_panels():
    encoded = []
    for value in (100, 200):
        stream = io.BytesIO()
        Image.new("RGB", (30, 20), (value, 0, 0)).save(stream, "PNG")
        encoded.append(stream.getvalue())
    average = weights.average_of(encoded, side=4)
    assert average.shape == (4, 4, 3)
    assert (average == [150, 0, 0]).all()
    look = replace(look_at({0: 1.0}), average=average, average_title="average of the first 2")
    drawn = weights.as_svg(look)
    assert "average of the first 2" in drawn
    assert len(ElementTree.fromstring(drawn).findall(f"{SVG}image")) == 1
    middle = 2 * (weights.HEADER + weights.PANEL // 2)
    across = 2 * (2 * (weights.PANEL + weights.GAP) + weights.PANEL // 2)
    assert pixels_of(look, "RGB")[middle, across].tolist() == [150, 0, 0]


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=rf"\D{sum(SIZES)}\D.*\D{sum(SIZES)}\D.*\D1\D"):
        look_at({0: np.nan})


def test_page_shows_them_only_where_they_can_be_drawn(laboratory, open_page, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(cache, "direction")  # which is not called before the picture is unfolded
        app = open_page("ranked_images", run=laboratory.finished)
    captions = len(app.caption)
    app.session_state[keys.widget("weights")] = True
    app.run()
    assert not app.error
    assert not pictures_of(app)
    assert len(app.caption) == captions + 1, "there is no HOG among the features"
    file = laboratory.store.run(laboratory.finished).model_file
    with np.load(file) as stored:
        arrays = dict(stored)
    np.savez(file, **{**arrays, "direction": arrays["direction"][:-1]})
    cache.direction.clear()
    [mismatch] = app.run().error
    assert "511" in mismatch.value
    file.unlink()
    [missing] = app.run().error
    assert missing.value != mismatch.value


def test_with_hog_the_page_shows_what_the_model_looks_at(laboratory, open_page):
    features = [["HOG", {"side": 32}], ["Colour", {}]]
    run = finished(laboratory.store, {**train_settings(laboratory.digits), "features": features})
    app = open_page("ranked_images", run=run.id)
    app.session_state[keys.widget("weights")] = True
    app.run()
    first, second, average = pictures_of(app)
    assert all("4 by 4" in alt for alt in (first, second))
    assert str(AVERAGED) in average
    files = [button.proto.id for button in app.get("download_button")]
    assert len([id for id in files if id.endswith((f"svg {run.id}-0", f"png {run.id}-0"))]) == 2
    assert any("20°" in caption.value for caption in app.caption)
