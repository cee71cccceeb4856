"""The label scenes: what their concepts promise of each other, seeds and shares, and that they are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from generated import check_lively, check_settings

from ranking.datasets import build_image_set, make_source
from ranking.datasets.label_scenes.light import LIGHTS
from ranking.datasets.label_scenes.paint import paint
from ranking.datasets.label_scenes.places import COMPOSERS, compose
from ranking.datasets.label_scenes.source import is_test
from ranking.datasets.label_scenes.story import PLACES, THINGS, WEATHERS, tell_story

STORIES = [tell_story(0, index) for index in range(3000)]


def share_of(concept, given=None):
    """How many of the stories that show `given` show `concept`."""
    among = [story for story in STORIES if given is None or given in story.shows]
    return sum(concept in story.shows for story in among) / len(among)


# ------------------------------------------------------------------------------------- seeds and settings


def test_images_depend_on_the_seed_alone_and_are_jpegs_with_names():
    images = check_settings(
        "Label scenes",
        good=[{"images": 50}, {"images": 100_000}, {"test_share": 0.9}],
        bad=[{"images": 49}, {"images": 100_001}, {"test_share": 0.95}, {"seed": -1}],
    )
    assert [image.name for image in images] == ["scene-00000", "scene-00001"]
    for share in (0.1, 0.4, 0.9):
        assert sum(is_test(0, index, share) for index in range(500)) == pytest.approx(500 * share, abs=1)


def test_they_become_an_image_set_of_whole_images(tmp_path):
    source = make_source("Label scenes")
    source.images = 10
    images, problems = build_image_set(source, tmp_path / "set")
    assert problems == []
    assert len(images) == 10
    assert (images.boxes == (0, 0, 320, 240)).all()
    assert images.test.sum() == 4
    assert images.image_features is None
    for row in (0, 9):
        shown = {images.classes[place] for place in np.flatnonzero(images.labels[row])}
        assert shown == tell_story(3, row).shows


# --------------------------------------------------------------------------------------------- concepts


def test_about_forty_concepts_about_a_dozen_per_image_each_in_two_of_a_hundred():
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
NEVER = [
    ("night", "sun"), ("night", "day"), ("night", "bird"), ("night", "rainbow"), ("sunset", "moon"),
    ("portrait", "group"), ("portrait", "landscape"), ("city", "landscape"), ("beach", "lake"),
    ("autumn", "spring"), ("winter", "flowers"), ("close-up", "person"), ("blur", "black and white"),
    ("fog", "rain"), ("fog", "clouds"),
]  # fmt: skip
OFTEN = [("sand", "beach"), ("summer", "beach"), ("winter", "snow"), ("lake", "mountain"), ("stars", "moon")]


def test_concepts_imply_exclude_and_attract_each_other():
    """What attracts goes with the concept neither always nor never, but at least half as often again as elsewhere."""
    for given, concept in ALWAYS:
        assert share_of(concept, given) == 1, (given, concept)
        assert share_of(concept) < 0.95, concept
    for given, concept in NEVER:
        assert share_of(concept, given) == 0, (given, concept)
        assert share_of(concept) > 0, concept
    for given, concept in OFTEN:
        assert 1.5 * share_of(concept) < share_of(concept, given) < 1, (given, concept)


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


def test_concepts_are_seen():
    """Nearly everywhere the picture is another one without it: in two of three that show it at the least."""
    for concept in DRAWN:
        elsewhere = {"grass": "close-up", "flowers": "close-up", "road": "road"}.get(concept)
        seen = 0
        for story in [story for story in STORIES if concept in story.shows and story.place != elsewhere][:3]:
            without = replace(story, shows=story.shows - {concept})
            changed = np.asarray(paint(compose(story)), int) - np.asarray(paint(compose(without)), int)
            seen += (np.abs(changed).max(axis=2) > 12).sum() >= 8
            if seen == 2:
                break
        assert seen == 2, concept


def test_what_is_not_shown_leaves_the_rest_as_it_is():
    story = next(
        story for story in STORIES if {"boat", "beach", "person"} <= story.shows and story.company == "few"
    )
    with_, without = (
        compose(shown).sketch.shapes for shown in (story, replace(story, shows=story.shows - {"boat"}))
    )
    assert 0 < len(with_) - len(without) < 60
    assert [shape for shape in without if shape not in with_] == []


def test_every_place_can_be_drawn_with_all_that_it_shows_and_no_colour_leaves_its_range():
    seen = set()
    for story in STORIES[:600]:
        new = {(story.place, concept) for concept in story.shows} - seen
        for shape in compose(story).sketch.shapes if new else ():
            assert 3 <= len(shape.colour) <= 4
            assert 0 <= min(shape.colour) <= max(shape.colour) <= 255
        seen |= new
    assert {place for place, _ in seen} == set(PLACES)


def test_pictures_are_lively():
    check_lively([paint(compose(story)) for story in STORIES[:20]], 8)
