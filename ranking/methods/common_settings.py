"""Settings that several methods share: the cost of an error, and when training stops."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ranking.core import Bools
from ranking.core.settings import setting
from ranking.inference import ALGORITHMS
from ranking.losses.weighted_zero_one import unit_of_cost

# of C
RANKING_UNIT, PAPER_UNIT = "ranking", "paper"


def penalty(default: float, error: str) -> Any:
    """Return the setting C, the cost of an `error`; `default` suits L2-normalised features."""
    return setting(
        default,
        label=f"C: cost of a {error}",
        help="Small: small weights. Large: a close fit to the training samples.",
        minimum=1e-8,
        maximum=1e8,
        log=True,
        usual=(1e-4, 1e6),
    )


# in a formula, by unit of C
COST = {
    RANKING_UNIT: r"\tfrac{C}{4\,|\mathcal P|\,|\mathcal N|}",
    PAPER_UNIT: "C",
}


def cost_unit(owner: str) -> Any:
    """Return the setting for the unit of C of a weighted 0-1 loss."""
    # owner: names that C in the help text.
    return setting(
        RANKING_UNIT,
        label="Unit of C",
        help=f"ranking: {owner} is divided by 4|P||N|, so that the same value suits the weighted 0-1 loss and ranking "
        "losses. paper: as in the paper, where more images need a smaller C.",
        formula=r"\frac{C}{4\,|\mathcal P|\,|\mathcal N|}\quad\text{or}\quad C",
        choices=(RANKING_UNIT, PAPER_UNIT),
        advanced=True,
    )


def cost_in(unit: str, C: float, queries: Sequence[Bools]) -> float:
    """Return the factor of the weighted 0-1 loss for `C` in that unit; for several queries the mean."""
    return C if unit == PAPER_UNIT else C * fmean(map(unit_of_cost, queries))


def closed_gap(
    default: float = 1e-3,
    help: str = "Training stops when the objective is proven to be within this share of the optimum.",
    formula: str = r"\frac{\text{primal} - \text{dual}}{\text{primal}} \le \text{tolerance}",
) -> Any:
    """Return the setting tolerance: the gap at which training stops, defined by `help` and `formula`."""
    return setting(
        default,
        label="Stop at this duality gap",
        help=help,
        formula=formula,
        minimum=1e-7,
        maximum=0.5,
        log=True,
        advanced=True,
    )


def most_iterations(default: int, trained: str = "Training") -> Any:
    """Return the setting max_iterations."""
    # trained: the subject of the help text.
    return setting(
        default,
        label="Maximum iterations",
        help=f"{trained} that has not converged by then stops with the best weights so far and reports it.",
        formula=r"t \le t_{\max}",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )


def inference_algorithm() -> Any:
    """Return the setting for the algorithm of loss-augmented inference of a ranking loss."""
    return setting(
        "auto",
        label="Algorithm for the most violated ranking",
        help="All find a ranking of the same value and differ only in speed. greedy evaluates every rank, search "
        "bisects (average precision only), select is quicksort-like, buckets counts scores; auto chooses by the number "
        "of samples.",
        formula=r"\hat R = \arg\max_R\bigl[\Delta(R) + w^\top\Psi(R)\bigr]",
        choices=ALGORITHMS,
        advanced=True,
    )
