"""The lesson about hidden objects: every number of its sentences is computed here from the files of its runs."""

from __future__ import annotations

import numpy as np
import pytest
from shown import components, press
from test_lesson_sentences import check

from pages.parts.app import cache
from pages.parts.views import object_lesson_words
from pages.parts.views.lesson_settings import (
    OBJECT_PART,
    OBJECT_ROUNDS,
    OBJECT_SET,
    OBJECT_STARTS,
    objects_run,
)
from ranking.explain.localisation import objects_of, read_localisation
from ranking.explain.playback import read_playback
from ranking.metrics.detection import overlap

pytestmark = pytest.mark.usefixtures("started")


def located(images, query, boxes):
    """CorLoc on the training images, by loops; and for each image with the object its box and the true ones."""
    objects, shown = objects_of(images, query), images.image_relevance(query) > 0
    pairs = [(boxes[row], objects[row]) for row in np.flatnonzero(shown & ~images.image_test)]
    return np.mean([max(overlap(box[None], real)[0]) >= 0.5 for box, real in pairs]), pairs


def test_where_is_the_object(fresh_home, open_page):
    images, _ = cache.ready_made(OBJECT_SET)
    learn = ~images.image_test

    def run(shown):
        return fresh_home.runs.equal("train", objects_run(images.key, *shown).to_json())[0]

    def rounds(shown):
        """The recording of a run, and the claims of its caption."""
        playback = read_playback(run(shown).playback_file, len(learn))
        shares = [located(images, shown[0], boxes)[0] for boxes in playback.boxes]
        first, last = shares[0], shares[-1]
        between = [max(shares)] if max(shares) > max(first, last) else []
        ends = [playback.primal[0], playback.rounds[0], playback.primal[-1]]
        claims = [(r"\*\*Notice", ends), ("^CorLoc, training: ", [first, *between, last])]
        return playback, (first, last), claims

    def starts(shown):
        kept = read_localisation(run(shown).localisation_file, len(learn))
        ends = {
            name: (objective, located(images, shown[0], boxes)[0])
            for name, objective, boxes in zip(kept.starts, kept.objectives, kept.start_boxes, strict=True)
        }
        return kept, ends, min(ends, key=ends.get)

    app = open_page("object_lesson")
    count = (images.image_relevance(OBJECT_ROUNDS[0])[learn] > 0).sum()
    check(app, [("^## ", [count, learn.sum()]), ("candidate windows", [150]), ("must choose", [count])])

    press(app, "next step")
    playback, (first, last), claims = rounds(OBJECT_ROUNDS)
    assert playback.primal[-1] < playback.primal[0]
    assert last > 0.75 > 0.25 > first, "the rounds find the object"
    check(
        app,
        [("^## ", [playback.rounds[-1], playback.primal[0], playback.primal[-1], first, last]), *claims],
    )

    press(app, "next step")
    _, ends, lowest = starts(OBJECT_STARTS)
    whole, best = ends["whole image"], ends[lowest]
    assert best[0] < whole[0]
    assert best[1] > whole[1] + 0.25, "another start finds better boxes"
    assert len(components(app, "ranking_play_bar")[0]["lanes"]) == len(ends)
    highest = max(share for _, share in ends.values())
    known = [best[1]] if best[1] == highest else [best[1], highest]
    check(app, [("^## ", [best[0], whole[0], best[1], whole[1]]), (r"\*\*Notice", known)])

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
    check(
        app,
        [
            ("^## ", [best[0], whole[0], best[1], whole[1]]),
            ("In the end the median box", [100 * np.median(shares), 100 * np.median(inside)]),
            *rounds(OBJECT_PART)[2],
        ],
    )
