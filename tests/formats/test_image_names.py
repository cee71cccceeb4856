"""Which image of a tree a file of annotations means, against the definition written out."""

from __future__ import annotations

import itertools
import random
import time
from types import SimpleNamespace
from typing import Any

import pytest

from ranking.files import Unusable
from ranking.files.files import image_name
from ranking.files.tree import base, parent
from ranking.formats.file_names import bare, is_image, part_of
from ranking.formats.image_names import ImageNames


def tree_of(names: list[str]) -> Any:
    return SimpleNamespace(names=tuple(sorted(names)))


def one_by_one(names: list[str], requested: str, beside: str, part: str | None) -> list[str]:
    """The images that fit best, each compared with the name."""
    parts = [image_name(one) for one in requested.split("/") if one not in ("", ".", "..")]
    images = [name for name in names if is_image(name)]
    matches = [name for name in images if parts and base(name) == parts[-1]]
    if not matches:
        matches = [name for name in images if parts and base(bare(name)) == parts[-1]]
    if not matches:
        matches = [name for name in images if parts and base(bare(name)) == bare(parts[-1])]

    def fit(name: str) -> tuple[int, bool, bool]:
        pairs = zip(reversed(name.split("/")[:-1]), reversed(parts[:-1]), strict=False)
        equal = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        inside = not beside or parent(name).startswith(beside + "/") or parent(name) == beside
        return equal, part is not None and part_of(name) == part, inside

    best = max(map(fit, matches), default=None)
    return [name for name in matches if fit(name) == best]


def test_the_image_is_the_one_that_fits_best() -> None:
    endings = [".jpg", ".png", ""]
    for seed in range(60):
        draw = random.Random(seed)

        def folders(draw: random.Random = draw) -> str:
            return "".join(draw.choice(["a", "b", "train", "val"]) + "/" for _ in range(draw.randint(0, 3)))

        names = sorted(
            {folders() + draw.choice("xyz") + draw.choice(endings) for _ in range(draw.randint(1, 25))}
        )
        index = ImageNames(tree_of(names))
        for _ in range(60):
            name = folders() + draw.choice(["x", "y", "z", ""]) + draw.choice(endings)
            beside, part = folders().rstrip("/"), draw.choice([None, "train", "val"])
            expected = one_by_one(names, name, beside, part)
            if len(expected) == 1:
                assert index.find(name, beside, part) == expected[0], (seed, name)
            else:
                with pytest.raises(Unusable) as caught:
                    index.find(name, beside, part)
                assert (str(len(expected)) if expected else "none") in caught.value.came, (seed, name)


def test_frames_of_many_videos_are_matched_quickly() -> None:
    """Each with all others compared would take a quarter of an hour."""
    names = [f"video {number:05}/frame_000001.jpg" for number in range(3_000)]
    index, begun = ImageNames(tree_of(names)), time.process_time()
    assert [index.find(name, "", None) for name in names] == names
    for number in range(3_000):
        with pytest.raises(Unusable) as caught:
            index.find(f"clip {number}/frame_000001.jpg", "", None)
        assert "3000" in caught.value.came
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("text", "found", "written"),
    [
        ("gs://bucket/cats/one%20two.jpg", "cats/one two.jpg", "percent-encoded"),
        ("https://host/cats/one%20two.jpg?size=big", "cats/one two.jpg", "as URLs"),
        (r"D:\data\dogs\one two.jpg", "dogs/one two.jpg", ""),
        ("dogs/one two.png", "dogs/one two.jpg", "with another suffix"),
        ("Dogs/ONE TWO.JPG", "dogs/one two.jpg", "in other capitals"),
        ("three", "dogs/three.JPEG", ""),
    ],
)
def test_names_that_are_written_in_another_way_are_matched_with_a_row(
    text: str, found: str, written: str
) -> None:
    index = ImageNames(tree_of(["cats/one two.jpg", "dogs/one two.jpg", "dogs/three.JPEG"]))
    assert index.find(text) == found
    assert [row.chosen for row in index.decisions()] == ([written] if written else [])
