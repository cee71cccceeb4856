"""Label Studio as it exports, and as strangers spoil it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from brought import build, lay, region, rows, some_label_studio, task
from zipped import zip_of

from ranking.datasets import make_source
from ranking.datasets.detection import detect
from ranking.intake import open_tree
from ranking.types import Problem, SourceImage

SCRIPT = "<script>alert(1)</script>"
INSIDE = "an image of that name in the folder or ZIP file"
GOOD = task("1.jpg", region(0, 0, 50, 50, "cat"))


def told(root, tasks, *names):
    """The images by name, and the problems but for parts that are drawn."""
    files = {"a.json": tasks, **dict.fromkeys(names or ("1.jpg", "2.jpg"))}
    records = list(make_source("Label Studio", folder=str(lay(root / "x", files))).records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    return images, [item for item in records if isinstance(item, Problem) and item.file != "parts"]


def test_rectangles(tmp_path):
    image_set, problems = build("Label Studio", some_label_studio(tmp_path / "pets"))
    assert [row.file for row in problems] == ["parts"]
    assert image_set.ids.tolist() == ["1#1", "1#2", "2#1", "3#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 6, 20, 15], [4, 3, 8, 9], [0, 0, 40, 30]]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_label_studio(tmp_path / "pets")
    packed, _ = build("Label Studio", zip_of(folder, tmp_path / "pets.zip", top))
    assert packed.key == build("Label Studio", folder)[0].key


def test_json_min(tmp_path):
    box = {"x": 0, "y": 0, "width": 50, "height": 50, "rotation": 0, "rectanglelabels": ["cat"]}
    size = {"original_width": 40, "original_height": 30}
    end = {"annotator": 1, "annotation_id": 1, "created_at": "now", "lead_time": 1.5}
    tasks = [
        {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": [box | size], "weather": "sunny", **end},
        {"image": "2.jpg", "note": "1.jpg", "id": 2, "choice": {"choices": ["a", "b"]}, **end},
    ]
    images, problems = told(tmp_path, tasks)
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
    images, problems = told(tmp_path, [task("1.jpg", *choices, outline, turned, of_region, aside)])
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
    images, problems = told(tmp_path, [several, given_up | {"predictions": predicted}])
    assert [image.boxes[0].classes for image in images.values()] == [("dog",), ("fox",)]
    assert rows(problems) == [
        (
            "a.json",
            "one annotation of every task",
            "task 1: 2",
            "the first is used, or the one that is the ground truth",
        )
    ]


@pytest.mark.parametrize(
    "image",
    [
        "https://host/photos/1.jpg?signature=a/2.jpg",
        "/data/upload/7/0a1b2c3d-1.jpg",
        "0a1b2c3d-1.jpg",
        "../../secret/1.jpg",
        "C:\\photos\\1.jpg",
        "gs://bucket/1.jpg",
        "/data/local-files/?d=../../1.jpg",
        "1",
    ],
)
def test_an_image_is_looked_up_and_never_followed(tmp_path, image):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    images, problems = told(tmp_path, [task(image, region(0, 0, 50, 50, "cat"))])
    assert (list(images), problems) == (["1"], [])


def test_a_name_that_only_looks_uploaded_comes_first(tmp_path):
    images, _ = told(tmp_path, [task("0a1b2c3d-1.jpg", region(0, 0, 9, 9, "cat"))], "1.jpg", "0a1b2c3d-1.jpg")
    assert list(images) == ["0a1b2c3d-1"]


def test_the_uploaded_name_helps_where_the_address_does_not(tmp_path):
    images, _ = told(
        tmp_path, [task("https://host/download", region(0, 0, 9, 9, "cat"), file_upload="0a1b2c3d-2.jpg")]
    )
    assert list(images) == ["2"]


def test_several_files_are_the_parts(tmp_path):
    files = {
        "train.json": [GOOD],
        "test.json": [task("2.jpg", region(0, 0, 9, 9, "cat"))],
        "1.jpg": None,
        "2.jpg": None,
    }
    image_set, problems = build("Label Studio", lay(tmp_path / "x", files))
    assert dict(zip(image_set.image_names.tolist(), image_set.image_test.tolist(), strict=True)) == {
        "1": False,
        "2": True,
    }
    assert problems == []


BAD_TASKS = [
    ("text", "tasks that are objects", "'text'"),
    ({"data": {}}, "the name of an image", "none"),
    ({"data": {"image": ["1.jpg"]}}, "the name of an image", "none"),
    (task("x" * 5000), "the name of an image", "none"),
    (task("gone.jpg"), INSIDE, "gone.jpg: none"),
    (task(SCRIPT), INSIDE, f"{SCRIPT}: none"),
    (task("/etc/passwd"), INSIDE, "/etc/passwd: none"),
    (task("a\0b"), INSIDE, "a\N{REPLACEMENT CHARACTER}b: none"),
    (task(".."), INSIDE, "..: none"),
    (task("1.jpg"), "one task for every image", "1.jpg again"),
    ({"data": {"image": "2.jpg"}, "annotations": {}}, "a list of annotations", "an object of 0"),
    ({"data": {"image": "2.jpg"}, "annotations": [{"result": 7}]}, "a list of results", "7"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "expected", "came"), BAD_TASKS)
def test_a_task_that_cannot_be_used_is_a_row(tmp_path, bad, expected, came):
    images, problems = told(tmp_path, [GOOD, bad])
    assert list(images) == ["1"]
    assert rows(problems) == [("a.json", expected, f"task 2: {came}", "task left out")]


NO_LABELS = "rectangles or outlines with labels, or choices"
NOT_TURNED = "an image that was not turned to be labelled"
SIZED = "a turned rectangle with original_width and original_height"
BAD_RESULTS = [
    (7, "results with a value", "task 1: 7"),
    ({"value": []}, "results with a value", "task 1: an object of 1"),
    (region(0, 0, 9, 9), NO_LABELS, "task 1, result 2: an object of 10"),
    (region(0, 0, 9, 9, 7), NO_LABELS, "task 1, result 2: an object of 10"),
    ({"value": {"format": "rle", "brushlabels": ["cat"]}}, NO_LABELS, "task 1, result 2: an object of 2"),
    (region(0, 0, 9, "9", "cat"), "x, y, width and height in percent", "task 1, result 2: [0, 0, 9, '9']"),
    (region(0, 0, 9, True, "cat"), "x, y, width and height in percent", "task 1, result 2: [0, 0, 9, True]"),
    (region(0, 0, 9, 9, "cat") | {"image_rotation": 90}, NOT_TURNED, "task 1, result 2: image_rotation 90"),
    ({"value": {"points": [], "polygonlabels": ["cat"]}}, "points of x and y in percent", "task 1, result 2: []"),
    ({"value": {"points": [[1]], "polygonlabels": ["cat"]}}, "points of x and y in percent", "task 1, result 2: [1]"),
    ({"value": region(0, 0, 9, 9, "cat", rotation=9)["value"]}, SIZED, "task 1, result 2: 9"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "expected", "came"), BAD_RESULTS)
def test_a_result_that_cannot_be_used_is_a_row(tmp_path, bad, expected, came):
    images, problems = told(tmp_path, [task("1.jpg", region(0, 0, 50, 50, "cat"), bad)])
    assert len(images["1"].boxes) == 1
    assert rows(problems) == [("a.json", expected, came, "annotation left out")]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 10**400, -50])
def test_numbers_that_make_no_box_are_the_builders(tmp_path, bad):
    tasks = [task("1.jpg", region(0, 0, 50, 50, "cat"), region(0, 0, bad, 9, "cat"))]
    image_set, problems = build("Label Studio", lay(tmp_path / "x", {"a.json": tasks, "1.jpg": None}))
    assert image_set.ids.tolist() == ["1#1"]
    assert "1.jpg" in [row.file for row in problems]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1, "annotations": [{"result": [', "expected JSON that can be read, got Expecting value"),
        ('[{"result": ' + "[" * 100_000, "expected JSON of a few levels, got one nested too deep"),
        (
            '[{"result": 1}]',
            "no image is listed. a.json: expected the name of an image, got task 1: none",
        ),
        ('{"result": 1}', "has no such file"),
        (b'[{"result": "\xff"}]', "expected JSON in UTF-8, got byte 13 of another kind"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        build("Label Studio", lay(tmp_path / "x", {"a.json": content, "1.jpg": None}))


def test_recognised(tmp_path):
    (detected,) = detect(open_tree(some_label_studio(tmp_path / "x")))
    assert detected.source == "Label Studio"
    assert (
        detected.recognised.why == "project.json begins as tasks of Label Studio do, and there are 3 images"
    )


def test_mutated_json(tmp_path):
    folder = lay(
        tmp_path / "x", {"b.json": [task("2.jpg", region(0, 0, 9, 9, "cat"))], "1.jpg": None, "2.jpg": None}
    )
    good, random, found = json.dumps([GOOD]).encode(), np.random.default_rng(0), 0
    for _ in range(60):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 6)):
            data[place] = random.integers(32, 127)
        (folder / "a.json").write_bytes(data)
        records = list(make_source("Label Studio", folder=str(folder)).records())
        found += sum(isinstance(item, SourceImage) for item in records) == 2
    assert 2 < found < 60


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


def of_csv(root, text):
    files = {"a.csv": text, "1.jpg": None, "2.jpg": None}
    folder = lay(root / "x", files)
    first = detect(open_tree(folder))[0]
    records = list(make_source("Label Studio", folder=str(folder)).records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    problems = [item for item in records if isinstance(item, Problem) and item.file != "parts"]
    return first, images, problems


@pytest.mark.parametrize("in_order", [list, sorted])
def test_csv_says_what_json_says(tmp_path, in_order):
    """Its columns are those of JSON-MIN, of some versions in the order of the alphabet."""
    tasks = [
        {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": CAT, **END},
        {"image": "/data/upload/1/0a1b2c3d-2.jpg", "id": 2, "label": CAT + DOG, **END},
    ]
    text = as_csv([{key: one[key] for key in in_order(one)} for one in tasks])
    first, images, problems = of_csv(tmp_path, text)
    assert problems == []
    assert (first.source, first.recognised.why) == (
        "Label Studio",
        "a.csv begins as tasks of Label Studio do, and there are 2 images",
    )
    assert images.keys() == {"1", "2"}
    as_json, _ = told(tmp_path / "json", tasks)
    assert {name: (one.boxes, one.size) for name, one in images.items()} == {
        name: (one.boxes, one.size) for name, one in as_json.items()
    }
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
    _, images, problems = of_csv(tmp_path, text)
    assert problems == []
    found = {name: [(box.box, box.classes) for box in one.boxes] for name, one in images.items()}
    assert found == {"1": [(None, ("sea", "sun"))], "2": [(None, ("wood",))]}


def test_json_of_a_cell_that_cannot_be_read_is_a_row_of_the_report(tmp_path):
    tasks = [
        {"image": "1.jpg", "id": 1, "label": '[{"x": 0,', "weather": "sunny", **END},
        {"image": "2.jpg", "id": 2, "label": DOG, "weather": "", **END},
    ]
    _, images, problems = of_csv(tmp_path, as_csv(tasks) + "too,few\n")
    assert [[box.classes for box in one.boxes] for one in images.values()] == [[("sunny",)], [("dog",)]]
    assert [(row.file, row.expected, row.done) for row in problems] == [
        ("a.csv", "JSON that can be read", "annotation left out"),
        ("a.csv", "9 cells in every row", "task left out"),
    ]
    assert problems[0].came.startswith("line 2, label: ")
