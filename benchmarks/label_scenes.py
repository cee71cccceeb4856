"""The "Label scenes": how fast they are generated, and how hard each concept is for a plain SVM.

    python benchmarks/label_scenes.py

generates a set in a temporary folder, learns each concept from the training images by GIST and colour, one SVM against
all others, and ranks the test images. "break-even" is the precision where it equals recall; "share" is the share of
test images with the concept, which is the precision of a random ranking.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from timing import generated_set, machine, options_of, table

from ranking import Query, make_method
from ranking.features import load_features
from ranking.metrics import average_precision, break_even_precision

FEATURES = [("GIST", {}), ("Colour", {})]


def main() -> None:
    options = options_of(__doc__, images=(1000, 50))
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as folder:
        images = generated_set("Label scenes", Path(folder) / "set", images=options.images)
        print(f"{len(images.classes)} concepts, {images.labels.sum(axis=1).mean():.1f} per image\n")
        features = load_features(images, FEATURES, Path(folder))
    learn, test = ~images.test, images.test
    measured = []
    for query in images.classes:
        relevance = images.relevance(query)
        if not relevance[learn].any() or not relevance[test].any():
            print(f"{query} is omitted: no training image or no test image shows it")
            continue
        method = make_method("SVM", C=10.0, unit="paper").fit([Query(features[learn], relevance[learn])])
        scores = np.asarray(method.score(Query(features[test])), np.float64)
        pair = relevance[test], scores
        measured.append(
            (break_even_precision(*pair), average_precision(*pair), relevance[test].mean(), query)
        )
    rows = [[query, *(f"{number:.3f}" for number in numbers)] for *numbers, query in sorted(measured)]
    rows.append(["mean", *(f"{np.mean(column):.3f}" for column in list(zip(*measured, strict=True))[:3])])
    print(table(["concept", "break-even", "AP", "share"], rows))


if __name__ == "__main__":
    main()
