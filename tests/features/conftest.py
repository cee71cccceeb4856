"""What tests of features share: a small image set of noise."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set
from ranking.types import SourceBox, SourceImage


class Noise:
    """Images of different sizes with up to three boxes each."""

    name = "Noise"

    def title(self):
        return "noise"

    def __len__(self):
        return 4

    def records(self):
        random = np.random.default_rng(0)
        for number in range(4):
            width, height = 30 + 7 * number, 50 - 5 * number
            stream = io.BytesIO()
            pixels = random.integers(0, 256, (height, width, 3), np.uint8)
            Image.fromarray(pixels).save(stream, "PNG")
            boxes = [(0, 0, width, height), (3, 2, 20, 30), (5, 5, 6, 6)][: number + 1]
            classes = ("odd",) if number % 2 else ("even",)
            source_boxes = tuple(SourceBox(box, classes) for box in boxes)
            yield SourceImage(f"{number}", stream.getvalue(), source_boxes, test=number > 1)


@pytest.fixture(scope="session")
def noise(tmp_path_factory):
    """9 samples in 4 images."""
    return build_image_set(Noise(), tmp_path_factory.mktemp("noise") / "set")[0]
