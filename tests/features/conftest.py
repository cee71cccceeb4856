"""What tests of features share: a small image set of noise."""

from __future__ import annotations

import pytest
from image_sets import Records
from import_folders import photograph

from ranking.core import SourceBox, SourceImage
from ranking.datasets import build_image_set


def noisy_image(number):
    """One of another size than the others, with up to three boxes."""
    width, height = 30 + 7 * number, 50 - 5 * number
    boxes = [(0, 0, width, height), (3, 2, 20, 30), (5, 5, 6, 6)][: number + 1]
    classes = ("odd",) if number % 2 else ("even",)
    data = photograph((width, height), number, "PNG")
    return SourceImage(f"{number}", data, tuple(SourceBox(box, classes) for box in boxes), test=number > 1)


@pytest.fixture(scope="session")
def noise(tmp_path_factory):
    """9 samples in 4 images."""
    folder = tmp_path_factory.mktemp("noise") / "set"
    return build_image_set(Records([noisy_image(number) for number in range(4)]), folder)[0]
