"""Writes small folders as people bring them: photographs of noise, COCO, YOLO and folders of classes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from ranking.datasets import build_image_set, make_source
from ranking.types import Problem, SourceImage


def photograph(size=(40, 30), seed=0, kind="JPEG", **options):
    """The bytes of an image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **options)
    return stream.getvalue()


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
    drawn = ("parts", "ImageSets")
    return images, [item for item in records if isinstance(item, Problem) and item.file not in drawn]


def rows(problems):
    return [(row.file, row.expected, row.came, row.done) for row in problems]


def check_rows(problems, *expected):
    """There is a problem for each of `expected`: its file, and parts of what came instead."""
    assert [row.file for row in problems] == [file for file, *_ in expected]
    for row, (_, *parts) in zip(problems, expected, strict=True):
        assert all(part in row.came for part in parts), row


def box(image, category, bbox, **more):
    return {"id": 1, "image_id": image, "category_id": category, "bbox": bbox, **more}


def coco(images, annotations, categories=("cat", "dog")):
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


def some_coco(root):
    """Two parts, of two images and one."""
    return lay(
        root,
        {
            "annotations/instances_train2017.json": coco(
                ["1.jpg", "2.jpg"],
                [
                    box(1, 1, [0, 0, 20, 15], segmentation=[[0, 0, 9, 9]], iscrowd=0),
                    box(1, 2, [10.4, 5, 9.6, 10]),
                    box(2, 2, [1, 2, 3, 4]),
                ],
            ),
            "annotations/instances_val2017.json": coco(["1.jpg"], [box(1, 1, [0, 0, 40, 30])]),
            "annotations/captions_val2017.json": {"info": {}, "images": [], "annotations": []},
            "train2017/1.jpg": None,
            "train2017/2.jpg": None,
            "val2017/1.jpg": None,
        },
    )


def some_yolo(root):
    """Two parts, of two images and one, and an image without objects."""
    return lay(
        root,
        {
            "data.yaml": "path: ../x\ntrain: images/train\nval: images/val\nnames:\n  0: cat\n  1: dog\n",
            "images/train/a.jpg": None,
            "images/train/b.jpg": None,
            "images/train/empty.jpg": None,
            "images/val/a.jpg": None,
            "labels/train/a.txt": "0 0.5 0.5 1 1\n1 .25 .25 .5 .5\n",
            "labels/train/b.txt": "1 0 0 0.5 0 0.5 1\n",
            "labels/train/empty.txt": "",
            "labels/val/a.txt": "0 0.5 0.5 0.5 0.5 0.93\n",
        },
    )


def some_classes(root):
    """Two classes in two parts."""
    names = ["train/cat/1.jpg", "train/cat/2.jpg", "train/dog/1.jpg", "test/cat/1.jpg", "test/dog/1.jpg"]
    return lay(root, dict.fromkeys(names))


def some_table(root):
    """A box a row: two images to train on, of which one has two boxes, and one to test on."""
    text = (
        "filename,width,height,class,xmin,ymin,xmax,ymax,split,clip\n"
        "a.jpg,40,30,cat,0,0,20,15,train,film 1\n"
        "a.jpg,40,30,dog;tame,10.4,5,20,15,train,film 1\n"
        "b.jpg,40,30,dog,1,2,4,6,train,film 1\n"
        "c.jpg,40,30,cat,0,0,40,30,test,film 2\n"
    )
    return lay(root, {"boxes.csv": text, **{f"images/{name}.jpg": None for name in "abc"}})


def region(x, y, width, height, *labels, **more):
    """A result of Label Studio: a rectangle in percent."""
    value = {"x": x, "y": y, "width": width, "height": height, "rotation": 0, "rectanglelabels": list(labels)}
    size = {"original_width": 40, "original_height": 30, "image_rotation": 0}
    return {"type": "rectanglelabels", "id": f"r{x}-{y}", "value": value | more, **size}


def task(image, *results, **more):
    """A task of Label Studio with one annotation."""
    return {"id": 1, "annotations": [{"id": 1, "result": list(results)}], "data": {"image": image}, **more}


def some_label_studio(root):
    """Three images, uploaded under other names; and what is labelled of them."""
    tasks = [
        task("/data/upload/1/0a1b2c3d-1.jpg", region(0, 0, 50, 50, "cat"), region(25, 20, 25, 30, "dog")),
        task("/data/local-files/?d=photos%2F2.jpg", region(10, 10, 10, 20, "dog")),
        task("s3://bucket/3.jpg", region(0, 0, 100, 100, "cat")),
    ]
    return lay(root, {"project.json": tasks, **{f"photos/{name}.jpg": None for name in "123"}})


def cvat(*images, meta=""):
    """CVAT for images 1.1."""
    inner = f"<version>1.1</version>{meta}{''.join(images)}"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<annotations>{inner}</annotations>'


def cvat_image(name, *shapes, **more):
    told = "".join(f' {key}="{value}"' for key, value in {"width": 40, "height": 30, **more}.items())
    return f'<image id="0" name="{name}"{told}>{"".join(shapes)}</image>'


def cvat_box(label, left, top, right, bottom, inner="", **more):
    told = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<box label="{label}" xtl="{left}" ytl="{top}" xbr="{right}" ybr="{bottom}"{told}>{inner}</box>'


def some_cvat(root):
    """Two parts, of two images and one."""
    told = cvat(
        cvat_image("1.jpg", cvat_box("cat", 0, 0, 20, 15), cvat_box("dog", 10.4, 5, 20, 15), subset="Train"),
        cvat_image("2.jpg", cvat_box("dog", 1, 2, 4, 6, '<attribute name="a">b</attribute>'), subset="Train"),
        cvat_image("1.jpg", cvat_box("cat", 0, 0, 40, 30), subset="Validation"),
    )
    names = ["images/Train/1.jpg", "images/Train/2.jpg", "images/Validation/1.jpg"]
    return lay(root, {"annotations.xml": told, **dict.fromkeys(names)})
