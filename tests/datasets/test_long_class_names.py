"""Two classes whose long names begin alike stay two, whatever told them; one name is one class."""

from __future__ import annotations

import pytest
from brought import box, build, coco, cvat, cvat_box, cvat_image, lay, region, task
from voc_tree import VocTree, voc_object

ONE, TWO = ("Animalia Chordata Mammalia " * 4 + end for end in ("Felis catus", "Felis silvestris"))
IMAGES = {"1.jpg": None, "2.jpg": None, "3.jpg": None}


def voc(root):
    tree = VocTree(root)
    for name, told in zip("abc", (ONE, TWO, ONE), strict=True):
        tree.add(name, voc_object(told))
    return root


def folders(root):
    return lay(root, {f"{ONE}/1.jpg": None, f"{TWO}/2.jpg": None, f"{ONE}/3.jpg": None})


def yolo(root):
    labels = {f"{number}.txt": f"{number % 2} .5 .5 1 1\n" for number in (1, 2, 3)}
    return lay(root, {"classes.txt": f"{TWO}\n{ONE}\n", **labels, **IMAGES})


def as_coco(root):
    boxes = [box(number, 2 - number % 2, [0, 0, 9, 9]) for number in (1, 2, 3)]
    return lay(root, {"a.json": coco(list(IMAGES), boxes, (ONE, TWO)), **IMAGES})


def table(root):
    return lay(root, {"t.csv": f"image,label\n1.jpg,{ONE}\n2.jpg,{TWO}\n3.jpg,{ONE}\n", **IMAGES})


def marks(root):
    return lay(root, {"t.csv": f"image,{ONE},{TWO}\n1.jpg,1,0\n2.jpg,0,1\n3.jpg,1,0\n", **IMAGES})


def label_studio(root):
    tasks = [
        task(f"/{name}", region(0, 0, 50, 50, told))
        for name, told in zip(IMAGES, (ONE, TWO, ONE), strict=True)
    ]
    return lay(root, {"a.json": tasks, **IMAGES})


def as_cvat(root):
    told = [
        cvat_image(name, cvat_box(one, 0, 0, 9, 9)) for name, one in zip(IMAGES, (ONE, TWO, ONE), strict=True)
    ]
    return lay(root, {"annotations.xml": cvat(*told), **IMAGES})


@pytest.mark.parametrize(
    ("source", "make"),
    [
        ("PASCAL VOC", voc),
        ("Class folders", folders),
        ("YOLO", yolo),
        ("COCO", as_coco),
        ("Table of images", table),
        ("Table of images", marks),
        ("Label Studio", label_studio),
        ("CVAT", as_cvat),
    ],
)
def test_they_stay_two(tmp_path, source, make):
    image_set, _ = build(source, make(tmp_path / "x"))
    assert sorted(image_set.labels.sum(axis=0).tolist()) == [1, 2]
    assert all(len(name) <= 80 for name in image_set.classes)
    assert len({name[:60] for name in image_set.classes}) == 1
