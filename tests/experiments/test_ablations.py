"""Studies of MidRank on a small set: each curve is what the definition of its figure says."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused

from ranking.core import Floats, ImageSet
from ranking.datasets.sequences import GROUPS, SampledSequences, draw_sequences
from ranking.experiments import ablations
from ranking.experiments.ablations import (
    AGREES,
    ALONE,
    EXHAUSTIVE,
    FIGURES,
    FUSED,
    RANK_SVM,
    SEARCH,
    SECONDS,
    MidRankStudy,
    exhaustive_rankings,
)
from ranking.experiments.order_task import make_drawing
from ranking.experiments.study import Context
from ranking.experiments.tasks import train
from ranking.features import load_features
from ranking.methods.length_rankings import scores_of_orders
from ranking.methods.mid_rank import MidRank
from ranking.methods.mid_rank_settings import FUSIONS
from ranking.methods.subsequence_maps import REPRESENTATIONS
from ranking.metrics import kendall_tau
from ranking.metrics.ablation_curves import AblationResult, Curve
from ranking.storage.run_settings import AblationSettings, OrderTrainSettings

GIVEN = {"longest": 5, "subsequences": 100, "C": 100.0}
PARTS, DRAWING = (("Colour", {"bins": 3}),), {"length": 7, "train": 30, "test": 20}
SETTINGS = AblationSettings("key", PARTS, "year", "subsequence length", GIVEN, DRAWING)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("features")


def fitted(
    images: ImageSet, cache: Path, length: int = 7, **changes: Any
) -> tuple[MidRank, SampledSequences]:
    """A MidRank as the studies have it, and test sequences of a length."""
    features = load_features(images, SETTINGS.features, cache)
    drawing = make_drawing(SETTINGS.drawing)
    train, _ = draw_sequences(images, features, "year", drawing)
    _, test = draw_sequences(images, features, "year", replace(drawing, length=length))
    return MidRank(**{**GIVEN, **changes}).fit(train.sequences), test


def taus(sampled: SampledSequences, scores: Floats) -> list[float]:
    """Kendall tau of each sequence, from the grades."""
    grades, spans = sampled.sequences.grades[sampled.sequences.members], pairwise(sampled.sequences.starts)
    return [kendall_tau(grades[start:end], scores[start:end]) for start, end in spans]


def study(images: ImageSet, cache: Path, name: str, **changes: Any) -> dict[str, Curve]:
    result = MidRankStudy().run(replace(SETTINGS, study=name, **changes), Context(images, cache))
    outcome = AblationResult.from_json(result)
    assert outcome.proven
    assert AblationResult.from_json(json.loads(json.dumps(result))) == outcome
    return {curve.line: curve for curve in outcome.curves}


def test_each_ranker_alone_beside_all_and_beside_its_start(painted, cache):
    study_result = study(painted, cache, "subsequence length")
    method, test = fitted(painted, cache)
    rankings = method.rankings(test.sequences)
    assert study_result[ALONE].at == [3, 4, 5]
    for place, orders in enumerate(rankings.orders):
        own = taus(test, scores_of_orders(orders, test.sequences.starts))
        measured = study_result[ALONE].measures["Kendall tau"]
        assert measured.mean[place] == pytest.approx(np.mean(own))
        assert measured.error[place] == pytest.approx(1.96 * np.std(own, ddof=1) / np.sqrt(20))
    settings = OrderTrainSettings("key", PARTS, "year", "MidRank", GIVEN, DRAWING)
    trained = train(painted, settings, cache)
    first = np.mean(taus(test, test.sequences.features[test.sequences.members] @ method.start.direction))
    for line, expected in ((FUSED, trained.metrics["test"]["Kendall tau"]), (RANK_SVM, first)):
        assert study_result[line].measures["Kendall tau"].mean == pytest.approx([expected] * 3)


@pytest.mark.parametrize(
    ("setting", "values", "given"),
    [("fusion", FUSIONS, GIVEN), ("representation", REPRESENTATIONS, {**GIVEN, "longest": 3})],
)
def test_every_fusion_and_representation_is_trained_with(painted, cache, setting, values, given):
    curve = study(painted, cache, setting, method_settings=given)["MidRank"]
    assert curve.at == list(values)
    for value, mean in zip(values, curve.measures["Kendall tau"].mean, strict=True):
        method, test = fitted(painted, cache, **{**given, setting: value})
        assert mean == pytest.approx(np.mean(taus(test, method.score_sequences(test.sequences)))), value


def test_test_lengths_leave_out_rankers_that_are_longer(painted, cache, monkeypatch):
    monkeypatch.setattr(ablations, "TEST_LENGTHS", (4, 9))
    study_result = study(painted, cache, "test length")
    assert {line: curve.at for line, curve in study_result.items()} == {
        "test sequences of 4": [3, 4],
        "test sequences of 9": [3, 4, 5],
    }
    method, test = fitted(painted, cache, length=9)
    own = taus(test, scores_of_orders(method.rankings(test.sequences).orders[1], test.sequences.starts))
    assert study_result["test sequences of 9"].measures["Kendall tau"].mean[1] == pytest.approx(np.mean(own))


def test_trees_agree_with_the_best_of_all_orders_ever_more_often(painted, cache):
    study_result = study(painted, cache, "number of trees", drawing={**DRAWING, "length": 5})
    share = study_result[SEARCH].measures[AGREES].mean
    assert study_result[SEARCH].at == [1, 2, 3, 4, 5]
    assert share == sorted(share)
    assert study_result[EXHAUSTIVE].measures[AGREES].mean == [1.0] * 5


def test_exhaustive_rankings_have_the_greatest_value_of_all_permutations(painted, cache):
    method, test = fitted(painted, cache, length=5)
    best, every = exhaustive_rankings(method, test), np.array(list(permutations(range(5))))
    for row, length in enumerate(method.lengths):
        scores = method.window_scores(length, test.sequences.features)
        values = [scores.values(test.sequences.sequence(number)[every]).max() for number in range(20)]
        assert best.values[row] == pytest.approx(values)


def test_times_are_taken_of_lengths_that_the_pool_has(painted, cache, monkeypatch):
    monkeypatch.setattr(ablations, "EXHAUSTIVE_LENGTHS", (2, 4, 8))
    monkeypatch.setattr(ablations, "SEARCH_LENGTHS", (4, 8, 12, 40))
    study_result = study(painted, cache, "time")
    # there are 19 test samples, and no ranker is shorter than 3
    assert study_result[SEARCH].at == [4, 8, 12]
    assert study_result[EXHAUSTIVE].at == [4, 8]
    four, eight = study_result[EXHAUSTIVE].measures[SECONDS].mean
    assert eight > 20 * four > 0


def test_progress_comes_to_its_end_and_is_heeded_within_a_training(painted, cache):
    steps: list[tuple[str, int, int]] = []
    settings = replace(SETTINGS, study="number of trees")
    MidRankStudy().run(settings, Context(painted, cache, on_step=lambda *step: steps.append(step)))
    # not of features
    own = [step for step in steps if step[2] == 7]
    assert [done for _, done, _ in own] == sorted(done for _, done, _ in own)
    assert own[-1][1:] == (7, 7) == (FIGURES["number of trees"].steps,) * 2
    [of_four] = {what for what, *_ in own if what.startswith("Training") and "4" in what}

    def stop(what: str, done: int, total: int) -> None:
        if what == of_four:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        MidRankStudy().run(settings, Context(painted, cache, on_step=stop))


def test_settings_that_make_no_study_and_outcomes_that_cannot_be_read_are_refused(painted, tmp_path):
    for changes, subject, came in (
        ({"study": "weather"}, "study", "'weather'"),
        ({"drawing": {"of": GROUPS}}, "sequences of a study", GROUPS),
        ({"drawing": {"test": 1}}, "test sequences", 1),
        ({"criterion": "age"}, "criterion of Dated patches", "'age'"),
        ({"method_settings": {"trees": 0}}, "trees of MidRank", 0),
    ):
        with refused(subject, came):
            MidRankStudy().run(replace(SETTINGS, **changes), Context(painted, tmp_path))
    for payload in ({}, {"curves": [{"line": "a"}], "proven": True}, {"curves": 3, "proven": True}):
        with refused("outcome of the study"):
            AblationResult.from_json(payload)
