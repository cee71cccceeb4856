"""The lesson about hidden objects: the numbers of its headlines, computed from the files of its runs."""

from __future__ import annotations

import numpy as np
import pytest
from shown import components, numbers_in, press

from pages.parts.app import cache
from pages.parts.lessons.lesson_settings import (
    OBJECT_PART,
    OBJECT_ROUNDS,
    OBJECT_SET,
    OBJECT_STARTS,
    objects_run,
)
from pages.parts.objects import object_lesson_words
from ranking.explain.localisation import objects_of, read_localisation
from ranking.explain.playback import read_playback
from ranking.metrics.detection import overlap

pytestmark = pytest.mark.usefixtures("started")


def located(images, query, boxes):
    """CorLoc on the training images, by loops; per image with the object its box and the true boxes."""
    objects, shown = objects_of(images, query), images.image_relevance(query) > 0
    pairs = [(boxes[row], objects[row]) for row in np.flatnonzero(shown & ~images.image_test)]
    return np.mean([max(overlap(box[None], real)[0]) >= 0.5 for box, real in pairs]), pairs


def test_the_lesson_on_objects_agrees_with_its_localisation_files(fresh_home, open_page):
    images, _ = cache.ready_made(OBJECT_SET)
    learn = ~images.image_test

    def run(shown):
        return fresh_home.runs.equal("train", objects_run(images.key, *shown).to_json())[0]

    def starts(shown):
        kept = read_localisation(run(shown).localisation_file, len(learn))
        ends = {
            name: (objective, located(images, shown[0], boxes)[0])
            for name, objective, boxes in zip(kept.starts, kept.objectives, kept.start_boxes, strict=True)
        }
        return kept, ends, min(ends, key=ends.get)

    def headline():
        return numbers_in(next(text.value for text in app.markdown if text.value.startswith("## ")))

    def shown_of(ends, lowest):
        """The numbers of a headline about the lowest end and that of the whole image."""
        numbers = [
            (round(100 * share), round(objective, 1))
            for objective, share in (ends[lowest], ends["whole image"])
        ]
        return [*numbers[0], *numbers[1]]

    app = open_page("object_lesson")
    count = (images.image_relevance(OBJECT_ROUNDS[0])[learn] > 0).sum()
    assert headline() == [count, learn.sum()]

    press(app, "next step")
    playback = read_playback(run(OBJECT_ROUNDS).playback_file, len(learn))
    first, last = (located(images, OBJECT_ROUNDS[0], boxes)[0] for boxes in playback.boxes[[0, -1]])
    assert last > 0.75 > 0.25 > first, "the rounds find the object"
    primal = np.round(playback.primal[[0, -1]], 1).tolist()
    assert primal[1] < primal[0]
    assert headline() == [playback.rounds[-1], *primal, round(100 * first), round(100 * last)]
    ends = [primal[0], playback.rounds[0], primal[1], playback.rounds[-1], round(first, 2), round(last, 2)]
    assert numbers_in(app.caption[-1].value)[: len(ends)] == ends

    press(app, "next step")
    _, ends, lowest = starts(OBJECT_STARTS)
    whole, best = ends["whole image"], ends[lowest]
    assert best[0] < whole[0]
    assert best[1] > whole[1] + 0.25, "another start finds better boxes"
    assert len(components(app, "ranking_play_bar")[0]["lanes"]) == len(ends)
    assert headline() == shown_of(ends, lowest)
    highest = max(share for _, share in ends.values())
    assert numbers_in(app.caption[-1].value) == [round(best[1], 2), round(highest, 2)]

    press(app, "next step")
    kept, ends, lowest = starts(OBJECT_PART)
    whole, best = ends["whole image"], ends[lowest]
    assert best[0] < whole[0]
    assert best[1] < whole[1] - 0.25, "a lower objective, worse boxes"
    _, pairs = located(images, OBJECT_PART[0], kept.boxes)
    area = object_lesson_words.area
    shares = [area(box) / max(map(area, real)) for box, real in pairs]
    inside = [max(object_lesson_words.covered(box, each) for each in real) for box, real in pairs]
    assert np.median(shares) < 0.5 < np.median(inside), "the boxes are parts"
    assert headline() == shown_of(ends, lowest)
    [of_part] = [text.value for text in app.markdown if "the median box" in text.value]
    assert numbers_in(of_part) == [round(100 * np.median(shares)), round(100 * np.median(inside))]
