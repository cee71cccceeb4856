"""Folders of classes, in parts or not, around them what tools leave there."""

from __future__ import annotations

import pytest
from brought import build, check_rows, lay, read, some_classes
from refusals import refused


def test_parts(tmp_path):
    image_set, problems = build("Class folders", some_classes(tmp_path / "pets"))
    assert problems == []
    assert image_set.title == "pets"
    assert image_set.classes == ("cat", "dog")
    assert image_set.image_names.tolist() == [
        "test/cat/1",
        "test/dog/1",
        "train/cat/1",
        "train/cat/2",
        "train/dog/1",
    ]
    assert image_set.test.tolist() == [True, True, False, False, False]
    assert image_set.relevance("dog").tolist() == [0, 1, 0, 0, 1]
    assert image_set.boxes.tolist() == [[0, 0, 40, 30]] * 5
    assert len(set(image_set.groups.tolist())) == 5


@pytest.mark.parametrize(
    ("names", "classes", "images"),
    [
        (["cat/1.jpg", "dog/1.jpg"], ("cat", "dog"), ["cat/1", "dog/1"]),
        (["cat/1.jpg", "cat/2.jpg"], ("cat",), ["1", "2"]),
        (["train/cat/1.jpg", "train/cat/2.jpg"], ("cat",), ["1", "2"]),
        (["a/b/train/cat/1.png", "a/b/val/cat/2.webp"], ("cat",), ["train/cat/1", "val/cat/2"]),
        (["x/cat/1.jpg", "x/dog/1.jpg"], ("cat", "dog"), ["cat/1", "dog/1"]),
        (["cat/1.jpg", "cat/1.png", "dog/1.jpg"], ("cat", "dog"), ["cat/1.jpg", "cat/1.png", "dog/1"]),
        (["<script>/1.jpg", "b & c/1.jpg"], ("<script>", "b & c"), ["<script>/1", "b & c/1"]),
    ],
)
def test_layouts(tmp_path, names, classes, images):
    read_images, _ = read("Class folders", lay(tmp_path / "x", dict.fromkeys(names, b"")))
    assert list(read_images) == images
    assert tuple(dict.fromkeys(image.boxes[0].classes[0] for image in read_images.values())) == classes


def test_frames_of_a_video_are_one_group(tmp_path):
    names = ["cat/v1/1.jpg", "cat/v1/2.jpg", "cat/v2/1.jpg", "dog/v1/1.jpg", "dog/2.jpg"]
    image_set, _ = build("Class folders", lay(tmp_path / "x", dict.fromkeys(names)))
    assert image_set.groups.tolist() == [0, 0, 1, 2, 3]  # in the order of names, where dog/2.jpg comes first
    assert image_set.classes == ("cat", "dog")


def test_frames_of_a_video_are_drawn_together(tmp_path):
    names = [f"{label}/v{video}/{frame}.jpg" for label in ("cat", "dog") for video in "12" for frame in "123"]
    folder = lay(tmp_path / "x", dict.fromkeys(names))
    for seed in range(2):
        image_set, problems = build("Class folders", folder, seed=seed)
        check_rows(problems, ("parts",))
        videos = [{*image_set.test[image_set.groups == group].tolist()} for group in range(4)]
        assert sorted(map(list, videos)) == [[False], [False], [True], [True]]


def test_images_outside_of_folders_and_broken_ones_are_rows(tmp_path):
    folder = lay(tmp_path / "x", dict.fromkeys(["cat/1.jpg", "dog/1.jpg", "stray.jpg", "cover.png"]))
    (folder / "cat/1.jpg").write_bytes(b"\xff\xd8 and no more")
    image_set, problems = build("Class folders", folder)
    assert image_set.image_names.tolist() == ["dog/1"]
    outside, _, broken, *_ = problems
    check_rows([outside, broken], ("images", "2", "cover.png; stray.jpg"), ("cat/1.jpg", ""))


def test_nothing_in_folders(tmp_path):
    for number, names in enumerate(([], ["1.jpg"], ["train/1.jpg", "test/2.jpg"], ["notes.txt"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        with refused(str(folder)):
            read("Class folders", lay(folder, dict.fromkeys(names)))
