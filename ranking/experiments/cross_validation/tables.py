"""The tables of the paper (high-order, Tables 1 and 2) from results of an experiment, as plain rows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from ranking.experiments.cross_validation.protocol import WARM_START
from ranking.experiments.cross_validation.results import Results, higher

# None: not finished
Value = float | str | None
# next to values, by column and row of a table
Signs = Mapping[tuple[str, str], str]
AVERAGE = "Average"
AT_END = " (end of grid)"
END_NOTE = (
    "End of grid: the best value is the smallest or the largest that was tried. A better one may lie beyond."
)


@dataclass(frozen=True)
class Row:
    """One row: its name, its values, which of them are the best of their column, and optional signs."""

    name: str
    values: tuple[Value, ...]
    best: tuple[bool, ...]
    signs: tuple[str, ...] = ()

    @property
    def cells(self) -> Iterator[tuple[Value, bool, str]]:
        """Yield each value, whether it is the best, and its sign ("" for none)."""
        return zip(self.values, self.best, self.signs or ("",) * len(self.values), strict=True)


@dataclass(frozen=True)
class Table:
    """A table for pages, reports and LaTeX. columns: heads of the values. note: what readers must know about it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def signed(self, signs: Signs, meaning: str) -> Table:
        """Return the table with signs next to its values, explained in its note; the same table without signs."""
        if not signs:
            return self
        rows = tuple(
            replace(row, signs=tuple(signs.get((column, row.name), "") for column in self.columns))
            for row in self.rows
        )
        return replace(self, rows=rows, note=f"{meaning} {self.note}".strip())


def validation_table(results: Results) -> Table:
    """Return the mean over the folds at the best setting of each query and method (high-order, Table 1)."""

    def mean(query: str, compared_method: str) -> float | None:
        folds = results.validation(query, compared_method)
        return None if folds is None else statistics.fmean(folds)

    title = f"{results.protocol.measure} over {results.protocol.folds} folds, best setting of each"
    note = (
        "Settings were chosen on the folds shown here, so the values are slightly too high for all methods."
    )
    ends = sum(
        bool(results.at_end(query, compared_method.name))
        for query in results.queries
        for compared_method in results.compared_methods
    )
    if ends:
        lie = "lies at an end of its grid" if ends == 1 else "lie at an end of their grids"
        methods = "that method" if ends == 1 else "those methods"
        note += f" {ends} of the chosen settings {lie}: {methods} may be better than shown."
    if results.unproven:
        note += f" {results.unproven} of {len(results.outcomes)} runs did not converge."
    return _by_query(results, title, mean, note)


def test_table(results: Results) -> Table:
    """Return the measure on the test samples at the chosen settings (high-order, Table 2)."""
    return _by_query(results, f"{results.protocol.measure} on the test samples", results.test)


def seconds_table(results: Results) -> Table:
    """Return the total seconds of training of each query and method, on one core."""
    table = _by_query(results, "Seconds of training, all settings and folds", results.seconds)
    rows = tuple(Row(row.name, row.values, (False,) * len(row.best)) for row in table.rows)
    begun = [
        compared_method.name
        for compared_method in results.compared_methods
        if any(map(compared_method.beginning, compared_method.points))
    ]
    note = (
        f"Runs of {' and '.join(begun)} are counted without the {WARM_START} run that they start from."
        if begun
        else ""
    )
    return Table(table.title, table.columns, rows, note)


def chosen_table(results: Results) -> Table:
    """Return the settings that cross-validation chose for each query and method, in words."""
    rows = []
    for compared_method in results.compared_methods:
        words = [_chosen_words(results, query, compared_method.name) for query in results.queries]
        rows.append(Row(compared_method.name, tuple(words), (False,) * len(words)))
    note = END_NOTE if any(AT_END in str(word) for row in rows for word in row.values) else ""
    return Table("Settings chosen by cross-validation", results.queries, tuple(rows), note)


def _chosen_words(results: Results, query: str, compared_method: str) -> str | None:
    point = results.chosen(query, compared_method)
    return None if point is None else point_words(point, results.at_end(query, compared_method))


def point_words(point: tuple[tuple[str, float], ...], at_end: Collection[str] = ()) -> str:
    """Describe a grid point; at_end: the settings to mark.

    >>> point_words((("C", 10.0), ("eta", 0.01)), ["eta"])
    'C = 10, eta = 0.01 (end of grid)'
    """
    texts = [f"{name} = {value:g}{AT_END if name in at_end else ''}" for name, value in point]
    return ", ".join(texts) or "defaults"


def _by_query(
    results: Results, title: str, value: Callable[[str, str], float | None], note: str = ""
) -> Table:
    """Return a table: a row per method, a column per query, and for several the average of complete rows."""
    rows = []
    for compared_method in results.compared_methods:
        known = [value(query, compared_method.name) for query in results.queries]
        whole = [mean for mean in known if mean is not None]
        average = statistics.fmean(whole) if len(whole) == len(known) else None
        rows.append((compared_method.name, (*known, average) if len(known) > 1 else tuple(known)))
    best = list(
        zip(*(_best(column) for column in zip(*(values for _, values in rows), strict=True)), strict=True)
    )
    marked = tuple(Row(name, values, marks) for (name, values), marks in zip(rows, best, strict=True))
    # a class may be called so
    last = AVERAGE if AVERAGE not in results.queries else f"{AVERAGE} of all"
    columns = (*results.queries, last) if len(results.queries) > 1 else results.queries
    return Table(title, columns, marked, note)


def _best(column: tuple[float | None, ...]) -> list[bool]:
    """Mark the highest values of a column, up to rounding; none in an incomplete column or one with a NaN."""
    known = [value for value in column if value is not None]
    if len(known) < len(column) or any(map(math.isnan, known)):
        return [False] * len(column)
    return [not higher(max(known), value) for value in known]
