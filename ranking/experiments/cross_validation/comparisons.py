"""Differences between the methods of an experiment by query, with the paper's tests and corrected ones."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Row, Table
from ranking.metrics.intervals import Interval
from ranking.metrics.statistics import difference_interval, holm, paired_t_test

SIGNIFICANT = 0.05


class Comparison(NamedTuple):
    """`left` minus `right` on a query: the mean over folds, its interval, and p of the paired t-test."""

    query: str
    left: str
    right: str
    difference: Interval
    t: float
    # p, corrected for all comparisons of the experiment
    holm: float


def comparisons(results: Results) -> list[Comparison]:
    """Compare each two methods, the later minus the earlier, on each query where both have results on all folds."""
    made = []
    for query in results.queries:
        known = {
            compared_method.name: results.validation(query, compared_method.name)
            for compared_method in results.compared_methods
        }
        for (right, theirs), (left, ours) in itertools.combinations(known.items(), 2):
            if ours is not None and theirs is not None:
                apart = difference_interval(ours, theirs)
                made.append((query, left, right, apart, paired_t_test(ours, theirs)))
    corrected = holm([row[4] for row in made])
    return [Comparison(*row, p) for row, p in zip(made, corrected, strict=True)]


def difference_table(results: Results) -> Table:
    """Return the mean difference of each two methods by query, and in how many queries it is significant."""
    compared = comparisons(results)
    pairs = [(left.name, right.name) for right, left in itertools.combinations(results.compared_methods, 2)]
    rows = []
    for left, right in pairs:
        of_pair = {row.query: row for row in compared if (row.left, row.right) == (left, right)}
        values = [of_pair[query].difference.value if query in of_pair else None for query in results.queries]
        plain = _better([(row.difference.value, row.t) for row in of_pair.values()])
        fair = _better([(row.difference.value, row.holm) for row in of_pair.values()])
        rows.append(Row(f"{left} − {right}", (*values, plain, fair), (False,) * (len(values) + 2)))
    columns = (*results.queries, "better / worse, t-test", "the same, Holm")
    note = (
        f"Paired t-test over {results.protocol.folds} folds at p < {SIGNIFICANT:g}, as in the paper, and with Holm's "
        f"correction for all {len(compared)} comparisons. Folds share training samples, so both tests report too many "
        "differences rather than too few."
    )
    return Table(f"Differences of {results.protocol.measure}", columns, tuple(rows), note)


def _better(pairs: list[tuple[float, float]]) -> str:
    """Count the queries with a significant difference above 0 and below 0."""
    sure = [value for value, p in pairs if p < SIGNIFICANT]
    return f"{sum(value > 0 for value in sure)} / {sum(value < 0 for value in sure)}"
