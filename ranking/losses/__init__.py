"""Ranking losses as data, and the losses by name: what loss-augmented inference has to know of a loss.

A new loss is one new file here whose class carries ``@LOSSES.register("name")``.
"""

from ranking.losses.base import RankingLoss
from ranking.losses.registry import LOSSES

__all__ = ["LOSSES", "RankingLoss", "loss_names", "make_loss"]

loss_names = LOSSES.names
make_loss = LOSSES.make
