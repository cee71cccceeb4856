"""Tables on the page of an experiment."""

from __future__ import annotations

from pages.parts.app.frame import escaped
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Row, Table
from ranking.reports.exports import shown
from ranking.reports.prose import markdown_table


def as_markdown(table: Table) -> str:
    """Return a table whose best values are bold."""
    rows = []
    for row in table.rows:
        cells = []
        for value, best, sign in row.cells:
            text = escaped(shown(value))
            cells.append(f"{f'**{text}**' if best else text} {sign}".rstrip())
        rows.append([escaped(row.name), *cells])
    return markdown_table(["", *map(escaped, table.columns)], rows)


def progress_table(results: Results) -> Table:
    """Return the number of finished training runs in the folds, a row per method and a column per query."""
    rows = []
    for compared_method in results.compared_methods:
        cells = tuple(_progress(results, query, compared_method.name) for query in results.queries)
        rows.append(Row(compared_method.name, cells, (False,) * len(cells)))
    return Table("Training runs of the folds", results.queries, tuple(rows))


def _progress(results: Results, query: str, compared_method: str) -> str:
    """Return the number of finished training runs of a method for a query, out of those of its grid."""
    points = results.points(query, compared_method)
    done = sum(
        (query, compared_method, point, fold) in results.outcomes
        for point in points
        for fold in results.folds
    )
    every = len(points) * len(results.folds)
    return f"✓ {done}" if done == every else f"{done} of {every}"


def all_of_them(results: Results) -> Table:
    """Return the seconds of each method by query, and over all queries."""
    rows = []
    for compared_method in results.compared_methods:
        seconds = [results.seconds(query, compared_method.name) for query in results.queries]
        known = [value for value in seconds if value is not None]
        row = (*seconds, sum(known) if known else None)
        rows.append(Row(compared_method.name, row, (False,) * len(row)))
    return Table("Training time in seconds, all settings and folds", (*results.queries, "all"), tuple(rows))
