"""A small good folder or file for each format: contracts run over them, and files are broken of them.

Each format has a file `example_*.py` beside this one. Its FOLDERS or FILES has the name of the format, and a function
that writes the example into an empty folder and returns the place to import.
"""

from __future__ import annotations

import importlib
from pathlib import Path

FOLDERS, FILES = {}, {}
for path in sorted(Path(__file__).parent.glob("example_*.py")):
    example = vars(importlib.import_module(path.stem))
    FOLDERS |= example.get("FOLDERS", {})
    FILES |= example.get("FILES", {})
