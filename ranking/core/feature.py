"""The interface of a registered feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core.registry import Plugin


class Feature(Plugin, ABC):
    """A registered feature: pixels of one box to one vector. Its dataclass fields are its settings.

    version: is raised whenever the same settings give other vectors, so that caches are recomputed. whole_image:
    `describe` receives the whole image instead of the box, and all boxes of the image share the vector. default:
    whether a training run uses the feature unless others are chosen. supplied: whether it was imported with an image
    set or uploaded; it is then offered for that set only. scaling: how `ranking.features.scaling` scales the vectors; a
    setting of supplied features.
    """

    version: ClassVar[int]
    whole_image: ClassVar[bool] = False
    default: ClassVar[bool] = False
    supplied: ClassVar[bool] = False
    scaling: str = "length 1"

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the vector."""

    @abstractmethod
    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        """Return the vector of an RGB crop: finite and L2-normalised, all zeros where the crop has no structure.

        Is called by several threads at the same time, so it must not change shared state.
        """
