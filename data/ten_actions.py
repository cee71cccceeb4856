"""Test AP of every action by the four methods: ``python data/ten_actions.py`` trains and writes
data/ten_actions.json.

The lessons "Why optimise AP?" and "Do neighbours help?" each show one action, chosen as an example. Both pages show the
average over all actions beside it, from this file. Every action is trained as the lessons train their own, which a test
compares with this file.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ranking.core.run_settings import TrainSettings
from ranking.datasets import load_image_set
from ranking.experiments.tasks import train
from ranking.workspace.examples import folder_of

METHODS, FEATURES = ("SVM", "HOB-SVM", "AP-SVM", "HOAP-SVM"), ("HOG", "Colour")
FILE = Path(__file__).with_suffix(".json")


def measured() -> dict[str, Any]:
    """The key of the set, the features, and of each action the test AP by each method."""
    images, parts = (
        load_image_set(folder_of("Action figures")),
        tuple((name, {}) for name in FEATURES),
    )
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as features:
        for query in images.classes:
            settings = [TrainSettings(images.key, parts, query, method) for method in METHODS]
            trained = [train(images, one, Path(features)) for one in settings]
            found[query] = {
                method: round(one.metrics["test"]["AP"], 3)
                for method, one in zip(METHODS, trained, strict=True)
            }
    return {"set": images.key, "features": FEATURES, "average_precision": found}


def main() -> None:
    FILE.write_text(json.dumps(measured()) + "\n")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
