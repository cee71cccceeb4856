"""Which of MidRank's rankers is the best by itself, by cross-validation over training sequences (midrank, Fig. 4b)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ranking.core import Floats, SequenceSet
from ranking.methods.length_rankings import Rankings, taus_of
from ranking.methods.order_method import has_order
from ranking.methods.round_reports import RoundReports

FOLDS = 3  # of the training sequences
MOST_JUDGED = 300  # held-out sequences of a fold
AT_ONCE = 5  # of them; between those training can be stopped


class LengthRankers(Protocol):
    """One ranker for each of `lengths`, and the orders that they give."""

    @property
    def lengths(self) -> tuple[int, ...]: ...

    def rankings(self, sequences: SequenceSet) -> Rankings: ...


def best_length(
    train: Callable[[SequenceSet], LengthRankers],
    lengths: tuple[int, ...],
    sequences: SequenceSet,
    reports: RoundReports,
    seed: int,
) -> int:
    """That of `lengths` whose ranker has the greatest mean Kendall tau on held-out sequences, of equal ones the
    shorter. train: the rankers of these lengths, trained on other sequences unless training was stopped.

    Whole sequences are held out. Where they share samples, those of a held-out one were trained on in others. A length
    that could order no held-out sequence is not chosen, unless none could: then it is the shortest, and so it is where
    training is stopped, which it can be between any few sequences: these trainings report, too.
    """
    generator = np.random.default_rng(seed)
    fold = generator.permutation(len(sequences)) % FOLDS
    sums, counts = np.zeros(len(lengths)), np.zeros(len(lengths))
    for number in range(FOLDS):
        rest = sequences.part(np.flatnonzero(fold != number))
        held = np.flatnonzero(fold == number)[:MOST_JUDGED]
        if not has_order(rest) or not len(held):  # of one sequence nothing is left
            continue
        rankers = train(rest)
        for few in np.array_split(held, -(-len(held) // AT_ONCE)):
            if reports.stopped or reports.should_stop():
                return lengths[0]
            _add_taus(rankers, sequences.part(few), lengths, sums, counts)
    means = np.divide(sums, counts, out=np.full(len(sums), -np.inf), where=counts > 0)
    return lengths[int(np.argmax(means))]


def _add_taus(
    rankers: LengthRankers, judged: SequenceSet, lengths: tuple[int, ...], sums: Floats, counts: Floats
) -> None:
    """Add the taus of the rankers of `rankers` to those of the same length, and count them."""
    for taus in taus_of(judged, rankers.rankings(judged)):
        for length, tau in zip(rankers.lengths, taus.tolist(), strict=True):
            if length in lengths and not np.isnan(tau):
                i = lengths.index(length)
                sums[i], counts[i] = sums[i] + tau, counts[i] + 1
