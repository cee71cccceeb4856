"""A loss with a setting: every view shows the loss that was trained, not that of default settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from labelled_pictures import patches
from shown import headline_of
from training_runs import finished

from pages.parts.app import cache
from pages.parts.rankings import inference_scores
from pages.parts.studies import timing_words
from pages.parts.training import recordings, runs
from ranking import method_names
from ranking.core.settings import setting
from ranking.experiments.study import Context
from ranking.experiments.timing_studies import TimingOutcome, TimingStudy
from ranking.explain import playback
from ranking.inference import most_violated_ranking
from ranking.losses import LOSSES, RankingLoss, loss_names
from ranking.methods import METHODS
from ranking.methods.structured_rank_svm import StructuredRankSVM
from ranking.storage.run_settings import LEAST_SHARE, TimingSettings, TrainSettings
from ranking.storage.store import Store

PERSISTENCE = 0.4


@dataclass(frozen=True)
class RankBiased(RankingLoss):
    """1 - rank-biased precision over that of a correct ranking (Moffat and Zobel 2008), up to a factor."""

    measure = "RBP"
    persistence: float = setting(0.8, label="Persistence", help="Probability of going on to the next rank.")

    def gains(self, positives):
        return np.full(positives, 1.0 - self.persistence)

    def discount(self, positions):
        return self.persistence ** (positions - 1.0)


@dataclass(kw_only=True, eq=False)
class RankBiasedSVM(StructuredRankSVM):
    """Minimises a bound on the loss above."""

    summary = "Minimises a bound on 1 - RBP."
    objective = r"\Delta_{\text{RBP}}"
    persistence: float = setting(0.8, label="Persistence", help="Of the loss.")

    @property
    def loss(self):
        return RankBiased(self.persistence)


@pytest.fixture
def registered(monkeypatch):
    for registry, names in ((LOSSES, loss_names()), (METHODS, method_names())):
        monkeypatch.setattr(registry, "_classes", {name: registry.get(name) for name in names})
    LOSSES.register("reading")(RankBiased)
    METHODS.register("Reading SVM")(RankBiasedSVM)


@pytest.fixture
def run(registered, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "home"))
    store = Store(tmp_path / "home")
    patches(tmp_path / "set", 40)
    key = store.sets.add(tmp_path / "set", "Patches")
    given = {"C": 10.0, "persistence": PERSISTENCE}
    return finished(store, TrainSettings(key, (("Colour", {}),), "red", "Reading SVM", given).to_json())


def test_training_minimises_the_bound_on_the_loss_with_its_setting(run):
    trained = METHODS.get("Reading SVM").load(run.model_file)
    assert trained.loss == RankBiased(PERSISTENCE) != RankBiased()
    assert trained.certificate.converged
    shown = cache.ranking(run, "train")
    worst = most_violated_ranking(shown.scores, shown.relevance > 0, RankBiased(PERSISTENCE))
    truth = np.where(shown.relevance > 0, 1 / shown.positives, -1 / (len(shown) - shown.positives))
    hinge = worst.objective - shown.scores @ truth
    primal = 0.5 * trained.weights @ trained.weights + trained.C * hinge
    assert primal == pytest.approx(trained.certificate.primal, rel=1e-6)


def test_the_playback_and_the_page_show_the_loss_that_was_trained(run, open_page, monkeypatch):
    loss = RankBiased(PERSISTENCE)
    assert (runs.loss_of(run), loss.key) == (loss, "reading, persistence = 0.4")
    shown = []
    monkeypatch.setattr(playback, "lifts", lambda scores, relevant, loss: shown.append(loss) or ())
    assert len(recordings.frames(run)) == len(shown) > 0
    assert set(shown) == {loss}
    app = open_page("most_violated_ranking", **inference_scores.address_of(run))
    given = inference_scores.thinned(cache.image_set(run.settings["set"]), cache.ranking(run, "train"))
    worst = most_violated_ranking(given.scores, given.relevant, loss)
    assert f"RBP, persistence = 0.4 loss {worst.loss:.3f}," in headline_of(app)


def test_the_timing_is_of_the_loss_of_the_method(registered):
    settings = TimingSettings(share=LEAST_SHARE, dimensions=3, rounds=1, parts="tables")
    outcome = TimingOutcome.from_json(TimingStudy().run(settings, Context()))
    key = RankBiased().key
    assert key in [point.loss for point in outcome.points]
    assert timing_words.views()[f"tables {key}"] == "Table · RBP, persistence = 0.8"
    assert timing_words.headline(key, timing_words.table_point(outcome.points, key)).startswith(
        "RBP, persistence = 0.8:"
    )
