"""Trees as arrays against the library that grew them, and forests that are none."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from order_problems import sequences

from ranking import Query, SequenceSet, make_method
from ranking.methods.forest import Forest
from ranking.methods.mc_rank import MOST_GRADES

OPTIONS = {
    "num_threads": 1,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
    "use_missing": False,
}


def documents(seed: int = 0) -> SequenceSet:
    """Thirty sequences of ten, no sample in two of them; features that are often 0."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.7)
    grades = np.clip(np.round(features @ rng.normal(size=6) + 2), 0, 4).astype(int)
    return SequenceSet(features, grades, np.arange(300), np.arange(0, 301, 10))


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_lambda_mart_is_lightgbms_own(gain: str) -> None:
    given = documents()
    label_gain = [0, 1, 2, 3, 4] if gain == "linear" else [0, 1, 3, 7, 15]
    options = {**OPTIONS, "objective": "lambdarank", "label_gain": label_gain, "min_data_in_leaf": 5}
    data = lightgbm.Dataset(given.features, given.grades, group=[10] * 30, params=options)
    booster = lightgbm.train(options, data, 10)
    method = make_method("LambdaMART", gain=gain, rounds=10, leaves=31).fit(given)
    scores = method.score(Query(given.features))
    # Its sigmoid is a table, and it adds up in single precision.
    np.testing.assert_allclose(scores, booster.predict(given.features), atol=1e-4)
    assert np.ptp(scores) > 1


def test_a_sample_in_several_sequences_is_pulled_by_all_of_them() -> None:
    fine = sequences(
        1, levels=4
    )  # rounded, so that LightGBM's bins do not depend on how often a sample comes
    given = SequenceSet(np.round(2.0 * fine.features) / 2.0, fine.grades, fine.members, fine.starts)
    apart = SequenceSet.of([given.query(number) for number in range(len(given))])
    once = make_method("LambdaMART", rounds=1, leaves=4, least=1, learning_rate=1.0).fit(given)
    many = make_method("LambdaMART", rounds=1, leaves=4, least=1, learning_rate=1.0).fit(apart)
    rows = Query(given.features)
    np.testing.assert_allclose(once.score(rows), many.score(rows), rtol=1e-5)


def test_mc_rank_expects_grades_as_lightgbms_classes_do() -> None:
    given = documents(1)
    options = {**OPTIONS, "objective": "multiclass", "num_class": 5, "min_data_in_leaf": 5}
    options["boost_from_average"] = False
    data = lightgbm.Dataset(given.features, given.grades, init_score=np.zeros((300, 5)), params=options)
    booster = lightgbm.train(options, data, 10)
    expected = np.asarray(booster.predict(given.features)) @ np.arange(5)
    scores = make_method("McRank", rounds=10, leaves=31).fit(given).score(Query(given.features))
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert np.ptp(scores) > 1


def test_grades_that_no_sequence_has_are_not_learnt() -> None:
    given = documents(2)
    twice = SequenceSet(given.features, 10 * given.grades + 3, given.members, given.starts)
    method = make_method("McRank", rounds=5).fit(twice)
    assert set(method.grades) == {3.0, 13.0, 23.0, 33.0, 43.0}
    scores = make_method("McRank", rounds=5).fit(given).score(Query(given.features))
    np.testing.assert_allclose(method.score(Query(given.features)), 10 * scores + 3)


def test_too_many_grades_for_classes() -> None:
    count = MOST_GRADES + 1
    given = SequenceSet(np.ones((count, 1)), np.arange(count), np.arange(count), [0, count])
    with pytest.raises(ValueError, match=f"{count} of them are too many: at most {MOST_GRADES}"):
        make_method("McRank").fit(given)


@pytest.mark.parametrize("name", ["AdaRank", "LambdaMART"])
def test_grades_that_exponential_gain_loses(name: str) -> None:
    given = SequenceSet(np.eye(2), np.array([0, 1001]), np.arange(2), np.array([0, 2]))
    with pytest.raises(ValueError, match="up to 1000 apart, and the highest is 1001; choose linear gain"):
        make_method(name, gain="exponential").fit(given)


def test_forests_that_are_none() -> None:
    forest = make_method("McRank", rounds=3).fit(documents()).forest
    assert forest.checked(6) is forest
    inner = int(np.flatnonzero(forest.feature >= 0)[0])
    back, beyond = forest.left.copy(), forest.right.copy()
    back[inner], beyond[inner] = inner, len(beyond)
    numbers = forest.number.copy()
    numbers[0] = np.nan
    for change, said in (
        ({"feature": np.where(forest.feature >= 0, 6, -1)}, "asks for others"),
        ({"left": back}, "come before their children"),
        ({"right": beyond}, "the nodes of a forest are 0 to"),
        ({"roots": forest.roots - 1}, "the nodes of a forest are 0 to"),
        ({"number": numbers}, "must be finite"),
        ({"number": numbers[1:]}, "four rows of one length"),
        ({"outputs": forest.outputs[::-1]}, "one output after the other"),
    ):
        with pytest.raises(ValueError, match=said):
            replace(forest, **change).checked(6)


def test_trees_by_hand() -> None:
    leaves = {"left_child": {"leaf_value": -1.0}, "right_child": {"leaf_value": 1.0}}
    told = [{"leaf_value": 2.5}, {"split_feature": 2, "threshold": 0.5, **leaves}]
    forest = Forest.of_trees([{"tree_structure": tree} for tree in told], 2)
    features = np.zeros((3, 3))
    features[:, 2] = 0.4, 0.5, 0.6  # the threshold itself goes left
    assert forest.checked(3).sums(features, 2).tolist() == [[2.5, -1.0], [2.5, -1.0], [2.5, 1.0]]


@pytest.mark.parametrize("name", ["LambdaMART", "McRank"])
@pytest.mark.parametrize("features", [np.zeros((30, 3)), np.random.default_rng(0).normal(size=(5, 3))])
def test_what_no_tree_can_be_grown_of_is_refused_in_words(name: str, features: np.ndarray) -> None:
    with pytest.raises(ValueError, match=f"no feature splits the {len(features)} training samples"):
        make_method(name).fit([Query(features, np.arange(len(features)))])
