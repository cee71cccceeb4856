"""AP by feature: what is measured, that cross-validation chooses C for each, and that differences are paired."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from ranking import Query, make_method
from ranking.core import ImageSet
from ranking.datasets import load_image_set
from ranking.datasets.splits import blocks_of
from ranking.experiments import feature_study, studies
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.running import results_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.feature_study import FOLDS, choices_of, measured_of
from ranking.experiments.study import Context
from ranking.features import default_names, load_features
from ranking.metrics.intervals import resample
from ranking.storage.examples import folder_of
from ranking.storage.run_settings import SMALL_GRIDS, FeatureStudySettings, Protocol, study_settings

QUERY = "playing instrument"
COLOUR, SMALL = ("Colour", {}), ("HOG", {"side": 32})


@pytest.fixture(scope="module")
def figures() -> ImageSet:
    return load_image_set(folder_of("Action figures"))


def test_each_choice_has_the_c_that_its_own_folds_choose_and_all_the_same_resamples(
    figures, tmp_path, monkeypatch
):
    monkeypatch.setattr(feature_study, "default_names", lambda _: ["HOG", "Colour"])
    settings = FeatureStudySettings(figures.key, (SMALL, COLOUR), QUERY)
    steps = []
    context = Context(figures, tmp_path, (tmp_path / "trials",), on_step=lambda *step: steps.append(step))
    result = json.loads(json.dumps(studies.run(settings, context)))
    rows = measured_of(result)
    assert [row.name for row in rows] == ["HOG + Colour", "HOG", "Colour"]
    assert {total for _, _, total in steps} == {len(figures.image_names), 3}, "features, then choices"
    choices = [int(done) for _, done, total in steps if total == 3]
    assert choices == sorted(choices), "within a choice, a grid may be extended"
    assert choices[-1] == 3

    relevance, test = figures.relevance(QUERY), figures.test
    scores, chosen = [], []
    for parts in ((SMALL, COLOUR), (SMALL,), (COLOUR,)):
        protocol = Protocol(figures.key, parts, (("SVM", {}),), (QUERY,), SMALL_GRIDS, FOLDS)
        results = results_of(plan_of(protocol, figures), TrialStore(tmp_path / "trials"))
        C = dict(results.chosen(QUERY, "SVM"))["C"]
        chosen.append(C)
        features = load_features(figures, parts, tmp_path)
        method = make_method("SVM", C=C).fit([Query(features[~test], relevance[~test])])
        scores.append(method.score(Query(features[test])))
    assert len(set(chosen)) > 1, "otherwise one C would do"
    expected = resample(relevance[test], scores, blocks_of(figures, np.flatnonzero(test)))
    for number, row in enumerate(rows):
        # both are trained to the same tolerance, on several threads and on one
        assert [*row.AP] == pytest.approx([*expected.interval("AP", number)], abs=1e-3)
        assert [*row.difference] == pytest.approx([*expected.difference("AP", number, 0)], abs=1e-3)
    assert rows[0].difference == (0, 0, 0)
    assert rows[2].difference.high < rows[2].AP.high - rows[0].AP.low, "paired"


def test_the_defaults_are_measured_together_unless_they_are_the_baseline(figures, monkeypatch):
    given = (SMALL, COLOUR, ("GIST", {}))
    names = ["HOG + Colour", "HOG", "Colour", "GIST"]
    monkeypatch.setattr(feature_study, "default_names", lambda _: ["HOG", "Colour"])
    assert list(choices_of(given, figures)) == names
    monkeypatch.setattr(feature_study, "default_names", lambda _: ["HOG", "Colour", "GIST"])
    choices = choices_of(given, figures)
    assert list(choices) == [*names, "HOG + Colour + GIST"]
    assert choices["HOG + Colour + GIST"] == given, "with their settings"
    monkeypatch.undo()
    assert " + ".join(default_names(figures)) in choices_of(given, figures)


def test_a_class_without_test_samples_is_refused_before_anything_is_computed(figures, tmp_path):
    hidden = replace(figures, image_test=np.zeros(len(figures.image_test), bool))
    settings = FeatureStudySettings(figures.key, (COLOUR,), QUERY)
    with refused("relevant test samples", 0):
        studies.run(settings, Context(hidden, tmp_path, (tmp_path / "trials",)))
    assert not list(tmp_path.iterdir())


def test_a_cancelled_study_ends_and_its_trials_are_kept(figures, tmp_path):
    class Cancelled(Exception):
        pass

    def check() -> None:
        if len(list((tmp_path / "trials" / "trials").glob("*"))) >= 6:
            raise Cancelled

    settings = FeatureStudySettings(figures.key, (COLOUR,), QUERY)
    assert study_settings(settings.to_json()) == settings
    with pytest.raises(Cancelled):
        studies.run(settings, Context(figures, tmp_path, (tmp_path / "trials",), check=check))
    assert len(list((tmp_path / "trials" / "trials").glob("*"))) >= 6
