"""McRank and LambdaMART against LightGBM's own training, and files that hold no trees."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from order_problems import sequences
from refusals import refused

from ranking import Query, SequenceSet, make_method
from ranking.methods import saved

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


def booster_of(data: SequenceSet, rows: dict[str, Any], **settings: Any) -> lightgbm.Booster:
    """Ten trees of LightGBM itself; rows: its arguments beside features and grades."""
    options = {**OPTIONS, "min_data_in_leaf": 5, **settings}
    return lightgbm.train(options, lightgbm.Dataset(data.features, data.grades, params=options, **rows), 10)


def ten_trees(name: str, data: SequenceSet, **settings: Any) -> np.ndarray:
    """The scores that a method learns in ten rounds."""
    method = make_method(name, rounds=10, leaves=31, **settings).fit(data)
    return method.score(Query(data.features))


@pytest.mark.parametrize(("gain", "gains"), [("linear", [0, 1, 2, 3, 4]), ("exponential", [0, 1, 3, 7, 15])])
def test_lambda_mart_equals_that_of_lightgbm(gain: str, gains: list[int]) -> None:
    data = documents()
    booster = booster_of(data, {"group": [10] * 30}, objective="lambdarank", label_gain=gains)
    scores = ten_trees("LambdaMART", data, gain=gain)
    # Its sigmoid is a table, and it adds up in single precision.
    np.testing.assert_allclose(scores, booster.predict(data.features), atol=1e-4)
    assert np.ptp(scores) > 1


def test_the_gradient_of_a_sample_is_summed_over_its_sequences() -> None:
    fine = sequences(1, levels=4)
    # Rounded, so that LightGBM's bins do not depend on how often a sample comes.
    data = SequenceSet(np.round(2.0 * fine.features) / 2.0, fine.grades, fine.members, fine.starts)
    apart = SequenceSet.of([data.query(number) for number in range(len(data))])
    once, many = (
        make_method("LambdaMART", rounds=1, leaves=4, least=1, learning_rate=1.0).fit(each)
        for each in (data, apart)
    )
    rows = Query(data.features)
    np.testing.assert_allclose(once.score(rows), many.score(rows), rtol=1e-5)


def test_mc_rank_expects_grades_as_lightgbms_classes_do() -> None:
    data = documents(1)
    options = {"objective": "multiclass", "num_class": 5, "boost_from_average": False}
    booster = booster_of(data, {"init_score": np.zeros((300, 5))}, **options)
    expected = np.asarray(booster.predict(data.features)) @ np.arange(5)
    scores = ten_trees("McRank", data)
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert np.ptp(scores) > 1


def test_grades_that_no_sequence_has_are_not_learned() -> None:
    data = documents(2)
    spread = SequenceSet(data.features, 10 * data.grades + 3, data.members, data.starts)
    expected = 10 * ten_trees("McRank", data) + 3
    np.testing.assert_allclose(ten_trees("McRank", spread), expected)


def test_too_many_or_too_large_grades_are_refused() -> None:
    many = SequenceSet(np.ones((257, 1)), np.arange(257), np.arange(257), [0, 257])
    high = SequenceSet(np.eye(2), np.array([0, 1001]), np.arange(2), np.array([0, 2]))
    for method, data, came, most in (
        (make_method("McRank"), many, 257, 256),
        (make_method("AdaRank", gain="exponential"), high, "1001", 1000),
        (make_method("LambdaMART", gain="exponential"), high, "1001", 1000),
    ):
        with refused("grades", came) as caught:
            method.fit(data)
        assert str(most) in caught.value.expected
    for name, features in itertools.product(("LambdaMART", "McRank"), (np.zeros((30, 3)), np.eye(5))):
        with refused("training samples", f"{len(features)} samples that no feature splits"):
            make_method(name).fit([Query(features, np.arange(len(features)))])


@pytest.mark.parametrize("name", ["LambdaMART", "McRank"])
def test_files_without_their_trees_are_refused(tmp_path: Path, name: str) -> None:
    path, data = tmp_path / "model.npz", documents()
    method = make_method(name, rounds=3).fit(data)
    method.save(path)
    scores = method.score(Query(data.features))
    np.testing.assert_array_equal(type(method).load(path).score(Query(data.features)), scores)
    header, arrays = saved.read(path, name)
    del header["version"]
    narrow = make_method(name, rounds=3).fit(
        SequenceSet(data.features[:, :5], data.grades, data.members, data.starts)
    )
    changes: list[dict[str, Any]] = [
        {"booster": np.array("tree\n")},
        narrow.arrays(),
    ]
    if name == "McRank":
        changes.append({"grades": arrays["grades"][1:]})
    for change in changes:
        saved.write(path, header, {**arrays, **change})
        with refused(str(path)) as caught:
            type(method).load(path)
        assert caught.value.remedy == "train and save it again"
    # as versions before LightGBM kept its trees
    saved.write(path, header, {"forest_feature": np.zeros(1)})
    with refused(str(path)) as caught:
        type(method).load(path)
    assert caught.value.remedy == "train and save it again"
