"""Folders of real photographs as they are and as ZIP files: `benchmarks/real_imports.py`, on a few images of each."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from real_imports import both, bring, folders_with_images, manifest_of, packed

FEW = 12
KNOWN = {
    "bccd": "PASCAL VOC",
    "bccd/JPEGImages": None,
    "helmets/VOCdevkit": "PASCAL VOC",
    "helmets/VOCdevkit/VOC2007": "PASCAL VOC",
    "helmets/VOCdevkit/VOC2007/JPEGImages": None,
}


@pytest.fixture
def some(real_data: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a folder with the first images of each of its folders, and all that is no image."""
    place = real_data / request.param
    if not place.is_dir():
        pytest.skip(f"no {place}")

    def but_few(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for number, name in enumerate(sorted(names))
            if number >= FEW and name.endswith((".jpg", ".xml"))
        ]

    return Path(shutil.copytree(place, tmp_path / place.name, ignore=but_few))


@pytest.mark.parametrize(("some", "source"), KNOWN.items(), indirect=["some"])
def test_a_folder_and_a_zip_file_of_it_come_in_alike(some: Path, source: str | None) -> None:
    one, other = both(some)
    assert one.like(other)
    assert (one.source, other.source) == (source, source)
    assert one.images == (FEW if source else 0)
    assert bool(one.key) == bool(source)
    if source is None:
        assert one.why == other.why
        assert one.why.startswith("no source knows what is in it: ")


@pytest.mark.parametrize("some", ["bccd"], indirect=True)
def test_a_manifest_of_blood_cells_makes_the_same_set(some: Path, tmp_path: Path) -> None:
    one = bring(some, tmp_path)
    again = bring(manifest_of(some, tmp_path / "manifest"), tmp_path)
    assert (one.source, again.source) == ("PASCAL VOC", "Table of images")
    assert one.key == again.key != ""
    inside = packed(tmp_path / "manifest" / some.name, tmp_path)
    assert bring(inside, tmp_path).key == one.key


def test_folders_with_images_are_found_at_any_depth(tmp_path: Path) -> None:
    for name in ("a/b/c/1.jpg", "a/b/c/2.png", "d/1.jpg", "e/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = [path.relative_to(tmp_path).as_posix() for path in folders_with_images(tmp_path, 2)]
    assert found == [".", "a", "a/b"], "one image is no set"
