"""What a comparison says in words, all of it from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranking.core import ImageSet
from ranking.datasets.splits import blocks_of
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import DRAWS, Interval, Resampled
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.prose import escaped
from ranking.workspace.run import Run

FEW = 100  # images of which intervals are measurably too narrow: see benchmarks/intervals.py
CURVES = (
    "Precision and recall of every place to stop, AP the area below. **Notice** where curves cross: one method is "
    "better for a short list, another for a long one. The dotted line is what any order gives by chance."
)


def verdict(names: Sequence[str], measured: Resampled) -> str:
    """Which ranking has the highest AP, and over which others the interval of its lead lies above 0."""
    values = measured.values["AP"]
    best = int(values.argmax())
    equal = [names[i] for i, value in enumerate(values) if value == values[best]]
    if len(equal) == len(names):
        return f"All have the same AP, {values[best]:.3f}."
    if len(equal) > 1:
        return f"{listed(equal)} share the highest AP, {values[best]:.3f}."
    others = [i for i in range(len(names)) if i != best]
    sure = [names[i] for i in others if measured.difference("AP", best, i).without_zero]
    open_ = [names[i] for i in others if names[i] not in sure]
    sentence = f"{names[best]} ranks best, AP {values[best]:.3f}"
    if not open_:
        return f"{sentence}. Its lead over {listed(sure)} is significant."
    if not sure:
        return f"{sentence}. Its lead over {listed(open_)} is not significant."
    return f"{sentence}. Its lead over {listed(sure)} is significant, over {listed(open_)} it is not."


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["SVM", "AP-SVM", "HOB-SVM"])
    'SVM, AP-SVM and HOB-SVM'
    """
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def of_labels(names: Sequence[str], runs: Sequence[Run]) -> str:
    """By which labels trainings are compared; "" where none learned from corrected ones."""
    corrected = [name for name, run in zip(names, runs, strict=True) if run.corrections]
    if not corrected:
        return ""
    return f"All metrics use the original labels; {listed(corrected)} used corrected labels for training."


def first_wrong(ranked: Ranking) -> str:
    """Where a ranking goes wrong for the first time."""
    first = first_mistake(ranked.relevance)
    return "no mistake" if first is None else f"first mistake at {first:,}"


def of_interval(interval: Interval) -> str:
    """
    >>> of_interval(Interval(0.5, 0.4, 0.61))
    '0.500\xa0[0.400,\xa00.610]'
    """
    return _together(f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]")


def of_difference(difference: Interval) -> str:
    """
    >>> of_difference(Interval(0.05, -0.01, 0.1))
    '+0.050\xa0[−0.010,\xa0+0.100]'
    """
    return _together(f"{_signed(difference.value)} [{_signed(difference.low)}, {_signed(difference.high)}]")


def _together(text: str) -> str:
    """On one line: a narrow table then moves sideways."""
    return text.replace(" ", "\xa0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def of_rows(names: Sequence[str], compared: Comparison) -> str:
    """What to notice in the rows: where each goes wrong for the first time, whatever the numbers are."""
    firsts = [first_mistake(ranked.relevance) for ranked in compared.rankings]
    placed = [(first, name) for first, name in zip(firsts, names, strict=True) if first is not None]
    if not placed:
        return "**Notice** that none of them ever puts a wrong image above a right one."
    early = min(first for first, _ in placed)
    which = [escaped(name) for first, name in placed if first == early]
    verb = "goes" if len(which) == 1 else "go"
    sentence = (
        f"**Notice** the first mistake of each row: {listed(which)} {verb} wrong first, at rank {early:,}"
    )
    late = max(first for first, _ in placed)
    if None in firsts:
        clean = [escaped(name) for first, name in zip(firsts, names, strict=True) if first is None]
        return f"{sentence}, {listed(clean)} never."
    if late == early:
        return f"{sentence}."
    last = [escaped(name) for first, name in placed if first == late]
    return f"{sentence}, {listed(last)} only at {late:,}."


def of_gains(compared: Comparison, left: int, right: int, names: Sequence[str]) -> str:
    """What the difference of AP between two rankings is made of."""
    gains = compared.gains(left, right)
    won, lost = gains[gains > 0], gains[gains < 0]
    return (
        f"AP of {escaped(names[right])} less that of {escaped(names[left])}: **{_signed(gains.sum())}** = "
        f"{_signed(won.sum())} from {_images(len(won))} whose precision rose, {_signed(lost.sum())} from "
        f"{_images(len(lost))} whose precision fell, of {_images(int((compared.relevance > 0).sum()))} in all."
    )


def _images(count: int) -> str:
    return "1 relevant sample" if count == 1 else f"{count:,} relevant samples"


def of_places(names: Sequence[str], compared: Comparison, sample: int) -> str:
    """Where one sample stands in each ranking, from the best place to the worst."""
    places = compared.ranks[:, sample]
    order = sorted(range(len(names)), key=lambda i: int(places[i]))
    return ", ".join(f"{escaped(names[i])} **{places[i]:,}**" for i in order)


def of_intervals(compared: Comparison, measured: Resampled, images: ImageSet, split: str) -> str:
    """How the intervals of the measures came about."""
    undefined = measured.undefined("AP")
    units = len(np.unique(blocks_of(images, compared.samples)))
    of_images = units == len(np.unique(images.image_of[compared.samples]))
    what = f"{units:,} {split} {'images' if of_images else 'groups of images'}"
    narrow = " Of so few they are a little too narrow." if units < FEW else ""
    without = f" {undefined:,} draws without a relevant sample are left out." if undefined else ""
    return (
        f"In brackets 95% intervals: the {what} are drawn again {DRAWS:,} times with all of their samples, and each "
        f"draw measures all methods.{without}{narrow} **Notice** that two "
        "intervals may overlap while that of the difference lies above zero: on the same draws methods rise and fall "
        "together. Each comparison is taken by itself, and none of them knows what other training images would change."
    )
