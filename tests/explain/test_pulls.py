"""Pulls of training samples: all of them add up to the score, whatever solver ended, and wherever it began."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from block_problems import problem as block_problem
from checks import case
from order_problems import sequences
from problems import Heard, problem, similar, similar_problem
from refusals import refused

from ranking import Query, make_method
from ranking.core import SequenceSet
from ranking.explain.pulls import pulls, training_coefficients
from ranking.inference import POTENTIALS
from ranking.methods import score_direction
from ranking.solvers import Solution, block_frank_wolfe, component_planes, cutting_plane
from ranking.solvers.relay import Relay
from ranking.solvers.risk import UNKNOWN

SOLVERS = [
    *[("SVM", {"solver": solver}) for solver in ("auto", "coordinate descent", "cutting plane")],
    ("AP-SVM", {}),
    ("NDCG-SVM", {}),
    *[("HOB-SVM", {"solver": solver}) for solver in ("auto", "Frank-Wolfe", "cutting plane")],
    *[("HOB-SVM", {"potentials": kind}) for kind in list(POTENTIALS)[1:]],
]


def queries(name: str, seed: int, **sizes: Any) -> list[Query]:
    """One query, or two, with a graph for a method that uses one."""
    make = similar_problem if name == "HOB-SVM" else problem
    return [make(number, **sizes) for number in ([seed] if seed % 2 else [seed, seed + 10])]


def rows(trained_on: Sequence[Query]) -> np.ndarray:
    return np.concatenate([query.features for query in trained_on])


def score_in_parts(coefficients: np.ndarray, features: np.ndarray, sample: np.ndarray) -> float:
    """The score of a sample as a sum over training samples, an exact sum of products in double precision."""
    products = np.multiply.outer(coefficients, sample.astype(np.float64)) * features.astype(np.float64)
    return math.fsum(products.ravel())


def check(method: Any, trained_on: np.ndarray, unseen: np.ndarray, close: float = 1e-6) -> float:
    """The pulls on each sample add up to its score, within `close` times the largest score, which is returned."""
    direction = score_direction(method)
    coefficients = training_coefficients(method, trained_on)
    assert direction is not None
    samples = np.concatenate([unseen, trained_on[:3]])
    scores = samples.astype(np.float64) @ direction
    parts = [pulls(coefficients, trained_on, sample) for sample in samples]
    scale = np.abs(scores).max()
    assert np.abs(np.sum(parts, axis=1) - scores).max() <= close * scale
    twins = [score_in_parts(coefficients, trained_on, sample) for sample in samples[:2]]
    assert np.sum(parts[:2], axis=1) == pytest.approx(twins, rel=1e-9, abs=1e-12 * scale)
    return float(scale)


@pytest.mark.parametrize(("name", "settings"), SOLVERS, ids=str)
def test_pulls_add_up_to_the_score(name: str, settings: dict[str, Any]) -> None:
    """With one query and two, for small and large C, also after warm starts and early stops."""
    scales = []
    for seed, C in itertools.product((1, 2), (1e-2, 10.0, 1e4)):
        with case(seed, C):
            data, unseen = queries(name, seed), problem(99).features
            method = make_method(name, C=C, max_iterations=200, **settings).fit(data)
            # in double precision nothing is rounded away that the correction has to make up for
            w, c = score_direction(method), method.coefficients
            assert np.abs(rows(data).T @ c - w).max() <= 1e-9 * (np.abs(w).max() + np.abs(c).max())
            runs = [method]
            for factor in (0.3, 1.0, 5.0):
                warm = make_method(name, C=factor * C, max_iterations=100, **settings)
                runs.append(warm.fit(data, warm_start=method))
            for last, start in itertools.product((2, 5), (None, method)):
                stop = Heard(lambda heard, last=last: len(heard) == last)
                stopped = make_method(name, C=2.0 * C, **settings)
                runs.append(stopped.fit(data, stop, warm_start=start))
            scales += [check(run, rows(data), unseen, 1e-9) for run in runs]
    assert np.count_nonzero(scales) >= 0.85 * len(scales), "few runs ended where all scores are 0"


def test_pulls_add_up_in_single_precision_too() -> None:
    """Weights are rounded then, which matters if C is large: the correction makes up for it."""
    wrong = []
    for name, C in itertools.product(("SVM", "AP-SVM", "NDCG-SVM", "HOB-SVM"), (1.0, 1e3, 1e5)):
        with case(name, C):
            query = problem(3, n=1500, d=60, positives=200, dtype=np.float32)
            if name == "HOB-SVM":
                query = Query(query.features, query.relevance, similar(problem(3, n=1500, d=60), 3))
            method = make_method(name, C=C, max_iterations=60).fit([query])
            assert check(method, query.features, problem(98, n=500, d=60, dtype=np.float32).features) > 0
            direction, c = score_direction(method), method.coefficients
            rounding = direction - query.features.astype(np.float64).T @ c
            wrong.append(np.abs(query.features @ rounding).max() / np.abs(query.features @ direction).max())
    assert max(wrong) > 2e-6, "without the correction they would not"


def test_pulls_add_up_in_sequences() -> None:
    for seed, C, dtype in itertools.product((0, 1), (0.1, 10.0, 1e4), (np.float64, np.float32)):
        with case(seed, C, dtype):
            data = sequences(seed, pool=900, columns=80, count=300, dtype=dtype)
            unseen = sequences(5, columns=80).features
            assert check(make_method("RankSVM", C=C).fit(data), data.features, unseen) > 0
            stopped = make_method("RankSVM", C=C).fit(data, Heard(lambda heard: len(heard) == 3))
            assert check(stopped, data.features, unseen) > 0


def test_planes_that_were_dropped_still_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["ranking.solvers.cutting_plane"], "IDLE_ITERATIONS", 2)
    for seed in range(3):
        method = make_method("AP-SVM", C=1e4, tolerance=1e-7).fit([problem(seed, n=60, d=20)])
        assert check(method, problem(seed, n=60, d=20).features, problem(50, d=20).features, 1e-9) > 0


def solutions(seed: int, start: Solution | None) -> Iterator[tuple[Any, Solution]]:
    """Solutions of each solver of HOB-SVM's risk that knows weights to begin at."""
    risk, relevant, costs, components = block_problem([1, 2, 3, 4, 1, 1, 2, 5], seed, 10.0)
    weights, known = (None, UNKNOWN) if start is None else (start.weights, start.coefficients)
    few = {"tolerance": 1e-3, "max_iterations": 3}
    for steps in ({**few, "max_iterations": 1}, few, {"tolerance": 1e-2}):
        yield risk, cutting_plane(risk, start=weights, coefficients=known, **steps)
        yield risk, component_planes(risk, costs, components, weights=weights, coefficients=known, **steps)
        yield (
            risk,
            block_frank_wolfe(
                risk, relevant, costs, components, weights=weights, coefficients=known, **steps
            ),
        )


def test_each_solver_knows_the_coefficients_of_its_weights() -> None:
    for seed in range(3):
        risk, first = next(solutions(seed, None))
        for start in (None, first):
            for number, (_, solution) in enumerate(solutions(seed, start)):
                with case(seed, start is None, number):
                    combined = risk.features.exact_normal(solution.coefficients)
                    weights = solution.weights[: risk.columns]
                    assert np.abs(weights).max() > 0
                    assert combined == pytest.approx(weights, abs=1e-9 * np.abs(weights).max())


def test_coefficients_stay_with_the_weights_when_a_later_solver_does_worse() -> None:
    risk, _, costs, components = block_problem([1, 2, 3, 4, 1, 1, 2, 5], 1, 10.0)
    relay = Relay(risk, 1e-9, 100, None)
    first = relay.turn(lambda left: cutting_plane(risk, 1e-9, 20))
    both = relay.turn(lambda left: component_planes(risk, costs, components, 1e-9, 1))
    assert both is not first
    assert np.array_equal(both.weights, first.weights)
    combined = risk.features.exact_normal(both.coefficients)
    assert combined == pytest.approx(both.weights[: risk.columns], abs=1e-9)


def test_after_a_start_from_other_samples_no_coefficients_are_known() -> None:
    for name in ("SVM", "AP-SVM", "HOB-SVM"):
        [before], [data] = queries(name, 1), queries(name, 3)
        settings = {"solver": "cutting plane"} if name != "AP-SVM" else {}
        first = make_method(name, C=1.0, **settings).fit([before])
        stop = Heard(lambda heard: len(heard) == 2)
        method = make_method(name, C=1e3, **settings).fit([data], stop, warm_start=first)
        assert method.coefficients is None, name
        with refused("method", name):
            training_coefficients(method, data.features)
        again = make_method(name, C=1e3, **settings).fit([data], stop, warm_start=method)
        assert again.coefficients is None, "nor after a start from such a run"
    assert make_method("HOAP-SVM", C=1.0).fit([similar_problem(1)]).coefficients is None
    assert make_method("AP-SVM").coefficients is None


def test_files_keep_coefficients_and_older_files_have_none(tmp_path: Path) -> None:
    data: list[tuple[str, list[Query] | SequenceSet]] = [
        ("SVM", queries("SVM", 1)),
        ("HOB-SVM", queries("HOB-SVM", 2)),
        ("RankSVM", sequences()),
    ]
    for name, trained_on in data:
        method: Any = make_method(name, C=10.0).fit(trained_on)  # type: ignore[attr-defined]
        method.save(tmp_path / "new.npz")
        again = type(method).load(tmp_path / "new.npz")
        assert np.array_equal(again.coefficients, method.coefficients), name
        with np.load(tmp_path / "new.npz") as file:
            arrays = {key: file[key] for key in file.files if key != "coefficients"}
        np.savez(tmp_path / "old.npz", **arrays)
        old = type(method).load(tmp_path / "old.npz")
        assert old.coefficients is None
        assert np.array_equal(score_direction(old), score_direction(method))
        if name == "HOB-SVM":
            assert old.fit(trained_on, warm_start=old).coefficients is None, "its start is not known"


def test_wrong_shapes_are_refused() -> None:
    [query] = queries("AP-SVM", 1)
    method = make_method("AP-SVM", C=1.0).fit([query])
    for features in (query.features[1:], query.features[:, 1:]):
        with refused("features", features.shape):
            training_coefficients(method, features)
    with refused("features", (40, 6)):
        pulls(np.ones(39), query.features, query.features[0])
    with refused("features", (40, 6)):
        pulls(np.ones(40), query.features, query.features[0, 1:])
