"""The features by name."""

from ranking.registry import Registry
from ranking.types import Feature

FEATURES: Registry[Feature] = Registry("feature", "ranking.features")
