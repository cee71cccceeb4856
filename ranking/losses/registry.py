"""The losses by name."""

from ranking.losses.base import RankingLoss
from ranking.registry import Registry

LOSSES: Registry[RankingLoss] = Registry("loss", "ranking.losses")
