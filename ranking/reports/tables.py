"""Tables of values as HTML."""

from __future__ import annotations

from ranking.experiments.cross_validation.tables import Table
from ranking.reports.exports import Marks, shown
from ranking.reports.markup import Markup, element
from ranking.reports.page import wide_table


def value_table(table: Table, marks: Marks | None = None) -> Markup:
    """A table of values, its best with a ground of their own. marks: signs beside values, by column and row."""
    signs, rows = marks or {}, []
    for row in table.rows:
        cells = [element("th", row.name, scope="row")]
        for column, value, best in zip(table.columns, row.values, row.best, strict=True):
            sign = signs.get((column, row.name))
            said = f"{shown(value)} {sign}" if sign else shown(value)
            cells.append(element("td", said, class_="best" if best else None))
        rows.append(cells)
    return wide_table(table.title, table.columns, rows)
