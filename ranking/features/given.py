"""The feature vectors that an image set was imported with.

Such a set has no images, or its features were computed before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature, ImageSet
from ranking.core.errors import InputError
from ranking.features.registry import FEATURES


@FEATURES.register("Given")
@dataclass
class Given(Feature):
    """The features of each image from its source, scaled to length 1 (0 stays 0).

    Sets with such features offer no others, because their images are cards that name the labels.
    """

    order: ClassVar[int] = 20
    default: ClassVar[bool] = True
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = True
    supplied: ClassVar[bool] = True

    # (n, d) of the samples of a set; see `of`
    vectors: npt.NDArray[np.float32] | None = None

    @classmethod
    def of(cls, image_set: ImageSet) -> Given:
        """Return the feature with the vectors of an image set; ValueError if it has none."""
        if image_set.image_features is None:
            remedy = "choose features of its images"
            raise InputError(cls.name, f"features that came with {image_set.title}", "none", remedy)
        norms = np.linalg.norm(image_set.image_features, axis=1, keepdims=True)
        of_images = np.divide(
            image_set.image_features, norms, out=np.zeros_like(image_set.image_features), where=norms > 0
        )
        return cls(of_images[image_set.image_of])

    @property
    def size(self) -> int:
        if self.vectors is None:
            raise InputError(self.name, "the image set that they came with", "none", "import the set first")
        return int(self.vectors.shape[1])

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        raise InputError(self.name, "samples of the image set that they came with", "another image")
