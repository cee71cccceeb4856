"""CVAT as it exports, and as strangers spoil it."""

from __future__ import annotations

import numpy as np
import pytest
from brought import build, cvat, cvat_box, cvat_image, lay, rows, some_cvat
from zipped import zip_of

from ranking.datasets import make_source, xml_file
from ranking.datasets.detection import detect
from ranking.intake import open_tree
from ranking.types import Problem, SourceImage

INSIDE = "an image of that name in the folder or ZIP file"
GOOD = cvat_box("cat", 0, 0, 20, 15)


def told(root, xml, *names, **settings):
    """The images by name, and the problems but for parts that are drawn."""
    folder = lay(
        root / "x", {"annotations.xml": xml, **dict.fromkeys(names or ("images/1.jpg", "images/2.jpg"))}
    )
    records = list(make_source("CVAT", folder=str(folder), **settings).records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    return images, [item for item in records if isinstance(item, Problem) and item.file != "parts"]


def test_boxes_and_subsets(tmp_path):
    image_set, problems = build("CVAT", some_cvat(tmp_path / "pets"))
    assert problems == []
    assert image_set.ids.tolist() == ["Train/1#1", "Train/1#2", "Train/2#1", "Validation/1#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]
    assert image_set.groups.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_cvat(tmp_path / "pets")
    packed, problems = build("CVAT", zip_of(folder, tmp_path / "pets.zip", top))
    assert problems == []
    assert packed.key == build("CVAT", folder)[0].key


def test_other_shapes(tmp_path):
    shapes = [
        '<polygon label="cat" points="1,2;5,3;4,9"/>',
        '<ellipse label="dog" cx="10" cy="12" rx="3" ry="2"/>',
        cvat_box("fox", 10, 10, 14, 12, rotation="90.0"),
        '<tag label="sea"/>',
        '<tag label="sun"><attribute name="a">1</attribute></tag>',
    ]
    images, problems = told(tmp_path, cvat(cvat_image("1.jpg", *shapes)))
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
    xml = cvat(
        track(
            0,
            *(cvat_box("", frame, 0, 20, 15, frame=frame, outside=int(frame == 2)) for frame in range(3)),
            task_id=7,
        ),
        track(1, cvat_box("", 1, 1, 9, 9, frame=1), label="dog", task_id=7),
        meta=size,
    )
    images, problems = told(tmp_path, xml, *(f"images/frame_00000{frame}.PNG" for frame in range(3)))
    assert [row.file for row in problems] == ["groups"]  # both tracks are seen in one frame
    assert [
        (name, [(box.box, box.classes, box.group) for box in image.boxes]) for name, image in images.items()
    ] == [
        ("frame_000000", [((0, 0, 20, 15), ("cat",), "annotations.xml: task 7, track 0")]),
        (
            "frame_000001",
            [
                ((1, 0, 20, 15), ("cat",), "annotations.xml: task 7, track 0"),
                ((1, 1, 9, 9), ("dog",), "annotations.xml: task 7, track 1"),
            ],
        ),
    ]
    assert {image.size for image in images.values()} == {(40, 30)}


def test_frames_of_a_video_are_drawn_together(tmp_path):
    tasks = "".join(f"<task><id>{task}</id><mode>interpolation</mode></task>" for task in range(3))
    frames = [(f"{task}{frame}.jpg", task) for task in range(3) for frame in range(4)]
    xml = cvat(*(cvat_image(name, GOOD, task_id=task) for name, task in frames), meta=f"<meta>{tasks}</meta>")
    for seed in range(4):
        images, problems = told(tmp_path, xml, *(name for name, _ in frames), seed=seed)
        assert problems == []
        assert images["00"].boxes[0].group == "annotations.xml: task 0"
        by_task = [
            {image.test for name, image in images.items() if name.startswith(str(task))} for task in range(3)
        ]
        assert sorted(map(list, by_task)) == [[False], [False], [True]]


def test_images_of_a_task_of_images_are_their_own_groups(tmp_path):
    xml = cvat(cvat_image("1.jpg", GOOD), meta="<meta><task><id>1</id><mode>annotation</mode></task></meta>")
    assert told(tmp_path, xml)[0]["1"].boxes[0].group is None


BAD_SHAPES = [
    ('<polyline label="cat" points="1,2;3,4"/>', "boxes, outlines, ellipses and tags", "<polyline>"),
    (cvat_box("", 0, 0, 9, 9), "a label for every shape", "<box> without"),
    (cvat_box("cat", 0, 0, "", 9), "numbers xtl, ytl, xbr, ybr", "xtl 0, ytl 0, xbr missing, ybr 9"),
    (cvat_box("cat", 0, 0, "nine", 9), "numbers xtl, ytl, xbr, ybr", "xtl 0, ytl 0, xbr nine, ybr 9"),
    (cvat_box("cat", 0, 0, 9, 9, rotation="nan"), "numbers rotation", "rotation nan"),
    ('<polygon label="cat" points="1,2;3"/>', "points of x,y apart by ;", "1,2;3"),
    ('<polygon label="cat"/>', "points of x,y apart by ;", "none"),
    ('<ellipse label="cat" cx="1"/>', "numbers cx, cy, rx, ry", "cx 1, cy missing, rx missing, ry missing"),
]


@pytest.mark.parametrize(("bad", "expected", "came"), BAD_SHAPES)
def test_a_shape_that_cannot_be_used_is_a_row(tmp_path, bad, expected, came):
    images, problems = told(tmp_path, cvat(cvat_image("1.jpg", GOOD, bad)))
    assert len(images["1"].boxes) == 1
    assert rows(problems) == [("annotations.xml", expected, f"image 1.jpg: {came}", "annotation left out")]


@pytest.mark.parametrize(
    ("name", "came"),
    [
        ("gone.jpg", "gone.jpg: none"),
        ("/etc/passwd", "/etc/passwd: none"),
        ("../../annotations.xml", "../../annotations.xml: none"),
        ("&lt;script&gt;", "<script>: none"),
        ("n" * 4000, "n" * 79 + "…"),
    ],
)
def test_a_name_of_nothing_there(tmp_path, name, came):
    images, problems = told(tmp_path, cvat(cvat_image("1.jpg", GOOD), cvat_image(name, GOOD)))
    assert list(images) == ["1"]
    assert rows(problems) == [("annotations.xml", INSIDE, came, "image left out")]


@pytest.mark.parametrize(
    "name", ["../../secret/1.jpg", "/elsewhere/1.jpg", "C:\\photos\\1.jpg", "1", "images/1.jpg"]
)
def test_a_name_is_looked_up_and_never_followed(tmp_path, name):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    images, problems = told(tmp_path, cvat(cvat_image(name, GOOD)))
    assert (list(images), problems) == (["1"], [])


def test_an_image_without_a_name_and_one_that_comes_again(tmp_path):
    images, problems = told(
        tmp_path, cvat(cvat_image("1.jpg", GOOD), cvat_image("", GOOD), cvat_image("a/1.jpg", GOOD))
    )
    assert list(images) == ["1"]
    assert [(row.expected, row.came) for row in problems] == [
        ("images with a name", "image 0"),
        ("every image once", "images/1.jpg again"),
    ]


def test_a_track_without_frames(tmp_path):
    _, problems = told(
        tmp_path, cvat(cvat_image("1.jpg", GOOD), track(5, cvat_box("", 0, 0, 9, 9, frame="-1")))
    )
    assert rows(problems) == [
        ("annotations.xml", "shapes with a frame", "track 5: -1", "annotation left out")
    ]


@pytest.mark.parametrize("bad", ["1e999", "-50"])
def test_numbers_that_make_no_box_are_the_builders(tmp_path, bad):
    xml = cvat(cvat_image("1.jpg", GOOD, cvat_box("cat", 0, 0, bad, 9)))
    image_set, problems = build("CVAT", lay(tmp_path / "x", {"a.xml": xml, "1.jpg": None}))
    assert image_set.ids.tolist() == ["1#1"]
    assert "1.jpg" in [row.file for row in problems]


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><annotations><image name="&b;"/></annotations>'
)
OUTSIDE = '<!DOCTYPE annotations [<!ENTITY a SYSTEM "file:///etc/passwd">]><annotations>&a;</annotations>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "expected XML without declarations of its own, got a document type declaration"),
        (OUTSIDE, "expected XML without declarations of its own, got a document type declaration"),
        ("<annotations><image", "expected XML that can be read, got unclosed token"),
        (
            "<annotations>" + "<a>" * 100 + "</a>" * 100 + "</annotations>",
            "elements nested more than 32 deep",
        ),
        ("<annotations></annotations>", "no image is listed"),
        ("<x><annotations /></x>", "expected an <annotations> element at the top, got <x>"),
        ("<annotation></annotation>", "has no such file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        build("CVAT", lay(tmp_path / "x", {"a.xml": content, "1.jpg": None}))


def test_a_file_of_too_much(tmp_path, monkeypatch):
    folder = some_cvat(tmp_path / "x")
    monkeypatch.setattr(xml_file, "MOST_TAGS", 10)
    with pytest.raises(ValueError, match="expected XML of at most 10 tags, got"):
        build("CVAT", folder)
    monkeypatch.setenv("RANKING_INTAKE_JSON_BYTES", "100")
    with pytest.raises(
        ValueError, match=r"expected XML of at most .* MB \(RANK.*JSON_BYTES\), got a larger file"
    ):
        build("CVAT", folder)


def test_recognised(tmp_path):
    (detected,) = detect(open_tree(some_cvat(tmp_path / "x")))
    assert detected.source == "CVAT"
    assert detected.recognised.why == "annotations.xml begins as CVAT does, and there are 3 images"


def test_mutated_xml(tmp_path):
    folder = lay(tmp_path / "x", {"b.xml": cvat(cvat_image("2.jpg", GOOD)), "1.jpg": None, "2.jpg": None})
    good, random, found = cvat(cvat_image("1.jpg", GOOD)).encode(), np.random.default_rng(0), 0
    for _ in range(60):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 6)):
            data[place] = random.integers(32, 127)
        (folder / "a.xml").write_bytes(data)
        records = list(make_source("CVAT", folder=str(folder)).records())
        found += sum(isinstance(item, SourceImage) for item in records) == 2
    assert 2 < found < 60
