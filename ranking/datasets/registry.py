"""The image-set sources by name."""

from ranking.registry import Registry
from ranking.types import Source

SOURCES: Registry[Source] = Registry("image-set source", "ranking.datasets")
