"""The features by name."""

from ranking.core import Feature
from ranking.core.registry import Registry

FEATURES: Registry[Feature] = Registry("feature", Feature, "ranking.features")
