"""The image-set sources by name: generated image sets, and formats of imports."""

from ranking.core import Source
from ranking.core.registry import Registry

SOURCES: Registry[Source] = Registry("image-set source", Source, "ranking.datasets", "ranking.formats")
