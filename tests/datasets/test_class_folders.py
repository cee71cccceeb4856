"""Folders of classes, in parts or not, around them what tools leave there."""

from __future__ import annotations

import pytest
from brought import build, lay, photograph, rows, some_classes
from zipped import zip_of

from ranking.datasets.detection import detect
from ranking.intake import open_tree


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


@pytest.mark.parametrize("top", ["", "export/of pets"])
def test_a_zip_file_is_read_as_the_folder_is(tmp_path, top):
    folder = some_classes(tmp_path / "pets")
    packed, problems = build("Class folders", zip_of(folder, tmp_path / "pets.zip", top))
    assert problems == []
    assert packed.key == build("Class folders", folder)[0].key


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
    formats = {".jpg": "JPEG", ".png": "PNG", ".webp": "WEBP"}
    files = {name: photograph(seed=i, kind=formats[name[name.rindex(".") :]]) for i, name in enumerate(names)}
    image_set, _ = build("Class folders", lay(tmp_path / "x", files))
    assert (image_set.classes, image_set.image_names.tolist()) == (classes, images)


def test_frames_of_a_video_are_one_group(tmp_path):
    names = ["cat/v1/1.jpg", "cat/v1/2.jpg", "cat/v2/1.jpg", "dog/v1/1.jpg", "dog/2.jpg"]
    image_set, _ = build("Class folders", lay(tmp_path / "x", dict.fromkeys(names)))
    assert image_set.groups.tolist() == [0, 0, 1, 2, 3]  # in the order of names, where dog/2.jpg comes first
    assert image_set.classes == ("cat", "dog")


def test_frames_of_a_video_are_drawn_together(tmp_path):
    names = [f"{label}/v{video}/{frame}.jpg" for label in ("cat", "dog") for video in "12" for frame in "123"]
    folder = lay(tmp_path / "x", dict.fromkeys(names))
    for seed in range(4):
        image_set, problems = build("Class folders", folder, seed=seed)
        assert [row.file for row in problems] == ["parts"]
        videos = [{*image_set.test[image_set.groups == group].tolist()} for group in range(4)]
        assert sorted(map(list, videos)) == [[False], [False], [True], [True]]


def test_images_outside_of_folders_are_counted(tmp_path):
    names = ["cat/1.jpg", "dog/1.jpg", "stray.jpg", "cover.png"]
    _, problems = build("Class folders", lay(tmp_path / "x", dict.fromkeys(names)))
    expected = "images inside a folder of their class"
    assert rows(problems)[0] == ("images", expected, "2 times: cover.png; stray.jpg", "image left out")


def test_a_broken_image_is_told_by_its_whole_name(tmp_path):
    folder = some_classes(tmp_path / "x")
    (folder / "train/cat/1.jpg").write_bytes(b"\xff\xd8 and no more")
    _, problems = build("Class folders", folder)
    assert (problems[0].file, problems[0].done) == ("train/cat/1.jpg", "image left out")


@pytest.mark.parametrize("names", [[], ["1.jpg"], ["train/1.jpg", "test/2.jpg"], ["notes.txt"]])
def test_nothing_in_folders(tmp_path, names):
    (tmp_path / "x").mkdir()
    with pytest.raises(ValueError, match=r"expected a folder for each class .* has no folder with images"):
        build("Class folders", lay(tmp_path / "x", dict.fromkeys(names)))


def test_recognised(tmp_path):
    (detected,) = detect(open_tree(some_classes(tmp_path / "x")))
    assert detected.recognised.why == "2 folders hold images: cat, dog; each would be a class"
