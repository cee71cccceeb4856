"""Estimators as parts of what scikit-learn composes: pipelines, searches, calibration, routed metadata."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from order_problems import sequences
from problems import problem
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranking import Query, make_method
from ranking.core.errors import InputError
from ranking.estimators import APSVM, HOBSVM, IndependentPrecisionAtK, MidRank, RankSVM
from ranking.features.graph.similarity import same_image, similarity_graph
from ranking.metrics import average_precision, kendall_tau, scorers

QUERY = problem(n=90, positives=30)
X, Y = QUERY.features, QUERY.relevance
IMAGES = np.arange(90) // 3
POOL = sequences(count=15)
MEMBERS, GRADES = POOL.features[POOL.members], POOL.grades[POOL.members]
SEQUENCES = np.repeat(np.arange(15), 6)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_pipeline_with_names_of_features():
    pipeline = make_pipeline(StandardScaler(), APSVM()).set_output(transform="pandas").fit(X, Y)
    ranker = pipeline[-1]
    assert ranker.feature_names_in_.tolist() == [f"x{column}" for column in range(X.shape[1])]
    assert ranker.n_features_in_ == X.shape[1]
    scaled = StandardScaler().fit_transform(X)
    known = make_method("AP-SVM").fit([Query(scaled, Y)]).score(Query(scaled))
    np.testing.assert_allclose(pipeline.decision_function(X), known, rtol=1e-12)
    assert pipeline.score(X, Y) == average_precision(Y, known)


def test_a_search_over_settings_by_groups():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), APSVM()),
        {"apsvm__C": np.logspace(-3, 3, 3), "apsvm__max_iterations": np.array([5, 500])},
        scoring="average_precision",
        cv=GroupKFold(3),
        error_score="raise",
    ).fit(X, Y, groups=IMAGES)
    part = next(GroupKFold(3).split(X, Y, IMAGES))
    best = search.best_estimator_
    held = sklearn.base.clone(best).fit(X[part[0]], Y[part[0]]).decision_function(X[part[1]])
    scores = search.cv_results_["split0_test_score"][search.best_index_]
    assert scores == pytest.approx(average_precision_score(Y[part[1]], held))
    assert search.best_score_ > Y.mean() + 0.1


def test_cross_validation_by_its_own_score_and_by_that_of_scikit_learn():
    own = cross_val_score(APSVM(), X, Y, cv=3)
    np.testing.assert_allclose(own, cross_val_score(APSVM(), X, Y, cv=3, scoring="average_precision"))
    np.testing.assert_allclose(own, cross_val_score(APSVM(), X, Y, cv=3, scoring=scorers.average_precision))


def test_probabilities_by_calibration():
    calibrated = CalibratedClassifierCV(APSVM(C=10.0), cv=3).fit(X, Y)
    chances = calibrated.predict_proba(X)
    assert np.all((chances >= 0) & (chances <= 1))
    assert average_precision(Y, chances[:, 1]) > Y.mean() + 0.1


@pytest.mark.parametrize(
    ("ranker", "data"),
    [
        (APSVM(), (X, Y)),
        (HOBSVM(), (X, Y)),
        (RankSVM(), (MEMBERS, GRADES)),
        (IndependentPrecisionAtK(), (X, np.stack([Y, 1 - Y], axis=1))),
    ],
)
def test_a_pipeline_with_routing_is_searched_by_its_own_score(routing: None, ranker: Any, data: Any):
    pipeline = make_pipeline(StandardScaler(), ranker)
    grid = {f"{pipeline.steps[-1][0]}__C": [1.0, 100.0]}
    search = GridSearchCV(pipeline, grid, cv=KFold(3), error_score="raise").fit(*data)
    parts = KFold(3).split(data[0])
    best = sklearn.base.clone(search.best_estimator_)
    known = [
        best.fit(*(each[part] for each in data)).score(*(each[held] for each in data)) for part, held in parts
    ]
    assert search.best_score_ == np.mean(known)


@pytest.mark.parametrize("scoring", [None, scorers.average_precision.set_score_request(groups=True)])
def test_neighbours_reach_a_method_and_a_scorer_by_routing(routing: None, scoring: object):
    ranker = HOBSVM(eta=0.1).set_fit_request(groups=True).set_score_request(groups=True)
    given = {"groups": IMAGES}
    scores = cross_val_score(
        ranker, X, Y, cv=GroupKFold(3), scoring=scoring, params=given, error_score="raise"
    )
    for (train, test), measured in zip(GroupKFold(3).split(X, Y, IMAGES), scores, strict=True):
        queries = [
            Query(X[rows], Y[rows], similarity_graph(X[rows], same_image(IMAGES[rows])))
            for rows in (train, test)
        ]
        method = make_method("HOB-SVM", eta=0.1).fit(queries[:1])
        assert measured == average_precision(Y[test], method.score(queries[1]))


@pytest.mark.parametrize("ranker", [RankSVM(), MidRank(subsequences=20, longest=3)])
def test_sequences_reach_a_method_and_a_scorer_by_routing(routing: None, ranker: object):
    ranker = sklearn.base.clone(ranker).set_fit_request(groups=True, qid=False)
    for scoring in (None, scorers.kendall_tau.set_score_request(groups=True)):
        own = ranker.set_score_request(groups=True)
        scores = cross_val_score(
            own,
            MEMBERS,
            GRADES,
            cv=GroupKFold(3),
            scoring=scoring,
            params={"groups": SEQUENCES},
            error_score="raise",
        )
        for (train, test), measured in zip(
            GroupKFold(3).split(MEMBERS, GRADES, SEQUENCES), scores, strict=True
        ):
            queries = [
                [
                    Query(MEMBERS[rows][SEQUENCES[rows] == each], GRADES[rows][SEQUENCES[rows] == each])
                    for each in np.unique(SEQUENCES[rows])
                ]
                for rows in (train, test)
            ]
            method = make_method(ranker.method.name, **ranker.get_params()).fit(queries[0])
            taus = [kendall_tau(query.relevance, method.score(query)) for query in queries[1]]
            assert measured == pytest.approx(np.mean(taus))


def lost(call: Any) -> list[str]:
    """The messages of all warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("ranker", "samples", "y", "groups"), [(RankSVM(), MEMBERS, GRADES, SEQUENCES), (HOBSVM(), X, Y, IMAGES)]
)
def test_groups_that_a_search_does_not_pass_on_are_missed_aloud(ranker, samples, y, groups):
    def searched(ranker):
        search = GridSearchCV(ranker, {"C": [1.0]}, cv=GroupKFold(3))
        return lost(lambda: search.fit(samples, y, groups=groups))

    scored = lost(lambda: cross_val_score(ranker, samples, y, groups=groups, cv=GroupKFold(3)))
    for messages in (searched(ranker), scored):
        assert messages
        assert all("set_fit_request(groups=True)" in message for message in messages)
    assert lost(lambda: GridSearchCV(ranker, {"C": [1.0]}, cv=3).fit(samples, y)) == []
    with sklearn.config_context(enable_metadata_routing=True):
        assert searched(ranker.set_fit_request(groups=True).set_score_request(groups=True)) == []


def test_sequences_that_are_scored_as_one_are_noticed():
    ranker = RankSVM().fit(MEMBERS, GRADES, qid=SEQUENCES)
    assert ranker.n_sequences_ == 15
    assert lost(lambda: ranker.score(MEMBERS, GRADES, qid=SEQUENCES)) == []
    assert "Pass qid=" in lost(lambda: ranker.score(MEMBERS, GRADES))[0]
    assert lost(lambda: RankSVM().fit(MEMBERS, GRADES).score(MEMBERS, GRADES)) == []
    search = GridSearchCV(RankSVM(), {"C": [1.0]}, cv=3)
    assert any("Pass qid=" in message for message in lost(lambda: search.fit(MEMBERS, GRADES, qid=SEQUENCES)))


def test_sizes_of_groups_are_refused_with_the_way_to_pass_them():
    sizes = [6] * 15
    for given in ({"group": sizes}, {"qid": sizes}, {"groups": sizes}):
        with pytest.raises(InputError) as caught:
            RankSVM().fit(MEMBERS, GRADES, **given)
        assert "qid=np.repeat" in caught.value.remedy, given
        assert "group" not in given or "use qid=" in caught.value.remedy


def test_columns_of_very_different_scales_are_noticed_where_they_make_training_slow():
    few = MidRank(subsequences=20, longest=3)
    wide = MEMBERS * np.where(np.arange(MEMBERS.shape[1]) == 0, 3000 * MEMBERS.std(axis=0).max(), 1)
    assert any("StandardScaler" in message for message in lost(lambda: few.fit(wide, GRADES, SEQUENCES)))
    assert lost(lambda: few.fit(MEMBERS, GRADES, SEQUENCES)) == []
    assert lost(lambda: RankSVM(max_iterations=3).fit(wide, GRADES, SEQUENCES)) == []


def test_decimal_grades_train_after_the_remedy_and_are_scored_as_they_are():
    decimal = GRADES / 2 - 1
    with pytest.raises(InputError) as caught:
        RankSVM().fit(MEMBERS, decimal, SEQUENCES)
    assert "np.unique(values, return_inverse=True)[1]" in caught.value.remedy
    ranker = RankSVM().fit(MEMBERS, GRADES, SEQUENCES)
    assert ranker.score(MEMBERS, decimal, SEQUENCES) == ranker.score(MEMBERS, GRADES, SEQUENCES)


def test_samples_without_a_group_are_refused():
    for qid in ([1, 1, np.nan, 2], ["a", "a", None, "b"], ["a", "a", np.nan, "b"]):
        with pytest.raises(InputError, match="1 missing"):
            RankSVM().fit(np.eye(4), [0, 1, 0, 1], qid=qid)
