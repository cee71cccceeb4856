"""A small folder of each annotation tool, with the same boxes: two images to train on, and one for validation."""

from __future__ import annotations

import json

from import_folders import CLASSES, lay

FOLDERS_OF_IMAGES = ["train/1.jpg", "train/2.jpg", "val/1.jpg"]


def photographed(root, files, names=FOLDERS_OF_IMAGES):
    return lay(root, files | dict.fromkeys(names))


def createml(root, classes=CLASSES):
    def row(label, x, y, width, height):
        return {"label": label, "coordinates": {"x": x, "y": y, "width": width, "height": height}}

    first, second = classes
    train = [
        {"image": "1.jpg", "annotations": [row(first, 10, 7.5, 20, 15), row(second, 15, 10, 10, 10)]},
        {"image": "2.jpg", "annotations": [row(second, 2.5, 4, 3, 4)]},
    ]
    val = [{"image": "1.jpg", "annotations": [row(first, 20, 15, 40, 30)]}]
    return photographed(
        root, {"train/_annotations.createml.json": train, "val/_annotations.createml.json": val}
    )


def datumaro_file(items, classes=CLASSES):
    """The file of a subset. items: annotations by the path of an image of 40 x 30 pixels."""
    labels = {"labels": [{"name": name, "parent": "", "attributes": []} for name in classes]}
    listed = [
        {"id": path.partition(".")[0], "annotations": rows, "image": {"path": path, "size": [30, 40]}}
        for path, rows in items.items()
    ]
    return {"info": {}, "categories": {"label": labels}, "items": listed}


def annotation(label, kind="bbox", **more):
    return {"id": 0, "type": kind, "attributes": {}, "label_id": label, **more}


def datumaro(root, classes=CLASSES):
    polygon = annotation(1, "polygon", points=[10, 5, 20, 5, 20, 15])
    first = [annotation(0, bbox=[0, 0, 20, 15]), polygon]
    train = {"1.jpg": first, "2.jpg": [annotation(1, bbox=[1, 2, 3, 4])]}
    val = {"1.jpg": [annotation(0, bbox=[0, 0, 40, 30])]}
    files = {"annotations/train.json": datumaro_file(train, classes)}
    files["annotations/val.json"] = datumaro_file(val, classes)
    return photographed(root, files, [f"images/{name}" for name in FOLDERS_OF_IMAGES])


def detection(label, left, top, width, height, **more):
    """A box in pixels of an image of 40 x 30, as FiftyOne writes it."""
    return {"label": label, "bounding_box": [left / 40, top / 30, width / 40, height / 30], **more}


def sample(path, *detections, field="label", **more):
    labels = {"_cls": "Detections", "detections": list(detections)}
    return {"filepath": path, "tags": [], field: labels, **more}


def fiftyone(root, classes=CLASSES):
    labels = {
        "1": [detection(0, 0, 0, 20, 15), detection(1, 10, 5, 10, 10)],
        "2": [detection(1, 1, 2, 3, 4)],
    }
    validation = sample("val/1.jpg", detection(classes[0], 0, 0, 40, 30))
    files = {"train/labels.json": {"classes": list(classes), "labels": labels}}
    return photographed(root, {**files, "val/samples.json": {"samples": [validation]}})


def shape(label, points, kind="rectangle"):
    return {"label": label, "points": points, "group_id": None, "shape_type": kind, "flags": {}}


def labelme_file(image, *shapes, **more):
    """The file of labelme for an image of 40 x 30 pixels."""
    size = {"imageHeight": 30, "imageWidth": 40}
    return {
        "version": "5.2.1",
        "flags": {},
        "shapes": shapes,
        "imagePath": image,
        "imageData": None,
        **size,
        **more,
    }


def labelme(root, classes=CLASSES):
    first, second = classes
    polygon = shape(second, [[10, 5], [20, 5], [20, 15]], "polygon")
    files = {
        "train/1.json": labelme_file("1.jpg", shape(first, [[0, 0], [20, 15]]), polygon),
        "train/2.json": labelme_file("..\\train\\2.jpg", shape(second, [[4, 6], [1, 2]])),
        "val/1.json": labelme_file("1.jpg", shape(first, [[0, 0], [40, 30]])),
    }
    return photographed(root, files)


def scalabel(root, classes=CLASSES):
    def row(label, *edges):
        return {"category": label, "box2d": dict(zip(("x1", "y1", "x2", "y2"), edges, strict=True))}

    first, second = classes
    train = [
        {"name": "1.jpg", "labels": [row(first, 0, 0, 20, 15), row(second, 10, 5, 20, 15)]},
        {"name": "2.jpg", "labels": [row(second, 1, 2, 4, 6)]},
    ]
    val = {"frames": [{"name": "1.jpg", "labels": [row(first, 0, 0, 40, 30)]}]}
    return photographed(root, {"train/labels.json": train, "val/labels.json": val})


def supervisely(root, classes=CLASSES):
    def ann(*rows):
        objects = [
            {"classTitle": label, "geometryType": kind, "points": {"exterior": points, "interior": []}}
            for label, kind, points in rows
        ]
        return {"description": "", "tags": [], "size": {"height": 30, "width": 40}, "objects": objects}

    first, second = classes
    rectangle, polygon = "rectangle", (second, "polygon", [[10, 5], [20, 5], [20, 15]])
    files = {
        "train/ann/1.jpg.json": ann((first, rectangle, [[0, 0], [20, 15]]), polygon),
        "train/ann/2.jpg.json": ann((second, rectangle, [[1, 2], [4, 6]])),
        "val/ann/1.jpg.json": ann((first, rectangle, [[0, 0], [40, 30]])),
    }
    return photographed(root, files, [name.replace("/", "/img/") for name in FOLDERS_OF_IMAGES])


def rectangle(left, top, width, height):
    return {"name": "rect", "x": left, "y": top, "width": width, "height": height}


def region(form, **attributes):
    return {"shape_attributes": form, "region_attributes": attributes}


def via_file(images):
    """What VIA exports as JSON. images: regions by the name of the image."""
    return {
        f"{name}100": {"filename": name, "size": 100, "regions": regions, "file_attributes": {}}
        for name, regions in images.items()
    }


HEADER = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"


def cell(content):
    return '"' + json.dumps(content).replace('"', '""') + '"'


def via(root, classes=CLASSES):
    first, second = classes
    polygon = {"name": "polygon", "all_points_x": [10, 20, 20], "all_points_y": [5, 5, 15]}
    regions = [region(rectangle(0, 0, 20, 15), animal=first), region(polygon, animal=second)]
    train = via_file({"1.jpg": regions, "2.jpg": [region(rectangle(1, 2, 3, 4), animal=second)]})
    row = f'1.jpg,100,"{{}}",1,0,{cell(rectangle(0, 0, 40, 30))},{cell({"animal": first})}'
    files = {"train/via_project.json": {"_via_settings": {}, "_via_img_metadata": train}}
    return photographed(root, {**files, "val/via_export_csv.csv": f"{HEADER}\n{row}\n"})


TOOLS = {
    "CreateML": createml,
    "Datumaro": datumaro,
    "FiftyOne": fiftyone,
    "labelme": labelme,
    "Scalabel": scalabel,
    "Supervisely": supervisely,
    "VIA": via,
}
FOLDERS = {"Annotation tools": labelme}
