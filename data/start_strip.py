"""The ranking on the start page: ``python data/start_strip.py`` trains and writes data/start_strip.json.

Only scores and ids are kept; pictures and relevance are those of data/examples. A test trains again and
compares, so that the picture is what the method does.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ranking.core.run_settings import TrainSettings
from ranking.datasets import load_image_set
from ranking.experiments.tasks import train
from ranking.metrics import ranking_order
from ranking.workspace.examples import folder_of

QUERY, METHOD, FEATURES = "riding bike", "AP-SVM", ("HOG", "GIST")
SHOWN = 24
FILE = Path(__file__).with_suffix(".json")


def ranked() -> dict[str, Any]:
    """What is trained on which set, and the first SHOWN test samples with their scores, best first."""
    images = load_image_set(folder_of("Action figures"))
    settings = TrainSettings(images.key, tuple((name, {}) for name in FEATURES), QUERY, METHOD)
    with tempfile.TemporaryDirectory() as features:
        trained = train(images, settings, Path(features))
    scores = trained.scores[images.test]
    order = ranking_order(images.relevance(QUERY)[images.test], scores)[:SHOWN]
    return {
        **{name: value for name, value in settings.to_json().items() if name not in ("warm_start", "graph")},
        "average_precision": round(trained.metrics["test"]["AP"], 3),
        "samples": int(images.test.sum()),
        "shown": [
            [str(name), round(float(score), 4)]
            for name, score in zip(images.ids[images.test][order], scores[order], strict=True)
        ],
    }


def main() -> None:
    FILE.write_text(json.dumps(ranked()) + "\n")
    print(f"{SHOWN} samples into {FILE}")


if __name__ == "__main__":
    main()
