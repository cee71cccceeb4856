"""An uploaded ONNX model as a feature: pixels in, an output of the model out, in an isolated process with limits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.features.onnx.running import Network
from ranking.features.registry import FEATURES

LAYOUTS, CHANNELS, POOLS = ("NCHW", "NHWC"), ("RGB", "BGR"), ("mean", "flatten")
TYPES = ("float32", "float16", "float64")
MAX_SIDE, MAX_COLUMNS = 1024, 65_536
PIECE = 2**20  # bytes of a file that are hashed at a time


@FEATURES.register("ONNX model")
@dataclass
class OnnxModel(Feature):
    """The box is resized to the model's input, whatever its shape, and each channel is normalised: (pixel - mean) /
    deviation. The output becomes one vector of length 1 (0 stays 0)."""

    order: ClassVar[int] = 31
    default: ClassVar[bool] = False
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = False
    supplied: ClassVar[bool] = True

    model: str = setting("", label="Model", help="The name of an uploaded model, made of a hash of its file.")
    output: str = setting("", label="Output", help="Which output of the model describes the image.")
    columns: int = setting(
        1, label="Columns", help="The length of the vector.", minimum=1, maximum=MAX_COLUMNS
    )
    width: int = setting(
        224, label="Width", help="The width of the input in pixels.", minimum=1, maximum=MAX_SIDE
    )
    height: int = setting(
        224, label="Height", help="The height of the input in pixels.", minimum=1, maximum=MAX_SIDE
    )
    layout: str = setting(
        "NCHW",
        label="Layout",
        help="Whether channels precede rows and columns (NCHW) or follow them (NHWC).",
        choices=LAYOUTS,
    )
    channels: str = setting("RGB", label="Channels", help="The order of the colours.", choices=CHANNELS)
    white: float = setting(
        1.0,
        label="White level",
        help="The value of a pixel of 255 before the mean is subtracted.",
        minimum=1e-6,
        maximum=1e6,
    )
    mean: str = setting(
        "0, 0, 0", label="Mean", help="Subtracted, one value per channel in the model's order."
    )
    deviation: str = setting(
        "1, 1, 1", label="Deviation", help="The divisor, one value per channel, in the same order."
    )
    pooling: str = setting(
        "mean",
        label="Places",
        help="For outputs with spatial positions: average them, or concatenate them.",
        choices=POOLS,
    )
    type: str = setting("float32", label="Type", help="The number type of the model's input.", choices=TYPES)
    network: Network | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not is_model_name(self.model):
            raise InputError(
                self.name,
                "the name of an uploaded model",
                f"{self.model!r:.80}",
                "upload the file on the page Image sets, and choose it there",
            )
        self._mean, self._deviation = three_numbers(self.mean), three_numbers(self.deviation)
        if not self._deviation.all():
            raise InputError(f"deviation of {self.name}", "numbers other than 0", f"{self.deviation!r:.80}")

    @property
    def size(self) -> int:
        return self.columns

    @contextmanager
    def opened(self, cache: Path) -> Iterator[None]:
        """Open the model in `cache`; images can be described within the context. ValueError if it is missing."""
        path = model_file(cache, self.model)
        if not path.is_file():
            raise InputError(
                f"model {self.model[:13]}",
                "its file in this workspace",
                "none",
                "upload the file again on the page Image sets: equal files have the same name",
            )
        self.network = Network(path)
        try:
            yield
        finally:
            self.network.close()
            self.network = None

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        if self.network is None:
            raise InputError(self.name, "an open model", remedy="describe images within `opened`")
        vector = self.pooled(self.network.ask(self.pixels(crop), self.output)).astype(np.float64)
        if vector.shape != (self.columns,):
            expected = f"{self.columns:,} numbers of output {self.output!r:.80}"
            raise InputError(self.name, expected, len(vector), "inspect the model again")
        norm = np.linalg.norm(vector)
        return np.asarray(vector / norm if norm > 0 else vector, np.float32)

    def pixels(self, crop: Image.Image) -> npt.NDArray[np.floating]:
        """Return (1, 3, height, width), or with channels last, of an RGB crop of any shape."""
        shrunk = crop.convert("RGB").resize((self.width, self.height), Image.Resampling.BILINEAR)
        pixels = np.asarray(shrunk, np.float32) * (self.white / 255)
        if self.channels == "BGR":
            pixels = pixels[:, :, ::-1]
        pixels = ((pixels - self._mean) / self._deviation)[None]
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(
                pixels.transpose(0, 3, 1, 2) if self.layout == "NCHW" else pixels, np.dtype(self.type)
            )

    def pooled(self, output: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return one vector from an output; its first dimension, if there are several, is the single image.

        >>> OnnxModel("onnx-" + "0" * 32).pooled(np.arange(8.0, dtype=np.float32).reshape(1, 2, 2, 2)).tolist()
        [1.5, 5.5]
        """
        if output.ndim > 1 and output.shape[0] == 1:
            output = output[0]
        if self.pooling == "mean" and output.ndim == 3:
            output = output.mean(axis=(1, 2) if self.layout == "NCHW" else (0, 1))
        elif self.pooling == "mean" and output.ndim == 2:  # a vector for each patch of the image
            output = output.mean(axis=0)
        return output.reshape(-1)


def is_model_name(text: str) -> bool:
    """Return whether `text` can be the name of a model; no other text may become part of a path."""
    return re.fullmatch(r"onnx-[0-9a-f]{32}", text) is not None


def model_name(path: Path) -> str:
    """Return the name of the model in a file, a hash of its content: equal files have equal names."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return f"onnx-{digest.hexdigest()[:32]}"


def model_file(folder: Path, name: str) -> Path:
    """Return the file in `folder` of the model of that name."""
    return folder / f"{name}.onnx"


def three_numbers(text: str) -> npt.NDArray[np.float32]:
    """Return three numbers from a text with three numbers, or one for all three.

    >>> three_numbers("0.5").tolist(), three_numbers("1, 2, 3").tolist()
    ([0.5, 0.5, 0.5], [1.0, 2.0, 3.0])
    """
    parts = re.split(r"[\s,;]+", text.strip(" ,;[]()")) if isinstance(text, str) else []
    try:
        numbers = np.array([float(part) for part in parts], np.float32)
    except ValueError:
        numbers = np.array([], np.float32)
    if len(numbers) not in (1, 3) or not np.isfinite(numbers).all():
        expected = "three numbers, such as 0.485, 0.456, 0.406, or one for all three"
        raise InputError("mean or deviation", expected, f"{text!r:.80}")
    return np.broadcast_to(numbers, (3,)).copy()
