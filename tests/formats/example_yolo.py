"""A small folder of YOLO."""

from __future__ import annotations

from import_folders import CLASSES, lay


def some_yolo(root, classes=CLASSES):
    """Two parts, of two images and one, and an image without objects."""
    # Lines are boxes, an outline, and one with a confidence.
    labels = {
        "train/a": "0 .25 .25 .5 .5\n1 .25 .16667 .5 .3 .4 .5\n",
        "train/b": "1 .0625 .13333 .075 .13333\n",
        "train/empty": "",
        "val/a": "0 .5 .5 1 1 0.93\n",
    }
    files = {"data.yaml": "path: ../x\ntrain: images/train\nnames:\n  0: {}\n  1: {}\n".format(*classes)}
    files |= {f"labels/{name}.txt": rows for name, rows in labels.items()}
    return lay(root, files | {f"images/{name}.jpg": None for name in labels})


FOLDERS = {"YOLO": some_yolo}
