from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from refusals import refused
from tiny_actions import images, planned

from ranking.experiments import plan as plan_module
from ranking.experiments.protocol import contenders_of, graph_in_use, part_of_protocol
from ranking.experiments.splits import Splits
from ranking.run_settings import ExperimentSettings, Protocol

HOG = (("HOG", {}),)


def test_the_defaults_are_the_paper_s() -> None:
    contenders = contenders_of(Protocol("abc", HOG))
    assert [(one.name, len(one.points)) for one in contenders] == [
        ("SVM", 6), ("AP-SVM", 6), ("HOB-SVM", 30), ("HOAP-SVM", 30)
    ]  # fmt: skip
    assert contenders[2].points[0] == (("C", 0.1), ("eta", 1e-4))
    assert contenders[2].points[1] == (("C", 0.1), ("eta", 1e-2))  # C first: ties go to the smallest C
    assert contenders[2].settings(contenders[2].points[0])["tolerance"] == 1e-3


@pytest.mark.parametrize("kind", [Protocol, ExperimentSettings])
def test_json_gives_back_what_was_told(kind: Any) -> None:
    settings = kind(
        "abc", HOG, (("SVM", {"C": 3.0}),), ("jump",), {"C": (1.0, 2.0)}, 3, 7, "NDCG", "nearest", 1e-2
    )
    assert kind.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_where_it_is_computed_is_no_part_of_the_protocol() -> None:
    settings = ExperimentSettings("abc", HOG, scheduler="tcp://there:8786")
    assert part_of_protocol(settings) == Protocol("abc", HOG).to_json()


@pytest.mark.parametrize(
    ("changes", "subject", "came"),
    [
        ({"colour": 1}, "settings of an experiment", "an unknown colour"),
        ({"folds": 2.5}, "folds", "2.5"),
        ({"queries": "jump"}, "queries", "'jump'"),
        ({"grids": {"C": "1"}}, "grids", "{'C': '1'}"),
        ({"grids": {"C": [True]}}, "grids", "{'C': [True]}"),
        ({"grids": [1]}, "grids", "[1]"),
        ({"tolerance": "small"}, "tolerance", "'small'"),
        ({"measure": 3}, "measure", "3"),
        ({"set": None}, "set", "None"),
        ({"methods": ["SVM"]}, "methods", "['SVM']"),
    ],
)
def test_other_json_is_refused(changes: dict[str, Any], subject: str, came: str) -> None:
    with refused(subject, came):
        Protocol.from_json({"set": "abc", "features": [["HOG", {}]], **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"folds": 1}, "folds must be at least 2, got 1"),
        (
            {"methods": (("SVM", {}),), "graph": "friends"},
            "no similarity graph is called 'friends'; choose one of: same image, same group, nearest, none, or bring",
        ),
        ({"measure": "F1"}, "no measure is called 'F1'; choose one of: AP, "),
        ({"features": ()}, "expected at least one feature, got none; choose one or more"),
        ({"methods": ()}, "expected at least one method, got none"),
        ({"methods": (("SVM", {}), ("SVM", {}))}, "every method once"),
        ({"queries": ("a", "a")}, "every query once, got a, a"),
        (
            {"methods": (("C-star p@k", {}),)},
            "C-star p@k does not rank samples as relevant or not; choose among: ",
        ),
        ({"methods": (("SWM", {}),)}, "no method is called 'SWM'"),
        ({"grids": {"gamma": (1.0,)}}, "no method has a setting 'gamma' to choose"),
        (
            {"grids": {name: tuple(map(float, range(1, 10_001))) for name in ("C", "eta")}},
            "the grids of HOB-SVM have 100,000,000 points; an experiment has at most 100,000 trainings",
        ),
        ({"grids": {"C": ()}}, "the grid of C must have different values, at least one"),
        ({"grids": {"C": (-1.0,)}}, "C must be between"),
    ],
)
def test_a_protocol_that_makes_no_experiment_says_why(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        contenders_of(Protocol(**{"set": "abc", "features": HOG, **changes}))


def test_what_is_fixed_is_not_chosen_and_tells_two_contenders_of_a_method_apart() -> None:
    methods = (("AP-SVM", {}), ("AP-SVM", {"C": 5.0}))
    first, second = contenders_of(Protocol("abc", HOG, methods))
    assert (first.name, second.name) == ("AP-SVM (as it is)", "AP-SVM (C: 5.0)")
    assert second.points == ((),)
    assert second.settings(())["C"] == 5.0


def test_hoap_begins_with_the_hob_of_its_own_point_unless_it_begins_otherwise() -> None:
    methods = (("HOAP-SVM", {}), ("HOAP-SVM", {"start": "AP-SVM"}))
    hob, ap = contenders_of(Protocol("abc", HOG, methods))
    point = hob.points[7]
    beginning = hob.beginning(point)
    assert beginning is not None
    assert {name: beginning[name] for name in ("C", "eta")} == dict(point)
    assert ap.beginning(point) is None
    (chosen,) = contenders_of(
        Protocol("abc", HOG, (("HOAP-SVM", {}),), grids={"C": (5.0,), "start_C": (0.1, 2.0)})
    )
    assert [(chosen.beginning(point) or {})["C"] for point in chosen.points] == [0.1, 2.0], "as its grid asks"
    assert graph_in_use(Protocol("abc", HOG, methods), [hob]) == "same image"
    assert graph_in_use(Protocol("abc", HOG), contenders_of(Protocol("abc", HOG, (("SVM", {}),)))[:1]) is None


def test_trainings_are_counted_over_queries_folds_and_points(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"methods": (("SVM", {}),), "folds": 3, "queries": ("jump", "run")}
    for most in (12, 11):
        monkeypatch.setattr(plan_module, "MOST_TRAININGS", most)
        if most == 12:
            assert len(planned(images(60), **asked).validation) == 12
        else:
            with pytest.raises(ValueError, match="12 trainings were asked for; an experiment has at most"):
                planned(images(60), **asked)


@pytest.mark.parametrize("tested", [True, False])
def test_a_fold_may_have_just_as_many_samples_as_precision_looks_at(tested: bool) -> None:
    splits = Splits(np.repeat([0, 1, -1] if tested else [0, 1], 10), 2)
    plan_module._check_places("P@10", splits)
    with pytest.raises(ValueError, match="P@50 needs 50 samples in each fold, one has 10"):
        plan_module._check_places("P@50", splits)


def test_precision_at_more_places_than_a_fold_has_is_refused() -> None:
    assert planned(images(60), measure="P@10").protocol.measure == "P@10"
    with pytest.raises(ValueError, match=r"P@50 needs 50 samples in each fold, one has \d\d; choose another"):
        planned(images(60), measure="P@50")
