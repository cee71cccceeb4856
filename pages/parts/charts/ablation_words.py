"""Questions of the MidRank ablations, and what the paper finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ranking.experiments.ablations import AGREES, SECONDS
from ranking.experiments.order_task import NAMES
from ranking.metrics.ablation_curves import At

TAU = NAMES.tau


@dataclass(frozen=True)
class Words:
    """The texts about an ablation."""

    question: str
    # The paper's findings, a sentence each.
    paper: tuple[str, ...]
    # The data of the paper's printed values, which are in `marks` by measure.
    of: str = ""
    marks: dict[str, Sequence[tuple[At, float]]] = field(default_factory=dict)


CARS = "the paper's cars, Table 1"
WORDS = {
    "subsequence length": Words(
        "Is it better to learn from short subsequences or from long ones?",
        (
            "On cars, sequences of 20, “for all ranking measures the best MidRank is of size 7”: accuracy rises with "
            "the length up to there, and falls at 8.",
            "All lengths together: Kendall tau .553, pair accuracy 76.9%, NDCG .949. RankSVM: .482, 74.1%, .928.",
        ),
    ),
    "fusion": Words(
        "How should the orders of all lengths be combined?",
        (
            "On cars “the weighted majority voting scheme works best”, better than winner-takes-all and than a single "
            "length chosen by cross-validation.",
            "Its values, with all lengths from 3 to 8: Kendall tau .553, pair accuracy 76.9%, NDCG .949.",
        ),
        CARS,
        {
            TAU: [("weighted votes", 0.553)],
            NAMES.pairs: [("weighted votes", 0.769)],
            NAMES.ndcg_linear: [("weighted votes", 0.949)],
        },
    ),
    "test length": Words(
        "Which length orders short sequences best, and which long ones?",
        (
            "On cars, lengths 3 and 4 order test sequences of 5 and 10 best, and lengths 5, 6 and 7 those of 15 and "
            "20; length 8 is worst.",
        ),
    ),
    "representation": Words(
        "How should an ordered subsequence be represented as one vector?",
        (
            "On public figures the stacked difference vectors “outperform all other alternatives”.",
            "On sequences of 20, the Kendall tau of the mean of pairwise differences is 0.05 lower than that of the "
            "stacked difference.",
        ),
    ),
    "number of trees": Words(
        "Does the search find the order with the greatest value?",
        (
            "On public figures, sequences of 8: with 3 trees the solution is that of exhaustive search 97% of the "
            "time, with 5 always.",
            "With one tree Kendall tau is better than with exhaustive search, which the paper attributes to "
            "overfitting.",
        ),
        "the paper's public figures, section 5.5",
        {AGREES: [(3, 0.97), (5, 1.0)]},
    ),
    "time": Words(
        "How much faster is the search than exhaustive search?",
        (
            "Up to 8 images on public figures the search is 50 times faster than exhaustive search.",
            "A sequence of 20 takes 0.75 ± 0.1 seconds; some of 500 “can be easily processed”.",
        ),
        "the paper's search, section 5.5",
        {SECONDS: [(20, 0.75)]},
    ),
}
