"""JSON files of annotation tools, as people have them."""

from __future__ import annotations

import pytest
from example_annotation_tools import (
    TOOLS,
    annotation,
    datumaro_file,
    detection,
    labelme_file,
    rectangle,
    region,
    sample,
    shape,
    via_file,
)
from example_coco import box, coco
from import_folders import BOXES, CLASSES, IS_SECOND, IS_TEST, build, check_rows, lay, read

from ranking.datasets import make_source
from ranking.files import open_tree
from ranking.formats.annotation_tools import TOOLS as KNOWN
from ranking.formats.import_preview import preview_import
from ranking.formats.tree_source import detect

NAME = "Annotation tools"


def decisions(folder, **settings):
    source = make_source(NAME, folder=str(folder), **settings)
    list(source.records())
    return {row.about: row for row in source.decisions()}


@pytest.mark.parametrize("tool", KNOWN)
def test_the_files_of_each_tool_give_the_same_image_set(tool, tmp_path):
    folder = TOOLS[tool](tmp_path / "x")
    assert next(iter(detect(open_tree(folder)))) == NAME
    images, problems = build(NAME, folder)
    assert problems == []
    assert images.classes == CLASSES
    assert images.boxes.tolist() == BOXES
    assert images.relevance(CLASSES[1]).tolist() == IS_SECOND
    assert images.test.tolist() == IS_TEST
    assert decisions(folder)["tool"].chosen == tool


def test_shapes_of_labelme(tmp_path):
    shapes = [
        shape("cat", [[20, 10], [20, 15]], "circle"),
        shape("cat", [[1, 1], [9, 1], [5, 9]], None),
        shape("dog", [[20, 10]], "point"),
        shape(None, [[1, 1], [9, 9]]),
        "no shape",
    ]
    images, problems = read(
        NAME, lay(tmp_path / "x", {"1.json": labelme_file("gone.jpg", *shapes), "1.jpg": None})
    )
    assert [item.box for item in images["1"].boxes] == [(15, 5, 25, 15), (1, 1, 9, 9)]
    check_rows(problems, ("labelme", "2", "annotation 3: 'point'", "annotation 5"), ("1.json", "none"))


def test_regions_of_via(tmp_path):
    shapes = [
        {"name": "circle", "cx": 20, "cy": 10, "r": 5},
        {"name": "ellipse", "cx": 20, "cy": 10, "rx": 5, "ry": 2},
        {"name": "point", "cx": 20, "cy": 10},
    ]
    regions = {str(number): region(form, kind="cat") for number, form in enumerate(shapes)}
    folder = lay(tmp_path / "x", {"a.json": via_file({"1.jpg": regions}), "1.jpg": None})
    images, problems = read(NAME, folder)
    assert [item.box for item in images["1"].boxes] == [(15, 5, 25, 15), (15, 8, 25, 12)]
    check_rows(problems, ("VIA", "1.jpg, annotation 3: 'point'"))


def test_a_class_that_two_attributes_may_give_is_asked_for(tmp_path):
    animals, colours = ["cat", "dog", "cat", "dog"], [["red"], ["red", "blue"], ["red"], ["blue"]]
    regions = [
        region(
            rectangle(0, 0, 9, 9),
            animal=animal,
            colour=dict.fromkeys(colour, True),
            source="me",
            note=str(number),
        )
        for number, (animal, colour) in enumerate(zip(animals, colours, strict=True))
    ]
    folder = lay(tmp_path / "x", {"a.json": via_file({"1.jpg": regions}), "1.jpg": None})
    row = decisions(folder)["attribute of the class"]
    assert (row.value, set(row.alternatives), row.is_open) == ("animal", {"colour", "source", "note"}, True)
    images, _ = read(NAME, folder, attribute="colour")
    assert [item.classes for item in images["1"].boxes] == [("red",), ("red", "blue"), ("red",), ("blue",)]
    assert not decisions(folder, attribute="colour")["attribute of the class"].is_open


def test_an_attribute_with_one_value_or_with_none_twice_is_no_class(tmp_path):
    regions = [
        region(rectangle(0, 0, 9, 9), source="me", note=str(number), animal=animal)
        for number, animal in enumerate(["cat", "dog", "cat"])
    ]
    folder = lay(tmp_path / "x", {"a.json": via_file({"1.jpg": regions}), "1.jpg": None})
    row = decisions(folder)["attribute of the class"]
    assert (row.value, set(row.alternatives), row.is_open) == ("animal", {"note", "source"}, False)


def test_predictions_of_fiftyone_are_no_labels_but_they_are_counted(tmp_path):
    predicted = {"detections": [detection("dog", 0, 0, 9, 9, confidence=0.5) for _ in range(3)]}
    samples = [
        sample(
            f"/home/a/{number}.jpg",
            detection(label, 0, 0, 20, 15),
            field="truth",
            predictions=predicted,
            tags=[tag],
        )
        for number, (label, tag) in enumerate([("cat", "train"), ("dog", "validation"), ("cat", "train")])
    ]
    names = [f"data/{number}.jpg" for number in range(3)]
    folder = lay(tmp_path / "x", {"samples.json": {"samples": samples}} | dict.fromkeys(names))
    images, problems = read(NAME, folder)
    assert [item.boxes[0].classes for item in images.values()] == [("cat",), ("dog",), ("cat",)]
    assert [item.test for item in images.values()] == [False, True, False]
    check_rows(problems, ("samples.json", "9 times", "predictions"))
    assert not decisions(folder)["attribute of the class"].is_open


def test_labels_of_whole_images_are_samples_where_nothing_has_a_box(tmp_path):
    labels = {"1": 0, "2": "dog", "3": {"label": "cat", "confidence": 0.9}}
    names = dict.fromkeys(["data/1.jpg", "data/2.jpg", "data/3.jpg"])
    folder = lay(tmp_path / "x", {"labels.json": {"classes": CLASSES, "labels": labels}, **names})
    images, problems = read(NAME, folder)
    assert [(item.boxes[0].box, item.boxes[0].classes) for item in images.values()] == [
        (None, ("cat",)),
        (None, ("dog",)),
        (None, ("cat",)),
    ]
    assert problems == []
    both = [annotation(0, "label"), annotation(1, bbox=[0, 0, 9, 9]), annotation(0, "points", points=[1, 1])]
    folder = lay(tmp_path / "y", {"a.json": datumaro_file({"1.jpg": both}), "1.jpg": None})
    images, problems = read(NAME, folder)
    assert [item.classes for item in images["1"].boxes] == [("dog",)]
    check_rows(problems, ("Datumaro", "annotation 3: 'points'"), ("a.json", "1.jpg, annotation 1"))


def test_annotations_without_their_images_are_refused_with_the_remedy(tmp_path):
    for number, files in enumerate(
        [{"1.json": labelme_file("1.jpg", imageData="abc")}, {"a.json": coco(["1.jpg"], [])}]
    ):
        preview = preview_import(str(lay(tmp_path / f"{number}", files)), None, {})
        assert preview.source == (NAME, "COCO")[number]
        assert "add the image files" in preview.refused


def test_annotations_of_coco_without_a_class_are_rows_and_results_are_named(tmp_path):
    rows = [{"id": 1, "image_id": 1, "caption": "a cat"}, box(1, 1, [0, 0, 9, 9])]
    _, problems = read("COCO", lay(tmp_path / "x", {"a.json": coco(["1.jpg"], rows), "1.jpg": None}))
    check_rows(problems, ("a.json", "caption"))
    results = [box(1, 1, [0, 0, 9, 9], score=0.5)]
    preview = preview_import(str(lay(tmp_path / "y", {"results.json": results, "1.jpg": None})), None, {})
    assert "results.json: expected COCO" in preview.refused
