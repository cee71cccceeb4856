"""Image sets: how they are built, split and shown.

The formats of imports are in `ranking.formats`.

>>> make_source("Digits", test_share=0.25).title()
'Digits'
"""

from __future__ import annotations

from typing import Any

from ranking.core import Source
from ranking.datasets.build import build_image_set
from ranking.datasets.folder import load_image_set
from ranking.datasets.registry import SOURCES
from ranking.datasets.thumbnails import Thumbnails

__all__ = [
    "SOURCES",
    "Thumbnails",
    "build_image_set",
    "load_image_set",
    "make_source",
    "source_class",
    "source_names",
]


def source_names() -> list[str]:
    """Return the names of all sources, in the order in which the import form lists them."""
    return SOURCES.names()


def source_class(name: str) -> type[Source]:
    """Return the class of source `name`; ValueError that lists the valid names if there is none."""
    return SOURCES.get(name)


def make_source(name: str, **settings: Any) -> Source:
    """Return a source with `settings`; ValueError that says what is valid for an unknown name or value."""
    return SOURCES.make(name, **settings)
