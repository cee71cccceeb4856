"""Bundled image sets and finished runs, in a folder with the layout of a data folder.

`Store.adopt_examples` copies them into a data folder, once; `python data/examples.py` creates them.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "examples"
SETS, RUNS = "sets", "runs"
HAD = "examples.txt"  # in a data folder: the keys and ids of the examples that were copied into it, one per line


def folder_of(source: str) -> Path:
    """Return the image set of a source, such as "Action figures", which can be used in place."""
    return FOLDER / SETS / source.lower().replace(" ", "_")


def set_folders() -> dict[str, Path]:
    """Return the image sets by key; none if the package was installed without data/."""
    manifests = sorted((FOLDER / SETS).glob("*/manifest.json"))
    return {json.loads(manifest.read_text())["key"]: manifest.parent for manifest in manifests}


def run_folders() -> dict[str, Path]:
    """Return the runs by id."""
    return {folder.name: folder for folder in sorted((FOLDER / RUNS).glob("*"))}


def other_folders() -> list[Path]:
    """Return the folders of files that are named by their content, without a row in the database."""
    return [folder for folder in sorted(FOLDER.glob("*")) if folder.name not in (SETS, RUNS)]
