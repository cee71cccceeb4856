"""What every generated image set promises: images by their seed, shares of them for the test, pictures that differ."""

from __future__ import annotations

import io
from itertools import islice
from random import Random

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import make_source
from ranking.datasets.drawn import action_figures, label_scenes, timeline_cars
from ranking.datasets.drawn.action_figures.paint import paint as paint_figures
from ranking.datasets.drawn.action_figures.scene import make_scene
from ranking.datasets.drawn.action_figures.sketch import Sketch
from ranking.datasets.drawn.label_scenes.paint import paint as paint_scene
from ranking.datasets.drawn.label_scenes.places import compose
from ranking.datasets.drawn.label_scenes.story import tell_story
from ranking.datasets.drawn.timeline_cars.models import make_model
from ranking.datasets.drawn.timeline_cars.source import draw_car


def car(index):
    sketch = Sketch()
    draw_car(sketch, make_model(0, index), 380.0, Random(index))
    return sketch


# Of each: where its split comes from, what is drawn of an image, and that painted.
SETS = {
    "Action figures": (
        action_figures.source.is_test,
        lambda index: make_scene(5, index, 0.75).sketch,
        lambda index: paint_figures(make_scene(5, index, 0.75)),
    ),
    "Label scenes": (
        label_scenes.source.is_test,
        lambda index: compose(tell_story(0, index)).sketch,
        lambda index: paint_scene(compose(tell_story(0, index))),
    ),
    "Timeline cars": (timeline_cars.source.is_test, car, None),
}


@pytest.mark.parametrize("source", SETS)
def test_images_depend_on_the_seed_alone_and_are_jpegs(source):
    def first(**settings):
        return list(islice(make_source(source, **settings).records(), 2))

    images = first(seed=7, images=50)
    assert images == first(seed=7, images=100_000)
    assert [image.data for image in images] != [image.data for image in first(seed=8)]
    for image in images:
        with Image.open(io.BytesIO(image.data)) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 240), "RGB")
        assert image.size == (320, 240)


@pytest.mark.parametrize("source", SETS)
def test_a_share_of_the_images_is_for_the_test(source):
    is_test, *_ = SETS[source]
    for share in (0.1, 0.4, 0.9):
        assert sum(is_test(0, index, share) for index in range(500)) == pytest.approx(500 * share, abs=5)


@pytest.mark.parametrize("source", SETS)
def test_colours_are_colours(source):
    """Air in front of things, light and shade mix colours; none of them leaves what a channel can hold."""
    _, draw, _ = SETS[source]
    for index in range(40):
        for shape in draw(index).shapes:
            assert 3 <= len(shape.colour) <= 4
            assert 0 <= min(shape.colour) <= max(shape.colour) <= 255


@pytest.mark.parametrize("source", ["Action figures", "Label scenes"])
def test_no_picture_is_empty_or_one_colour_and_none_is_another_one(source):
    *_, paint = SETS[source]
    small = [np.asarray(paint(index).resize((16, 12)), float) for index in range(20)]
    assert min(pixels.std() for pixels in small) > 8
    for number, pixels in enumerate(small):
        assert all(np.abs(pixels - before).mean() > 3 for before in small[:number]), number
