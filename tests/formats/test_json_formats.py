"""What is special about COCO; test_formats.py tests what it has in common with other formats."""

from __future__ import annotations

import math

import pytest
from example_coco import box, coco, some_coco
from import_folders import build, check_rows, lay, read

from ranking.files import open_tree
from ranking.formats import coco as coco_source
from ranking.formats.tree_source import detect

# ------------------------------------------------------------------------------------------------ COCO

GOOD = box(1, 1, [0, 0, 20, 15])


def spoilt(root, *annotations, images=("1.jpg",), names=("1.jpg",), **more):
    """A folder of one COCO file, with a good annotation before `annotations`, and of named images."""
    return lay(root, {"a.json": coco(images, [GOOD, *annotations], **more), **dict.fromkeys(names)})


@pytest.mark.parametrize(("crowd", "boxes"), [("leave out", 1), ("keep", 2)])
def test_crowd_boxes_are_read_or_ignored_by_the_setting(tmp_path, crowd, boxes):
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


def test_the_annotated_image_size_is_read_if_it_is_valid(tmp_path):
    sizes = [{"width": 80, "height": 60}, {"width": "forty", "height": 30}]
    images = [{"id": number, "file_name": f"{number}.jpg", **size} for number, size in enumerate(sizes, 1)]
    read_images, _ = read("COCO", spoilt(tmp_path, images=images, names=("1.jpg", "2.jpg")))
    assert [image.size for image in read_images.values()] == [(80, 60), None]


def test_an_unreadable_file_of_several_is_reported_in_one_row(tmp_path):
    folder = some_coco(tmp_path / "x")
    (folder / "annotations/instances_val2017.json").write_text('{"images": [')
    # is not recognised
    (folder / "annotations/instances_test2017.json").symlink_to("nothing")
    images, problems = read("COCO", folder)
    assert len(images) == 2
    check_rows(problems, ("annotations/instances_val2017.json",))


def test_a_list_of_images_may_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr(coco_source, "SMALL", 300)
    late = {"info": {"description": "x" * 400}, **coco(["1.jpg"], [GOOD])}
    [source] = detect(open_tree(lay(tmp_path / "x", {"a.json": late, "1.jpg": None})))
    assert source == "COCO"


def test_frames_of_a_video_are_a_group_and_test_images_together(tmp_path):
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
