"""The rankings of runs that are compared, and their measures on resampled images."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.app import cache
from pages.parts.app.home import of_home
from ranking.datasets.splits import blocks_of
from ranking.metrics import intervals
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled
from ranking.storage.run import Run

# ranks that are shown of each compared ranking
MAX_PLACES = 20


@of_home()
def comparison(shown: Sequence[Run], split: str) -> Comparison:
    """The rankings of ended runs with the same image set and query, all with the original labels."""
    return Comparison.of([cache.ranked(run, split, ()) for run in shown])


@of_home(spinner="Resampling images …")
def resampled(shown: Sequence[Run], split: str) -> Resampled:
    """Their measures, also on resampled images of the split (bootstrap); Gone if there are too few images."""
    compared = comparison(shown, split)
    units = blocks_of(cache.image_set(shown[0].settings["set"]), compared.samples)
    cutoffs = range(1, min(MAX_PLACES, len(compared.samples)) + 1)
    return intervals.resample(compared.relevance, compared.scores, units, cutoffs=cutoffs)
