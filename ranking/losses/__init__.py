"""Ranking losses as objects: what loss-augmented inference has to know of a loss.

A new loss is one new file here whose class carries ``@LOSSES.register("name")``. Its settings are dataclass fields made
by `ranking.core.settings.setting`.
"""

from __future__ import annotations

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
    return LOSSES.make(loss) if isinstance(loss, str) else loss
