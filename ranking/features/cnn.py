"""Activations of a network that was trained on photographs, used as they are (Razavian et al., CVPR Workshops 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature
from ranking.core.errors import InputError
from ranking.features.onnx_model import Network, OnnxModel, model_name, stated_normalisation
from ranking.features.registry import FEATURES

# made by data/efficientnet.py; missing if the package was installed without data/
FILE = Path(__file__).parents[2] / "data" / "models" / "efficientnet-lite0.onnx"
# held while the network is opened, so that threads do not open it several times
OPENING = Lock()


@FEATURES.register("CNN")
@dataclass
class CNN(Feature):
    """The 1,280 activations before the classifier of EfficientNet-Lite0, trained on ImageNet (Tan and Le, ICML 2019).

    The box is resized to 224 x 224 pixels.
    """

    order: ClassVar[int] = 3
    default: ClassVar[bool] = True
    version: ClassVar[int] = 1
    size: ClassVar[int] = 1280
    whole_image: ClassVar[bool] = False

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        with OPENING:
            model = _model()
        return model.describe(crop)


@FEATURES.register("CNN of the image")
@dataclass
class ImageCNN(CNN):
    """CNN of the whole image, which is the same for all its boxes: the scene around a box."""

    order: ClassVar[int] = 13
    default: ClassVar[bool] = False
    whole_image: ClassVar[bool] = True


@cache
def _model() -> OnnxModel:
    """Return the network in FILE, ready to describe; it is opened once in a process."""
    if not FILE.is_file():
        remedy = "install the package from a checkout of its repository"
        raise InputError("CNN", f"its network {FILE}", "no such file", remedy)
    network = Network(FILE)
    settings = stated_normalisation(network.metadata)
    return OnnxModel(model_name(FILE), "features", CNN.size, network=network, **settings)
