"""COCO as tools export it, and as strangers spoil it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from brought import box, build, coco, lay, rows, some_coco
from zipped import zip_of

from ranking.datasets import coco as coco_source
from ranking.datasets import json_file
from ranking.datasets.detection import detect
from ranking.intake import open_tree

SCRIPT = "<script>alert(1)</script>"


def test_parts(tmp_path):
    image_set, problems = build("COCO", some_coco(tmp_path / "pets"))
    assert problems == []
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog")
    assert image_set.ids.tolist() == ["train2017/1#1", "train2017/1#2", "train2017/2#1", "val2017/1#1"]
    assert image_set.boxes.tolist() == [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
    assert image_set.test.tolist() == [False, False, False, True]
    assert image_set.relevance("dog").tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_coco(tmp_path / "pets")
    packed, problems = build("COCO", zip_of(folder, tmp_path / "pets.zip", top))
    assert problems == []
    assert packed.key == build("COCO", folder)[0].key


@pytest.mark.parametrize(
    ("labels", "images"),
    [
        ("labels.json", "data/1.jpg"),
        ("_annotations.coco.json", "1.jpg"),
        ("a/instances_default.json", "images/1.jpg"),
    ],
)
def test_exports_of_fiftyone_roboflow_and_cvat(tmp_path, labels, images):
    told = coco(["1.jpg", "2.jpg"], [box(1, 1, [0, 0, 9, 9]), box(2, 2, [0, 0, 9, 9])])
    files = {labels: told, images: None, images.replace("1.jpg", "2.jpg"): None}
    image_set, problems = build("COCO", lay(tmp_path / "x", files))
    assert image_set.ids.tolist() == ["1#1", "2#1"]
    assert rows(problems) == [
        (
            "parts",
            "a part for training and one for testing",
            "none",
            "40% of 2 images drawn for the test, seed 0",
        )
    ]


@pytest.mark.parametrize(("crowd", "ids"), [("leave out", ["1#2"]), ("keep", ["1#1", "1#2"])])
def test_crowds(tmp_path, crowd, ids):
    told = coco(["1.jpg"], [box(1, 1, [0, 0, 9, 9], iscrowd=1), box(1, 1, [0, 0, 9, 9])])
    image_set, problems = build("COCO", lay(tmp_path / "x", {"a.json": told, "1.jpg": None}), crowd=crowd)
    assert image_set.ids.tolist() == ids
    assert (
        "1 box",
        "boxes of single objects",
        "iscrowd 1",
        "left out" if crowd == "leave out" else "kept",
    ) in rows(problems)


GOOD = box(1, 1, [0, 0, 20, 15])
INSIDE = "a box inside the image, 40 x 30"


@pytest.mark.parametrize(
    ("bad", "file", "expected", "came"),
    [
        (box(9, 1, [0, 0, 9, 9]), "a.json", "annotations of images that are listed", "image_id 9"),
        (box([1], 1, [0, 0, 9, 9]), "a.json", "annotations of images that are listed", "image_id [1]"),
        (box(True, 1, [0, 0, 9, 9]), "a.json", "annotations of images that are listed", "image_id True"),
        ("no object", "a.json", "annotations of images that are listed", "image_id None"),
        (box(1, 7, [0, 0, 9, 9]), "a.json", "a category_id that is listed", "image 1, box 2: 7"),
        (
            box(1, {"a": 1}, [0, 0, 9, 9]),
            "a.json",
            "a category_id that is listed",
            "image 1, box 2: an object of 1",
        ),
        (box(1, 1, None), "a.json", "bbox of x, y, width and height", "image 1, box 2: None"),
        (box(1, 1, [0, 0, 9]), "a.json", "bbox of x, y, width and height", "image 1, box 2: [0, 0, 9]"),
        (
            box(1, 1, [0, 0, 9, "9"]),
            "a.json",
            "bbox of x, y, width and height",
            "image 1, box 2: [0, 0, 9, '9']",
        ),
        (
            box(1, 1, [0, 0, 9, True]),
            "a.json",
            "bbox of x, y, width and height",
            "image 1, box 2: [0, 0, 9, True]",
        ),
        (box(1, 1, [0, 0, float("nan"), 9]), "1.jpg", "a box of finite numbers", "box 2: 0, 0, nan, 9"),
        (box(1, 1, [0, 0, float("inf"), 9]), "1.jpg", "a box of finite numbers", "box 2: 0, 0, inf, 9"),
        (box(1, 1, [0, 0, 10**400, 9]), "1.jpg", "a box of finite numbers", "box 2: 0, 0, inf, 9"),
        (box(1, 1, [0, 0, -5, 9]), "1.jpg", "a box with left < right and top < bottom", "box 2: 0, 0, -5, 9"),
        (box(1, 1, [50, 0, 5, 9]), "1.jpg", INSIDE, "box 2: 50, 0, 55, 9, wholly outside"),
    ],
)
def test_an_annotation_that_cannot_be_used_is_a_row(tmp_path, bad, file, expected, came):
    folder = lay(tmp_path / "x", {"a.json": coco(["1.jpg"], [GOOD, bad]), "1.jpg": None})
    image_set, problems = build("COCO", folder)
    assert image_set.ids.tolist() == ["1#1"]
    assert [(row.file, row.expected, row.came) for row in problems if row.file not in ("parts", "x")] == [
        (file, expected, came)
    ]


def test_rows_of_one_kind_are_counted(tmp_path):
    told = coco(["1.jpg"], [GOOD, *(box(number, 1, [0, 0, 9, 9]) for number in range(10, 2010))])
    _, problems = build("COCO", lay(tmp_path / "x", {"a.json": told, "1.jpg": None}))
    assert problems[0].came == "2,000 times: image_id 10; image_id 11; image_id 12; ..."


def test_images_and_categories_that_cannot_be_used(tmp_path):
    images = ["1.jpg", {"id": 1, "file_name": "again.jpg"}, {"id": None}, [], "gone.jpg"]
    categories = ["cat", {"id": 2, "name": 7}, {"name": "no id"}, {"id": 3, "name": f"cat {SCRIPT}"}]
    told = coco(images, [GOOD, box(1, 2, [0, 0, 9, 9]), box(1, 3, [0, 0, 9, 9])], categories)
    told["images"][0]["width"] = "forty"  # what claims no size is not compared with one
    image_set, problems = build("COCO", lay(tmp_path / "x", {"a.json": told, "1.jpg": None}))
    assert image_set.classes == ("cat", f"cat {SCRIPT}")
    assert rows(problems)[:5] == [
        ("a.json", "every image id once", "1 again", "image left out"),
        ("a.json", "images with an id and a file_name", "2 times: an object of 1; []", "image left out"),
        ("a.json", "a category_id that is listed", "image 1, box 2: 2", "annotation left out"),
        ("a.json", "an image of that name in the folder or ZIP file", "gone.jpg: none", "image left out"),
        (
            "parts",
            "a part for training and one for testing",
            "none",
            "40% of 1 image drawn for the test, seed 0",
        ),
    ]


def test_another_size_than_is_claimed(tmp_path):
    image = {"id": 1, "file_name": "1.jpg", "width": 80, "height": 60}
    folder = lay(
        tmp_path / "x",
        {"a.json": coco([image, "2.jpg"], [GOOD, box(2, 1, [0, 0, 9, 9])]), "1.jpg": None, "2.jpg": None},
    )
    image_set, problems = build("COCO", folder)
    assert image_set.image_names.tolist() == ["2"]
    assert (
        "1.jpg",
        "an image of the size that its annotation claims, 80 x 60",
        "40 x 30",
        "image left out",
    ) in rows(problems)


@pytest.mark.parametrize(
    "told",
    [
        "../../secret/1.jpg",
        "/etc/1.jpg",
        "C:\\photos\\1.jpg",
        "./1.jpg",
        "images/1.jpg",
        "elsewhere/images/1.jpg",
    ],
)
def test_a_file_name_is_looked_up_and_never_followed(tmp_path, told):
    lay(tmp_path, {"secret/1.jpg": b"secret"})
    folder = lay(tmp_path / "x", {"a.json": coco([told], [GOOD]), "images/1.jpg": None})
    image_set, _ = build("COCO", folder)
    assert image_set.image_names.tolist() == ["1"]


@pytest.mark.parametrize("told", ["", "..", "a\0b", "n" * 5000, SCRIPT, "/etc/passwd", "a.json"])
def test_a_file_name_of_nothing_there(tmp_path, told):
    folder = lay(tmp_path / "x", {"a.json": coco(["1.jpg", told], [GOOD]), "1.jpg": None})
    _, problems = build("COCO", folder)
    assert problems[0].expected == "an image of that name in the folder or ZIP file"
    assert problems[0].came.isprintable()
    assert len(problems[0].came) <= 80


def test_a_name_of_two_images_is_neither(tmp_path):
    told = coco(["1.jpg", "b/2.jpg"], [GOOD, box(2, 1, [0, 0, 9, 9])])
    names = ["a/1.jpg", "b/1.jpg", "a/2.jpg", "b/2.jpg"]
    image_set, problems = build("COCO", lay(tmp_path / "x", {"j/a.json": told, **dict.fromkeys(names)}))
    assert image_set.image_names.tolist() == ["2"]
    assert problems[0].came == "1.jpg: 2 of them"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"images": [', "expected JSON that can be read, got Expecting value"),
        ('{"images": ' + "[" * 100_000, "expected JSON of a few levels, got one nested too deep"),
        ('{"images": []}', "expected COCO with a list of annotations, got none"),
        (
            '{"images": {}, "annotations": [], "categories": []}',
            "expected COCO with a list of images, got dict",
        ),
        ('{"images": [], "annotations": [], "categories": []}', "no image is listed"),
        (b'{"images": "\xff\xfe"}', "expected JSON in UTF-8, got byte 12 of another kind"),
        ('{"images": ' + "1" * 5000 + "}", "expected JSON that can be read, got Exceeds the limit"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        build("COCO", lay(tmp_path / "x", {"a.json": content, "1.jpg": None}))


def test_deep_values_in_an_annotation(tmp_path):
    told = coco(["1.jpg"], [GOOD, box(1, 1, "DEEP")])
    text = json.dumps(told).replace('"DEEP"', "[" * 800 + "]" * 800)
    _, problems = build("COCO", lay(tmp_path / "x", {"a.json": text, "1.jpg": None}))
    assert problems[0].came in ("image 1, box 2: a list of 1", "one nested too deep")


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_JSON_BYTES", "100")
    with pytest.raises(
        ValueError, match=r"expected JSON of at most .* MB \(RANK.*JSON_BYTES\), got a larger file"
    ):
        build("COCO", some_coco(tmp_path / "x"))


def test_a_file_of_too_many_parts_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(json_file.json, "loads", lambda *_, **__: pytest.fail("parsed"))
    content = b'{"images": [' + b"[]," * 2_000_000
    with pytest.raises(
        ValueError, match="expected JSON of at most 2,000,000 lists and objects, got 2,000,002"
    ):
        build("COCO", lay(tmp_path / "x", {"a.json": content, "1.jpg": b""}))


def test_one_bad_file_of_two_is_a_row(tmp_path):
    folder = some_coco(tmp_path / "x")
    (folder / "annotations/instances_val2017.json").write_text('{"images": [')
    image_set, problems = build("COCO", folder)
    assert len(image_set.image_names) == 2
    assert problems[0].file == "annotations/instances_val2017.json"
    assert problems[0].done == "file left out"


def test_nothing_of_coco(tmp_path):
    with pytest.raises(
        ValueError, match=r"expected images and a JSON file of COCO instances .* has no such file"
    ):
        build("COCO", lay(tmp_path / "x", {"package.json": {"name": "x"}, "1.jpg": None}))


def test_recognised(tmp_path):
    (detected,) = detect(open_tree(some_coco(tmp_path / "x")))
    assert detected.source == "COCO"
    assert detected.recognised.why == (
        "annotations/instances_train2017.json, annotations/instances_val2017.json begin as COCO does, and there are "
        "3 images"
    )


def test_mutated_json(tmp_path):
    folder = some_coco(tmp_path / "x")
    path = folder / "annotations/instances_train2017.json"
    good, random, built = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(30):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 6)):
            data[place] = random.integers(32, 127)
        path.write_bytes(data)
        image_set, _ = build("COCO", folder)  # the other part is whole: there is always a set
        built += len(image_set.image_names) > 1
    assert built > 2


def test_a_list_of_images_may_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr(coco_source, "SMALL", 300)
    told = coco(["1.jpg"], [box(1, 1, [0, 0, 9, 9])])
    late = {"info": {"description": "x" * 400}, **told}
    (detected,) = detect(open_tree(lay(tmp_path / "x", {"a.json": late, "1.jpg": None})))
    assert detected.source == "COCO"


def test_frames_of_a_video_are_a_group_and_drawn_for_the_test_together(tmp_path):
    names = [f"{number}.jpg" for number in range(9)]
    frames = [
        {"id": number, "file_name": name, "width": 40, "height": 30, "video_id": number // 3}
        for number, name in enumerate(names)
    ]
    told = coco(frames, [box(number, 1, [0, 0, 9, 9]) for number in range(9)])
    image_set, problems = build("COCO", lay(tmp_path / "x", {"a.json": told} | dict.fromkeys(names)))
    assert image_set.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sorted(image_set.test.reshape(3, 3).sum(axis=1).tolist()) in ([0, 0, 3], [0, 3, 3])
    assert [row.file for row in problems] == ["parts"]
