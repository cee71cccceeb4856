"""A simulation as a table in the form of the c-star paper's Table 1, and as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pages.parts.app.frame import escaped
from pages.parts.studies import study_page
from ranking.core.spreadsheets import guarded
from ranking.explain.asking import STRATEGIES
from ranking.metrics.fold_curves import Difference, FoldCurve, difference

BASELINE = "Independent p@k"  # what others are compared with
COLUMNS = (0, 1, 5, 10)  # questions, as in Table 1
NONE = "–"


def columns_of(curves: Sequence[FoldCurve]) -> list[int]:
    """The numbers of questions that the table shows: those of Table 1 as far as asked, and the last."""
    last = len(curves[0].mean) - 1
    return sorted({count for count in COLUMNS if count <= last} | {last})


def called(count: int) -> str:
    return f"Q{count}" if count else "Auto"


def by_name(curves: Sequence[FoldCurve], name: str, strategy: str) -> FoldCurve | None:
    return next((one for one in curves if (one.name, one.strategy) == (name, strategy)), None)


def names_of(curves: Sequence[FoldCurve]) -> list[str]:
    """The models, in their order."""
    return list(dict.fromkeys(one.name for one in curves))


def strategies_of(curves: Sequence[FoldCurve]) -> list[str]:
    """The ways to ask, as they are listed wherever a person chooses; those that this version does not know at last."""
    known = list(STRATEGIES)
    found = dict.fromkeys(one.strategy for one in curves)
    return sorted(found, key=lambda name: known.index(name) if name in known else len(known))


def compared(curves: Sequence[FoldCurve]) -> list[tuple[str, str, Difference]]:
    """(model, strategy, difference) of every other model minus the independent one, where both asked that way.

    Nothing where the independent one was simulated with several settings: it would not be clear with which.
    """
    base = [name for name in names_of(curves) if by_method(curves, name) == BASELINE]
    if len(base) != 1:
        return []
    found = []
    for one in curves:
        other = by_name(curves, base[0], one.strategy)
        if one.method != BASELINE and other is not None:
            found.append((one.name, one.strategy, difference(one, other)))
    return found


def by_method(curves: Sequence[FoldCurve], name: str) -> str:
    return next(one.method for one in curves if one.name == name)


def as_markdown(curves: Sequence[FoldCurve]) -> dict[str, str]:
    """A table under each title, with a row a strategy: for each model the mean in percent with its standard deviation
    over folds, the best of each number of questions in bold; for each but the independent one what it has above that,
    with an interval."""
    shown, names = columns_of(curves), names_of(curves)
    best = {count: max(float(one.mean[count]) for one in curves) for count in shown}
    apart = {(name, strategy): found for name, strategy, found in compared(curves)}
    strategies = strategies_of(curves)
    tables = {}
    for name in names:
        rows = {
            way: [_mean(by_name(curves, name, way), count, best) for count in shown] for way in strategies
        }
        tables[name] = _table(shown, rows)
    for name in dict.fromkeys(name for name, _ in apart):
        rows = {way: [_difference(apart.get((name, way)), count) for count in shown] for way in strategies}
        tables[f"{name} − {BASELINE}"] = _table(shown, rows)
    return tables


def _table(shown: Sequence[int], rows: Mapping[str, Sequence[str]]) -> str:
    lines = [["Asked by", *(called(count) for count in shown)], ["---", *("---:" for _ in shown)]]
    lines += [[escaped(name), *cells] for name, cells in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mean(curve: FoldCurve | None, count: int, best: dict[int, float]) -> str:
    if curve is None:
        return NONE
    mean, spread = float(curve.mean[count]), float(curve.spread[count])
    said = f"{100 * mean:.1f}"
    said = f"**{said}**" if mean == best[count] else said
    return said if math.isnan(spread) else f"{said} ± {100 * spread:.1f}"


def _difference(found: Difference | None, count: int) -> str:
    if found is None:
        return NONE
    between = interval(found, count)
    return signed(100 * found.mean[count]) + (f" ({between})" if between else "")


def interval(found: Difference, count: int) -> str:
    """An interval in points; nothing where one fold alone tells of none."""
    low, high = (100 * float(end[count]) for end in (found.low, found.high))
    return "" if math.isnan(low) else f"{signed(low)} to {signed(high)}"


def signed(points: float) -> str:
    """Points with their sign, a real minus."""
    return f"{points:+.1f}".replace("-", "−")


def csv_text(curves: Sequence[FoldCurve]) -> str:
    """One line for each model, strategy and number of questions; precision as exact numbers from 0 to 1."""
    folds, rows = [f"fold {number + 1}" for number in range(len(curves[0].folds))], []
    for one in curves:
        for count, values in enumerate(one.folds.T):
            spread = float(one.spread[count])
            numbers = [float(one.mean[count]), "" if math.isnan(spread) else spread, *values.tolist()]
            texts = [guarded(one.name), guarded(one.strategy), count]
            rows.append([*texts, *numbers])
    return study_page.csv_text(["model", "strategy", "questions", "mean", "standard deviation", *folds], rows)
