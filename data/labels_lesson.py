"""The data of the lesson about labels: ``python data/labels_lesson.py`` trains and writes data/labels_lesson.npz.

Both label rankers are trained on the label scenes of data/examples, with the settings of the page Interactive
labelling. The file has their scores of the test scenes, the core and its interactions, and the certificates; the
images are those of data/examples. The program takes some minutes.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from drawing.label_scenes import LabelScenes

from ranking.core.run_settings import LabelTrainSettings
from ranking.datasets import build_image_set
from ranking.experiments.label_training import label_set_of
from ranking.experiments.tasks import train
from ranking.features import default_names

METHODS = ("C-star p@k", "Independent p@k")
FILE = Path(__file__).with_suffix(".npz")


def measured(images: int = 400, min_images: int = 20, **settings: Any) -> dict[str, Any]:
    """Return the arrays of the file, from `images` scenes. settings: of both methods, if not their defaults.

    scenes (M,): the numbers of the test scenes. labels (M, L). unary of each method (M, L), in the order of METHODS.
    core (c,) and interactions (c, L) of the first. The last array is everything else, as JSON.
    """
    source = LabelScenes(images)
    with tempfile.TemporaryDirectory() as place:
        image_set, _ = build_image_set(source, Path(place) / "set")
        features = tuple((name, {}) for name in default_names(image_set))
        parts = [LabelTrainSettings(image_set.key, features, name, settings, min_images) for name in METHODS]
        trained = [train(image_set, one, Path(place)) for one in parts]
        every = label_set_of(image_set, parts[0], Path(place))
    test = every.part(every.test)
    predictions = [one.method.prediction(test) for one in trained]
    answers = {
        "set": image_set.key,
        "learnt": int(np.count_nonzero(~every.test)),
        "names": every.names,
        "features": [name for name, _ in features],
        "certificates": {name: asdict(one.certificate) for name, one in zip(METHODS, trained, strict=True)},
    }
    return {
        "told": np.array(json.dumps(answers)),
        "scenes": np.array([int(str(name).rpartition("-")[2]) for name in test.ids]),
        "labels": test.labels,
        "unary": np.stack([one.unary for one in predictions]).astype(np.float32),
        "core": predictions[0].core,
        "interactions": predictions[0].interactions,
    }


def main() -> None:
    np.savez_compressed(FILE, **measured())
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
