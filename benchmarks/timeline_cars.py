"""The drawn "Timeline cars": how fast they are imported, and how hard they are to put in order by their year.

    python benchmarks/timeline_cars.py

builds the default set in a temporary folder and has RankSVM put test sequences of 20 cars in order, by HOG, by
colour, by both and by GIST, with each of some C. Pair accuracy of HOG and colour belongs between 70% and 85%, so that
methods can differ. NDCG has the linear gain.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import drawn_source, machine, options_of, parser, table

from ranking import Query, make_method
from ranking.core import ImageSet, SequenceSet
from ranking.datasets import build_image_set
from ranking.datasets.sequences import Drawing, draw_sequences
from ranking.features import load_features
from ranking.metrics import ndcg, pair_accuracy

FEATURES = (["HOG", "Colour"], ["HOG"], ["Colour"], ["GIST"])


def build(images: int, folder: Path) -> ImageSet:
    start, before = time.perf_counter(), os.times()
    image_set, problems = build_image_set(drawn_source("Timeline cars", images=images), folder)
    wall, after = time.perf_counter() - start, os.times()
    print(
        f"{images:,} images, {len(problems)} problems: {wall:.1f} s "
        f"({after.user + after.system - before.user - before.system:.1f} s of processor time)\n"
    )
    return image_set


def measured(train: SequenceSet, test: SequenceSet, method: str, C: float) -> tuple[float, float]:
    """Mean pair accuracy and NDCG over the sequences of `test`."""
    scores = make_method(method, C=C).fit(train).score(Query(test.features))
    lines = []
    for number in range(len(test)):
        rows = test.sequence(number)
        grades = test.grades[rows]
        lines.append((pair_accuracy(grades, scores[rows]), ndcg(grades, scores[rows], gain="linear")))
    accuracy, gain = np.mean(lines, axis=0)
    return float(accuracy), float(gain)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--images", type=int, default=800, help="how many (default: as the source has it)")
    arguments.add_argument(
        "--method", default="RankSVM", help="a method with a setting C that orders samples"
    )
    arguments.add_argument("--C", nargs="+", type=float, default=[100.0, 1000.0, 10_000.0])
    arguments.add_argument("--sequences", type=int, default=1000, help="to train on, and to test on")
    options = options_of(arguments, images=60, sequences=20, C=[100.0])
    print(machine() + "\n")
    drawing = Drawing(length=20, train=options.sequences, test=options.sequences)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        image_set = build(options.images, Path(folder) / "set")
        for names in FEATURES:
            features = load_features(image_set, [(name, {}) for name in names], Path(folder))
            (train, _), (test, _) = draw_sequences(image_set, features, "year", drawing)
            for C in options.C:
                accuracy, gain = measured(train, test, options.method, C)
                rows.append([" + ".join(names), f"{C:g}", f"{100 * accuracy:.1f}", f"{gain:.3f}"])
    print(table(["features", "C", "pair accuracy, %", "NDCG"], rows))


if __name__ == "__main__":
    main()
