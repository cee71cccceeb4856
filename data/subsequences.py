"""Data on when subsequences help: ``python data/subsequences.py`` trains and writes data/subsequences.json.

The lesson "Pairs or sequences?" shows them in its summary. RankSVM and MidRank, at their default settings, rank
handwritten digits in numerical order: in sequences with one image of each of eight digits, and in sequences of any
images. The images, the features and the numbers of sequences are the same. The program takes some minutes.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Features, ImageSet, SequenceSet
from ranking.datasets import build_image_set, make_source
from ranking.datasets.sequences import ANY, ONE_EACH, Drawing, Pool, unit_rows
from ranking.features import load_features
from ranking.methods.mid_rank import MidRank
from ranking.metrics import kendall_tau
from ranking.metrics.intervals import DRAWS, interval, resampled_counts

LENGTH, TRAIN, TEST = 8, 300, 500
DIGITS = 6
FILE = Path(__file__).with_suffix(".json")


def measured(train: int = TRAIN, test: int = TEST, **settings: Any) -> dict[str, Any]:
    """Return by kind of sequences the mean Kendall tau of both methods, and MidRank minus RankSVM."""
    # The difference has its interval over sequences. settings: of MidRank, if not its defaults.
    with tempfile.TemporaryDirectory() as scratch:
        images, _ = build_image_set(make_source("Digits"), Path(scratch) / "set")
        parts = [("HOG", {}), ("Colour", {})]
        features = unit_rows(np.array(load_features(images, parts, Path(scratch))))
    sampled = {}
    for of in (ONE_EACH, ANY):
        learned, tested = (
            sequences_of(images, features, of, split, count)
            for split, count in ((False, train), (True, test))
        )
        method = MidRank(**settings).fit(learned)
        assert method.start is not None
        taus = np.array([taus_of(each, tested) for each in (method.start, method)])
        gains = taus[1] - taus[0]
        means = resampled_counts(test, DRAWS, np.random.default_rng(0)) @ gains / test
        sampled[of] = {
            "RankSVM": round(float(taus[0].mean()), DIGITS),
            "MidRank": round(float(taus[1].mean()), DIGITS),
            "gain": [round(end, DIGITS) for end in interval(float(gains.mean()), means)],
        }
    return {"length": LENGTH, "train": train, "test": test, "sampled": sampled}


def sequences_of(images: ImageSet, features: Features, of: str, test: bool, count: int) -> SequenceSet:
    """Return sequences of the training or the test images, whose grade and group is their digit."""
    rows = np.flatnonzero(images.test == test)
    shows = np.stack([images.relevance(name)[rows] for name in images.classes])
    grades = np.array([int(name) for name in images.classes])[shows.argmax(axis=0)]
    pool = Pool(grades, grades, "the digits")
    random = np.random.default_rng([0, int(test)])
    drawing = Drawing(of=of, length=LENGTH)
    return SequenceSet(features[rows], grades, *pool.draw(drawing, count, "digit", random))


def taus_of(method: Any, sequences: SequenceSet) -> np.ndarray:
    """Return (m,) the Kendall tau of the method on each sequence."""
    queries = [sequences.query(number) for number in range(len(sequences))]
    return np.array([kendall_tau(query.relevance, method.score(query)) for query in queries])


def main() -> None:
    FILE.write_text(json.dumps(measured()) + "\n")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
