"""Differences between each two methods by query, on folds and on test samples, with significance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ranking.datasets.splits import blocks_of
from ranking.experiments.cross_validation.comparisons import (
    SIGNIFICANT,
    Comparison,
    comparisons,
    difference_table,
)
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Signs, Table, test_table, validation_table
from ranking.metrics.intervals import Interval, resample
from ranking.reports.findings import Findings

# Signs of differences from the first method that are significant; filled signs remain after Holm's correction.
SURE_BETTER, SURE_WORSE, BETTER, WORSE = "▲", "▼", "△", "▽"


class Difference(NamedTuple):
    """`left` minus `right` on a query; None where results are missing."""

    query: str
    left: str
    right: str
    # the mean over folds with Student's interval and the tests
    folds: Comparison | None
    # on the test samples, with the interval of the paired bootstrap over images, resampled by group
    test: Interval | None


def pairs_of(results: Results) -> list[tuple[str, str]]:
    """Return each two methods, the later minus the earlier."""
    # All minus the first one come first, then all minus the second one, and so on: the order of the project
    # page of the high-order paper.
    return [(left.name, right.name) for right, left in itertools.combinations(results.compared_methods, 2)]


def differences(findings: Findings) -> list[Difference]:
    """Return the differences of each pair on each query, as far as results exist."""
    # Each takes two thousand resamples.
    results = findings.results
    folds = {(row.query, row.left, row.right): row for row in comparisons(results)}
    rows = []
    for left, right in pairs_of(results):
        for query in results.queries:
            test = difference_on_test(findings, query, left, right)
            rows.append(Difference(query, left, right, folds.get((query, left, right)), test))
    return rows


def difference_on_test(findings: Findings, query: str, left: str, right: str) -> Interval | None:
    """Return the difference of two methods on the test samples; None where it is not defined."""
    # Both results must exist, the measure must be defined, and the samples must lie in two images or groups
    # at least.
    if not all(_has_value(findings.results.test(query, name)) for name in (left, right)):
        return None
    ours, theirs = (findings.scores(query, name, None) for name in (left, right))
    if ours is None or theirs is None:
        return None
    held = findings.plan.splits.all[None].held
    relevance = findings.images.relevance(query)[held]
    # as in the folds
    units = blocks_of(findings.images, held)
    measure = findings.results.protocol.measure
    if len(np.unique(units)) < 2:
        return None
    cutoffs = (int(measure[2:]),) if measure.startswith("P@") else ()
    return resample(relevance, [ours, theirs], units, cutoffs=cutoffs).difference(measure, 0, 1)


def _has_value(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def without_interval_words(differences: Sequence[Difference]) -> str:
    """Name the queries on which a difference over the folds has no interval, with the reason; "" for none."""
    rows = [row for row in differences if row.folds is not None and math.isnan(row.folds.difference.low)]
    if not rows:
        return ""
    queries = ", ".join(dict.fromkeys(row.query for row in rows))
    count = "a difference has" if len(rows) == 1 else f"{len(rows)} differences have"
    return (
        f"Over the folds {count} no interval ({queries}): all folds have the same difference, so its variance is "
        "unknown."
    )


# ---------------------------------------------------------------------------------------------------------
# Tables with signs
# ---------------------------------------------------------------------------------------------------------


def signed_validation_table(results: Results, rows: Sequence[Difference]) -> Table:
    """Return `validation_table` with signs at significant differences from the first method."""
    first = results.compared_methods[0].name
    meaning = (
        f"{BETTER} better and {WORSE} worse than {first} by the paired t-test over the folds at p < {SIGNIFICANT:g}; "
        f"{SURE_BETTER} and {SURE_WORSE} where this remains significant with Holm's correction for all comparisons."
    )
    return validation_table(results).signed(signs_of_folds(rows, first), meaning)


def signed_test_table(results: Results, rows: Sequence[Difference]) -> Table:
    """Return `test_table` with signs at significant differences from the first method."""
    first = results.compared_methods[0].name
    meaning = f"{bootstrap_words(first)} The variation due to other training images is not included."
    return test_table(results).signed(signs_of_test(rows, first), meaning)


def signed_difference_table(results: Results, rows: Sequence[Difference]) -> Table:
    """Return `difference_table` with signs at significant differences by the t-test over the folds."""
    signs: dict[tuple[str, str], str] = {}
    for first in dict.fromkeys(row.right for row in rows):
        of_first = signs_of_folds(rows, first)
        signs |= {(query, f"{name} − {first}"): sign for (query, name), sign in of_first.items()}
    meaning = (
        f"{BETTER} above and {WORSE} below 0 by the paired t-test at p < {SIGNIFICANT:g}; {SURE_BETTER} and "
        f"{SURE_WORSE} where this remains significant with Holm's correction."
    )
    return difference_table(results).signed(signs, meaning)


def signs_of_folds(rows: Sequence[Difference], first: str) -> Signs:
    """Return the signs of methods that differ significantly from the first on the folds (paired t-test)."""
    signs = {}
    for row in rows:
        if row.right == first and row.folds is not None and row.folds.t < SIGNIFICANT:
            sure, up = row.folds.holm < SIGNIFICANT, row.folds.difference.value > 0
            filled, hollow = (SURE_BETTER, BETTER) if up else (SURE_WORSE, WORSE)
            signs[row.query, row.left] = filled if sure else hollow
    return signs


def signs_of_test(rows: Sequence[Difference], first: str) -> Signs:
    """Return the signs of methods whose interval on the test samples excludes 0."""
    # There is no correction for the number of methods.
    signs = {(row.query, row.left): sign_of(row.test) for row in rows if row.right == first and row.test}
    return {place: sign for place, sign in signs.items() if sign}


def sign_of(difference: Interval) -> str:
    """Return the sign of a difference whose interval excludes 0; "" for others.

    >>> sign_of(Interval(0.1, 0.05, 0.2)), sign_of(Interval(0.1, -0.05, 0.2))
    ('△', '')
    """
    if not difference.without_zero:
        return ""
    return BETTER if difference.low > 0 else WORSE


def bootstrap_words(first: str) -> str:
    """Explain `sign_of`."""
    return (
        f"{BETTER} better and {WORSE} worse than {first}: the 95% confidence interval of the difference (paired "
        "bootstrap over images) excludes 0. Not corrected for the number of comparisons."
    )
