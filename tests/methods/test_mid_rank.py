"""MidRank from the definition, its fusion, its file, and its way through stops and short sequences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import reference
from order_problems import sequences
from problems import Heard
from refusals import refused

from ranking import Query, make_method
from ranking.core import ProgressEvent, SequenceSet
from ranking.inference.rank_fusion import VOTES
from ranking.methods import mid_rank
from ranking.methods.length_rankings import scores_of_orders
from ranking.methods.mid_rank import MidRank
from ranking.methods.mid_rank_settings import FUSIONS
from ranking.methods.subsequence_maps import MAX_POOLED, REPRESENTATIONS, blocks, max_pooled
from ranking.methods.subsequences import deltas, training_subsequences
from ranking.metrics import kendall_tau

FEW = {"subsequences": 150, "shortest": 2, "longest": 4, "C": 100.0}


def mean_tau(method: MidRank, test: SequenceSet) -> float:
    queries = [test.query(number) for number in range(len(test))]
    return float(np.mean([kendall_tau(query.relevance, method.score(query)) for query in queries]))


def test_representations_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    pool, rows = rng.normal(size=(9, 3)), np.array([[1, 5, 2, 8], [0, 8, 3, 4]])
    pooled = max_pooled(pool, rows)
    for name in REPRESENTATIONS:
        for number, row in enumerate(rows):
            psi = pooled[number] if name == MAX_POOLED else (blocks(name, 4) @ pool[row]).ravel()
            np.testing.assert_allclose(psi, reference.psi_of(name, pool[row]))
    with refused("representation", repr(MAX_POOLED)):
        blocks(MAX_POOLED, 3)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize(("disagreement", "search"), [("zero-one", "left out"), ("NDCG", "counted")])
def test_the_certificate_is_eq_4_summed_over_lengths(
    representation: str, disagreement: str, search: str
) -> None:
    made, order = sequences(3, levels=6), tuple(np.random.default_rng(0).permutation(7))
    kind = {"representation": representation, "disagreement": disagreement, "constant_in_search": search}
    method = make_method("MidRank", constant=0.5, **kind, **FEW).fit(made)
    total = 0.0
    for length in (2, 3, 4):
        subsequences = training_subsequences(made, length, 150, "any", "any order", length)
        psis = np.stack([reference.psi_of(representation, made.features[row]) for row in subsequences.rows])
        signs = deltas(made.grades[subsequences.rows], disagreement)
        ranker = method.rankers[length]
        arguments = psis, signs, np.ones(300), 300 / method.C, method.constant
        total += reference.subsequence_primal(ranker.theta.ravel(), ranker.level, *arguments)
        # The values of orders are eq. 3 of these weights.
        offset = 0.5 * ranker.level if search == "counted" else 0.0
        value = reference.value_of_order(
            order, made.features, ranker.theta.ravel(), length, representation, offset
        )
        scores = method.window_scores(length, made.features[:7])
        assert scores.values(np.array([order]))[0] == pytest.approx(value, abs=1e-9)
    assert method.certificate.primal == pytest.approx(total, rel=1e-9)
    assert method.certificate.converged
    assert method.certificate.relative_gap <= method.tolerance
    assert {length: theta.shape[1] for length, theta in method.weights.items()} == {2: 5, 3: 5, 4: 5}


@pytest.mark.parametrize("fusion", FUSIONS)
def test_an_order_is_learned_by_every_fusion(fusion: str, tmp_path: Path) -> None:
    made = sequences(5, noise=0.05, levels=5)
    train, test = made.part(range(30)), made.part(range(30, 40))
    method = make_method("MidRank", fusion=fusion, **FEW).fit(train)
    assert mean_tau(method, test) > 0.75
    assert (method.best_length in (2, 3, 4)) == (fusion == "best length")
    scores = method.score_sequences(test)
    for number in range(3):
        alone = method.score(test.query(number))
        assert alone.tolist() == scores[test.starts[number] : test.starts[number + 1]].tolist()
        assert sorted(alone.tolist()) == list(range(6))
    method.save(tmp_path / "method.npz")
    assert MidRank.load(tmp_path / "method.npz").score_sequences(test).tolist() == scores.tolist()


def with_grades(grades: list[list[int]]) -> SequenceSet:
    """Sequences whose features tell their grades."""
    whole = np.concatenate(grades)
    starts = np.concatenate([[0], np.cumsum([len(each) for each in grades])])
    return SequenceSet(np.stack([whole, np.ones(len(whole))], axis=1), whole, np.arange(len(whole)), starts)


def test_the_best_length_is_chosen_of_few_and_short_sequences() -> None:
    long, short = [[4, 3, 2, 1, 0]], [[2, 1, 0]] * 6
    for grades, shortest, lengths in (
        # no sequence holds as many grades as the shortest length
        (short, 5, (3,)),
        # one sequence: none is left to train on
        (long, 2, (2, 3, 4, 5)),
        # held out, the long one leaves no ranker of 5
        (long + short, 2, (2, 3, 4, 5)),
    ):
        made = with_grades(grades)
        settings = {**FEW, "shortest": shortest, "longest": 6, "fusion": "best length"}
        method = make_method("MidRank", **settings).fit(made)
        assert method.lengths == lengths
        # with nothing to judge by the first
        assert method.best_length in lengths[: 1 if grades is long else None]
        assert mean_tau(method, made) == pytest.approx(1.0)


def test_the_best_length_is_the_best_on_held_out_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    for best in range(3):

        def taus(*_: object, best: int = best) -> list[np.ndarray]:
            return [np.where(np.arange(3) == best, 0.9, 0.1), np.array([np.nan, 0.2, 0.2])]

        monkeypatch.setattr(mid_rank, "taus_of", taus)
        assert make_method("MidRank", fusion="best length", **FEW).fit(sequences(5)).best_length == 2 + best


def test_the_order_is_the_same_however_a_sequence_is_given() -> None:
    made = sequences(6)
    method = make_method("MidRank", **FEW).fit(made)
    features, turned = made.features[:9], np.random.default_rng(0).permutation(9)
    scores = method.score(Query(features))
    assert method.score(Query(features[turned])).tolist() == scores[turned].tolist()


def test_votes_and_ties_decide_orders() -> None:
    made = sequences(11, levels=4)
    train, test = made.part(range(20)), made.part(range(20, 40))
    readings = [{"votes": votes} for votes in VOTES] + [{"ties": "forbidden"}]
    fitted = [make_method("MidRank", **reading, **{**FEW, "longest": 6}).fit(train) for reading in readings]
    assert len({tuple(method.score_sequences(test)) for method in fitted}) == 4
    assert (
        fitted[0].score_sequences(test).tolist()
        == make_method("MidRank", **{**FEW, "longest": 6}).fit(train).score_sequences(test).tolist()
    )


def test_short_sequences_have_fewer_rankers_and_the_shortest_rank_svm() -> None:
    made = sequences(7, levels=6)
    method = make_method("MidRank", **{**FEW, "shortest": 3, "longest": 5}).fit(made)
    test = SequenceSet(made.features, made.grades, np.arange(13), np.array([0, 1, 3, 7, 13]))
    rankings = method.rankings(test)
    assert rankings.lengths == (3, 4, 5)
    assert np.isnan(rankings.values).tolist() == [[True, True, False, False]] * 2 + [
        [True, True, True, False]
    ]
    assert (rankings.orders[:, :3] == rankings.first[:3]).all()
    scores = method.score_sequences(test)
    assert scores[:3].tolist() == scores_of_orders(rankings.first[:3], np.array([0, 1, 3])).tolist()
    assert method.score(Query(np.empty((0, 5)))).shape == (0,)


def test_with_ties_lengths_beyond_the_number_of_grades_are_trained() -> None:
    made = sequences(8, levels=3)
    assert make_method("MidRank", **{**FEW, "longest": 8}).fit(made).lengths == (2, 3, 4, 5, 6)


def test_without_ties_lengths_without_examples_are_omitted() -> None:
    made = sequences(8, levels=3)
    plain = {**FEW, "ties": "forbidden"}
    assert make_method("MidRank", **{**plain, "longest": 8}).fit(made).lengths == (2, 3)
    few = {**plain, "shortest": 4, "longest": 8}
    for fusion, best in (("weighted votes", 0), ("best length", 3)):
        method = make_method("MidRank", fusion=fusion, **few).fit(made)
        assert (method.lengths, method.best_length) == ((3,), best)
    with refused("MidRank: shortest", 4):
        make_method("MidRank", shortest=4, longest=3)


def heard(
    fusion: str, last: Callable[[list[ProgressEvent]], bool] = lambda events: False
) -> tuple[MidRank, Heard]:
    """A training that is stopped after the last of the events, and these."""
    events = Heard(last)
    return make_method("MidRank", fusion=fusion, **FEW).fit(sequences(9), events), events


@pytest.mark.parametrize("fusion", ["weighted votes", "best length"])
def test_progress_counts_lengths_and_a_stop_keeps_started_rankers(fusion: str) -> None:
    rounds = [event.round for event in heard(fusion)[1]]
    assert rounds == sorted(rounds)
    assert set(rounds) == {0, 1, 2, 3}
    method, _ = heard(fusion, lambda events: events[-1].round == 2)
    assert method.lengths == (2, 3)
    assert not method.certificate.converged
    assert np.isfinite(method.score_sequences(sequences(9))).all()
    assert heard(fusion, lambda events: True)[0].lengths == (2,)


def test_the_choice_of_a_length_can_be_stopped_too() -> None:
    """It trains three times as much again, and says nothing of that but that it goes on."""
    plain = heard("weighted votes")[1]
    chosen, events = heard("best length")
    assert chosen.certificate.converged
    later = events[len(plain) :]
    assert len(later) > 10
    assert {(event.round, event.iteration) for event in later} == {(3, plain[-1].iteration)}
    method, events = heard("best length", lambda events: len(events) == len(plain) + 5)
    assert len(events) == len(plain) + 5
    assert (method.lengths, method.best_length) == ((2, 3, 4), 2)
    assert not method.certificate.converged


def test_incomplete_models_of_mid_rank_are_refused() -> None:
    method = make_method("MidRank", fusion="best length", **FEW).fit(sequences(10))
    whole = method.arrays()
    for subject, change in (
        ("levels", {"levels": np.zeros(2)}),
        ("theta of length 3", {"theta_3": np.zeros((3, 5))}),
        ("weights", {"start": np.zeros(4)}),
        ("levels", {"lengths": np.array([2, 4, 3])}),
        ("best length", {"best_length": np.array(5)}),
    ):
        with refused(subject):
            method.restore({**whole, **change})
