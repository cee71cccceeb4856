"""Image sets: how they are built, split and shown.

The formats of imports are in `ranking.formats`.

>>> make_source("Digits", test_share=0.25).title()
'Digits'
"""

from __future__ import annotations

from ranking.datasets.build import build_image_set
from ranking.datasets.folder import load_image_set
from ranking.datasets.readings import import_image_set, load_reading
from ranking.datasets.registry import SOURCES
from ranking.datasets.thumbnails import Thumbnails

__all__ = [
    "SOURCES",
    "Thumbnails",
    "build_image_set",
    "import_image_set",
    "load_image_set",
    "load_reading",
    "make_source",
    "source_class",
    "source_names",
]

source_names = SOURCES.names
source_class = SOURCES.get
make_source = SOURCES.make
