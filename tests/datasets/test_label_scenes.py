"""The label scenes: what their concepts promise of each other, seeds and shares, and that they are drawn."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set, make_source
from ranking.datasets.label_scenes.light import LIGHTS
from ranking.datasets.label_scenes.paint import paint
from ranking.datasets.label_scenes.places import COMPOSERS, compose
from ranking.datasets.label_scenes.source import is_test
from ranking.datasets.label_scenes.story import PLACES, THINGS, WEATHERS, tell_story

STORIES = [tell_story(0, index) for index in range(3000)]


def told(count=3, **settings):
    """The first images of a source."""
    records = make_source("Label scenes", **settings).records()
    return [next(records) for _ in range(count)]


def share_of(concept, given=None):
    """How many of the stories that show `given` show `concept`."""
    among = [story for story in STORIES if given is None or given in story.shows]
    return sum(concept in story.shows for story in among) / len(among)


# ------------------------------------------------------------------------------------- seeds and settings


def test_an_image_does_not_depend_on_how_many_there_are():
    assert told(images=50) == told(images=100_000)


def test_equal_seeds_draw_equal_images_and_others_others():
    assert told(seed=7) == told(seed=7)
    assert [image.data for image in told(seed=7)] != [image.data for image in told(seed=8)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"images": 49}, "images.*got 49"),
        ({"images": 100_001}, "images.*got 100,?001"),
        ({"test_share": 0.95}, "test_share.*got 0.95"),
        ({"seed": -1}, "seed.*got -1"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        make_source("Label scenes", **settings)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.9])
def test_the_share_is_tested(share):
    assert sum(is_test(0, index, share) for index in range(500)) == pytest.approx(500 * share, abs=1)


def test_fifty_become_an_image_set_of_whole_images(tmp_path):
    images, problems = build_image_set(make_source("Label scenes", images=50), tmp_path / "set")
    assert problems == []
    assert len(images) == 50
    assert (images.boxes == (0, 0, 320, 240)).all()
    assert images.test.sum() == 20
    assert images.image_features is None
    for row in (0, 49):
        shown = {images.classes[place] for place in np.flatnonzero(images.labels[row])}
        assert shown == tell_story(3, row).shows


# --------------------------------------------------------------------------------------------- concepts


def test_about_forty_concepts_about_a_dozen_an_image_each_in_two_of_a_hundred():
    counts = Counter(concept for story in STORIES for concept in story.shows)
    assert 40 <= len(counts) <= 48
    assert 11 < sum(counts.values()) / len(STORIES) < 13
    assert min(counts.values()) >= 0.02 * len(STORIES)


ALWAYS = [
    ("beach", "sand"), ("beach", "sea"), ("sea", "water"), ("lake", "water"), ("river", "water"), ("forest", "tree"),
    ("city", "building"), ("car", "road"), ("group", "person"), ("portrait", "person"), ("autumn", "tree"),
    ("rainbow", "rain"), ("rainbow", "day"), ("stars", "night"), ("moon", "night"), ("reflection", "water"),
    ("tree", "plants"), ("grass", "plants"), ("stars", "sky"), ("bird", "sky"), ("desert", "sand"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALWAYS)
def test_what_goes_with_what(one, other):
    assert share_of(other, given=one) == 1
    assert share_of(other) < 0.95


NEVER = [
    ("night", "sun"), ("night", "day"), ("night", "bird"), ("night", "rainbow"), ("sunset", "moon"),
    ("portrait", "group"), ("portrait", "landscape"), ("city", "landscape"), ("beach", "lake"),
    ("autumn", "spring"), ("winter", "flowers"), ("close-up", "person"), ("blur", "black and white"),
    ("fog", "rain"), ("fog", "clouds"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), NEVER)
def test_what_excludes_what(one, other):
    assert share_of(other, given=one) == 0
    assert share_of(other) > 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("sand", "beach"), ("summer", "beach"), ("winter", "snow"), ("lake", "mountain"), ("stars", "moon")],
)
def test_what_leans_on_what(one, other):
    """Neither always nor never, but at least half as often again as elsewhere."""
    assert 1.5 * share_of(other) < share_of(other, given=one) < 1


def test_a_day_has_one_hour_and_at_most_one_season():
    for story in STORIES:
        assert len(story.shows & {"day", "sunset", "night"}) == 1
        assert len(story.shows & {"spring", "summer", "autumn", "winter"}) <= 1


# ------------------------------------------------------------------------------------------- the drawing


def test_every_place_is_composed_and_every_hour_and_weather_has_a_light():
    assert set(PLACES) == set(THINGS) == set(COMPOSERS)
    assert {(story.time, story.weather) for story in STORIES} <= set(LIGHTS)
    assert {(time, weather) for time in WEATHERS for weather in WEATHERS[time]} <= set(LIGHTS)


DRAWN = [
    "boat", "bridge", "car", "clouds", "flowers", "grass", "lighthouse", "moon", "portrait", "rainbow", "reflection",
    "road", "snow", "sun", "black and white", "blur",
]  # fmt: skip


@pytest.mark.parametrize("concept", DRAWN)
def test_a_concept_is_seen(concept):
    """Nearly everywhere the picture is another one without it: in two of three that show it at the least."""
    elsewhere = {"grass": "close-up", "flowers": "close-up", "road": "road"}.get(concept)
    stories = [one for one in STORIES if concept in one.shows and one.place != elsewhere][:3]
    seen = 0
    for story in stories:
        without = replace(story, shows=story.shows - {concept})
        changed = np.asarray(paint(compose(story)), int) - np.asarray(paint(compose(without)), int)
        seen += (np.abs(changed).max(axis=2) > 12).sum() >= 8
    assert seen >= 2


def test_what_is_not_shown_leaves_the_rest_as_it_is():
    story = next(one for one in STORIES if {"boat", "beach", "person"} <= one.shows and one.company == "few")
    with_, without = (
        compose(one).sketch.shapes for one in (story, replace(story, shows=story.shows - {"boat"}))
    )
    assert 0 < len(with_) - len(without) < 60
    assert [shape for shape in without if shape not in with_] == []


def test_every_place_can_be_drawn_and_no_colour_leaves_its_range():
    for place in PLACES:
        for story in [one for one in STORIES if one.place == place][:4]:
            for shape in compose(story).sketch.shapes:
                assert 3 <= len(shape.colour) <= 4
                assert 0 <= min(shape.colour) <= max(shape.colour) <= 255


def test_pictures_are_lively():
    """No picture is one colour, and none is another one."""
    small = [np.asarray(paint(compose(STORIES[index])).resize((16, 12)), float) for index in range(20)]
    assert min(one.std() for one in small) > 8
    for number, one in enumerate(small):
        assert all(np.abs(one - other).mean() > 3 for other in small[:number])


def test_files():
    for number, image in enumerate(told()):
        assert image.name == f"scene-{number:05d}"
        picture = Image.open(io.BytesIO(image.data))
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 240), "RGB")
