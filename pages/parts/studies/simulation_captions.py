"""Captions of a labelling simulation, computed from its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pages.parts.app.frame import escaped
from pages.parts.studies import simulation_table
from ranking.core.text import counted
from ranking.metrics.fold_curves import Difference, FoldCurve

OF_THE_PAPER = "closest maxima"  # the question strategy of the C-star paper, section 5
UNCERTAIN = ", not certain"


def best_of(curves: Sequence[FoldCurve]) -> FoldCurve:
    """Return the curve with the highest last value."""
    return max(curves, key=lambda curve: float(curve.mean[-1]))


def headline(curves: Sequence[FoldCurve]) -> str:
    """Say how much all answers raise the precision of the best model, as Markdown."""
    best = best_of(curves)
    last = len(best.mean) - 1
    before, after = (100 * float(best.mean[at]) for at in (0, last))
    return f"{escaped(best.name)}, {escaped(best.strategy)}: {before:.1f}% → {after:.1f}% with {last} answers per image"


def notice(curves: Sequence[FoldCurve]) -> str:
    """Say which strategy raises the precision of the best model most, and which least."""
    best = best_of(curves)
    own = [curve for curve in curves if curve.name == best.name]
    gains = {curve.strategy: 100 * float(curve.mean[-1] - curve.mean[0]) for curve in own}
    least = min(gains, key=gains.__getitem__)
    if len(gains) < 2:
        return f"how much {best.name} gains: {gains[best.strategy]:+.1f} points after all questions"
    return (
        f"the effect of the question strategy: with {best.name}, “{best.strategy}” gains "
        f"{gains[best.strategy]:+.1f} points after all questions, “{least}” {gains[least]:+.1f}"
    )


def interactions_add(curves: Sequence[FoldCurve]) -> str:
    """Compare the best model with the independent one before any question and after the last, as Markdown.

    Uses the paper's strategy if it was simulated; "" if nothing can be compared.
    """
    rows = simulation_table.compared(curves)
    rows = [row for row in rows if row[1] == OF_THE_PAPER] or rows
    if not rows:
        return ""
    name, strategy, apart = max(rows, key=lambda row: float(row[2].mean[-1]))
    first, *rest = dict.fromkeys((0, len(apart.mean) - 1))
    side = _side(apart, first)
    text = f"{side} than {escaped(simulation_table.BASELINE)} by {_points(apart, first)}"
    for count in rest:
        text += f" and {'' if _side(apart, count) == side else f'{_side(apart, count)} '}by {_points(apart, count)}"
    return f"**Notice** what interactions add: {escaped(name)} by {escaped(strategy)} is {text}."


def _side(apart: Difference, count: int) -> str:
    return "better" if apart.mean[count] >= 0 else "worse"


def _points(apart: Difference, count: int) -> str:
    """Return the size of a difference in points, with its interval, and after how many questions it was measured."""
    value, low, high = (100 * float(ends[count]) for ends in (apart.mean, apart.low, apart.high))
    if value < 0:
        value, low, high = -value, -high, -low
    unsure = UNCERTAIN if low <= 0 <= high else ""
    ends = (f"{end:.1f}".replace("-", "−") for end in (low, high))
    interval = "" if math.isnan(low) else f" ({' to '.join(ends)}{unsure})"
    when = f"after {counted(count, 'question')}" if count else "before any question"
    return f"{value:.1f} points{interval} {when}"
