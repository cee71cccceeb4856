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
from ranking.features.scaling import Scaled, scale_setting, scaling_of


@FEATURES.register("Given")
@dataclass
class Given(Feature):
    """The features of each image from its source.

    Sets with such features offer no others, because their images are cards that name the labels.
    """

    order: ClassVar[int] = 20
    default: ClassVar[bool] = True
    version: ClassVar[int] = 2
    whole_image: ClassVar[bool] = True
    supplied: ClassVar[bool] = True

    scaling: str = scale_setting()
    # (n, d) of the samples of a set, not scaled; see `of`
    vectors: npt.NDArray[np.float32] | None = None
    # the set whose training images decide how columns are scaled
    scaled_by: ImageSet | None = None

    @classmethod
    def of(cls, image_set: ImageSet, scaling: str, scaled_by: ImageSet) -> Given:
        """Return the feature with the vectors of an image set; ValueError if it has none, or others than
        `scaled_by`."""
        if image_set.image_features is None:
            remedy = "choose features of its images"
            raise InputError(cls.name, f"features that came with {image_set.title}", "none", remedy)
        width, others = image_set.image_features.shape[1], scaled_by.image_features
        if others is None or others.shape[1] != width:
            came = "none" if others is None else f"{others.shape[1]:,}"
            raise InputError(f"features of {scaled_by.title}", f"{width:,}, as of {image_set.title}", came)
        return cls(scaling, image_set.image_features[image_set.image_of], scaled_by)

    def scaled(self) -> Scaled:
        """Return how rows of features are scaled."""
        assert self.scaled_by is not None
        assert self.scaled_by.image_features is not None
        return scaling_of(self.scaled_by.image_features, self.scaling, ~self.scaled_by.image_test)

    @property
    def size(self) -> int:
        if self.vectors is None:
            raise InputError(self.name, "the image set that they came with", "none", "import the set first")
        return int(self.vectors.shape[1])

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        raise InputError(self.name, "samples of the image set that they came with", "another image")
