from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from refusals import refused
from tiny_actions import images, planned

from ranking.experiments.cross_validation import plan as plan_module
from ranking.experiments.cross_validation.protocol import compared_methods_of, graph_in_use, part_of_protocol
from ranking.experiments.cross_validation.splits import Splits
from ranking.methods.hoap_svm import BOTH
from ranking.storage.run_settings import ExperimentSettings, Protocol

HOG = (("HOG", {}),)


def test_settings_survive_json_and_the_protocol_does_not_contain_the_scheduler():
    for kind in (Protocol, ExperimentSettings):
        settings = kind(
            "abc", HOG, (("SVM", {"C": 3.0}),), ("jump",), {"C": (1.0, 2.0)}, 3, 7, "NDCG", "nearest", 1e-2
        )
        assert kind.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    settings = ExperimentSettings("abc", HOG, scheduler="tcp://there:8786")
    assert part_of_protocol(settings) == Protocol("abc", HOG).to_json()


def test_json_that_is_no_protocol_is_refused_by_the_name_of_the_setting():
    settings = {"set": "abc", "features": [["HOG", {}]]}
    with refused("settings of the experiment", "an unknown colour"):
        Protocol.from_json({**settings, "colour": 1})
    for name, value in (
        ("folds", 2.5),
        ("queries", "jump"),
        ("grids", {"C": "1"}),
        ("grids", {"C": [True]}),
        ("grids", [1]),
        ("tolerance", "small"),
        ("measure", 3),
        ("methods", ["SVM"]),
    ):
        with refused(name, repr(value)):
            Protocol.from_json({**settings, name: value})


SVM, HOB = ("SVM", {}), ("HOB-SVM", {})
VALUES = tuple(map(float, range(1, 10_001)))


@pytest.mark.parametrize(
    ("changes", "subject", "came"),
    [
        ({"folds": 1}, "folds", 1),
        ({"seed": -1}, "seed", -1),
        ({"measure": "F1"}, "measure", "F1"),
        ({"features": ()}, "features", "none"),
        ({"methods": ()}, "methods", "none"),
        ({"methods": (SVM, SVM)}, "methods", f"{SVM}, {SVM}"),
        ({"queries": ("a", "a")}, "queries", "a, a"),
        ({"methods": (("C-star p@k", {}),)}, "methods", "C-star p@k"),
        ({"grids": {"gamma": (1.0,)}}, "grids", "gamma"),
        ({"grids": {"tolerance": (1.0,)}}, "grids", "tolerance"),
        ({"methods": (HOB,), "grids": {"C": VALUES, "eta": VALUES}}, "grids of HOB-SVM", 100_000_000),
        ({"grids": {"C": ()}}, "grid of C", []),
        ({"grids": {"C": (1.0, 1.0)}}, "grid of C", [1.0, 1.0]),
        # as others check it
        ({"methods": (SVM,), "graph": "friends"}, "similarity graph", "'friends'"),
        ({"methods": (("SWM", {}),)}, "method", "'SWM'"),
        ({"grids": {"C": (-1.0,)}}, "C of SVM", -1.0),
    ],
)
def test_a_protocol_that_makes_no_experiment_is_refused(changes, subject, came):
    with refused(subject, came):
        compared_methods_of(Protocol(**{"set": "abc", "features": HOG, **changes}))


def test_fixed_settings_are_not_chosen_and_distinguish_two_compared_methods():
    methods = (("AP-SVM", {}), ("AP-SVM", {"C": 5.0}))
    first, second = compared_methods_of(Protocol("abc", HOG, methods))
    assert first.name != second.name
    assert "C: 5.0" in second.name
    assert second.points == ((),)
    assert second.settings(())["C"] == 5.0


def test_hoap_starts_from_hob_at_the_same_grid_point_unless_set_otherwise():
    methods = (("HOAP-SVM", {}), ("HOAP-SVM", {"start": "AP-SVM"}), ("HOAP-SVM", {"start": BOTH}))
    hob, ap, both = compared_methods_of(Protocol("abc", HOG, methods))
    point = hob.points[7]
    beginning = hob.beginning(point)
    assert {name: beginning[name] for name in ("C", "eta")} == dict(point)
    assert ap.beginning(point) is None
    assert both.beginning(point) == beginning
    (chosen,) = compared_methods_of(
        Protocol("abc", HOG, (("HOAP-SVM", {}),), grids={"C": (5.0,), "start_C": (0.1, 2.0)})
    )
    assert [(chosen.beginning(point) or {})["C"] for point in chosen.points] == [0.1, 2.0], "as its grid asks"
    assert graph_in_use(Protocol("abc", HOG, methods), [hob]) == "same image"
    assert graph_in_use(Protocol("abc", HOG), compared_methods_of(Protocol("abc", HOG, (SVM,)))) is None


def test_trials_are_counted_over_queries_folds_and_points(monkeypatch):
    settings: dict[str, Any] = {"methods": (SVM,), "folds": 3, "queries": ("jump", "run")}
    monkeypatch.setattr(plan_module, "MAX_TRAINING_RUNS", 12)
    assert len(planned(images(60), **settings).validation) == 12
    monkeypatch.setattr(plan_module, "MAX_TRAINING_RUNS", 11)
    with refused("trials", 12):
        planned(images(60), **settings)


def test_precision_at_k_needs_k_samples_in_each_fold():
    # with and without a test
    for fold_of in ([0, 1, -1], [0, 1]):
        splits = Splits(np.repeat(fold_of, 10), 2)
        plan_module._check_places("P@10", splits)
        with refused("samples per fold", 10):
            plan_module._check_places("P@50", splits)
    with refused("samples per fold"):
        planned(images(60), measure="P@50")
