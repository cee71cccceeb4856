"""Tables (CSV) of test sequences, and of the orders that a search visited."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranking.core import ImageSet, Ints
from ranking.core.spreadsheets import guarded, rows_csv
from ranking.experiments.order_training import Ordered, measure_order
from ranking.explain.tree_search import TreeSearch

OWN_COLUMNS = ("sequence", "true place", "sample", "image")  # which no criterion of that name may replace


def csv_text(images: ImageSet, criterion: str, shown: Mapping[str, Ordered]) -> str:
    """One line a member of each test sequence, in the true order; a column with its place by each training, from 1."""
    values, rows = images.numbers_of(criterion), []
    first = next(iter(shown.values()))
    for number in range(len(first)):
        samples = first.samples(number)
        places = {f"place by {name}": np.argsort(one.order(number)) + 1 for name, one in shown.items()}
        for place, member in enumerate(first.true_order(number).tolist(), start=1):
            row = int(samples[member])
            rows.append(
                {
                    "sequence": number + 1,
                    "true place": place,
                    criterion if criterion not in OWN_COLUMNS else f"criterion {criterion}": float(
                        values[row]
                    ),
                    "sample": str(images.ids[row]),
                    "image": str(images.image_names[images.image_of[row]]),
                    **{name: int(placed[member]) for name, placed in places.items()},
                }
            )
    return rows_csv(rows)


def visits_csv_text(images: ImageSet, found: TreeSearch, samples: Ints, relevance: Ints) -> str:
    """One line an order, in the order of visits, numbered from 1; samples by their ids, first place first."""
    trees = found.trees
    return rows_csv(
        [
            {
                "order": node + 1,
                "tree": int(trees.trees[node]) + 1,
                "swaps": int(trees.depths[node]),
                "from order": parent + 1 if parent >= 0 else None,
                "on the path": int(trees.path[node]),
                "value": float(trees.values[node]),
                "Kendall tau": measure_order(relevance, trees.orders[node]).tau,
                "samples": ";".join(guarded(str(images.ids[row])) for row in samples[trees.orders[node]]),
            }
            for node, parent in enumerate(trees.parents.tolist())
        ]
    )
