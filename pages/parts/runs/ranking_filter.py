"""Which samples of a ranking a grid shows: by their labels, by the errors at a cutoff k, and by their scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pages.parts.app import controls, keys
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from ranking.core import Bools, Ints
from ranking.metrics.ranked import Ranking


class Filter(NamedTuple):
    """What a person reads in the control; which samples it shows, in words, of a cutoff k; and (n,) whether a place is
    shown, by whether places are relevant and in the top k."""

    label: str
    words: str
    keeps: Callable[[Bools, Bools], Bools]


ALL = "all"
FILTERS = {
    ALL: Filter("All", "", lambda relevant, top: np.ones(len(relevant), np.bool_)),
    "relevant": Filter(f"{RELEVANT_GLYPH} Relevant", "relevant samples", lambda relevant, top: relevant),
    "irrelevant": Filter(
        f"{IRRELEVANT_GLYPH} Irrelevant", "irrelevant samples", lambda relevant, top: ~relevant
    ),
    "errors": Filter("Errors", "irrelevant samples in the top {k:,}", lambda relevant, top: ~relevant & top),
    "misses": Filter("Misses", "relevant samples below rank {k:,}", lambda relevant, top: relevant & ~top),
}
STEPS = 100  # of the scale of scores, at least


class Filtered(NamedTuple):
    """The places that a grid shows, from 0, and of which samples they are, in words; "" for all samples."""

    places: Ints
    words: str


def choose_labels() -> str:
    """Which samples are shown by their labels and the cutoff, one of FILTERS."""
    labels = {name: each.label for name, each in FILTERS.items()}
    help = (
        f"Best score first. {RELEVANT_GLYPH} and a solid border: relevant. {IRRELEVANT_GLYPH} and a dashed border: "
        "irrelevant. Errors: irrelevant samples in the top k. Misses: relevant samples below rank k. Click an image, "
        "or move with the arrow keys and press Enter; with Shift several, with Ctrl one more."
    )
    return controls.segments("Samples", keys.FILTER, labels, ALL, help=help)


def choose_scores(ranked: Ranking, k: int, chosen: str) -> Filtered:
    """The scale of scores, and what it and a choice of FILTERS leave of a ranking, whose ranks stay those of all
    samples."""
    kept = FILTERS[chosen].keeps(ranked.relevance > 0, np.arange(len(ranked)) < k)
    words = FILTERS[chosen].words.format(k=k)
    low, high, step = scale(float(ranked.scores[-1]), float(ranked.scores[0]))
    if low < high:
        lowest, highest = controls.range_slider(
            "Score range", keys.SCORE_RANGE, low, high, step, format="%.3g", width=200
        )
        if (lowest, highest) != (low, high):
            kept = kept & (ranked.scores >= lowest) & (ranked.scores <= highest)
            words = f"{words or 'samples'} with scores from {lowest:.3g} to {highest:.3g}"
    return Filtered(np.flatnonzero(kept), words)


def show_all() -> dict[str, None]:
    """The changes of the address that filter nothing."""
    return {keys.FILTER: None, keys.SCORE_RANGE: None}


def scale(lowest: float, highest: float) -> tuple[float, float, float]:
    """Ends and step of a scale that holds these scores; its step is a power of ten, and it has STEPS steps or more.
    Both ends are the score where all are equal.

    >>> scale(-0.123, 0.5)
    (-0.123, 0.5, 0.001)
    """
    if not lowest < highest:
        return lowest, highest, 0.0
    digits = -math.floor(math.log10((highest - lowest) / STEPS))
    step = round(10.0**-digits, max(digits, 0))
    low, high = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    return round(low, max(digits, 0)), round(high, max(digits, 0)), step
