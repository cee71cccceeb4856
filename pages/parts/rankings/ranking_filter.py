"""Filters of a ranking: by label, by errors at the cutoff k, and by score."""

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
    """A filter of a ranking."""

    # In the control.
    label: str
    # The samples that it shows, as text with the cutoff k.
    words: str
    # From whether samples are relevant (n,) and in the top k (n,) to whether they are shown (n,).
    passes: Callable[[Bools, Bools], Bools]


ALL = "all"
FILTERS = {
    ALL: Filter("All", "", lambda relevant, top: np.ones(len(relevant), np.bool_)),
    "relevant": Filter(f"{RELEVANT_GLYPH} Relevant", "relevant samples", lambda relevant, top: relevant),
    "irrelevant": Filter(
        f"{IRRELEVANT_GLYPH} Irrelevant", "irrelevant samples", lambda relevant, top: ~relevant
    ),
    "errors": Filter("Errors", "irrelevant samples in the top {k:,}", lambda relevant, top: ~relevant & top),
    "misses": Filter("Missed", "relevant samples below rank {k:,}", lambda relevant, top: relevant & ~top),
}
# fewest steps of the score range
STEPS = 100


class Filtered(NamedTuple):
    """The positions that a grid shows, from 0, and a description of their samples; "" for all samples."""

    places: Ints
    words: str


def choose_labels() -> str:
    """The filter by label and cutoff, a key of FILTERS."""
    labels = {name: each.label for name, each in FILTERS.items()}
    help = (
        f"Highest score first. {RELEVANT_GLYPH} and a solid border: relevant. {IRRELEVANT_GLYPH} and a dashed border: "
        "irrelevant. Errors: irrelevant samples in the top k. Missed: relevant samples below rank k. Click a "
        "thumbnail, or move with the arrow keys and press Enter; Shift selects a range, Ctrl adds one."
    )
    return controls.segments("Samples", keys.FILTER, labels, ALL, help=help)


def choose_scores(ranked: Ranking, k: int, chosen: str) -> Filtered:
    """The filter by score, and the samples that pass it and the filter `chosen`. Ranks stay those of all samples."""
    kept = FILTERS[chosen].passes(ranked.relevance > 0, np.arange(len(ranked)) < k)
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
    """The changes of the URL that remove all filters."""
    return {keys.FILTER: None, keys.SCORE_RANGE: None}


def scale(lowest: float, highest: float) -> tuple[float, float, float]:
    """Ends and step of a range that contains these scores; the step is a power of ten.

    >>> scale(-0.123, 0.5)
    (-0.123, 0.5, 0.001)
    """
    # There are at least STEPS steps. If all scores are equal, both ends are this score.
    if not lowest < highest:
        return lowest, highest, 0.0
    digits = -math.floor(math.log10((highest - lowest) / STEPS))
    step = round(10.0**-digits, max(digits, 0))
    low, high = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    return round(low, max(digits, 0)), round(high, max(digits, 0)), step
