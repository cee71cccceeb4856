"""Image sets that know how their files were read: in a file in the folder of the set, beside its manifest."""

from __future__ import annotations

import json
from pathlib import Path

from ranking.core import ImageSet, OnCount, Reading, Source
from ranking.core.errors import InputError
from ranking.datasets.build import build_image_set

READING = "reading.json"


def import_image_set(
    source: Source, folder: Path, on_progress: OnCount | None = None, title: str = ""
) -> tuple[ImageSet, Reading]:
    """Build an image set, as `build_image_set` does, and store how it was read; return both."""
    images, problems = build_image_set(source, folder, on_progress, title)
    reading = Reading(source.name, tuple(source.decisions()), tuple(problems))
    (folder / READING).write_text(json.dumps(reading.to_json()))
    return images, reading


def load_reading(folder: Path) -> Reading:
    """Return how the set in `folder` was read; ValueError if that is unknown, as of generated sets."""
    try:
        return Reading.from_json(json.loads((folder / READING).read_text()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("the report of the import", "a readable file", "none", "import it again") from error
