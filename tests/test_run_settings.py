"""What a run is asked to do goes to the worker and back in JSON, and says what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ranking.run_settings import (
    AskingSettings,
    ImportSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    StudySettings,
    TrainSettings,
)

TRAINING = TrainSettings("key", (("Colour", {"bins": 4}),), "3", "AP-SVM", {"C": 10.0, "tolerance": 0.05})
LABELS = LabelTrainSettings("key", (("GIST", {}), ("Colour", {"bins": 4})), "C-star p@k", {"core_size": 3}, 7)
ASKING = AskingSettings(
    "key", (("GIST", {}),), (("C-star p@k", {"C": 1.0}), ("Independent p@k", {})), ("entropy", "random")
)
ORDERS = OrderTrainSettings(
    "key", (("HOG", {}),), "year", "MidRank", {"trees": 2}, {"first": "lowest number", "length": 20}
)
STUDY = StudySettings("key", (("HOG", {}),), "year", "number of trees", {"longest": 5}, {"length": 8})
KINDS = [
    TRAINING,
    LABELS,
    ASKING,
    ORDERS,
    STUDY,
    ImportSettings("Digits", {"seed": 1}),
    ImportSettings("Digits"),
]
Asked = (
    TrainSettings | LabelTrainSettings | AskingSettings | OrderTrainSettings | StudySettings | ImportSettings
)


@pytest.mark.parametrize("settings", KINDS)
def test_settings_survive_json(settings: Asked) -> None:
    written = settings.to_json()
    assert json.loads(json.dumps(written)) == written
    assert type(settings).from_json(written) == settings


@pytest.mark.parametrize("settings", [TRAINING, LABELS, ASKING, ORDERS, STUDY])
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sede": 1}, "have an unknown sede; expected set, features, "),
        ({"\u202ea": 1}, "have an unknown \ufffda; expected set, features, "),
        (
            {"features": "HOG"},
            r"features must be a list of a name and settings each, as \[\['HOG', {}\]\], got ",
        ),
        ({"features": [["HOG", 3]]}, "features must be a list"),
        ({"features": None}, "features must be a list"),
    ],
)
def test_settings_of_another_form_say_what_is_expected(
    settings: Asked, changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        type(settings).from_json({**settings.to_json(), **changes})


@pytest.mark.parametrize(
    ("settings", "changes", "expected"),
    [
        (
            TRAINING,
            {"method_settings": None},
            "method_settings must be settings by name, as {'seed': 1}, got None",
        ),
        (TRAINING, {"set": 5}, "set must be a text, got 5"),
        (TRAINING, {"query": ["a"]}, r"query must be a text, got \['a'\]"),
        (TRAINING, {"warm_start": 5}, "warm_start must be a text, got 5"),
        (ORDERS, {"criterion": {}}, "criterion must be a text, got {}"),
        (ORDERS, {"drawing": 8}, "drawing must be settings by name"),
        (LABELS, {"method_settings": []}, "method_settings must be settings by name"),
        (LABELS, {"min_images": 2.5}, "min_images must be a whole number, got 2.5"),
        (
            LABELS,
            {"query": "sea"},
            "the settings of a training of labels have an unknown query; expected set, ",
        ),
        (
            ASKING,
            {"methods": "C-star p@k"},
            r"methods must be a list .* as \[\['C-star p@k', {}\]\], got 'C-star",
        ),
        (
            ASKING,
            {"strategies": "entropy"},
            r"strategies must be a list of names, as \['entropy'\], got 'entropy'",
        ),
        (ASKING, {"strategies": [1]}, "strategies must be a list of names"),
        (ASKING, {"questions": "10"}, "questions must be a whole number, got '10'"),
        (ASKING, {"folds": True}, "folds must be a whole number, got True"),
        (ASKING, {"seed": None}, "seed must be a whole number, got None"),
    ],
)
def test_each_part_of_the_settings_is_checked(
    settings: Asked, changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        type(settings).from_json({**settings.to_json(), **changes})


def test_what_the_contract_says_of_a_simulation() -> None:
    assert (ASKING.questions, ASKING.folds, ASKING.seed, ASKING.min_images) == (10, 5, 0, 20)
    with pytest.raises(
        ValueError, match="the settings of a simulation lack strategies; expected set, features, m"
    ):
        AskingSettings.from_json({"set": "key", "features": [], "methods": []})
