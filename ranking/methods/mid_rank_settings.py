"""The settings of MidRank, with the effect of each that the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from ranking.core.settings import setting
from ranking.inference.rank_fusion import REMAINING, VOTES
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.order_method import OrderMethod
from ranking.methods.subsequence_maps import REPRESENTATIONS
from ranking.methods.subsequences import DISAGREEMENTS, DRAWN, EQUAL, SCRAMBLED, TIES

FUSIONS = ("weighted votes", "winner takes all", "best length")


@dataclass(kw_only=True, eq=False)
class MidRankSettings(OrderMethod):
    """Settings of MidRank. Kendall tau is that of the public figures in midrank's Table 1 (benchmarks/RESULTS.md)."""

    C: float = penalty(10_000.0, "subsequence")
    shortest: int = setting(
        3, label="Shortest subsequences", help="The first ranker learns from subsequences of so many samples.",
        formula=r"\lambda \ge", minimum=2, maximum=10,
    )  # fmt: skip
    longest: int = setting(
        8, label="Longest subsequences", help="The last ranker learns from subsequences of so many samples.",
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
        10_000, label="Subsequences a length", formula=r"i = 1 \dots",
        help="So many in the right order, and as many scrambled ones, are drawn for each length.",
        minimum=10, maximum=1_000_000, log=True,
    )  # fmt: skip
    trees: int = setting(
        3, label="Search trees", help="Each but the first begins at an order that no earlier one has visited.",
        minimum=1, maximum=100,
    )  # fmt: skip
    fusion: str = setting(
        "weighted votes",
        label="Fusion",
        help="How the orders of all lengths become one: votes weighted by the value of each order, the order with the "
        "greatest value, or the one length that is best on held-out training sequences.",
        choices=FUSIONS,
    )
    votes: str = setting(
        REMAINING, label="Votes", choices=VOTES, advanced=True,
        help="What becomes of a vote for a sample that is already placed. Remaining order: each ranker votes for the "
        "first sample of its order that is not placed yet. Exact position: the vote is lost; this costs .020 Kendall "
        "tau on the paper's public figures. Kept: a sample keeps its votes for all later positions; this is not in the "
        "paper and gains .004.",
    )  # fmt: skip
    ties: str = setting(
        EQUAL, label="Equal grades", choices=TIES, advanced=True,
        help="Whether samples of equal grades may stand in one training subsequence, in any order among themselves. If "
        "forbidden, lengths above the number of grades are not trained; this costs .033 Kendall tau on the paper's "
        "public figures and far more with few grades.",
    )  # fmt: skip
    disagreement: str = setting(
        "zero-one",
        label="Disagreement",
        help="How much a scrambled subsequence counts: all alike, by its wrong pairs, or by its loss of NDCG.",
        formula=r"\delta(Y, Y^*)",
        choices=DISAGREEMENTS,
        advanced=True,
    )
    drawn: str = setting(
        "any", label="Draw subsequences", choices=DRAWN, advanced=True,
        help="From any positions of a training sequence, or from consecutive ones.",
    )  # fmt: skip
    scrambled: str = setting(
        "any order", label="Scramble", choices=SCRAMBLED, advanced=True,
        help="What becomes of the right order in a wrong example.",
    )  # fmt: skip
    constant: float = setting(
        1.0, label="Constant feature", formula=r"\psi \leftarrow [\psi, B]", minimum=0.0, maximum=1000.0, advanced=True,
        help="One more component of every training subsequence, the bias of a linear SVM; 0 for none, as in the "
        "paper's formulas. It is worth .060 Kendall tau on the paper's public figures. Without it scrambled "
        "subsequences cannot all score below zero, because an order and its reverse have about opposite scores. Its "
        "size hardly matters.",
    )  # fmt: skip
    constant_in_search: str = setting(
        "left out", label="Constant in the search", choices=("left out", "counted"), advanced=True,
        help="Left out, as in eq. 3, or counted in the score of every window. Counted, its gain in training is lost.",
    )  # fmt: skip
    start_C: float = setting(
        1000.0, label="Penalty of RankSVM", formula=r"C_{\mathrm{RankSVM}}", advanced=True,
        help="The same for the RankSVM whose order the search begins with.", minimum=1e-6, maximum=1e9, log=True,
    )  # fmt: skip
    seed: int = setting(
        0, label="Seed", help="Fixes the subsequences, the steps of training and the later starts of the search.",
        minimum=0, maximum=2**31 - 1, advanced=True,
    )  # fmt: skip
    tolerance: float = closed_gap(
        1e-2,
        "Training of a length ends when its objective is proven to be within this share of the best possible.",
    )
    max_iterations: int = most_iterations(300, "Training of a length")
