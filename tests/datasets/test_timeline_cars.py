"""The timeline cars: years and models, that no cue tells the year by itself, and that they are drawn."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set, make_source
from ranking.datasets.drawn.action_figures.ground import HEIGHT, WIDTH
from ranking.datasets.drawn.action_figures.sketch import Sketch
from ranking.datasets.drawn.timeline_cars.body import of_kind
from ranking.datasets.drawn.timeline_cars.eras import BODIES, FIRST, FITTINGS, LAST, PRINTS, WHEELS, between
from ranking.datasets.drawn.timeline_cars.models import KINDS, SPREADS, make_model
from ranking.datasets.drawn.timeline_cars.photo import photographed
from ranking.datasets.drawn.timeline_cars.shapes import rounded
from ranking.datasets.drawn.timeline_cars.source import draw_car

MODELS = [make_model(0, number) for number in range(800)]
KIND_NAMES = sorted({kind for kinds in KINDS.values() for kind in kinds})


def test_they_become_an_image_set_whose_criterion_is_the_year(tmp_path):
    source = make_source("Timeline cars")
    source.images = 20
    images, problems = build_image_set(source, tmp_path / "set")
    assert problems == []
    assert (images.criteria, images.classes) == (("year",), ())
    expected = [make_model(5, row // 2).year for row in range(20)]
    assert images.numbers_of("year").tolist() == expected
    assert images.groups.tolist() == [row // 2 for row in range(20)]
    assert (images.test[::2] == images.test[1::2]).all(), "no car is in both splits"
    assert len({image.tobytes() for image in map(images.open_image, range(20))}) == 20


# --------------------------------------------------------------------------------------------- models


def test_each_eighty_models_take_every_year_once_and_every_kind_is_made():
    assert {model.kind for model in MODELS} == set(KIND_NAMES)
    for block in range(10):
        years = sorted(model.year for model in MODELS[80 * block : 80 * block + 80])
        assert years == list(range(FIRST, LAST + 1))
    assert [model.year for model in MODELS[:80]] != [model.year for model in MODELS[80:160]]


def test_no_cue_tells_the_year_by_itself():
    """Of two models at least three years apart that differ in a cue, how often is the one with the later cue the later
    one? Each cue says something, and none more than five of six."""
    years = np.array([model.year for model in MODELS])
    apart = years[:, None] - years >= 3
    for cue in SPREADS.keys() - {"photo"}:
        seeming = np.array([model.years[cue] for model in MODELS])
        assert (seeming >= FIRST).all()
        assert (seeming <= LAST).all()
        right = (seeming[:, None] > seeming)[apart].mean()
        assert 0.65 < right < 0.87, cue


# --------------------------------------------------------------------------------------------- drawing


def test_between_two_eras_lies_what_is_between():
    for eras in (BODIES, WHEELS, FITTINGS, PRINTS):
        years = sorted(eras)
        assert between(eras, years[0] - 9) == eras[years[0]]
        assert between(eras, years[-1] + 9) == eras[years[-1]]
        for before, after in pairwise(years):
            middle = between(eras, (before + after) / 2)
            assert middle == pytest.approx(np.mean([eras[before], eras[after]], axis=0), abs=1e-6)


def test_bodies_of_all_years_and_kinds_hold_together():
    for kind, year in product(KIND_NAMES, range(FIRST, LAST + 1)):
        body, wheel = of_kind(between(BODIES, year), kind), between(WHEELS, year)
        assert body.nose < 0 < body.cowl_x < body.front_x + 0.25 < body.rear_x < body.base_x + 0.2
        assert body.base_x <= body.deck_x + 0.05
        assert body.wheelbase + wheel.radius < body.tail + 0.12
        assert 0.15 < body.sill < 2 * wheel.radius < body.hood_y < body.front_y


def test_a_car_is_within_its_picture():
    for flip, model in product((0, 1), MODELS[:200]):
        sketch = Sketch()
        draw_car(sketch, model, 380.0, Random(flip))
        points = np.concatenate([shape.points for shape in sketch.shapes[2:]])  # after its shadow
        assert points[:, 0].min() >= 0
        assert points[:, 0].max() <= WIDTH
        assert points[:, 1].min() >= 0
        assert points[:, 1].max() <= HEIGHT


def test_rounded_corners_stay_within_their_sides():
    square = rounded([(0, 0, 9), (0, 2, 9), (2, 2, 0), (2, 0, 0.5)])
    assert len(square) == 28
    assert min(x for x, _ in square) == 0
    assert max(x for x, _ in square) == pytest.approx(2)
    assert (0.0, -1.0) in square, "the two roundings of a side meet in its middle"
    assert (2, -2) in [(round(x, 9), round(y, 9)) for x, y in square]


def test_old_prints_have_no_colour_and_new_ones_are_clean():
    picture = Image.new("RGB", (320, 240), (40, 90, 200))
    old = np.asarray(photographed(picture, between(PRINTS, 1920), Random(0)), float)[20:-20, 20:-20]
    assert (old.mean(axis=(0, 1))[:-1] > old.mean(axis=(0, 1))[1:]).all(), (
        "brown: more red than green than blue"
    )
    assert old.std(axis=(0, 1)).min() > 5, "grain"
    new = np.asarray(photographed(picture, between(PRINTS, 1999), Random(0)), float)
    assert new.mean(axis=(0, 1)) == pytest.approx([40, 90, 200], abs=1)
    assert new.std(axis=(0, 1)).max() < 2
