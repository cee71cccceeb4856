"""Bundled image sets and finished runs: a data folder that is read where it lies and shared with all others.

`python data/examples.py` makes it.
"""

from __future__ import annotations

from pathlib import Path

# missing if the package was installed without data/
FOLDER = Path(__file__).parents[2] / "data" / "examples"


def is_example(folder: Path) -> bool:
    """Return whether the folder of a run or an image set is bundled."""
    return folder.is_relative_to(FOLDER)


def folder_of(source: str) -> Path:
    """Return the image set of a source, such as "Action figures"."""
    return FOLDER / "sets" / source.lower().replace(" ", "_")
