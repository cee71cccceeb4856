"""CVAT as it exports, and as strangers spoil it."""

from __future__ import annotations

import pytest
from brought import build, check_rows, cvat, cvat_box, cvat_image, lay, read, some_cvat
from refusals import refused

from ranking.datasets import xml_file

GOOD = cvat_box("cat", 0, 0, 20, 15)


def read_cvat(root, xml, *names, **settings):
    """The images by name, and the problems but for parts that are drawn."""
    names = names or ("images/1.jpg", "images/2.jpg")
    return read("CVAT", lay(root / "x", {"annotations.xml": xml, **dict.fromkeys(names)}), **settings)


def test_boxes_and_subsets(tmp_path):
    image_set, problems = build("CVAT", some_cvat(tmp_path / "pets"))
    assert problems == []
    assert image_set.ids.tolist() == ["Train/1#1", "Train/1#2", "Train/2#1", "Validation/1#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]
    assert image_set.groups.tolist() == [0, 0, 1, 2]


def test_other_shapes(tmp_path):
    shapes = [
        '<polygon label="cat" points="1,2;5,3;4,9"/>',
        '<ellipse label="dog" cx="10" cy="12" rx="3" ry="2"/>',
        cvat_box("fox", 10, 10, 14, 12, rotation="90.0"),
        '<tag label="sea"/>',
        '<tag label="sun"><attribute name="a">1</attribute></tag>',
    ]
    images, problems = read_cvat(tmp_path, cvat(cvat_image("1.jpg", *shapes)))
    assert problems == []
    assert [(box.box, box.classes, box.number) for box in images["1"].boxes[:3]] == [
        (None, ("sea", "sun"), 4),
        ((1, 2, 5, 9), ("cat",), 1),
        ((7, 10, 13, 14), ("dog",), 2),
    ]
    assert images["1"].boxes[3].box == pytest.approx((11, 9, 13, 13))
    assert images["1"].size == (40, 30)


def track(number, *boxes, label="cat", **more):
    attributes = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<track id="{number}" label="{label}"{attributes}>{"".join(boxes)}</track>'


def test_tracks_keep_their_group(tmp_path):
    size = "<meta><task><original_size><width>40</width><height>30</height></original_size></task></meta>"
    frames = (cvat_box("", frame, 0, 20, 15, frame=frame, outside=int(frame == 2)) for frame in range(3))
    dog = track(1, cvat_box("", 1, 1, 9, 9, frame=1), label="dog", task_id=7)
    xml = cvat(track(0, *frames, task_id=7), dog, meta=size)
    images, problems = read_cvat(tmp_path, xml, *(f"images/frame_00000{frame}.PNG" for frame in range(3)))
    assert [row.file for row in problems] == ["groups"]  # both tracks are seen in one frame
    tracks = [f"annotations.xml: task 7, track {number}" for number in (0, 1)]
    assert {
        name: [(box.box, box.classes, box.group) for box in image.boxes] for name, image in images.items()
    } == {
        "frame_000000": [((0, 0, 20, 15), ("cat",), tracks[0])],
        "frame_000001": [((1, 0, 20, 15), ("cat",), tracks[0]), ((1, 1, 9, 9), ("dog",), tracks[1])],
    }
    assert {image.size for image in images.values()} == {(40, 30)}


def test_frames_of_a_video_are_a_group_and_images_of_a_task_are_not(tmp_path):
    """How groups are drawn for the test: test_class_folders.py."""
    for mode, group in (("interpolation", "annotations.xml: task 1"), ("annotation", None)):
        meta = f"<meta><task><id>1</id><mode>{mode}</mode></task></meta>"
        images, _ = read_cvat(tmp_path, cvat(cvat_image("1.jpg", GOOD, task_id=1, width="wide"), meta=meta))
        assert (images["1"].boxes[0].group, images["1"].size) == (group, None)


BAD_SHAPES = [
    ('<polyline label="cat" points="1,2;3,4"/>', "<polyline>"),
    (cvat_box("", 0, 0, 9, 9), "<box>"),
    (cvat_box("cat", 0, 0, "", 9), "xtl 0, ytl 0, xbr missing, ybr 9"),
    (cvat_box("cat", 0, 0, "nine", 9), "xtl 0, ytl 0, xbr nine, ybr 9"),
    (cvat_box("cat", 0, 0, 9, 9, rotation="nan"), "rotation nan"),
    ('<polygon label="cat" points="1,2;3"/>', "1,2;3"),
    ('<polygon label="cat"/>', "none"),
    ('<ellipse label="cat" cx="1"/>', "cx 1, cy missing, rx missing, ry missing"),
]


def test_a_shape_that_cannot_be_used_is_a_row(tmp_path):
    for bad, came in BAD_SHAPES:
        images, problems = read_cvat(tmp_path, cvat(cvat_image("1.jpg", GOOD, bad)))
        assert len(images["1"].boxes) == 1, bad
        check_rows(problems, ("annotations.xml", "image 1.jpg", came))


def test_images_without_a_name_that_come_again_or_are_not_there(tmp_path):
    images, problems = read_cvat(
        tmp_path, cvat(*(cvat_image(name, GOOD) for name in ("1.jpg", "", "a/1.jpg", "&lt;script&gt;")))
    )
    assert list(images) == ["1"]
    came = ("image 0", "images/1.jpg", "<script>")
    check_rows(problems, *(("annotations.xml", part) for part in came))


def test_a_track_without_frames(tmp_path):
    bad = track(5, cvat_box("", 0, 0, 9, 9, frame="-1"))
    _, problems = read_cvat(tmp_path, cvat(cvat_image("1.jpg", GOOD), bad))
    check_rows(problems, ("annotations.xml", "track 5: -1"))


def test_a_file_that_cannot_be_read(tmp_path):
    """What else is wrong with XML: test_voc_annotation.py."""
    bad = [
        ("<!DOCTYPE annotations><annotations></annotations>", "DOCTYPE"),
        ("<annotations><image", "a.xml"),
        ("<annotations></annotations>", "none"),
        ("<x><annotations /></x>", "<x>"),
        ("<annotation></annotation>", "no such file"),
    ]
    folder = tmp_path / "x"
    for content, came in bad:
        with refused(str(folder)) as caught:
            read("CVAT", lay(folder, {"a.xml": content, "1.jpg": b""}))
        assert came in caught.value.came


def test_a_file_of_too_much(tmp_path, monkeypatch):
    folder = some_cvat(tmp_path / "x")
    monkeypatch.setattr(xml_file, "MOST_TAGS", 10)
    for came in ("10 tags", "RANKING_INTAKE_JSON_BYTES"):
        with refused(str(folder)) as caught:
            read("CVAT", folder)
        assert came in caught.value.came
        monkeypatch.setenv("RANKING_INTAKE_JSON_BYTES", "100")
