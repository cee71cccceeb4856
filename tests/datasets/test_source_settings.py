"""VOC and YOLO: images are grouped by folders or by names up to a number, on one side of the split."""

from __future__ import annotations

import pytest
from example_pascal_voc import VocTree
from import_folders import lay, read

from ranking.datasets.source_settings import COPIES, FOLDER, NUMBER, group_of

GOOD = "0 .5 .5 1 1"


def sides(images):
    """For each image without its last number whether its images test."""
    sides_of: dict[str, set[bool]] = {}
    for name, image in images.items():
        sides_of.setdefault(name.rsplit("/", 1)[-1].rstrip("0123456789"), set()).add(image.test)
    return sides_of


def yolo(place, parts):
    files = {}
    for part in parts:
        for scene in "abcdefgh":
            for number in range(4):
                if part == "" or (number == 3) == (part == "val/"):
                    files[f"images/{part}{scene}_{number:02}.jpg"] = None
                    files[f"labels/{part}{scene}_{number:02}.txt"] = GOOD
    return lay(place, files)


@pytest.mark.parametrize("parts", [("",), ("train/", "val/")], ids=["drawn", "named"])
def test_yolo_keeps_scenes_on_one_side_by_the_names_of_their_images(tmp_path, parts):
    folder = yolo(tmp_path / "x", parts)
    plain, _ = read("YOLO", folder)
    assert any(len(side) == 2 for side in sides(plain).values())
    images, problems = read("YOLO", folder, group=NUMBER)
    assert all(len(side) == 1 for side in sides(images).values())
    assert {image.test for image in images.values()} == {False, True}
    assert {image.boxes[0].group for image in images.values()} == {f"{scene}_" for scene in "abcdefgh"}
    named = [row for row in problems if row.file == "groups"]
    assert len(named) == (len(parts) == 2), "a row where the named split is changed"
    assert all("kept on one side" in row.done for row in named)


def test_yolo_keeps_folders_on_one_side(tmp_path):
    files = {}
    for part, scenes in (("train", "abc"), ("val", "cde")):
        for scene in scenes:
            for number in range(3):
                files[f"images/{part}/{scene}/{part}{number}.jpg"] = None
                files[f"labels/{part}/{scene}/{part}{number}.txt"] = GOOD
    images, problems = read("YOLO", lay(tmp_path / "x", files), group=FOLDER)
    tested = {name: image.test for name, image in images.items() if "/c/" in name}
    assert len(tested) == 6
    assert len(set(tested.values())) == 1
    assert [row.file for row in problems].count("groups") == 1


@pytest.mark.parametrize("named", [False, True])
def test_voc_keeps_scenes_on_one_side(tmp_path, named):
    tree = VocTree(tmp_path)
    names = [f"{scene}_{number}" for scene in "abcdefgh" for number in range(4)]
    for name in names:
        tree.add(name)
    if named:
        tree.list("train", *names[::2])
        tree.list("test", *names[1::2])
    images = {item.name: item for item in tree.source(group=NUMBER).records() if hasattr(item, "boxes")}
    assert all(len(side) == 1 for side in sides(images).values())
    assert {image.test for image in images.values()} == {False, True}
    assert images["a_0"].boxes[0].group == "a_"
    apart = {item.name: item for item in tree.source().records() if hasattr(item, "boxes")}
    assert apart["a_0"].boxes[0].group is None


def test_too_few_groups_are_reported(tmp_path):
    files = {f"images/IMG_{number}.jpg": None for number in range(6)}
    files |= {f"labels/IMG_{number}.txt": GOOD for number in range(6)}
    images, problems = read("YOLO", lay(tmp_path / "x", files), group=NUMBER)
    assert {image.test for image in images.values()} == {False, True}
    assert "too few" in next(row.came for row in problems if row.file == "groups")


def test_groups_of_names_ignore_numbers_and_folders_of_parts():
    assert group_of("train/lab/left.jpg", NUMBER) == "lab/left"
    assert group_of("valid/7.jpg", FOLDER) is None
    assert group_of("train/lab/1.jpg", COPIES) is None
    assert group_of("train/scene2/1_left.jpg", NUMBER) == "scene2/"
