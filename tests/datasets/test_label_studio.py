"""Label Studio as it exports, and as strangers spoil it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from brought import build, check_rows, lay, read, region, some_label_studio, task
from refusals import refused

from ranking.datasets.detection import detect
from ranking.intake import open_tree

SCRIPT = "<script>alert(1)</script>"
GOOD = task("1.jpg", region(0, 0, 50, 50, "cat"))


def read_tasks(root, tasks, *names):
    """The images by name, and the problems but for parts that are drawn."""
    files = {"a.json": tasks, **dict.fromkeys(names or ("1.jpg", "2.jpg"))}
    return read("Label Studio", lay(root / "x", files))


def test_rectangles(tmp_path):
    image_set, problems = build("Label Studio", some_label_studio(tmp_path / "pets"))
    assert [row.file for row in problems] == ["parts"]
    assert image_set.ids.tolist() == ["1#1", "1#2", "2#1", "3#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 6, 20, 15], [4, 3, 8, 9], [0, 0, 40, 30]]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]


def test_json_min(tmp_path):
    box = {"x": 0, "y": 0, "width": 50, "height": 50, "rotation": 0, "rectanglelabels": ["cat"]}
    size = {"original_width": 40, "original_height": 30}
    end = {"annotator": 1, "annotation_id": 1, "created_at": "now", "lead_time": 1.5}
    tasks = [
        {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": [box | size], "weather": "sunny", **end},
        {"image": "2.jpg", "note": "1.jpg", "id": 2, "choice": {"choices": ["a", "b"]}, **end},
    ]
    images, problems = read_tasks(tmp_path, tasks)
    assert problems == []
    first, second = (image.boxes for image in images.values())
    assert [(one.box, one.classes, one.relative) for one in first] == [
        ((0, 0, 0.5, 0.5), ("cat",), True),
        (None, ("sunny",), False),
    ]
    assert [(one.box, one.classes) for one in second] == [(None, ("a", "b"))]
    assert [image.size for image in images.values()] == [(40, 30), None]


def test_choices_outlines_and_turned_rectangles(tmp_path):
    choices = [{"type": "choices", "value": {"choices": [one]}} for one in ("sea", "sun", "sea")]
    outline = {
        "type": "polygonlabels",
        "value": {"points": [[10, 20], [30, 0], [20, 50]], "polygonlabels": ["cat"]},
    }
    of_region = {"id": "r50-50", "value": {"x": 50, "y": 50, "width": 25, "height": 40, "choices": ["tame"]}}
    turned = region(50, 50, 25, 40, "dog")
    aside = region(50, 50, 10, 10, "fox", rotation=90)
    images, problems = read_tasks(tmp_path, [task("1.jpg", *choices, outline, turned, of_region, aside)])
    assert problems == []
    whole, cat, dog, fox = images["1"].boxes
    assert (whole.box, whole.classes) == (None, ("sea", "sun"))
    assert (cat.box, cat.classes) == ((0.1, 0, 0.3, 0.5), ("cat",))
    assert (dog.box, dog.classes) == ((0.5, 0.5, 0.75, 0.9), ("dog", "tame"))
    # 4 x 3 pixels from (20, 15), turned about that corner: from 17 to 20 and from 15 to 19
    assert fox.box == pytest.approx((17 / 40, 15 / 30, 20 / 40, 19 / 30))


def test_which_annotation_counts(tmp_path):
    def annotation(label, **more):
        return {"result": [region(0, 0, 50, 50, label)], **more}

    several = {
        "data": {"image": "1.jpg"},
        "annotations": [annotation("cat"), annotation("dog", ground_truth=True)],
    }
    given_up = {
        "data": {"image": "2.jpg"},
        "annotations": [annotation("cat", was_cancelled=True), annotation("fox")],
    }
    predicted = [{"result": [region(0, 0, 9, 9, "model")]}]
    images, problems = read_tasks(tmp_path, [several, given_up | {"predictions": predicted}])
    assert [image.boxes[0].classes for image in images.values()] == [("dog",), ("fox",)]
    check_rows(problems, ("a.json", "task 1: 2"))


def test_an_image_is_looked_up_and_never_followed(tmp_path):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    for image in (
        "https://host/photos/1.jpg?signature=a/2.jpg",
        "/data/upload/7/0a1b2c3d-1.jpg",
        "0a1b2c3d-1.jpg",
        "../../secret/1.jpg",
        "C:\\photos\\1.jpg",
        "gs://bucket/1.jpg",
        "/data/local-files/?d=../../1.jpg",
        "1",
    ):
        images, problems = read_tasks(tmp_path, [task(image, region(0, 0, 50, 50, "cat"))])
        assert (list(images), problems) == (["1"], []), image


def test_a_name_that_only_looks_uploaded_comes_first(tmp_path):
    images, _ = read_tasks(
        tmp_path, [task("0a1b2c3d-1.jpg", region(0, 0, 9, 9, "cat"))], "1.jpg", "0a1b2c3d-1.jpg"
    )
    assert list(images) == ["0a1b2c3d-1"]


def test_the_uploaded_name_helps_where_the_address_does_not(tmp_path):
    images, _ = read_tasks(
        tmp_path, [task("https://host/download", region(0, 0, 9, 9, "cat"), file_upload="0a1b2c3d-2.jpg")]
    )
    assert list(images) == ["2"]


def test_several_files_are_the_parts(tmp_path):
    second = [task("2.jpg", region(0, 0, 9, 9, "cat"))]
    files = {"train.json": [GOOD], "test.json": second, "1.jpg": None, "2.jpg": None}
    images, problems = read("Label Studio", lay(tmp_path / "x", files))
    assert {name: image.test for name, image in images.items()} == {"1": False, "2": True}
    assert problems == []


BAD_TASKS = [
    ("text", "'text'"),
    ({"data": {}}, "none"),
    ({"data": {"image": ["1.jpg"]}}, "none"),
    (task("x" * 5000), "none"),
    (task("gone.jpg"), "gone.jpg"),
    (task(SCRIPT), SCRIPT),
    (task("/etc/passwd"), "/etc/passwd"),
    (task("a\0b"), "a\N{REPLACEMENT CHARACTER}b"),
    (task(".."), ".."),
    (task("1.jpg"), "1.jpg"),
    ({"data": {"image": "2.jpg"}, "annotations": {}}, "an object of 0"),
    ({"data": {"image": "2.jpg"}, "annotations": [{"result": 7}]}, "7"),
]


def test_a_task_that_cannot_be_used_is_a_row(tmp_path):
    for bad, came in BAD_TASKS:
        images, problems = read_tasks(tmp_path, [GOOD, bad])
        assert list(images) == ["1"], bad
        check_rows(problems, ("a.json", f"task 2: {came}"))


BAD_RESULTS = [
    (7, "task 1: 7"),
    ({"value": []}, "task 1: an object of 1"),
    (region(0, 0, 9, 9), "result 2: an object of 10"),
    (region(0, 0, 9, 9, 7), "result 2: an object of 10"),
    ({"value": {"format": "rle", "brushlabels": ["cat"]}}, "result 2: an object of 2"),
    (region(0, 0, 9, "9", "cat"), "result 2: [0, 0, 9, '9']"),
    (region(0, 0, 9, True, "cat"), "result 2: [0, 0, 9, True]"),
    (region(0, 0, 9, 9, "cat") | {"image_rotation": 90}, "result 2: image_rotation 90"),
    ({"value": {"points": [], "polygonlabels": ["cat"]}}, "result 2: []"),
    ({"value": {"points": [[1]], "polygonlabels": ["cat"]}}, "result 2: [1]"),
    ({"value": region(0, 0, 9, 9, "cat", rotation=9)["value"]}, "result 2: 9"),
]


def test_a_result_that_cannot_be_used_is_a_row(tmp_path):
    for bad, came in BAD_RESULTS:
        images, problems = read_tasks(tmp_path, [task("1.jpg", region(0, 0, 50, 50, "cat"), bad)])
        assert len(images["1"].boxes) == 1, bad
        check_rows(problems, ("a.json", came))


def test_a_file_that_cannot_be_read(tmp_path):
    """What else is wrong with JSON: test_coco.py."""
    folder = tmp_path / "x"
    for content, came in (
        ('[{"id": 1, "annotations": [{"result": [', "a.json"),
        ('[{"result": 1}]', "task 1: none"),
        ('{"result": 1}', "no such file"),
    ):
        with refused(str(folder)) as caught:
            read("Label Studio", lay(folder, {"a.json": content, "1.jpg": b""}))
        assert came in caught.value.came


# ---------------------------------------------------------------------------------------------------------
# CSV
# ---------------------------------------------------------------------------------------------------------

END = {"annotator": 1, "annotation_id": 7, "created_at": "now", "updated_at": "now", "lead_time": 1.5}
SIZE = {"original_width": 40, "original_height": 30}
CAT = [{"x": 0, "y": 0, "width": 50, "height": 50, "rotation": 0, "rectanglelabels": ["cat"], **SIZE}]
DOG = [{"x": 10, "y": 20, "width": 10, "height": 30, "rotation": 0, "rectanglelabels": ["dog"], **SIZE}]


def as_csv(tasks):
    """As Label Studio writes it: text as it is, all else as JSON."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(tasks[0]))
    writer.writeheader()
    for one in tasks:
        writer.writerow({k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in one.items()})
    return file.getvalue()


def read_csv(root, text):
    return read("Label Studio", lay(root / "x", {"a.csv": text, "1.jpg": None, "2.jpg": None}))


@pytest.mark.parametrize("in_order", [list, sorted])
def test_csv_says_what_json_says(tmp_path, in_order):
    """Its columns are those of JSON-MIN, of some versions in the order of the alphabet."""
    tasks = [
        {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": CAT, **END},
        {"image": "/data/upload/1/0a1b2c3d-2.jpg", "id": 2, "label": CAT + DOG, **END},
    ]
    text = as_csv([{key: one[key] for key in in_order(one)} for one in tasks])
    images, problems = read_csv(tmp_path, text)
    assert problems == []
    assert detect(open_tree(tmp_path / "x"))[0].source == "Label Studio"
    assert images.keys() == {"1", "2"}
    as_json, _ = read_tasks(tmp_path / "json", tasks)
    for name, image in as_json.items():
        assert (images[name].boxes, images[name].size) == (image.boxes, image.size)
    assert [(box.box, box.classes) for box in images["2"].boxes] == [
        ((0, 0, 0.5, 0.5), ("cat",)),
        ((0.1, 0.2, 0.2, 0.5), ("dog",)),
    ]


@pytest.mark.parametrize("in_order", [list, sorted])
def test_choices_of_csv_are_labels_of_the_whole_image(tmp_path, in_order):
    tasks = [
        {"image": "1.jpg", "note": "by the sea", "id": 1, "choice": {"choices": ["sea", "sun"]}, **END},
        {"image": "2.jpg", "note": "in a wood", "id": 2, "choice": "wood", **END},
    ]
    text = as_csv([{key: one[key] for key in in_order(one)} for one in tasks])
    images, problems = read_csv(tmp_path, text)
    assert problems == []
    assert {name: [(box.box, box.classes) for box in image.boxes] for name, image in images.items()} == {
        "1": [(None, ("sea", "sun"))],
        "2": [(None, ("wood",))],
    }


def test_json_of_a_cell_that_cannot_be_read_is_a_row_of_the_report(tmp_path):
    tasks = [
        {"image": "1.jpg", "id": 1, "label": '[{"x": 0,', "weather": "sunny", **END},
        {"image": "2.jpg", "id": 2, "label": DOG, "weather": "", **END},
    ]
    images, problems = read_csv(tmp_path, as_csv(tasks) + "too,few\n")
    assert [[box.classes for box in image.boxes] for image in images.values()] == [[("sunny",)], [("dog",)]]
    check_rows(problems, ("a.csv", "line 2, label: "), ("a.csv", ""))
    assert "9 " in problems[1].expected
