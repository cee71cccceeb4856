"""The generated "Timeline cars": how fast they are imported, and how hard they are to rank by year.

    python benchmarks/timeline_cars.py

generates the default set in a temporary folder and has RankSVM rank test sequences of 20 cars, by HOG, by colour, by
both and by GIST, with several values of C. The pair accuracy of HOG and colour should be between 70% and 85%, so that
methods can differ. NDCG has the linear gain.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from timing import generated_set, machine, options_of, table

from ranking import Query, make_method
from ranking.core import SequenceSet
from ranking.datasets.sequences import Drawing, draw_sequences
from ranking.features import load_features
from ranking.metrics import ndcg, pair_accuracy

FEATURES = (["HOG", "Colour"], ["HOG"], ["Colour"], ["GIST"])


def measured(train: SequenceSet, test: SequenceSet, method: str, C: float) -> tuple[float, float]:
    """Return mean pair accuracy and NDCG over the sequences of `test`."""
    scores = make_method(method, C=C).fit(train).score(Query(test.features))
    lines = []
    for number in range(len(test)):
        rows = test.sequence(number)
        grades = test.grades[rows]
        lines.append((pair_accuracy(grades, scores[rows]), ndcg(grades, scores[rows], gain="linear")))
    accuracy, gain = np.mean(lines, axis=0)
    return float(accuracy), float(gain)


def main() -> None:
    options = options_of(
        __doc__, images=(800, 60), C=([100.0, 1000.0, 10_000.0], [100.0]), sequences=(1000, 20)
    )
    print(machine() + "\n")
    drawing = Drawing(length=20, train=options.sequences, test=options.sequences)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        image_set = generated_set("Timeline cars", Path(folder) / "set", images=options.images)
        for names in FEATURES:
            features = load_features(image_set, [(name, {}) for name in names], Path(folder))
            (train, _), (test, _) = draw_sequences(image_set, features, "year", drawing)
            for C in options.C:
                accuracy, gain = measured(train, test, "RankSVM", C)
                rows.append([" + ".join(names), f"{C:g}", f"{100 * accuracy:.1f}", f"{gain:.3f}"])
    print(table(["features", "C", "pair accuracy, %", "NDCG"], rows))


if __name__ == "__main__":
    main()
