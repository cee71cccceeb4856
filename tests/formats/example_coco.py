"""A small folder of COCO: two images to train on, and one for validation."""

from __future__ import annotations

from import_folders import CLASSES, lay


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
    annotations = {
        "annotations/instances_train2017.json": coco(["1.jpg", "2.jpg"], train, classes),
        "annotations/instances_val2017.json": coco(["1.jpg"], [box(1, 1, [0, 0, 40, 30])], classes),
        "annotations/captions_val2017.json": {"info": {}, "images": [], "annotations": []},
    }
    return lay(root, annotations | dict.fromkeys(["train2017/1.jpg", "train2017/2.jpg", "val2017/1.jpg"]))


FOLDERS = {"COCO": some_coco}
