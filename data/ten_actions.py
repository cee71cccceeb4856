"""Test AP of four methods on all actions: ``python data/ten_actions.py`` trains and writes data/ten_actions.json.

The lessons "Why optimise AP?" and "Do neighbours help?" each train on one action of the bundled action figures. Both
pages also show the average over all actions, from this file. All actions are trained with the settings of the lesson; a
test compares this file with the runs of the lessons.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

# the lessons are of the pages, which are not installed
sys.path.append(str(Path(__file__).parents[1]))
from pages.parts.lessons.lesson_settings import NEIGHBOURS, WHY_AP
from ranking.core import ImageSet
from ranking.datasets import load_image_set
from ranking.datasets.splits import blocks_of
from ranking.experiments.tasks import train
from ranking.metrics.intervals import resample
from ranking.storage.examples import folder_of

LESSONS = {"why AP": WHY_AP, "neighbours": NEIGHBOURS}
DIGITS = 6
FILE = Path(__file__).with_suffix(".json")


def measured(lesson: str, images: ImageSet, features: Path, queries: Sequence[str]) -> dict[str, Any]:
    """Return by query the test AP of a lesson's methods, and the differences of each pair of methods."""
    # A difference is the second minus the first, with its interval.
    methods = LESSONS[lesson].methods
    rows = np.flatnonzero(images.test)
    actions = {}
    for query in queries:
        requests = replace(LESSONS[lesson], query=query)
        settings = [requests.settings_of(images.key, method) for method in methods]
        scores = np.stack([train(images, each, features).scores[rows] for each in settings])
        resampled = resample(images.relevance(query)[rows], scores, blocks_of(images, rows))
        gains = [resampled.difference("AP", number + 1, number) for number in range(0, len(methods), 2)]
        actions[query] = {
            "AP": dict(zip(methods, resampled.values["AP"].round(DIGITS).tolist(), strict=True)),
            "gains": [
                [*methods[number : number + 2], *(round(end, DIGITS) for end in gain)]
                for number, gain in zip(range(0, len(methods), 2), gains, strict=True)
            ],
        }
        print(lesson, query, actions[query]["AP"], flush=True)
    return actions


def main() -> None:
    images = load_image_set(folder_of("Action figures"))
    with tempfile.TemporaryDirectory() as scratch:
        lessons = {name: measured(name, images, Path(scratch), images.classes) for name in LESSONS}
    FILE.write_text(json.dumps({"set": images.key, "lessons": lessons}) + "\n")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
