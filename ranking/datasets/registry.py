"""The image-set sources by name: what is drawn, and what people bring."""

from ranking.core import Source
from ranking.core.registry import Registry

SOURCES: Registry[Source] = Registry("image-set source", "ranking.datasets", "ranking.formats")
