"""Where image sets come from: one file a source, found by its `@register` line.

>>> source_names()
['Digits', 'PASCAL VOC']
"""

from __future__ import annotations

from typing import Any

from ranking.registry import Registry
from ranking.types import Source

SOURCES: Registry[Source] = Registry("image-set source", __name__)
register = SOURCES.register

# These modules and the sources that discovery imports may import `register` from here.
from ranking.datasets.build import build_image_set  # noqa: E402
from ranking.datasets.folder import load_image_set  # noqa: E402
from ranking.datasets.thumbnails import Thumbnails  # noqa: E402


def source_names() -> list[str]:
    """Every registered source, the default first."""
    return SOURCES.names()


def source_class(name: str) -> type[Source]:
    """The class of source `name`; ValueError that lists the valid names where there is none."""
    return SOURCES.get(name)


def make_source(name: str, **settings: Any) -> Source:
    """A source with `settings`; ValueError that says what is valid for an unknown name or value."""
    return SOURCES.make(name, **settings)


__all__ = [
    "Thumbnails",
    "build_image_set",
    "load_image_set",
    "make_source",
    "register",
    "source_class",
    "source_names",
]
