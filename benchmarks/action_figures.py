"""The bundled "Action figures": how fast they are generated, how hard they are, and how much neighbours help.

    python benchmarks/action_figures.py

generates the default set in a temporary folder and ranks the boxes of its test split for each of the ten actions by
HOG and colour, with the default settings of each method. "+ others" adds to the score of a box the mean score of the
other boxes in its image, as a measure of the information that methods without neighbours do not use. "prior" is the
AP of a random ranking.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from timing import generated_set, machine, options_of, table

from ranking import Query, make_method
from ranking.core import Floats, Ints
from ranking.features import load_features
from ranking.metrics import average_precision

FEATURES = [("HOG", {}), ("Colour", {})]


def with_background(scores: Floats, groups: Ints) -> Floats:
    """Return (n,) the score of each box plus the mean score of the other boxes in its image, if any.

    >>> with_background(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 0, 1])).tolist()
    [5.0, 6.0, 7.0, 14.0]
    """
    total, number = np.bincount(groups, scores)[groups], np.bincount(groups)[groups]
    return scores + np.where(number > 1, (total - scores) / np.maximum(number - 1, 1), scores)


def main() -> None:
    options = options_of(__doc__, images=(1200, 60), methods=(["SVM", "AP-SVM"], ["SVM"]))
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as folder:
        images = generated_set("Action figures", Path(folder) / "set", images=options.images)
        features = load_features(images, FEATURES, Path(folder))
    learn, test = ~images.test, images.test
    columns = {}
    for name in options.methods:
        for query in images.classes:
            relevance = images.relevance(query)
            method = make_method(name).fit([Query(features[learn], relevance[learn])])
            scores = np.asarray(method.score(Query(features[test])), np.float64)
            columns.setdefault(name, []).append(average_precision(relevance[test], scores))
            both = with_background(scores, images.groups[test])
            columns.setdefault(f"{name} + others", []).append(average_precision(relevance[test], both))
    columns["prior"] = list(images.labels[test].mean(axis=0))
    rows = [
        [query, *(f"{values[k]:.3f}" for values in columns.values())]
        for k, query in enumerate(images.classes)
    ]
    rows.append(["mean", *(f"{np.mean(values):.3f}" for values in columns.values())])
    print(table(["test AP", *columns], rows))


if __name__ == "__main__":
    main()
