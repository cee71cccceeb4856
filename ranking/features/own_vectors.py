"""The vectors that a person brought for the samples of an image set, such as those of a network of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.features.registry import FEATURES
from ranking.features.vector_files import columns_of, is_vectors_name, short_name


@FEATURES.register("Own vectors")
@dataclass
class OwnVectors(Feature):
    """One row a sample, as `ranking.features.own` read them, of length 1 (0 stays 0). Who has no row has no features:
    no picture tells what the person's own program would have made of it.
    """

    order: ClassVar[int] = 30
    default: ClassVar[bool] = False
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = False
    brought: ClassVar[bool] = True

    vectors: str = setting(
        "", label="Own vectors", help="The name of vectors that were brought for the image set."
    )

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, str) or not is_vectors_name(self.vectors):
            raise InputError(
                self.name,
                "the name of vectors that were imported for the image set",
                f"{self.vectors!r:.80}",
                "import the file on the page Image sets, and choose them there",
            )

    @property
    def size(self) -> int:
        return columns_of(self.vectors)

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        raise InputError(
            f"vectors of {short_name(self.vectors)}",
            "vectors that were imported for these samples, because they cannot be computed from an image",
            "none",
            "for samples of their image set import the file again on the page Image sets: equal vectors have the same "
            "name; for another image choose a training run with features of images",
        )
