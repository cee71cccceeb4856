"""A training run's problem on few samples: the method and its program in CVXPY end at the same optimum."""

from __future__ import annotations

from pathlib import Path

import cvxpy
import numpy as np
import pytest
from refusals import refused

from ranking.core import ImageSet
from ranking.datasets import load_image_set
from ranking.experiments import cvxpy_study, studies
from ranking.experiments.cvxpy_study import some_rows
from ranking.experiments.study import Context
from ranking.explain.cvxpy_comparison import Solved, seconds_for
from ranking.storage.examples import folder_of
from ranking.storage.run_settings import CvxpySettings

QUERY = "playing instrument"
# samples, for speed
MAX_SAMPLES = 60


@pytest.fixture(scope="module")
def figures() -> ImageSet:
    return load_image_set(folder_of("Action figures"))


def solved(figures: ImageSet, features: Path, method: str, **changes) -> list[Solved]:
    settings = {"tolerance": 1e-6, "C": 10.0}
    described = (("Colour", {}),)
    given = CvxpySettings(figures.key, described, QUERY, method, {**settings, **changes})
    return [Solved(**each) for each in studies.run(given, Context(figures, features))["solved"]]


@pytest.mark.parametrize("method", ["SVM", "AP-SVM", "NDCG-SVM", "HOB-SVM", "HOAP-SVM"])
def test_both_end_at_the_same_optimum(figures, tmp_path_factory, method, monkeypatch):
    monkeypatch.setattr(cvxpy_study, "MAX_SAMPLES", MAX_SAMPLES)
    features = tmp_path_factory.getbasetemp() / "features of the comparison"
    small, large = solved(figures, features, method)
    assert (small.samples, large.samples) == (MAX_SAMPLES // 2, MAX_SAMPLES)
    for each in (small, large):
        assert 0 < each.relevant < each.samples
        assert each.optimum == pytest.approx(each.primal, rel=2e-6)
        assert each.apart <= 0.02
        assert each.cvxpy_seconds > 0


def test_samples_are_training_samples_of_whole_images_with_both_kinds(figures):
    relevance = figures.relevance(QUERY)
    for samples in (2, 10, 60):
        rows = some_rows(figures, relevance, samples)
        assert np.count_nonzero(rows) == samples
        assert not figures.test[rows].any()
        assert set(relevance[rows]) == {0, 1}
    images = np.unique(figures.image_of[rows])
    whole = [np.count_nonzero(figures.image_of == image) for image in images]
    assert np.count_nonzero(np.bincount(figures.image_of[rows])[images] < whole) <= 3


def test_components_too_large_and_methods_without_a_program_are_refused(figures, tmp_path):
    with refused("samples in one component"):
        settings = CvxpySettings(figures.key, (("Colour", {}),), QUERY, "HOB-SVM", graph="nearest")
        studies.run(settings, Context(figures, tmp_path))
    with refused("method"):
        solved(figures, tmp_path, "RankSVM")
    with refused("method", "HOB-SVM with other settings"):
        solved(figures, tmp_path, "HOB-SVM", potentials="pairs of either sign")


def test_a_program_that_cvxpy_cannot_solve_has_a_remedy(figures, tmp_path, monkeypatch):
    def unsolved(*_: object, **__: object) -> float:
        raise cvxpy.SolverError("no solution")

    monkeypatch.setattr(cvxpy_study, "MAX_SAMPLES", 20)
    monkeypatch.setattr(cvxpy.Problem, "solve", unsolved)
    with refused("program in CVXPY", "no solution"):
        solved(figures, tmp_path, "SVM")


def test_extrapolation_follows_the_power_law_with_an_exponent_of_at_least_two():
    small = Solved(100, 10, 1.0, 1.0, 0.1, 1.0, 2.0, 0.0)
    for power in (0.0, 1.0, 2.0, 2.5):
        large = small._replace(samples=200, cvxpy_seconds=2.0 * 2.0**power)
        steeper = max(power, 2.0)
        assert seconds_for(1000, small, large) == pytest.approx(large.cvxpy_seconds * 5.0**steeper)
