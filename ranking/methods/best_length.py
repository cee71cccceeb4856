"""Which of MidRank's rankers is the best by itself, by cross-validation over training sequences (midrank, Fig. 4b)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ranking.core import Floats, SequenceSet
from ranking.methods.length_rankings import taus_of
from ranking.methods.order_method import has_order
from ranking.methods.round_reports import RoundReports

if TYPE_CHECKING:
    from ranking.methods.mid_rank import MidRank

FOLDS = 3  # of the training sequences
MOST_JUDGED = 300  # held-out sequences of a fold
AT_ONCE = 5  # of them; between those training can be stopped


def best_length(method: MidRank, sequences: SequenceSet, reports: RoundReports) -> int:
    """The trained length of `method` with the greatest mean Kendall tau on held-out sequences, of equal ones the
    shorter.

    Whole sequences are held out. Where they share samples, those of a held-out one were trained on in others. A length
    that could order no held-out sequence is not chosen, unless none could: then it is the shortest, and so it is where
    training is stopped, which it can be between any few sequences: these trainings report, too.
    """
    generator = np.random.default_rng(method.seed)
    fold = generator.permutation(len(sequences)) % FOLDS
    sums, counts = np.zeros(len(method.lengths)), np.zeros(len(method.lengths))
    for number in range(FOLDS):
        rest = sequences.part(np.flatnonzero(fold != number))
        held = np.flatnonzero(fold == number)[:MOST_JUDGED]
        if not has_order(rest) or not len(held):  # of one sequence nothing is left
            continue
        other = replace(
            method, fusion="weighted votes", shortest=method.lengths[0], longest=method.lengths[-1]
        )
        if not reports.stopped:
            other.fit(rest, reports.again)
        for few in np.array_split(held, -(-len(held) // AT_ONCE)):
            if reports.stopped or reports.asked_to_stop():
                return method.lengths[0]
            _add_taus(other, sequences.part(few), method.lengths, sums, counts)
    means = np.divide(sums, counts, out=np.full(len(sums), -np.inf), where=counts > 0)
    return method.lengths[int(np.argmax(means))]


def _add_taus(
    other: MidRank, judged: SequenceSet, lengths: tuple[int, ...], sums: Floats, counts: Floats
) -> None:
    """Add the taus of the rankers of `other` to those of the same length, and count them."""
    for taus in taus_of(judged, other.rankings(judged)):
        for length, tau in zip(other.lengths, taus.tolist(), strict=True):
            if length in lengths and not np.isnan(tau):
                place = lengths.index(length)
                sums[place], counts[place] = sums[place] + tau, counts[place] + 1
