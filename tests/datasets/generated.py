"""What every generated image set promises: settings within their ranges, images by their seed, pictures that differ."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import make_source
from ranking.types import SourceImage


def first_images(source: str, count: int, **settings: Any) -> list[SourceImage]:
    return list(islice(make_source(source, **settings).records(), count))


def check_settings(
    source: str, good: Sequence[dict[str, Any]], bad: Sequence[dict[str, Any]]
) -> list[SourceImage]:
    """Settings at the ends of their ranges are taken, those beyond refused; an image depends on the seed and not on
    how many there are. The first two images of one seed."""
    for settings in good:
        make_source(source, **settings)
    for settings in bad:
        with pytest.raises(ValueError, match=f"{next(iter(settings))}"):
            make_source(source, **settings)
    images = first_images(source, 2, seed=7, images=50)
    assert images == first_images(source, 2, seed=7, images=100_000)
    assert [image.data for image in images] != [image.data for image in first_images(source, 2, seed=8)]
    for image in images:
        with Image.open(io.BytesIO(image.data)) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 240), "RGB")
        assert image.size == (320, 240)
    return images


def check_lively(pictures: Sequence[Image.Image], contrast: float) -> None:
    """No picture is empty or one colour, and none is another one."""
    small = [np.asarray(picture.resize((16, 12)), float) for picture in pictures]
    assert min(pixels.std() for pixels in small) > contrast
    for number, pixels in enumerate(small):
        assert all(np.abs(pixels - before).mean() > 3 for before in small[:number]), number
