"""A small good folder or file for each format: contracts run over them, and files are broken of them.

Each format has a file `example_*.py` beside this one. Its FOLDERS or FILES has the name of the format, and a function
that writes the example into an empty folder and returns the place to import.
"""

from __future__ import annotations

import importlib
from pathlib import Path


class Examples(dict):
    def __missing__(self, name):
        raise LookupError(f"no example of {name}: add tests/formats/example_*.py with it in FOLDERS or FILES")


FOLDERS, FILES = Examples(), Examples()
for path in sorted(Path(__file__).parent.glob("example_*.py")):
    example = vars(importlib.import_module(path.stem))
    FOLDERS |= example.get("FOLDERS", {})
    FILES |= example.get("FILES", {})
