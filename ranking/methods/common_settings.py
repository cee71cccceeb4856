"""Settings that methods share: what a mistake costs, and when training ends."""

from __future__ import annotations

from typing import Any

from ranking.settings import setting


def penalty(default: float, mistake: str) -> Any:
    """The setting C, what a `mistake` costs, at a `default` that suits L2-normalised features."""
    return setting(
        default,
        label=f"C: how much a {mistake} costs",
        help="Small: short weights. Large: a close fit. Equal C of two methods do not mean the same.",
        minimum=1e-8,
        maximum=1e8,
        log=True,
        usual=(1e-4, 1e6),
    )


def closed_gap(
    default: float = 1e-3,
    words: str = "Training ends when the objective is proven to be within this share of the best possible.",
    formula: str = r"\frac{\text{primal} - \text{dual}}{\text{primal}} \le \text{tolerance}",
) -> Any:
    """The setting tolerance, the duality gap at which training ends as a share of what `words` and `formula` say."""
    return setting(
        default,
        label="Stop at this duality gap",
        help=words,
        formula=formula,
        minimum=1e-7,
        maximum=0.5,
        log=True,
        advanced=True,
    )


def most_iterations(default: int, trained: str = "Training") -> Any:
    """The setting max_iterations, by `default` the fewer the dearer an iteration is; `trained`: what they are of."""
    return setting(
        default,
        label="Iterations at most",
        help=f"{trained} that has not converged by then ends with the best weights so far, and says so.",
        formula=r"t \le t_{\max}",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
