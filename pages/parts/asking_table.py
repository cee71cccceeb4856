"""A simulation as a table in the form of the c-star paper's Table 1, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from html import escape

from pages.parts import export
from ranking.asking import STRATEGIES
from ranking.fold_curves import Difference, FoldCurve, difference

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


def as_html(curves: Sequence[FoldCurve]) -> str:
    """A row a strategy; for each model the mean in percent with its standard deviation over folds, the best of each
    number of questions in bold; then what models have above the independent one, with an interval."""
    shown, names = columns_of(curves), names_of(curves)
    best = {count: max(float(one.mean[count]) for one in curves) for count in shown}
    apart = {(name, strategy): found for name, strategy, found in compared(curves)}
    minus = list(dict.fromkeys(name for name, _ in apart))
    groups = [*names, *(f"{name} − {BASELINE}" for name in minus)]
    head = _row(f'th colspan="{len(shown)}" scope="colgroup"', [escape(group) for group in groups], 1)
    under = _row('th scope="col"', [called(count) for _ in groups for count in shown], len(shown))
    rows = []
    for strategy in strategies_of(curves):
        cells = [_mean(by_name(curves, name, strategy), count, best) for name in names for count in shown]
        cells += [_difference(apart.get((name, strategy)), count) for name in minus for count in shown]
        rows.append(f'<tr><th scope="row">{escape(strategy)}</th>{_row("td", cells, len(shown))}</tr>')
    return (
        f'<div class="table-1" tabindex="0"><table><thead><tr><td></td>{head}</tr><tr><td></td>{under}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(tag: str, cells: Sequence[str], group: int) -> str:
    """Cells, with room before each `group` of them."""
    name = tag.partition(" ")[0]
    first = ' class="first"'
    return "".join(
        f"<{tag}{'' if place % group else first}>{cell}</{name}>" for place, cell in enumerate(cells)
    )


def _mean(curve: FoldCurve | None, count: int, best: dict[int, float]) -> str:
    if curve is None:
        return NONE
    mean, spread = float(curve.mean[count]), float(curve.spread[count])
    said = f"{100 * mean:.1f}"
    said = f"<b>{said}</b>" if mean == best[count] else said
    return f"{said}<small>± {100 * spread:.1f}</small>"


def _difference(found: Difference | None, count: int) -> str:
    if found is None:
        return NONE
    return f"{_signed(100 * found.mean[count])}<small>{interval(found, count)}</small>"


def interval(found: Difference, count: int) -> str:
    """An interval in points; nothing where one fold alone tells of none."""
    low, high = (100 * float(end[count]) for end in (found.low, found.high))
    return "" if math.isnan(low) else f"{_signed(low)} to {_signed(high)}"


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


def csv_text(curves: Sequence[FoldCurve]) -> str:
    """One line for each model, strategy and number of questions; precision as exact numbers from 0 to 1."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    folds = [f"fold {number + 1}" for number in range(len(curves[0].folds))]
    writer.writerow(["model", "strategy", "questions", "mean", "standard deviation", *folds])
    for one in curves:
        for count, values in enumerate(one.folds.T):
            numbers = [float(one.mean[count]), float(one.spread[count]), *values.tolist()]
            texts = [export.guarded(one.name), export.guarded(one.strategy), count]
            writer.writerow([*texts, *(repr(number) for number in numbers)])
    return stream.getvalue()
