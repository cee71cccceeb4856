"""COCO as tools export it, and as strangers spoil it."""

from __future__ import annotations

import json
import math

import pytest
from brought import box, build, check_rows, coco, lay, read, some_coco
from refusals import refused

from ranking.datasets import coco as coco_source
from ranking.datasets import json_file
from ranking.datasets.detection import detect
from ranking.intake import open_tree

SCRIPT = "<script>alert(1)</script>"
GOOD = box(1, 1, [0, 0, 20, 15])


def spoilt(root, *annotations, images=("1.jpg",), names=("1.jpg",), **more):
    """A folder of one file of COCO, with a good annotation before `annotations`, and of images of these names."""
    return lay(root, {"a.json": coco(images, [GOOD, *annotations], **more), **dict.fromkeys(names)})


def test_parts(tmp_path):
    image_set, problems = build("COCO", some_coco(tmp_path / "pets"))
    assert problems == []
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["train2017/1#1", "train2017/1#2", "train2017/2#1", "val2017/1#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]
    (detected,) = detect(open_tree(tmp_path / "pets"))
    assert all(part in detected.recognised.why for part in ("_train2017.json", "_val2017.json", "3 images"))


@pytest.mark.parametrize(
    ("labels", "images"),
    [
        ("labels.json", "data/1.jpg"),
        ("_annotations.coco.json", "1.jpg"),
        ("a/instances_default.json", "images/1.jpg"),
    ],
    ids=["FiftyOne", "Roboflow", "CVAT"],
)
def test_exports(tmp_path, labels, images):
    content = coco(["1.jpg", "2.jpg"], [box(1, 1, [0, 0, 9, 9]), box(2, 2, [0, 0, 9, 9])])
    files = {labels: content, images: None, images.replace("1.jpg", "2.jpg"): None}
    image_set, problems = build("COCO", lay(tmp_path / "x", files))
    assert image_set.ids.tolist() == ["1#1", "2#1"]
    check_rows(problems, ("parts",))
    assert all(part in problems[0].done for part in ("40%", "2", "seed 0"))


@pytest.mark.parametrize(("crowd", "boxes"), [("leave out", 1), ("keep", 2)])
def test_crowds(tmp_path, crowd, boxes):
    images, problems = read("COCO", spoilt(tmp_path, box(1, 1, [0, 0, 9, 9], iscrowd=1)), crowd=crowd)
    assert len(images["1"].boxes) == boxes
    check_rows(problems, ("1 box", "iscrowd 1"))


def test_an_annotation_that_cannot_be_used_is_a_row(tmp_path):
    bad = [
        (box(9, 1, [0, 0, 9, 9]), "image_id 9"),
        (box([1], 1, [0, 0, 9, 9]), "image_id [1]"),
        (box(True, 1, [0, 0, 9, 9]), "image_id True"),
        ("no object", "image_id None"),
        (box(1, 7, [0, 0, 9, 9]), "image 1, box 2: 7"),
        (box(1, {"a": 1}, [0, 0, 9, 9]), "image 1, box 2: an object of 1"),
        (box(1, 1, None), "image 1, box 2: None"),
        (box(1, 1, [0, 0, 9]), "image 1, box 2: [0, 0, 9]"),
        (box(1, 1, [0, 0, 9, "9"]), "image 1, box 2: [0, 0, 9, '9']"),
        (box(1, 1, [0, 0, 9, True]), "image 1, box 2: [0, 0, 9, True]"),
    ]
    for annotation, came in bad:
        images, problems = read("COCO", spoilt(tmp_path, annotation))
        assert [item.box for item in images["1"].boxes] == [(0, 0, 20, 15)]
        check_rows(problems, ("a.json", came))


def test_numbers_that_make_no_box_are_the_builders(tmp_path):
    widths = (math.nan, math.inf, 10**400, -5)
    image_set, problems = build("COCO", spoilt(tmp_path / "x", *(box(1, 1, [0, 0, x, 9]) for x in widths)))
    assert image_set.ids.tolist() == ["1#1"]
    shown = zip(range(2, 6), ("nan", "inf", "inf", "-5"), strict=True)
    rows = [row for row in problems if row.file == "1.jpg"]
    check_rows(rows, *(("1.jpg", f"box {number}: 0, 0, {text}, 9") for number, text in shown))


def test_rows_of_one_kind_are_counted(tmp_path):
    _, problems = read(
        "COCO", spoilt(tmp_path, *(box(number, 1, [0, 0, 9, 9]) for number in range(10, 2010)))
    )
    check_rows(problems, ("a.json", "2,000", "image_id 10", "image_id 11", "image_id 12"))
    assert "image_id 13" not in problems[0].came


def test_images_and_categories_that_cannot_be_used(tmp_path):
    images = ["1.jpg", {"id": 1, "file_name": "again.jpg"}, {"id": None}, [], "gone.jpg"]
    categories = ["cat", {"id": 2, "name": 7}, {"name": "no id"}, {"id": 3, "name": f"cat {SCRIPT}"}]
    boxes = [box(1, number, [0, 0, 9, 9]) for number in (2, 3)]
    read_images, problems = read("COCO", spoilt(tmp_path, *boxes, images=images, categories=categories))
    assert [item.classes for item in read_images["1"].boxes] == [("cat",), (f"cat {SCRIPT}",)]
    check_rows(
        problems,
        ("a.json", "1 again"),
        ("a.json", "2", "an object of 1", "[]"),
        ("a.json", "image 1, box 2: 2"),
        ("a.json", "gone.jpg"),
    )


def test_the_size_that_is_claimed(tmp_path):
    sizes = [{"width": 80, "height": 60}, {"width": "forty", "height": 30}]
    images = [{"id": number, "file_name": f"{number}.jpg", **size} for number, size in enumerate(sizes, 1)]
    read_images, _ = read("COCO", spoilt(tmp_path, images=images, names=("1.jpg", "2.jpg")))
    assert [image.size for image in read_images.values()] == [(80, 60), None]


def test_a_file_name_is_looked_up_and_never_followed(tmp_path):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    for name in (
        "../../secret/1.jpg",
        "/etc/1.jpg",
        "C:\\photos\\1.jpg",
        "./1.jpg",
        "elsewhere/images/1.jpg",
    ):
        folder = spoilt(tmp_path / "x", images=[name], names=["images/1.jpg"])
        images, problems = read("COCO", folder)
        assert (list(images), problems) == (["1"], []), name
        assert images["1"].data.name == "images/1.jpg"
    for name in ("", "..", "a\0b", "n" * 5000, SCRIPT, "/etc/passwd", "a.json"):
        images, problems = read("COCO", spoilt(tmp_path / "y", images=["1.jpg", name]))
        assert list(images) == ["1"], name
        check_rows(problems, ("a.json",))
        assert problems[0].came.isprintable()
        assert len(problems[0].came) <= 80


def test_a_name_of_two_images_is_neither(tmp_path):
    content = coco(["1.jpg", "b/2.jpg"], [GOOD, box(2, 1, [0, 0, 9, 9])])
    names = ["a/1.jpg", "b/1.jpg", "a/2.jpg", "b/2.jpg"]
    images, problems = read("COCO", lay(tmp_path / "x", {"j/a.json": content, **dict.fromkeys(names)}))
    assert list(images) == ["2"]
    check_rows(problems, ("j/a.json", "1.jpg: 2"))


def test_a_file_that_cannot_be_read(tmp_path):
    bad = [
        ('{"images": [', "a.json"),
        ('{"images": ' + "[" * 100_000, "a.json"),
        ('{"images": []}', "annotations"),
        ('{"images": {}, "annotations": [], "categories": []}', "images, got dict"),
        ('{"images": [], "annotations": [], "categories": []}', "none"),
        (b'{"images": "\xff\xfe"}', "byte 12"),
        ('{"images": ' + "1" * 5000 + "}", "a.json"),
    ]
    folder = tmp_path / "x"
    for content, came in bad:
        with refused(str(folder)) as caught:
            len(read("COCO", lay(folder, {"a.json": content, "1.jpg": b""})))
        assert came in caught.value.came
    lay(folder, {"a.json": {"name": "x"}})
    with refused(str(folder)):
        read("COCO", folder)


def test_deep_values_in_an_annotation(tmp_path):
    text = json.dumps(coco(["1.jpg"], [GOOD, box(1, 1, "DEEP")])).replace('"DEEP"', "[" * 800 + "]" * 800)
    images, problems = read("COCO", lay(tmp_path / "x", {"a.json": text, "1.jpg": None}))
    assert len(images["1"].boxes) == 1
    assert "image 1, box 2" in problems[0].came


def test_a_file_that_is_too_large_or_of_too_many_parts_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(json_file.json, "loads", lambda *_, **__: pytest.fail("parsed"))
    content = b'{"images": [' + b"[]," * 2_000_000
    folder = lay(tmp_path / "x", {"a.json": content, "1.jpg": b""})
    for came in ("2,000,002", "RANKING_INTAKE_JSON_BYTES"):
        with refused(str(folder)) as caught:
            read("COCO", folder)
        assert came in caught.value.came
        monkeypatch.setenv("RANKING_INTAKE_JSON_BYTES", "100")


def test_one_bad_file_of_two_is_a_row(tmp_path):
    folder = some_coco(tmp_path / "x")
    (folder / "annotations/instances_val2017.json").write_text('{"images": [')
    (folder / "annotations/instances_test2017.json").symlink_to("nothing")  # is not recognised
    images, problems = read("COCO", folder)
    assert len(images) == 2
    check_rows(problems, ("annotations/instances_val2017.json",))


def test_a_list_of_images_may_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr(coco_source, "SMALL", 300)
    late = {"info": {"description": "x" * 400}, **coco(["1.jpg"], [box(1, 1, [0, 0, 9, 9])])}
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
