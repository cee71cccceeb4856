"""Folders of real photographs as they are, as ZIP files, and with a table of the boxes: a few images of each."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from zipped import zip_of

from ranking.datasets import build_image_set, make_source
from ranking.datasets.looking import look_at
from ranking.types import SourceImage

FEW = 12
KNOWN = {
    "bccd": "PASCAL VOC",
    "bccd/JPEGImages": None,
    "helmets/VOCdevkit": "PASCAL VOC",
    "helmets/VOCdevkit/VOC2007/JPEGImages": None,
}


@pytest.fixture
def some(real_data: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a folder with the first images of each of its folders, and all that is no image."""
    place = real_data / request.param
    if not place.is_dir():
        pytest.skip(f"no {place}")

    def but_few(folder: str, names: list[str]) -> list[str]:
        return [name for name in sorted(names)[FEW:] if name.endswith((".jpg", ".xml"))]

    return Path(shutil.copytree(place, tmp_path / place.name, ignore=but_few))


def imported(place: Path, target: Path) -> tuple[str | None, Any, Any]:
    """As both stages of an import have it: the source, the image set and its problems, None where nobody knows it."""
    look = look_at(str(place), None, {})
    if look.source is None:
        assert look.refused
        return None, None, None
    source = make_source(look.source, **{**look.source_settings, "folder": str(place)})
    return look.source, *build_image_set(source, target)


@pytest.mark.parametrize(("some", "source"), KNOWN.items(), indirect=["some"])
def test_a_folder_and_a_zip_file_of_it_are_imported_alike(
    some: Path, source: str | None, tmp_path: Path
) -> None:
    packed = zip_of(some, tmp_path / f"{some.name}.zip")
    (first, images, problems), again = imported(some, tmp_path / "a"), imported(packed, tmp_path / "b")
    assert (first, again[0]) == (source, source)
    if source is not None:
        assert len(images.image_names) == FEW
        assert problems == again[2]
        assert (images.boxes == again[1].boxes).all()
        assert (images.ids.tolist(), images.classes) == (again[1].ids.tolist(), again[1].classes)


@pytest.mark.parametrize("some", ["bccd"], indirect=True)
def test_a_table_of_the_boxes_makes_the_same_set(some: Path, tmp_path: Path) -> None:
    folder = tmp_path / "table" / some.name
    folder.mkdir(parents=True)
    columns = ("image", "width", "height", "left", "top", "right", "bottom", "label", "split", "group")
    with open(folder / "boxes.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        records = make_source("PASCAL VOC", folder=str(some)).records()
        for image in (item for item in records if isinstance(item, SourceImage)):
            name = f"{image.name}.jpg"
            shutil.copy(some / "JPEGImages" / name, folder)
            for box in image.boxes:
                part = "test" if image.test else "train"
                table.writerow((name, *(image.size or ()), *(box.box or ()), *box.classes, part, image.name))
    _, images, _ = imported(some, tmp_path / "a")
    source, again, _ = imported(folder, tmp_path / "b")
    assert source == "Table of images"
    assert again.key == images.key
