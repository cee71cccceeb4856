from __future__ import annotations

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from filled_home import run_here, train_settings
from PIL import Image

from pages.parts import cache, keys
from pages.parts import weights_picture as weights
from pages.parts.weights import AVERAGED
from ranking.features import make_feature

HOG_AND_COLOUR = [["Colour", {"bins": 2}], ["HOG", {"side": 32}], ["GIST", {}]]
SVG = "{http://www.w3.org/2000/svg}"


def pictures_of(app):
    """What the pictures of weights and the average show, in words."""
    alts = [alt for image in app.get("image") for alt in re.findall(r'alt: "(.*?)"', str(image.proto))]
    return [alt for alt in alts if "HOG" in alt or "average" in alt]


def look_at(**values):
    """A look at weights that are 0 but for `values`: colour bins and HOG entries by number."""
    sizes = [make_feature(name, **settings).size for name, settings in HOG_AND_COLOUR]
    direction = np.zeros(sum(sizes))
    for name, value in values.items():
        part, _, number = name.partition("_")
        direction[{"colour": 0, "hog": sizes[0]}[part] + int(number)] = value
    [look] = weights.looks_of(HOG_AND_COLOUR, direction)
    return look


def strokes_of(drawn):
    """The groups of strokes of both panels; before each stands the group of its glyph."""
    return ElementTree.fromstring(drawn).findall(f"{SVG}g")[1::2]


def test_each_sign_has_its_panel_and_both_one_scale():
    look = look_at(hog_0=2.0, hog_10=-1.0, hog_11=0.001)
    groups = strokes_of(weights.as_svg(look))
    drawn = [[path.get("stroke-opacity") for path in group] for group in groups]
    assert drawn == [["1.00"], ["0.35"]], "the share to the power of 1.5; what cannot be seen is not drawn"
    xs = [float(re.match(r"M([\d.]+)", group[0].get("d"))[1]) for group in groups]
    assert xs[0] < weights.PANEL < weights.PANEL + weights.GAP < xs[1]


def test_the_largest_weights_of_colours_are_swatches():
    look = look_at(colour_1=1.0, colour_6=3.0, colour_3=-2.0)
    middles = ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in make_feature("Colour", bins=2).middles]
    assert weights.swatches(look, 1) == [middles[6], middles[1]]
    assert weights.swatches(look, -1) == [middles[3]]
    assert middles[6] in weights.as_svg(look)


def test_a_panel_alone_is_that_part_of_the_picture():
    look = look_at(hog_0=2.0, hog_10=-1.0, colour_6=3.0, colour_3=-2.0)
    whole = weights.as_svg(look)
    for panel, (title, sign, _) in enumerate(weights.SIDES):
        alone = weights.as_svg(look, panel)
        root = ElementTree.fromstring(alone)
        assert float(root.get("width")) == weights.PANEL
        assert title in alone
        [group] = strokes_of(alone)
        told = [path.get("stroke-opacity") for path in group]
        assert told == [path.get("stroke-opacity") for path in strokes_of(whole)[panel]]
        found = [rect.get("fill") for rect in root.findall(f"{SVG}rect")]
        assert found == [weights.DARK, *weights.swatches(look, sign)]


def test_a_dark_swatch_stands_out_from_the_dark_ground():
    look = look_at(colour_0=1.0)
    [colour] = weights.swatches(look, 1)
    ground, swatch = ElementTree.fromstring(weights.as_svg(look)).findall(f"{SVG}rect")
    assert ground.get("stroke") is None
    assert (swatch.get("stroke"), float(swatch.get("stroke-width"))) == (weights.INK, weights.EDGE)
    pixels = np.asarray(Image.open(io.BytesIO(weights.as_png(look))).convert("L")).astype(int)
    top = 2 * (weights.HEADER + weights.PANEL + 4)
    column = pixels[top : top + 2 * weights.SWATCH, 2 * (6 + weights.SWATCH // 2)]
    assert (column[: 2 * weights.EDGE] == 255).all()
    assert column[weights.SWATCH] < 255 // 3, f"{colour} is dark"


def test_the_png_is_the_same_picture():
    look = look_at(hog_0=2.0, hog_10=-1.0, colour_1=1.0)
    pixels = np.asarray(Image.open(io.BytesIO(weights.as_png(look))).convert("L")).astype(int)
    assert pixels.shape == (2 * look.size()[1], 2 * look.size()[0])
    panel = slice(2 * weights.HEADER, 2 * (weights.HEADER + weights.PANEL))
    left, right = pixels[panel, : 2 * weights.PANEL], pixels[panel, 2 * (weights.PANEL + weights.GAP) :]
    assert left.max() == 255
    assert right.max() == pytest.approx(20 + 0.5**1.5 * (255 - 20), abs=3)
    glyphs = pixels[: 2 * weights.HEADER, 2 * 10 : 2 * 28]
    assert glyphs.max() == 255, "also where no font has them"


def test_only_the_strongest_strokes_of_a_cell_are_drawn():
    look = look_at(hog_0=4.0, hog_1=3.0, hog_2=2.0, hog_3=-1.0)
    _, strengths = weights.of_sign(look, 1)
    assert strengths.tolist() == pytest.approx([0.75**1.5, 1.0]), "the weakest of the three is left out"
    assert len(weights.of_sign(look, -1)[0]) == 1
    assert set(weights.cells_of(look)[-3:]) == {0}


def test_the_average_stands_beside_the_panels():
    def encoded(value):
        stream = io.BytesIO()
        Image.new("RGB", (30, 20), (value, 0, 0)).save(stream, "PNG")
        return stream.getvalue()

    average = weights.average_of([encoded(100), encoded(200)], side=4)
    assert average.shape == (4, 4, 3)
    assert (average == [150, 0, 0]).all()
    look = replace(look_at(hog_0=1.0), average=average, average_title="average of the first 2")
    drawn = weights.as_svg(look)
    assert "average of the first 2" in drawn
    assert len(ElementTree.fromstring(drawn).findall(f"{SVG}image")) == 1
    pixels = np.asarray(Image.open(io.BytesIO(weights.as_png(look))).convert("RGB"))
    middle = (
        2 * (weights.HEADER + weights.PANEL // 2),
        2 * (2 * (weights.PANEL + weights.GAP) + weights.PANEL // 2),
    )
    assert pixels[middle].tolist() == [150, 0, 0]


def test_weights_of_zero_draw_nothing():
    assert [len(group) for group in strokes_of(weights.as_svg(look_at()))] == [0, 0]


def test_weights_that_do_not_fit_the_features_are_refused():
    sizes = sum(make_feature(name, **settings).size for name, settings in HOG_AND_COLOUR)
    fitting = np.ones(sizes)
    for direction, came in (
        (fitting[:-1], (sizes - 1, 0)),
        (np.append(fitting, 1.0), (sizes + 1, 0)),
        (np.append(fitting[:-1], np.nan), (sizes, 1)),
    ):
        with pytest.raises(ValueError, match=rf"\D{sizes}\D.*\D{came[0]}\D.*\D{came[1]}\D"):
            weights.looks_of(HOG_AND_COLOUR, direction)


def test_page_shows_them_only_where_they_can_be_drawn(laboratory, open_page, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(cache, "direction")  # which is not called before the picture is unfolded
        app = open_page("ranked_images", run=laboratory.finished)
        assert not app.exception
    captions = len(app.caption)
    app.session_state[keys.widget("weights")] = True
    app.run()
    assert not app.exception
    assert not app.error
    assert not pictures_of(app)
    assert len(app.caption) == captions + 1, "there is no HOG among the features"
    file = laboratory.store.run(laboratory.finished).model_file
    with np.load(file) as stored:
        arrays = dict(stored)
    np.savez(file, **{**arrays, "direction": arrays["direction"][:-1]})
    cache.trainings._direction.clear()
    [mismatch] = app.run().error
    assert "511" in mismatch.value
    file.unlink()
    [missing] = app.run().error
    assert missing.value != mismatch.value
    assert not app.exception


def test_with_hog_the_page_shows_what_the_model_looks_at(laboratory, open_page):
    features = [["HOG", {"side": 32}], ["Colour", {}]]
    settings = {**train_settings(laboratory.digits), "features": features}
    run = run_here(laboratory.store, settings)
    app = open_page("ranked_images", run=run.id)
    app.session_state[keys.widget("weights")] = True
    app.run()
    assert not app.exception
    first, second, average = pictures_of(app)
    assert all("4 by 4" in alt for alt in (first, second))
    assert str(AVERAGED) in average
    files = [button.proto.id for button in app.get("download_button")]
    assert len([id for id in files if id.endswith((f"svg {run.id}-0", f"png {run.id}-0"))]) == 2
    assert any("20°" in caption.value for caption in app.caption)
    direction = cache.direction(laboratory.store.run(run.id))
    assert direction.shape == (make_feature("HOG", side=32).size + make_feature("Colour").size,)
