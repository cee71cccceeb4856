"""What a run is asked to do goes to the worker and back in JSON, and says what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from refusals import refused

from ranking.storage.run_settings import (
    AblationSettings,
    BagTrainSettings,
    ExperimentSettings,
    FeaturesSettings,
    ImportSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    SimulationSettings,
    TimingSettings,
    TrainSettings,
)

TRAINING = TrainSettings("key", (("Colour", {"bins": 4}),), "3", "AP-SVM", {"C": 10.0, "tolerance": 0.05})
LABELS = LabelTrainSettings("key", (("GIST", {}), ("Colour", {"bins": 4})), "C-star p@k", {"core_size": 3}, 7)
ASKING = SimulationSettings(
    "key", (("GIST", {}),), (("C-star p@k", {"C": 1.0}), ("Independent p@k", {})), ("entropy", "random")
)
LATER = {"ties": "equal", "votes": "remaining order"}
ORDERS = OrderTrainSettings(
    "key", (("HOG", {}),), "year", "MidRank", {**LATER, "trees": 2}, {"first": "lowest number", "length": 20}
)
STUDY = AblationSettings(
    "key", (("HOG", {}),), "year", "number of trees", {**LATER, "longest": 5}, {"length": 8}
)
BAGS = BagTrainSettings("key", "horse", "MI-SVM", {"C": 1.0}, {"source": "grid"})
LEARNING = {"training run": TRAINING, "label-ranking run": LABELS, "sequence-ranking run": ORDERS}
LEARNING |= {"labelling simulation": ASKING, "ablation": STUDY}
TIMING, EXPERIMENT = TimingSettings(share=0.5, parts="tables"), ExperimentSettings("key", (("HOG", {}),))
IMPORTS = [ImportSettings("Digits", {"seed": 1}), ImportSettings("COCO", upload="x"), ImportSettings()]
IMPORTS += [FeaturesSettings("key", "/x")]


def test_settings_survive_json():
    projected = [replace(each, projection={"kind": "PCA"}) for each in (*LEARNING.values(), EXPERIMENT)]
    for settings in (*LEARNING.values(), *projected, BAGS, TIMING, EXPERIMENT, *IMPORTS):
        written = settings.to_json()
        assert json.loads(json.dumps(written)) == written
        assert type(settings).from_json(written) == settings


def test_settings_without_corrections_equal_those_of_earlier_versions():
    stored = TRAINING.to_json()
    assert "corrections" not in stored
    assert TrainSettings.from_json(stored).corrections == ()
    corrected = replace(TRAINING, corrections=("s1", "s2"))
    assert corrected.to_json() == {**stored, "corrections": ["s1", "s2"]}
    assert TrainSettings.from_json(json.loads(json.dumps(corrected.to_json()))) == corrected
    with refused("corrections", "'s1'"):
        TrainSettings.from_json({**stored, "corrections": "s1"})


@pytest.mark.parametrize("kind_name", LEARNING)
def test_settings_of_another_form_say_what_is_expected(kind_name):
    settings = LEARNING[kind_name]
    with refused(f"settings of the {kind_name}", "an unknown sede") as caught:
        type(settings).from_json({**settings.to_json(), "sede": 1})
    assert caught.value.expected.startswith("set, features, ")
    with refused(f"settings of the {kind_name}", "an unknown \ufffda"):
        type(settings).from_json({**settings.to_json(), "\u202ea": 1})
    for features in ("HOG", [["HOG", 3]], None):
        with refused("features", repr(features)):
            type(settings).from_json({**settings.to_json(), "features": features})


def test_each_part_of_the_settings_is_checked():
    cases: list[tuple[Any, str, Any]] = [
        (TRAINING, "method_settings", None),
        (TRAINING, "set", 5),
        (TRAINING, "query", ["a"]),
        (TRAINING, "warm_start", 5),
        (TRAINING, "projection", "PCA"),
        (ORDERS, "criterion", {}),
        (ORDERS, "drawing", 8),
        (LABELS, "method_settings", []),
        (BAGS, "query", None),
        (BAGS, "windows", "grid"),
        (BAGS, "task", "samples"),
        (LABELS, "min_images", 2.5),
        (ASKING, "methods", "C-star p@k"),
        (ASKING, "strategies", "entropy"),
        (ASKING, "strategies", [1]),
        (ASKING, "questions", "10"),
        (ASKING, "folds", True),
        (ASKING, "seed", None),
        (ImportSettings(), "source", 3),
        (FeaturesSettings("key"), "network", []),
        (ORDERS, "task", "labels"),
        (TIMING, "task", "asking"),
        (TIMING, "share", "all"),
        (TIMING, "parts", "figures"),
        (EXPERIMENT, "widen", 1),
        (EXPERIMENT, "tolerance", True),
        (EXPERIMENT, "grids", {"C": 1.0}),
        (EXPERIMENT, "grids", {"C": [True]}),
        (EXPERIMENT, "scheduler", 8786),
    ]
    for settings, name, value in cases:
        with refused(name, repr(value)):
            type(settings).from_json({**settings.to_json(), name: value})


def test_numbers_out_of_their_range_are_refused():
    cases: list[tuple[Any, str, float, str]] = [
        (ASKING, "folds", 1, "at least 2"),
        (ASKING, "questions", -1, "at least 0"),
        (EXPERIMENT, "folds", 1, "at least 2"),
        (EXPERIMENT, "seed", -1, "at least 0"),
        (TIMING, "share", 0.04, "0.05 to 1"),
        (TIMING, "rounds", 1001, "1 to 1,000"),
    ]
    for settings, name, value, expected in cases:
        with refused(name, value) as caught:
            type(settings).from_json({**settings.to_json(), name: value})
        assert caught.value.expected == expected


def test_parts_that_are_missing_or_of_another_kind_of_run_are_named():
    with refused("settings of the labelling simulation", None) as caught:
        SimulationSettings.from_json({"set": "key", "features": [], "methods": []})
    assert caught.value.remedy == "missing: strategies"
    with refused("settings of the label-ranking run", "an unknown query"):
        LabelTrainSettings.from_json({**LABELS.to_json(), "query": "sea"})
