"""The label scenes: what their concepts promise of each other, and that they are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ranking.datasets import build_image_set, make_source
from ranking.datasets.drawn.label_scenes.light import LIGHTS
from ranking.datasets.drawn.label_scenes.paint import paint
from ranking.datasets.drawn.label_scenes.places import compose
from ranking.datasets.drawn.label_scenes.story import PLACES, WEATHERS, tell_story

STORIES = [tell_story(0, index) for index in range(3000)]


def share_of(concept, given=None):
    """How many of the stories that show `given` show `concept`."""
    among = [story for story in STORIES if given is None or given in story.shows]
    return sum(concept in story.shows for story in among) / len(among)


def test_they_become_an_image_set_of_whole_images(tmp_path):
    source = make_source("Label scenes")
    source.images = 10
    images, problems = build_image_set(source, tmp_path / "set")
    assert problems == []
    assert (images.boxes == (0, 0, 320, 240)).all()
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
    ("beach", "sand"), ("beach", "sea"), ("sea", "water"), ("lake", "water"), ("forest", "tree"), ("car", "road"),
    ("city", "building"), ("portrait", "person"), ("autumn", "tree"), ("rainbow", "day"), ("stars", "night"),
]  # fmt: skip
NEVER = [
    ("night", "sun"), ("night", "bird"), ("sunset", "moon"), ("portrait", "group"), ("city", "landscape"),
    ("beach", "lake"), ("winter", "flowers"), ("close-up", "person"), ("blur", "black and white"), ("fog", "rain"),
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


def test_every_place_can_be_drawn_with_all_that_it_shows_in_every_light():
    assert {(time, weather) for time in WEATHERS for weather in WEATHERS[time]} <= set(LIGHTS)
    seen = set()
    for story in STORIES[:600]:
        new = {(story.place, concept) for concept in story.shows} - seen
        assert not new or compose(story).sketch.shapes
        seen |= new
    assert {place for place, _ in seen} == set(PLACES)
