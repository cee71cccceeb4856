"""The losses by name."""

from ranking.core.registry import Registry
from ranking.losses.base import RankingLoss

LOSSES: Registry[RankingLoss] = Registry("loss", RankingLoss, "ranking.losses")
