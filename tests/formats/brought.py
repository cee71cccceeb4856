"""Writes small folders as people bring them: photographs of noise, COCO, YOLO and folders of classes."""

from __future__ import annotations

import json
from pathlib import Path

import archives
import numpy as np
from archives import in_memory
from PIL import Image

from ranking.core import Problem, SourceImage
from ranking.datasets import build_image_set, make_source

CLASSES = ("cat", "dog")
# What each of the folders below tells, but that of class folders: two images to train on, and one to test on.
BOXES = [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
IS_SECOND, IS_TEST = [0, 1, 1, 0], [False, False, False, True]


def packed(path: Path, entries) -> Path:
    """The ZIP file `path` of these entries (see archives.packed)."""
    path.write_bytes(archives.packed(entries))
    return path


def photograph(size=(40, 30), seed=0, kind="JPEG", **options):
    """The bytes of an image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    return in_memory(lambda stream: Image.fromarray(pixels).save(stream, kind, **options))


def lay(root: Path, files: dict[str, object]) -> Path:
    """Write `files` below `root`: bytes and text as they are, None for a photograph, the rest as JSON."""
    for seed, (name, content) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            content = photograph(seed=seed)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def build(source, place, **settings):
    """The set and its report, built beside the place in a folder of its own."""
    number = len(list(place.parent.glob("built-*")))
    return build_image_set(
        make_source(source, folder=str(place), **settings), place.parent / f"built-{number}"
    )


def read(source, place, **settings):
    """The images of a source by name, and its problems without the rows about a split that is drawn."""
    records = list(make_source(source, folder=str(place), **settings).records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    return images, [item for item in records if isinstance(item, Problem) and item.file != "parts"]


def check_rows(problems, *expected):
    """There is a problem for each of `expected`: its file, and parts of what came instead."""
    assert [row.file for row in problems] == [file for file, *_ in expected]
    for row, (_, *parts) in zip(problems, expected, strict=True):
        assert all(part in row.came for part in parts), row


def box(image, category, bbox, **more):
    return {"id": 1, "image_id": image, "category_id": category, "bbox": bbox, **more}


def coco(images, annotations, categories=CLASSES):
    """COCO of images (file names, or whole entries) with ids from 1 and of categories with ids from 1."""
    listed = [
        {"id": number, "file_name": one, "width": 40, "height": 30} if isinstance(one, str) else one
        for number, one in enumerate(images, 1)
    ]
    named = [
        {"id": number, "name": one, "supercategory": "animal"} if isinstance(one, str) else one
        for number, one in enumerate(categories, 1)
    ]
    return {"info": {}, "images": listed, "annotations": annotations, "categories": named}


def some_coco(root, classes=CLASSES):
    train = [
        box(1, 1, [0, 0, 20, 15], segmentation=[[0, 0, 9, 9]], iscrowd=0),
        box(1, 2, [10.4, 5, 9.6, 10]),
        box(2, 2, [1, 2, 3, 4]),
    ]
    told = {
        "annotations/instances_train2017.json": coco(["1.jpg", "2.jpg"], train, classes),
        "annotations/instances_val2017.json": coco(["1.jpg"], [box(1, 1, [0, 0, 40, 30])], classes),
        "annotations/captions_val2017.json": {"info": {}, "images": [], "annotations": []},
    }
    return lay(root, told | dict.fromkeys(["train2017/1.jpg", "train2017/2.jpg", "val2017/1.jpg"]))


def some_yolo(root, classes=CLASSES):
    """Two parts, of two images and one, and an image without objects: boxes, an outline, one with a confidence."""
    labels = {
        "train/a": "0 .25 .25 .5 .5\n1 .25 .16667 .5 .3 .4 .5\n",
        "train/b": "1 .0625 .13333 .075 .13333\n",
        "train/empty": "",
        "val/a": "0 .5 .5 1 1 0.93\n",
    }
    told = {"data.yaml": "path: ../x\ntrain: images/train\nnames:\n  0: {}\n  1: {}\n".format(*classes)}
    told |= {f"labels/{name}.txt": rows for name, rows in labels.items()}
    return lay(root, told | {f"images/{name}.jpg": None for name in labels})


def some_classes(root, classes=CLASSES):
    one, two = classes
    names = [f"train/{one}/1.jpg", f"train/{one}/2.jpg", f"train/{two}/1.jpg"]
    return lay(root, dict.fromkeys([*names, f"test/{one}/1.jpg", f"test/{two}/1.jpg"]))


def some_table(root, classes=CLASSES):
    """A box a row: two images to train on, of which one has two boxes, and one to test on."""
    text = (
        "filename,width,height,class,xmin,ymin,xmax,ymax,split,clip\n"
        "a.jpg,40,30,{0},0,0,20,15,train,film 1\n"
        "a.jpg,40,30,{1},10.4,5,20,15,train,film 1\n"
        "b.jpg,40,30,{1},1,2,4,6,train,film 1\n"
        "c.jpg,40,30,{0},0,0,40,30,test,film 2\n"
    )
    return lay(root, {"boxes.csv": text.format(*classes), **{f"images/{name}.jpg": None for name in "abc"}})
