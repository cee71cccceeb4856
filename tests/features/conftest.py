"""A small image set of noise, with several boxes an image and images of different sizes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set
from ranking.types import SourceBox, SourceImage


class Noise:
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
            told = tuple(SourceBox(box, ("odd",) if number % 2 else ("even",)) for box in boxes)
            yield SourceImage(f"{number}", stream.getvalue(), told, test=number > 1)


@pytest.fixture(scope="session")
def noise(tmp_path_factory):
    return build_image_set(Noise(), tmp_path_factory.mktemp("noise") / "set")[0]
