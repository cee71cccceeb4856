"""What is special about COCO; test_formats.py tests what it has in common with other formats."""

from __future__ import annotations

import math

import pytest
from example_coco import box, coco, some_coco
from import_folders import build, check_rows, lay, read
from refusals import refused

from ranking.datasets import make_source
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
        ("a.json", "2", "an object of id", "[]"),
        ("a.json", "image 1, box 2: 2"),
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
    check_rows(
        problems,
        ("annotations/instances_val2017.json",),
        ("1 image", "val2017/1.jpg"),
        ("files: 2 .json", "annotations/instances_test2017.json"),
    )


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
    check_rows(problems, ("test split",))
    assert all(part in problems[0].done for part in ("40%", "9", "seed 0"))


# ---------------------------------------------------------------------------- COCO as people write it

NAMES = ("1.jpg", "2.jpg")


def decided(folder, **settings):
    source = make_source("COCO", folder=str(folder), **settings)
    list(source.records())
    return {row.about: row for row in source.decisions()}


def of_two(root, content, **more):
    return lay(root, {"a.json": content, **dict.fromkeys(NAMES), **more})


def test_ids_of_mixed_types_are_the_same(tmp_path):
    for number, (image, category) in enumerate([("1", "1"), (1.0, "1.0"), ("1.0", 1)]):
        content = coco(NAMES, [box(image, category, [0, 0, 20, 15]), box(2, 2, [0, 0, 9, 9])])
        images, problems = read("COCO", of_two(tmp_path / f"{number}", content))
        assert [item.classes for image in images.values() for item in image.boxes] == [("cat",), ("dog",)]
        assert problems == []


def test_other_keys_name_an_image(tmp_path):
    rows = [
        {"id": 1, "filename": "1.jpg"},
        {"id": 2, "flickr_url": "https://a.b/x_y.jpg", "coco_url": "https://a.b/val2017/2.jpg?size=3"},
        {"id": 3, "photo": "gone.jpg"},
        {"id": 4, "note": "no name"},
    ]
    content = coco(rows, [box(1, 1, [0, 0, 9, 9]), box(2, 2, [0, 0, 9, 9])])
    folder = of_two(tmp_path / "x", content)
    images, problems = read("COCO", folder)
    assert [item.boxes[0].classes for item in images.values()] == [("cat",), ("dog",)]
    check_rows(problems, ("a.json", "an object of id, note"), ("a.json", "gone.jpg"))
    assert "not by file_name" in decided(folder)["file names"].chosen


def test_an_outline_without_a_box_has_a_bounding_box(tmp_path):
    runs = {"size": [30, 40], "counts": [5 + 30 * 2, 3, 27, 3, 1200 - 98]}
    outlines = [[[10, 5, 20, 5, 20, 15]], [10, 5, 20, 5, 20, 15], runs, {"size": [30, 40], "counts": "oops"}]
    rows = [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": outline} for outline in outlines]
    images, problems = read("COCO", of_two(tmp_path / "x", coco(NAMES, [*rows, box(2, 1, [0, 0, 9, 9])])))
    assert [item.box for item in images["1"].boxes] == [(10, 5, 20, 15), (10, 5, 20, 15), (2, 5, 4, 8)]
    check_rows(problems, ("a.json", "image 1, box 4"))


def test_annotations_without_any_box_are_of_whole_images(tmp_path):
    rows = [
        {"id": 1, "image_id": image, "category_id": category} for image, category in ((1, 1), (1, 2), (2, 2))
    ]
    folder = of_two(tmp_path / "x", coco(NAMES, rows))
    images, problems = read("COCO", folder)
    assert [[(item.box, item.classes) for item in image.boxes] for image in images.values()] == [
        [(None, ("cat", "dog"))],
        [(None, ("dog",))],
    ]
    assert problems == []
    assert decided(folder)["boxes"].chosen == "whole images"
    images, problems = read("COCO", of_two(tmp_path / "y", coco(NAMES, [*rows, box(1, 1, [0, 0, 9, 9])])))
    assert [item.box for image in images.values() for item in image.boxes] == [(0, 0, 9, 9)]
    check_rows(problems, ("a.json", "3 times"))


def test_crowds_are_kept_where_all_boxes_are_crowds(tmp_path):
    content = coco(NAMES, [box(image, 1, [0, 0, 9, 9], iscrowd=1) for image in (1, 2)])
    folder = of_two(tmp_path / "x", content)
    images, problems = read("COCO", folder)
    assert [len(image.boxes) for image in images.values()] == [1, 1]
    check_rows(problems, ("2 boxes", "iscrowd 1"))
    assert decided(folder)["boxes with iscrowd"].alternatives == ("leave out",)
    with refused(str(folder)) as caught:
        read("COCO", folder, crowd="leave out")
    assert caught.value.remedy == "set crowd to keep"


def test_the_boxes_of_an_image_that_is_listed_twice_belong_together(tmp_path):
    rows = [{"id": number, "file_name": name} for number, name in enumerate(("1.jpg", "1.jpg", "2.jpg"), 1)]
    boxes = [
        box(1, 1, [0, 0, 9, 9]),
        box(2, 1, [0, 0, 9, 9]),
        box(2, 2, [5, 5, 9, 9]),
        box(3, 1, [0, 0, 9, 9]),
    ]
    folder = of_two(tmp_path / "x", coco(rows, boxes))
    images, problems = read("COCO", folder)
    assert [item.classes for item in images["1"].boxes] == [("cat",), ("dog",)]
    assert problems == []
    assert "1 repeated box" in decided(folder)["images listed several times"].evidence


def test_files_of_the_parts_beside_a_file_of_all_are_the_split(tmp_path):
    names = [f"{number}.jpg" for number in range(1, 6)]

    def of(numbers):
        rows = [{"id": number, "file_name": names[number - 1]} for number in numbers]
        return coco(rows, [box(number, 1, [0, 0, 9, 9]) for number in numbers])

    parts = {
        "all.json": of(range(1, 6)),
        "all_train.json": of([1, 2]),
        "all_val.json": of([3]),
        "all_test.json": of([4, 5]),
    }
    images, problems = read("COCO", lay(tmp_path / "x", parts | dict.fromkeys(names)))
    assert [name for name, image in images.items() if image.test] == ["4", "5"]
    assert [len(image.boxes) for image in images.values()] == [1] * 5
    assert problems == []


def test_categories_that_are_missing_are_numbers(tmp_path):
    content = coco(NAMES, [box(1, 1, [0, 0, 9, 9]), box(2, "7", [0, 0, 9, 9])], categories=[])
    folder = of_two(tmp_path / "x", content)
    images, _ = read("COCO", folder)
    assert [image.boxes[0].classes for image in images.values()] == [("category 1",), ("category 7",)]
    assert "no categories" in decided(folder)["classes"].evidence


def test_boxes_of_another_format_are_recognised_by_all_of_them(tmp_path):
    corners = [[10, 5, 39, 29], [20, 15, 38, 28]]
    shares = [[0.25, 0.5, 0.5, 0.5], [0, 0, 1, 0.1]]
    for name, boxes, first in [
        ("corners", corners, (10, 5, 39, 29)),
        ("shares", shares, (0.25, 0.5, 0.75, 1.0)),
    ]:
        folder = of_two(
            tmp_path / name, coco(NAMES, [box(image, 1, edges) for image, edges in enumerate(boxes, 1)])
        )
        images, _ = read("COCO", folder)
        assert (images["1"].boxes[0].box, images["1"].boxes[0].relative) == (first, name == "shares")
        row = decided(folder)["box format"]
        assert (row.chosen, "corner and size" in row.alternatives) == (name, True)
        images, _ = read("COCO", folder, box_format="corner and size")
        assert images["1"].boxes[0].box[2] == boxes[0][0] + boxes[0][2]


def test_a_file_without_boxes_labels_whole_images_and_boxes_of_another_file_have_priority(tmp_path):
    def label(image, category):
        return {"id": image, "image_id": image, "category_id": category}

    names = ["1.jpg", "2.jpg", "3.jpg"]
    files = {
        "labels.json": coco(names, [label(1, 1), label(2, 1), label(2, 2), label(3, 2)]),
        "boxes.json": coco(names, [box(2, 1, [5, 5, 9, 9]), label(3, 1)]),
    }
    images, problems = read("COCO", lay(tmp_path / "x", files | dict.fromkeys(names)))
    boxes = {name: [(one.box, one.classes) for one in image.boxes] for name, image in images.items()}
    assert boxes == {
        "1": [(None, ("cat",))],
        "2": [((5, 5, 14, 14), ("cat",))],
        "3": [(None, ("dog",))],
    }
    check_rows(problems, ("boxes.json", "3.jpg, annotation 1"), ("labels.json", "2.jpg: dog"))
    row = decided(tmp_path / "x")["boxes"]
    assert (row.chosen, row.evidence) == (
        "whole images",
        "none of 4 annotations in labels.json has a box or an outline",
    )


def test_boxes_beyond_the_stated_size_belong_to_the_upright_image(tmp_path):
    upright = [box(1, 1, [5, 25, 20, 14]), box(2, 1, [0, 0, 9, 9])]
    tool = {"info": {"contributor": "Label Studio"}}
    for number, content in enumerate(
        [coco(NAMES, upright), coco(NAMES, upright[1:]) | tool, coco(NAMES, upright[1:])]
    ):
        folder = of_two(tmp_path / f"{number}", content)
        images, _ = read("COCO", folder)
        assert {image.upright for image in images.values()} == {None if number == 2 else True}
        assert ("rotated photographs" in decided(folder)) == (number < 2)
