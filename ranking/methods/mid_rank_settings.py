"""The settings of MidRank, with the effect of each that the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from ranking.core.settings import setting
from ranking.inference.rank_fusion import REMAINING, VOTES
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.order_method import OrderMethod
from ranking.methods.subsequence_maps import REPRESENTATIONS
from ranking.methods.subsequences import DISAGREEMENTS, EQUAL, SCRAMBLED, SPACINGS, TIES

FUSIONS = ("weighted votes", "winner takes all", "best length")


@dataclass(kw_only=True, eq=False)
class MidRankSettings(OrderMethod):
    """Settings of MidRank."""

    # Kendall tau is that of the public figures in midrank's Table 1 (benchmarks/RESULTS.md).

    C: float = penalty(10_000.0, "subsequence")
    shortest: int = setting(
        3, label="Shortest subsequences", help="The number of samples in the subsequences of the first ranker.",
        formula=r"\lambda \ge", minimum=2, maximum=10,
    )  # fmt: skip
    longest: int = setting(
        8, label="Longest subsequences", help="The number of samples in the subsequences of the last ranker.",
        formula=r"\lambda \le", minimum=2, maximum=10,
    )  # fmt: skip
    representation: str = setting(
        "stacked difference",
        label="Representation",
        help="How an ordered subsequence becomes one vector.",
        formula=r"\psi(X, Y)",
        choices=REPRESENTATIONS,
    )
    subsequences: int = setting(
        10_000, label="Subsequences per length", formula=r"i = 1 \dots",
        help="For each length, this many subsequences in the correct order and as many scrambled ones are sampled.",
        minimum=10, maximum=1_000_000, log=True,
    )  # fmt: skip
    trees: int = setting(
        3, label="Search trees", help="Each tree after the first starts at an order that no earlier tree visited.",
        minimum=1, maximum=100,
    )  # fmt: skip
    fusion: str = setting(
        "weighted votes",
        label="Fusion",
        help="How the orders of all lengths are combined: by votes that are weighted by the value of each order, by "
        "the order with the greatest value, or by the length that is best on held-out training sequences.",
        choices=FUSIONS,
    )
    votes: str = setting(
        REMAINING, label="Votes", choices=VOTES, advanced=True,
        help="How to handle a vote for a sample that already has a position. Remaining order: each ranker votes for "
        "the first sample of its order without a position. Exact position: the vote is lost; this costs .020 Kendall "
        "tau on the paper's public figures. Kept: a sample keeps its votes for all later positions; this is not in the "
        "paper and gains .004.",
    )  # fmt: skip
    ties: str = setting(
        EQUAL, label="Equal grades", choices=TIES, advanced=True,
        help="Whether a subsequence for training may contain samples of equal grades, in any order. If forbidden, "
        "lengths above the number of grades are not trained; this costs .033 Kendall tau on the paper's public figures "
        "and far more with few grades.",
    )  # fmt: skip
    disagreement: str = setting(
        "zero-one",
        label="Disagreement",
        help="The weight of a scrambled subsequence: equal for all, by its misordered pairs, or by its NDCG loss.",
        formula=r"\delta(Y, Y^*)",
        choices=DISAGREEMENTS,
        advanced=True,
    )
    drawn: str = setting(
        "any", label="Subsequence positions", choices=SPACINGS, advanced=True,
        help="Subsequences are sampled from any positions of a training sequence, or from consecutive positions.",
    )  # fmt: skip
    scrambled: str = setting(
        "any order", label="Scrambling", choices=SCRAMBLED, advanced=True,
        help="How the correct order of a subsequence is changed to make an incorrect example.",
    )  # fmt: skip
    constant: float = setting(
        1.0, label="Constant feature", formula=r"\psi \leftarrow [\psi, B]", minimum=0.0, maximum=1000.0, advanced=True,
        help="An additional component of all subsequences in training, the bias of a linear SVM; 0 for none, as in the "
        "paper's formulas. It gains .060 Kendall tau on the paper's public figures. Without it scrambled "
        "subsequences cannot all score below zero, because an order and its reverse have about opposite scores. Its "
        "size hardly matters.",
    )  # fmt: skip
    constant_in_search: str = setting(
        "left out", label="Constant in the search", advanced=True,
        choices={"left out": "omitted", "counted": "added"},
        help="Omitted, as in eq. 3, or added to the score of every window, which loses its gain in training.",
    )  # fmt: skip
    start_C: float = setting(
        1000.0, label="C of the RankSVM start", formula=r"C_{\mathrm{RankSVM}}", advanced=True,
        help="The cost of a misordered pair in the RankSVM that gives the first order of the search.",
        minimum=1e-6, maximum=1e9, log=True,
    )  # fmt: skip
    seed: int = setting(
        0, label="Seed", help="Seed for the subsequences, the training steps and the later starts of the search.",
        minimum=0, maximum=2**31 - 1, advanced=True,
    )  # fmt: skip
    tolerance: float = closed_gap(
        1e-2,
        "Training of a length stops when its objective is proven to be within this share of the optimum.",
    )
    max_iterations: int = most_iterations(300, "Training of a length")
