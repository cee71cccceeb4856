"""A labelling simulation as a table in the form of Table 1 of the C-star paper, and as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pages.parts.app.frame import escaped
from ranking.core.spreadsheets import rows_csv
from ranking.explain.question_strategies import STRATEGIES
from ranking.metrics.fold_curves import Difference, FoldCurve, difference
from ranking.reports.prose import markdown_table, signed

# what others are compared with
BASELINE = "Independent p@k"
# questions, as in Table 1
COLUMNS = (0, 1, 5, 10)
NONE = "–"


def columns_of(curves: Sequence[FoldCurve]) -> list[int]:
    """Return the numbers of questions that the table shows: those of Table 1 up to the last, and the last."""
    last = len(curves[0].mean) - 1
    return sorted({count for count in COLUMNS if count <= last} | {last})


def heading(count: int) -> str:
    return f"Q{count}" if count else "Auto"


def by_name(curves: Sequence[FoldCurve], name: str, strategy: str) -> FoldCurve | None:
    return next((curve for curve in curves if (curve.name, curve.strategy) == (name, strategy)), None)


def names_of(curves: Sequence[FoldCurve]) -> list[str]:
    """Return the names of the models, in their order."""
    return list(dict.fromkeys(curve.name for curve in curves))


def strategies_of(curves: Sequence[FoldCurve]) -> list[str]:
    """Return the question strategies in the order of STRATEGIES, unknown strategies last."""
    known = list(STRATEGIES)
    strategies = dict.fromkeys(curve.strategy for curve in curves)
    return sorted(strategies, key=lambda name: known.index(name) if name in known else len(known))


def compared(curves: Sequence[FoldCurve]) -> list[tuple[str, str, Difference]]:
    """Return (model, strategy, difference) of every other model minus the independent one."""
    # Where both used the strategy. Empty where the independent model was simulated with several settings,
    # because the baseline would be ambiguous.
    base = [name for name in names_of(curves) if by_method(curves, name) == BASELINE]
    if len(base) != 1:
        return []
    differences = []
    for curve in curves:
        baseline = by_name(curves, base[0], curve.strategy)
        if curve.method != BASELINE and baseline is not None:
            differences.append((curve.name, curve.strategy, difference(curve, baseline)))
    return differences


def by_method(curves: Sequence[FoldCurve], name: str) -> str:
    return next(curve.method for curve in curves if curve.name == name)


def as_markdown(curves: Sequence[FoldCurve]) -> dict[str, str]:
    """Return by title a table per model and one per difference to the independent model."""
    # A row is a strategy. Means are in percent with standard deviations over folds; the best of each number
    # of questions is bold. Differences have intervals.
    shown, names = columns_of(curves), names_of(curves)
    best = {count: max(float(curve.mean[count]) for curve in curves) for count in shown}
    apart = {(name, strategy): gain for name, strategy, gain in compared(curves)}
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
    heads = ["Question strategy", *map(heading, shown)]
    return markdown_table(heads, ([escaped(name), *cells] for name, cells in rows.items()))


def _mean(curve: FoldCurve | None, count: int, best: dict[int, float]) -> str:
    if curve is None:
        return NONE
    mean, spread = float(curve.mean[count]), float(curve.spread[count])
    text = f"{100 * mean:.1f}"
    text = f"**{text}**" if mean == best[count] else text
    return text if math.isnan(spread) else f"{text} ± {100 * spread:.1f}"


def _difference(gain: Difference | None, count: int) -> str:
    if gain is None:
        return NONE
    between = interval(gain, count)
    return signed(100 * gain.mean[count], 1) + (f" ({between})" if between else "")


def interval(gain: Difference, count: int) -> str:
    """Return an interval in points as text; "" for a single fold, which has none."""
    low, high = (100 * float(end[count]) for end in (gain.low, gain.high))
    return "" if math.isnan(low) else f"{signed(low, 1)} to {signed(high, 1)}"


def csv_text(curves: Sequence[FoldCurve]) -> str:
    """Return a line for each model, strategy and number of questions, with precision from 0 to 1."""
    # As exact numbers.
    rows = []
    for curve in curves:
        for count, values in enumerate(curve.folds.T):
            spread = float(curve.spread[count])
            row = {"model": curve.name, "strategy": curve.strategy, "questions": count}
            row |= {
                "mean": float(curve.mean[count]),
                "standard deviation": "" if math.isnan(spread) else spread,
            }
            rows.append(row | {f"fold {fold}": value for fold, value in enumerate(values.tolist(), start=1)})
    return rows_csv(rows)
