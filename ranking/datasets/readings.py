"""Image sets that know how their files were read: in a file in the folder of the set, beside its manifest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ranking.core import ImageSet, OnCount, Problem, Reading, Source
from ranking.core.errors import InputError
from ranking.core.text import counted
from ranking.datasets.build import build_image_set

READING = "reading.json"


def import_image_set(
    source: Source, folder: Path, on_progress: OnCount | None = None, title: str = ""
) -> tuple[ImageSet, Reading]:
    """Build an image set, as `build_image_set` does, and store how it was read; return both."""
    images, problems = build_image_set(source, folder, on_progress, title)
    reading = _reading_of(source, images, problems)
    (folder / READING).write_text(json.dumps(reading.to_json()))
    return images, reading


def load_reading(folder: Path) -> Reading:
    """Return how the set in `folder` was read; ValueError if that is unknown, as of generated sets."""
    try:
        return Reading.from_json(json.loads((folder / READING).read_text()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("the report of the import", "a readable file", "none", "import it again") from error


def _reading_of(source: Source, images: ImageSet, problems: Sequence[Problem]) -> Reading:
    """Return how `source` read the images. The split was decided before images were left out: it is counted again."""
    chosen = f"{images.image_test.sum():,} of {counted(len(images.image_names), 'image')} for testing"
    decisions = (replace(row, chosen=chosen) if row.about == "split" else row for row in source.decisions())
    return Reading(source.name, tuple(decisions), tuple(problems))
