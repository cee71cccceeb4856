"""Sentences about a comparison, computed from its results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranking.core import ImageSet
from ranking.datasets.splits import blocks_of
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import DRAWS, Interval, Resampled
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.prose import escaped, signed, signed_end
from ranking.storage.run import Run

AS_TRAINED = (
    "One query, and each method with the settings of its run. Experiments tune C and average over queries."
)
# images; with fewer, intervals are measurably too narrow: see metrics/intervals.py
FEW = 100
CURVES = (
    "Precision and recall at every cutoff; AP is the area under the curve. **Notice** where curves cross: one method "
    "is better for a short list, another for a long list. The dotted line is the expected precision of a random order."
)


def verdict(names: Sequence[str], measured: Resampled) -> str:
    """Name the rankings with the highest AP as printed, and those that the best leads significantly."""
    values = measured.values["AP"]
    best = int(values.argmax())
    highest = [
        name for name, value in zip(names, values, strict=True) if f"{value:.3f}" == f"{values[best]:.3f}"
    ]
    sure = [
        name for i, name in enumerate(names) if i != best and measured.difference("AP", best, i).without_zero
    ]
    return (
        f"Highest AP {values[best]:.3f} by {listed(highest)}, significantly above "
        f"{listed(sure) if sure else 'no other'}."
    )


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["SVM", "AP-SVM", "HOB-SVM"])
    'SVM, AP-SVM and HOB-SVM'
    """
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def of_labels(names: Sequence[str], runs: Sequence[Run], images: ImageSet) -> str:
    """Say which labels the metrics use; "" if no run has corrected labels."""
    corrected = [
        f"{name} ({by_split(images, run.corrections)})"
        for name, run in zip(names, runs, strict=True)
        if run.corrections
    ]
    if not corrected:
        return ""
    return f"All metrics use the original labels. Runs with corrected labels: {listed(corrected)}."


def by_split(images: ImageSet, corrections: Sequence[str]) -> str:
    """Say how many of the samples with these ids are in each split."""
    test = int(np.count_nonzero(images.test[np.isin(images.ids, list(corrections))]))
    return f"{len(corrections) - test:,} of training samples, {test:,} of test samples"


def first_wrong(ranked: Ranking) -> str:
    """Give the rank of the first error of a ranking."""
    first = first_mistake(ranked.relevance)
    return "no error" if first is None else f"first error at rank {first:,}"


def of_interval(interval: Interval) -> str:
    """Return an interval as text.

    >>> of_interval(Interval(0.5, 0.4, 0.61))
    '0.500\xa0[0.400,\xa00.610]'
    """
    return _together(f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]")


def of_difference(difference: Interval) -> str:
    """Return the interval of a difference as text, with signs.

    >>> of_difference(Interval(0.05, -0.01, 0.1))
    '+0.050\xa0[−0.010,\xa0+0.100]'
    """
    return _together(
        f"{signed(difference.value)} [{signed_end(difference.low)}, {signed_end(difference.high)}]"
    )


def _together(text: str) -> str:
    """Replace spaces by no-break spaces, so that narrow tables scroll instead of breaking the line."""
    return text.replace(" ", "\xa0")


def of_gains(compared: Comparison, left: int, right: int, names: Sequence[str]) -> str:
    """Describe the contributions to the difference of AP between two rankings."""
    gains = compared.gains(left, right)
    won, lost, relevant = gains[gains > 0], gains[gains < 0], int((compared.relevance > 0).sum())
    return (
        f"AP of {escaped(names[right])} minus AP of {escaped(names[left])}: **{signed(gains.sum())}**. Relevant "
        f"samples whose precision rose: {len(won):,} of {relevant:,} ({signed(won.sum())}); whose precision fell: "
        f"{len(lost):,} ({signed(lost.sum())}). A sample can move up and yet lose, because the precision at its rank "
        "fell."
    )


def of_places(names: Sequence[str], compared: Comparison, sample: int) -> str:
    """List the ranks of one sample in all rankings, best first."""
    places = compared.ranks[:, sample]
    order = sorted(range(len(names)), key=lambda i: int(places[i]))
    return ", ".join(f"{escaped(names[i])} **{places[i]:,}**" for i in order)


def of_intervals(compared: Comparison, measured: Resampled, images: ImageSet, split: str) -> str:
    """Describe how the confidence intervals were computed."""
    undefined = measured.undefined("AP")
    units = len(np.unique(blocks_of(images, compared.samples)))
    of_images = units == len(np.unique(images.image_of[compared.samples]))
    what = f"{units:,} {split} {'images' if of_images else 'groups of images'}"
    narrow = " With so few, the intervals are slightly too narrow." if units < FEW else ""
    without = f" {undefined:,} resamples without a relevant sample are dropped." if undefined else ""
    return (
        f"In brackets: 95% confidence intervals by the paired bootstrap. The {what} are resampled {DRAWS:,} times "
        f"together with all their samples, and each resample evaluates all methods.{without}{narrow} "
        "Two intervals can overlap although the interval of their difference lies above zero, because all methods "
        "rise and fall together on the same resample. Intervals are not corrected for the number of comparisons, and "
        "do not include the variation due to other training images or settings."
    )
