"""A training needs an image set, settings and a folder for features: no store, no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranking.datasets import build_image_set, make_source
from ranking.metrics import evaluate
from ranking.run_settings import ImportSettings, TrainSettings
from ranking.training import train, what_is_learnt
from ranking.types import ImageSet, ProgressEvent

SETTINGS = TrainSettings("key", (("Colour", {"bins": 4}),), "3", "AP-SVM", {"C": 10.0, "tolerance": 0.05})


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return build_image_set(make_source("Digits"), tmp_path_factory.mktemp("digits") / "set")[0]


def test_a_training_without_a_store(digits: ImageSet, tmp_path: Path) -> None:
    steps: list[str] = []
    iterations: list[ProgressEvent] = []
    trained = train(
        digits,
        SETTINGS,
        tmp_path,
        on_step=lambda what, done, total: steps.append(what),
        on_iteration=iterations.append,
        on_fitted=lambda: steps.append("fitted"),
    )
    assert list(dict.fromkeys(steps)) == ["Colour", "Training", "fitted"]
    assert iterations
    assert trained.certificate is not None
    assert trained.certificate.relative_gap <= 0.05
    assert trained.scores.shape == (1797,)
    relevance = digits.relevance("3")
    for part, rows in (("train", ~digits.test), ("test", digits.test)):
        assert trained.metrics[part] == evaluate(relevance[rows], trained.scores[rows])
    again = train(digits, SETTINGS, tmp_path, warm_start=trained.method)
    assert again.certificate is not None
    assert again.certificate.iterations < trained.certificate.iterations
    assert np.isfinite(again.scores).all()


def test_what_is_learnt_tells_every_setting_of_the_features() -> None:
    assert what_is_learnt(SETTINGS) == "AP-SVM of Colour {'space': 'HSV', 'bins': 4}"


@pytest.mark.parametrize(
    "settings", [SETTINGS, ImportSettings("Digits", {"seed": 1}), ImportSettings("Digits")]
)
def test_settings_survive_json(settings: TrainSettings | ImportSettings) -> None:
    written = settings.to_json()
    assert json.loads(json.dumps(written)) == written
    assert type(settings).from_json(written) == settings


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"seed": 1},
            "have an unknown seed; expected set, features, query, method and, where wanted, method_",
        ),
        (
            {"features": "HOG"},
            r"features must be a list of a name and settings each, as \[\['HOG', {}\]\], got ",
        ),
        ({"features": [["HOG", 3]]}, "features must be a list"),
        ({"features": None}, "features must be a list"),
        ({"method_settings": None}, "method_settings must be settings by name, as {'seed': 1}, got None"),
    ],
)
def test_settings_of_another_form_say_what_is_expected(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        TrainSettings.from_json({**SETTINGS.to_json(), **changes})
