"""Ranking losses as objects: what loss-augmented inference has to know of a loss.

A new loss is one new file here whose class carries ``@LOSSES.register("name")``. Its settings are dataclass fields made
by `ranking.core.settings.setting`.
"""

from __future__ import annotations

from functools import cache

from ranking.core.errors import InputError
from ranking.losses.average_precision import AveragePrecision
from ranking.losses.base import RankingLoss
from ranking.losses.ndcg import NDCG
from ranking.losses.registry import LOSSES

__all__ = ["LOSSES", "NDCG", "AveragePrecision", "RankingLoss", "as_loss", "loss_names", "make_loss"]

loss_names = LOSSES.names
make_loss = LOSSES.make


def as_loss(loss: str | RankingLoss) -> RankingLoss:
    """Return the registered loss of that name at its default settings, or the loss itself.

    >>> as_loss("ap") == as_loss(AveragePrecision()) == AveragePrecision()
    True
    """
    made = LOSSES.make(loss) if isinstance(loss, str) else loss
    _check_equality(type(made))
    return made


@cache
def _check_equality(kind: type) -> None:
    """Raise InputError unless equal objects of this class are the same loss, because tables are cached by loss."""
    params = vars(kind).get("__dataclass_params__")
    if not issubclass(kind, RankingLoss) or params is None or not (params.eq and params.frozen):
        raise InputError(
            "loss",
            "the name of a loss, or an object whose class is a frozen dataclass derived from RankingLoss",
            kind.__qualname__,
            "decorate the class with @dataclass(frozen=True), and make what distinguishes two losses a field",
        )
