"""A small good example for each source of images, by its name: contracts run over them, and files are broken of them.

A new source has a file `example_*.py` beside this one, with FOLDERS or FILES as here.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from brought import some_classes, some_coco, some_table, some_yolo
from label_files import some_corel5k, some_pubfig, some_svmlight
from voc_tree import some_voc

FOLDERS = {
    "Class folders": some_classes,
    "COCO": some_coco,
    "YOLO": some_yolo,
    "Table of images": some_table,
    "PASCAL VOC": some_voc,
}
FILES = {
    "Corel5k": some_corel5k,
    "Public figures": some_pubfig,
    "SVMlight": some_svmlight,
}

for path in sorted(Path(__file__).parent.glob("example_*.py")):
    own = vars(importlib.import_module(path.stem))
    FOLDERS |= own.get("FOLDERS", {})
    FILES |= own.get("FILES", {})
