"""Questions, printed values and captions of the MidRank ablations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ranking.experiments.ablations import AGREES, ALONE, EXHAUSTIVE, FUSED, RANK_SVM, SEARCH, SECONDS
from ranking.experiments.order_training import NAMES
from ranking.metrics.ablation_curves import At, Curve

TAU = NAMES.tau
ABOVE, BELOW = "above", "below"
AS_GOOD, BETTER, WORSE = "as good as", "better than", "worse than"
Curves = dict[str, Curve]


@dataclass(frozen=True)
class Words:
    """question: of the ablation. paper: the paper's findings, a sentence each. of: the data of its marks. marks: its
    printed values by measure. notice: makes the caption from the curves by their lines."""

    question: str
    paper: tuple[str, ...]
    notice: Callable[[Curves], str]
    of: str = ""
    marks: dict[str, Sequence[tuple[At, float]]] = field(default_factory=dict)


def best_place(curve: Curve) -> At:
    """Return the setting with the greatest mean Kendall tau, of equal ones the first."""
    means = curve.measures[TAU].mean
    return curve.at[means.index(max(means))]


def mean_at(curve: Curve, at: At, measure: str = TAU) -> float:
    return curve.measures[measure].mean[curve.at.index(at)]


def ahead(name: str, value: float, baseline: float) -> str:
    """Compare a value with that of RankSVM in words."""
    if value == baseline:
        return f"{name} reaches the same value as {RANK_SVM}, {baseline:.3f}"
    side = ABOVE if value > baseline else BELOW
    return f"{RANK_SVM}, the starting point of the search, reaches {baseline:.3f}: {name} is {side} it"


def of_lengths(curves: Curves) -> str:
    alone = curves[ALONE]
    best = best_place(alone)
    fused, first = (curves[line].measures[TAU].mean[0] for line in (FUSED, RANK_SVM))
    return (
        f"The best single ranker has length {best}, with a Kendall tau of {mean_at(alone, best):.3f}. All rankers "
        f"together reach {fused:.3f}. {ahead('their vote', fused, first)}."
    )


def of_fusion(curves: Curves) -> str:
    ways = curves["MidRank"]
    best = best_place(ways)
    others = ", ".join(f"{at} {mean_at(ways, at):.3f}" for at in ways.at if at != best)
    first = curves[RANK_SVM].measures[TAU].mean[0]
    return (
        f"Best is “{best}” with a Kendall tau of {mean_at(ways, best):.3f}; {others}. "
        f"{ahead('the best', mean_at(ways, best), first)}."
    )


def of_test_lengths(curves: Curves) -> str:
    text = ", ".join(f"{line}: length {best_place(curve)}" for line, curve in curves.items())
    return f"Best length by Kendall tau: {text}."


def of_representations(curves: Curves) -> str:
    made = curves["MidRank"]
    best = best_place(made)
    apart = mean_at(made, "mean pairwise difference") - mean_at(made, "stacked difference")
    return (
        f"Best is “{best}” with a Kendall tau of {mean_at(made, best):.3f}. That of the mean of pairwise differences "
        f"is {abs(apart):.3f} {'higher' if apart > 0 else 'lower'} than that of the stacked difference."
    )


def of_trees(curves: Curves) -> str:
    searched = curves[SEARCH]
    shares = [mean_at(searched, trees, AGREES) for trees in (1, 3, 5)]
    single, all_orders = mean_at(searched, 1), curves[EXHAUSTIVE].measures[TAU].mean[0]
    than = AS_GOOD if single == all_orders else BETTER if single > all_orders else WORSE
    return (
        f"With 1, 3 and 5 trees {', '.join(f'{100 * share:.1f}%' for share in shares)} of the searches find an "
        f"optimal order. With one tree the predicted order (Kendall tau {single:.3f}) is {than} the order of greatest "
        f"value found by exhaustive search ({all_orders:.3f})."
    )


def of_times(curves: Curves) -> str:
    slow, fast = curves[EXHAUSTIVE], curves[SEARCH]
    last = slow.at[-1]
    ratio = mean_at(slow, last, SECONDS) / mean_at(fast, last, SECONDS)
    eight = ""
    if 8 in slow.at and 8 in fast.at and last != 8:
        eight = f", {mean_at(slow, 8, SECONDS) / mean_at(fast, 8, SECONDS):,.0f} times at 8"
    end = fast.at[-1]
    return (
        f"At {last} images the search is {ratio:,.0f} times faster than exhaustive search{eight}; {end} images take "
        f"{1000 * mean_at(fast, end, SECONDS):.3g} ms."
    )


CARS = "the paper's cars, Table 1"
WORDS = {
    "subsequence length": Words(
        "Is it better to learn from short subsequences or from long ones?",
        (
            "On cars, sequences of 20, “for all ranking measures the best MidRank is of size 7”: accuracy rises with "
            "the length up to there, and falls at 8.",
            "All lengths together: Kendall tau .553, pair accuracy 76.9%, NDCG .949. RankSVM: .482, 74.1%, .928.",
        ),
        of_lengths,
    ),
    "fusion": Words(
        "How should the orders of all lengths be combined?",
        (
            "On cars “the weighted majority voting scheme works best”, better than winner-takes-all and than a single "
            "length chosen by cross-validation.",
            "Its values, with all lengths from 3 to 8: Kendall tau .553, pair accuracy 76.9%, NDCG .949.",
        ),
        of_fusion,
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
        of_test_lengths,
    ),
    "representation": Words(
        "How should an ordered subsequence be represented as one vector?",
        (
            "On public figures the stacked difference vectors “outperform all other alternatives”.",
            "On sequences of 20, the Kendall tau of the mean of pairwise differences is 0.05 lower than that of the "
            "stacked difference.",
        ),
        of_representations,
    ),
    "number of trees": Words(
        "Does the search find the order with the greatest value?",
        (
            "On public figures, sequences of 8: with 3 trees the solution is that of exhaustive search 97% of the "
            "time, with 5 always.",
            "With one tree Kendall tau is better than with exhaustive search, which the paper attributes to "
            "overfitting.",
        ),
        of_trees,
        "the paper's public figures, section 5.5",
        {AGREES: [(3, 0.97), (5, 1.0)]},
    ),
    "time": Words(
        "How much faster is the search than exhaustive search?",
        (
            "Up to 8 images on public figures the search is 50 times faster than exhaustive search.",
            "A sequence of 20 takes 0.75 ± 0.1 seconds; some of 500 “can be easily processed”.",
        ),
        of_times,
        "the paper's search, section 5.5",
        {SECONDS: [(20, 0.75)]},
    ),
}
