"""A colour histogram: the colours of a box, independent of their position in the box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature
from ranking.core.settings import setting
from ranking.features.registry import FEATURES


@FEATURES.register("Colour")
@dataclass
class Colour(Feature):
    """Joint histogram of the box's pixels over three channels (Swain and Ballard, IJCV 1991).

    Each channel is cut into `bins` equal parts; a vector is, flattened: (first, second, third channel). The
    entries are square roots of the shares of pixels, so that a product of two vectors is their Hellinger
    affinity and the length is 1 for every box.
    """

    order: ClassVar[int] = 1
    default: ClassVar[bool] = True
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = False

    space: str = setting(
        "HSV",
        label="Colour space",
        help="HSV separates hue, saturation and brightness, so that a shadow changes only one channel. RGB uses red, "
        "green and blue.",
        choices=("HSV", "RGB"),
        advanced=True,
    )
    bins: int = setting(
        8,
        label="Bins per channel",
        help="The number of equal parts of each channel. The vector has bins x bins x bins entries.",
        minimum=2,
        maximum=16,
        advanced=True,
    )

    @property
    def size(self) -> int:
        return self.bins**3

    @property
    def middles(self) -> npt.NDArray[np.uint8]:
        """Return (size, 3) the RGB colour at the centre of each bin, as shown in a plot of weights."""
        places = np.stack(np.unravel_index(np.arange(self.size), (self.bins,) * 3), axis=1)
        channels = ((places + 0.5) * 256 / self.bins).astype(np.uint8)
        picture = Image.frombytes(self.space, (self.size, 1), channels.tobytes())
        middles: npt.NDArray[np.uint8] = np.asarray(picture.convert("RGB"), np.uint8).reshape(-1, 3)
        return middles

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        pixels = np.asarray(crop.convert(self.space)).reshape(-1, 3).astype(np.uint16)
        parts = pixels * np.uint16(self.bins) >> 8
        place = (parts[:, 0] * np.uint16(self.bins) + parts[:, 1]) * np.uint16(self.bins) + parts[:, 2]
        counts = np.bincount(place, minlength=self.size)
        return np.asarray(np.sqrt(counts / counts.sum()), np.float32)


@FEATURES.register("Colour of the image")
@dataclass
class ImageColour(Colour):
    """Colours of the whole image, which are the same for all its boxes: the surroundings of a box."""

    order: ClassVar[int] = 11
    default: ClassVar[bool] = False
    whole_image: ClassVar[bool] = True
