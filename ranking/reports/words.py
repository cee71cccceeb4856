"""What to notice in an experiment, in words that follow from its numbers."""

from __future__ import annotations

import math
import statistics

from ranking.experiments.cross_validation.results import Results, higher


def notice_best(results: Results, test: bool) -> str:
    """Which method is best on average and on how many queries; words for what is not there yet."""
    table = {}
    for one in results.contenders:
        values = [_value(results, query, one.name, test) for query in results.queries]
        known = [value for value in values if value is not None and not math.isnan(value)]
        if len(known) == len(values):
            table[one.name] = known
    if len(table) < len(results.contenders) or not table:
        return "“–” is not there yet; the best of a column is marked where all of it is."
    mean = {name: statistics.fmean(values) for name, values in table.items()}
    best = max(mean, key=lambda name: mean[name])
    columns = zip(*table.values(), strict=True)
    won = sum(not higher(max(column), table[best][place]) for place, column in enumerate(columns))
    second = max((name for name in mean if name != best), key=lambda name: mean[name], default=None)
    wins = f"on {won} of {len(results.queries)} {'query' if len(results.queries) == 1 else 'queries'}"
    if second is not None and not higher(mean[best], mean[second]):
        return f"{best} and {second} are level on average, {mean[best]:.3f}; {best} is best {wins}."
    ahead = "" if second is None else f", {mean[best] - mean[second]:.3f} above {second}"
    return (
        f"{best} is best on average, {mean[best]:.3f}{ahead}; and {wins}. The best of each column is marked."
    )


def _value(results: Results, query: str, contender: str, test: bool) -> float | None:
    if test:
        return results.test(query, contender)
    folds = results.validation(query, contender)
    return None if folds is None else statistics.fmean(folds)
