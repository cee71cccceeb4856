"""How the files of an image set were read: a file in the folder of the set, beside its manifest."""

from __future__ import annotations

import json
from pathlib import Path

from ranking.core import Reading
from ranking.core.errors import InputError

READING = "reading.json"


def store_reading(folder: Path, reading: Reading) -> None:
    """Write how the set in `folder` was read."""
    (folder / READING).write_text(json.dumps(reading.to_json()))


def load_reading(folder: Path) -> Reading:
    """Return how the set in `folder` was read; ValueError if that is unknown, as of generated sets."""
    try:
        return Reading.from_json(json.loads((folder / READING).read_text()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("the report of the import", "a readable file", "none", "import it again") from error
