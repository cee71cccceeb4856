"""What COCO and Label Studio have of their own. What they have in common with other formats: test_formats.py."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from brought import box, build, check_rows, coco, lay, read, region, some_coco, task

from ranking.files import open_tree
from ranking.formats import coco as coco_source
from ranking.formats.detection import detect

# ------------------------------------------------------------------------------------------------ COCO

GOOD = box(1, 1, [0, 0, 20, 15])


def spoilt(root, *annotations, images=("1.jpg",), names=("1.jpg",), **more):
    """A folder of one file of COCO, with a good annotation before `annotations`, and of images of these names."""
    return lay(root, {"a.json": coco(images, [GOOD, *annotations], **more), **dict.fromkeys(names)})


@pytest.mark.parametrize(("crowd", "boxes"), [("leave out", 1), ("keep", 2)])
def test_crowds(tmp_path, crowd, boxes):
    images, problems = read("COCO", spoilt(tmp_path, box(1, 1, [0, 0, 9, 9], iscrowd=1)), crowd=crowd)
    assert len(images["1"].boxes) == boxes
    check_rows(problems, ("1 box", "iscrowd 1"))


def test_numbers_that_make_no_box_are_left_to_the_builder(tmp_path):
    widths = (math.nan, 10**400, -(10**400), -5)
    images, problems = read("COCO", spoilt(tmp_path / "x", *(box(1, 1, [0, 0, x, 9]) for x in widths)))
    assert problems == []
    read_widths = [item.box[2] for item in images["1"].boxes[1:]]
    assert read_widths == pytest.approx([math.nan, math.inf, -math.inf, -5], nan_ok=True)


def test_rows_of_one_kind_are_counted(tmp_path):
    _, problems = read(
        "COCO", spoilt(tmp_path, *(box(number, 1, [0, 0, 9, 9]) for number in range(10, 2010)))
    )
    check_rows(problems, ("a.json", "2,000", "image_id 10", "image_id 11", "image_id 12"))
    assert "image_id 13" not in problems[0].came


def test_images_and_categories_that_cannot_be_used(tmp_path):
    images = ["1.jpg", {"id": 1, "file_name": "again.jpg"}, {"id": None}, [], "1.jpg"]
    categories = ["cat", {"id": 2, "name": 7}, {"name": "no id"}, {"id": 3, "name": "dog"}]
    boxes = [box(1, number, [0, 0, 9, 9]) for number in (2, 3)]
    read_images, problems = read("COCO", spoilt(tmp_path, *boxes, images=images, categories=categories))
    assert [item.classes for item in read_images["1"].boxes] == [("cat",), ("dog",)]
    check_rows(
        problems,
        ("a.json", "1 again"),
        ("a.json", "2", "an object of 1", "[]"),
        ("a.json", "image 1, box 2: 2"),
        ("a.json", "1.jpg again"),
    )


def test_the_size_that_is_claimed(tmp_path):
    sizes = [{"width": 80, "height": 60}, {"width": "forty", "height": 30}]
    images = [{"id": number, "file_name": f"{number}.jpg", **size} for number, size in enumerate(sizes, 1)]
    read_images, _ = read("COCO", spoilt(tmp_path, images=images, names=("1.jpg", "2.jpg")))
    assert [image.size for image in read_images.values()] == [(80, 60), None]


def test_one_bad_file_of_two_is_a_row(tmp_path):
    folder = some_coco(tmp_path / "x")
    (folder / "annotations/instances_val2017.json").write_text('{"images": [')
    (folder / "annotations/instances_test2017.json").symlink_to("nothing")  # is not recognised
    images, problems = read("COCO", folder)
    assert len(images) == 2
    check_rows(problems, ("annotations/instances_val2017.json",))


def test_a_list_of_images_may_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr(coco_source, "SMALL", 300)
    late = {"info": {"description": "x" * 400}, **coco(["1.jpg"], [GOOD])}
    (detected,) = detect(open_tree(lay(tmp_path / "x", {"a.json": late, "1.jpg": None})))
    assert detected.source == "COCO"


def test_frames_of_a_video_are_a_group_and_drawn_for_the_test_together(tmp_path):
    names = [f"{number}.jpg" for number in range(9)]
    frames = [
        {"id": number, "file_name": name, "width": 40, "height": 30, "video_id": number // 3}
        for number, name in enumerate(names)
    ]
    content = coco(frames, [box(number, 1, [0, 0, 9, 9]) for number in range(9)])
    image_set, problems = build("COCO", lay(tmp_path / "x", {"a.json": content} | dict.fromkeys(names)))
    assert image_set.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sorted(image_set.test.reshape(3, 3).sum(axis=1).tolist()) in ([0, 0, 3], [0, 3, 3])
    check_rows(problems, ("parts",))
    assert all(part in problems[0].done for part in ("40%", "9", "seed 0"))


# ---------------------------------------------------------------------------------------- Label Studio

# What stands after what an annotator has said.
END = {"annotator": 1, "annotation_id": 7, "created_at": "now", "updated_at": "now", "lead_time": 1.5}


def shape(x, y, width, height, label):
    """A rectangle of JSON-MIN."""
    told = region(x, y, width, height, label)
    return {**told["value"], "original_width": 40, "original_height": 30}


def read_tasks(root, tasks, *names):
    """The images by name, and the problems but for parts that are drawn."""
    files = {"a.json": tasks, **dict.fromkeys(names or ("1.jpg", "2.jpg"))}
    return read("Label Studio", lay(root / "x", files))


CHOICES = [{"type": "choices", "value": {"choices": [one]}} for one in ("sea", "sun", "sea")]
OUTLINE = {"value": {"points": [[10, 20], [30, 0], [20, 50]], "polygonlabels": ["cat"]}}
OF_REGION = {"id": "r50-50", "value": {"x": 50, "y": 50, "width": 25, "height": 40, "choices": ["tame"]}}
MINIMAL = {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": [shape(0, 0, 50, 50, "cat")]}
HALF = (0, 0, 0.5, 0.5)


def annotation(label, **more):
    return {"result": [region(0, 0, 50, 50, label)], **more}


TASKS = {
    "choices, outlines and several results of one region": (
        task("1.jpg", *CHOICES, OUTLINE, region(50, 50, 25, 40, "dog"), OF_REGION),
        [(None, ("sea", "sun")), ((0.1, 0, 0.3, 0.5), ("cat",)), ((0.5, 0.5, 0.75, 0.9), ("dog", "tame"))],
        [],
    ),
    # 4 x 3 pixels from (20, 15), turned about that corner: from 17 to 20 and from 15 to 19
    "turned": (
        task("1.jpg", region(50, 50, 10, 10, "fox", rotation=90)),
        [(pytest.approx((17 / 40, 15 / 30, 20 / 40, 19 / 30)), ("fox",))],
        [],
    ),
    "the ground truth counts": (
        {
            "data": {"image": "1.jpg"},
            "annotations": [annotation("cat"), annotation("dog", ground_truth=True)],
        },
        [(HALF, ("dog",))],
        ["task 1: 2"],
    ),
    "what was given up or predicted does not": (
        {
            "data": {"image": "1.jpg"},
            "annotations": [annotation("cat", was_cancelled=True), annotation("fox")],
            "predictions": [{"result": [region(0, 0, 9, 9, "model")]}],
        },
        [(HALF, ("fox",))],
        [],
    ),
    "JSON-MIN": (MINIMAL | {"weather": "sunny"} | END, [(HALF, ("cat",)), (None, ("sunny",))], []),
    "JSON-MIN with choices and a note": (
        {"image": "1.jpg", "note": "2.jpg", "id": 2, "choice": {"choices": ["a", "b"]}, **END},
        [(None, ("a", "b"))],
        [],
    ),
}


@pytest.mark.parametrize("what", TASKS)
def test_what_tasks_say_of_images(tmp_path, what):
    one, boxes, came = TASKS[what]
    images, problems = read_tasks(tmp_path, [one])
    assert [(box.box, box.classes) for box in images["1"].boxes] == boxes
    assert all(box.relative == (box.box is not None) for box in images["1"].boxes)
    assert [row.came for row in problems] == came


@pytest.mark.parametrize(
    ("image", "uploaded", "names", "found"),
    [
        ("0a1b2c3d-1.jpg", None, ("1.jpg", "0a1b2c3d-1.jpg"), "0a1b2c3d-1"),  # it only looks uploaded
        ("https://host/download", "0a1b2c3d-2.jpg", ("1.jpg", "2.jpg"), "2"),
    ],
)
def test_the_likeliest_name_comes_first(tmp_path, image, uploaded, names, found):
    one = task(image, region(0, 0, 9, 9, "cat"), file_upload=uploaded)
    assert list(read_tasks(tmp_path, [one], *names)[0]) == [found]


def test_an_image_that_comes_again_is_a_row(tmp_path):
    good = task("1.jpg", region(0, 0, 50, 50, "cat"))
    images, problems = read_tasks(tmp_path, [good, task("1.jpg")])
    assert len(images["1"].boxes) == 1
    check_rows(problems, ("a.json", "task 2: 1.jpg again"))


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
    cat, dog = shape(0, 0, 50, 50, "cat"), shape(10, 20, 10, 30, "dog")
    for number, tasks in enumerate(
        (
            [
                {"image": "/data/upload/1/0a1b2c3d-1.jpg", "id": 1, "label": [cat], **END},
                {"image": "/data/upload/1/0a1b2c3d-2.jpg", "id": 2, "label": [cat, dog], **END},
            ],
            [
                {"image": "1.jpg", "note": "by the sea", "id": 1, "choice": {"choices": ["sea"]}, **END},
                {"image": "2.jpg", "note": "in a wood", "id": 2, "choice": "wood", **END},
            ],
        )
    ):
        text = as_csv([{key: one[key] for key in in_order(one)} for one in tasks])
        images, problems = read_csv(tmp_path / f"{number}", text)
        assert problems == []
        assert all(image.boxes for image in images.values())
        assert {image.size for image in images.values()} == {(40, 30) if number == 0 else None}
        assert detect(open_tree(tmp_path / f"{number}" / "x"))[0].source == "Label Studio"
        as_json, _ = read_tasks(tmp_path / f"json {number}", tasks)
        assert {name: (image.boxes, image.size) for name, image in images.items()} == {
            name: (image.boxes, image.size) for name, image in as_json.items()
        }


def test_json_of_a_cell_that_cannot_be_read_is_a_row_of_the_report(tmp_path):
    dog = [shape(10, 20, 10, 30, "dog")]
    tasks = [
        {"image": "1.jpg", "id": 1, "label": '[{"x": 0,', "weather": "sunny", **END},
        {"image": "2.jpg", "id": 2, "label": dog, "weather": "", **END},
    ]
    images, problems = read_csv(tmp_path, as_csv(tasks) + "too,few\n")
    assert [[box.classes for box in image.boxes] for image in images.values()] == [[("sunny",)], [("dog",)]]
    check_rows(problems, ("a.csv", "line 2, label: "), ("a.csv", ""))
    assert "9 " in problems[1].expected
