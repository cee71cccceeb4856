"""What comes with the program: image sets and finished runs, in a folder that is laid out as a home is.

`Store.adopt_examples` copies them into a home, once; `python data/examples.py` makes them.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "examples"
SETS, RUNS = "sets", "runs"
HAD = "examples.txt"  # of a home: the keys and ids of the examples that it has had, one a line


def folder_of(source: str) -> Path:
    """The image set of that source, such as "Action figures", which may be used where it lies."""
    return FOLDER / SETS / source.lower().replace(" ", "_")


def set_folders() -> dict[str, Path]:
    """The image sets by their keys; none where the package came without data/."""
    manifests = sorted((FOLDER / SETS).glob("*/manifest.json"))
    return {json.loads(manifest.read_text())["key"]: manifest.parent for manifest in manifests}


def run_folders() -> dict[str, Path]:
    """The runs by their ids."""
    return {folder.name: folder for folder in sorted((FOLDER / RUNS).glob("*"))}


def other_folders() -> list[Path]:
    """Folders of files that are named by their content, and that no row of a database names."""
    return [folder for folder in sorted(FOLDER.glob("*")) if folder.name not in (SETS, RUNS)]
