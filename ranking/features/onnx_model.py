"""An uploaded ONNX model as a feature: pixels in, an output of the model out.

The worker that needs its vectors runs it, under the memory limit of the worker.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import Settings, setting
from ranking.core.text import readable
from ranking.features.registry import FEATURES

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, NodeArg

T = TypeVar("T")
CHANNELS = ("RGB", "BGR")
# values of the setting `pooling`, with their labels
POOLS = {"mean": "mean", "first token": "first token", "flatten": "all, side by side"}
TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"}
MAX_SIDE, MAX_COLUMNS, MAX_BATCH = 1024, 65_536, 64
# metadata about normalisation, by the names that exporters use
MEANS, DEVIATIONS = ("mean", "image_mean", "img_mean"), ("std", "image_std", "img_std", "stddev")


class Network:
    """The model in a file, which several threads may run."""

    # InputError if it cannot be run, or takes no image.

    def __init__(self, path: Path) -> None:
        self._session = _within_runtime(lambda: _session(path.read_bytes()))
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(readable(port.name) for port in inputs[:5]) or "none"
            remedy = "export the vision model, whose only input is the image"
            raise InputError("model", "one input, an image", f"{len(inputs)}: {names}", remedy)
        self._input = inputs[0].name
        shape = _shape(inputs[0])
        self.last = len(shape) == 4 and shape[3] == 3 and shape[1] != 3
        rows_first = [*shape[:1], *shape[3:], *shape[1:3]] if self.last else shape
        # how many images it takes at a time; a run fills up with copies of its image
        self.batch = (rows_first or [None])[0] or 1
        is_image = len(shape) == 4 and self.batch <= MAX_BATCH and rows_first[1] in (None, 3)
        if not is_image or inputs[0].type not in TYPES:
            expected = f"1 to {MAX_BATCH} images, each 3 × height × width or height × width × 3"
            remedy = "export the model so that it takes one image of real numbers at a time"
            raise InputError("input of the model", expected, _words(inputs[0]), remedy)
        self.height, self.width = rows_first[2:]
        if max(self.height or 1, self.width or 1) > MAX_SIDE:
            raise InputError("input of the model", f"at most {MAX_SIDE:,} pixels per side", _words(inputs[0]))
        # type, last, height, width: of its input: the type of its numbers, whether channels follow rows and
        # columns, and its sides, None if they are not fixed
        self.type = TYPES[inputs[0].type]
        # their shapes in words
        self.outputs = {port.name: _words(port) for port in self._session.get_outputs()}
        # as its exporter wrote it
        self.metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map

    def run(self, pixels: npt.NDArray[np.floating], output: str) -> AnyArray:
        """Return the numbers of an output for the pixels of one image, without a dimension for several images."""
        images = np.repeat(pixels[None], self.batch, axis=0)
        [result] = _within_runtime(lambda: self._session.run([output], {self._input: images}))
        if not isinstance(result, np.ndarray) or result.dtype.kind not in "fiub":
            raise InputError(f"output {output}", "numbers", "something else")
        # some models leave out the dimension for a single image
        for_several = result.shape[:1] == (self.batch,) and (result.ndim > 1 or self.batch > 1)
        return np.asarray(result[0]) if for_several else result


def _session(data: bytes) -> InferenceSession:
    """Return a session on the CPU, without an arena, so that free memory is returned."""
    # otherwise it records its use for its vendor
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    # because `extract.by_threads` describes several images at the same time
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _within_runtime(work: Callable[[], T]) -> T:
    """Return the result of `work`; its errors as MemoryError or InputError."""
    try:
        return work()
    except Exception as error:
        # the runtime may raise any error
        reason = " ".join(str(error).split())[:500] or type(error).__name__
        if re.search("memory|alloc", reason, re.IGNORECASE):
            raise MemoryError(reason) from error
        if re.search("external data|model_path", reason, re.IGNORECASE):
            came = "numbers in other files (external data), which are not opened"
            raise InputError("model", "all of it in one file", came, "save it as one file") from error
        raise InputError("model", "one that can be run", reason) from error


def _shape(port: NodeArg) -> list[int | None]:
    """Return the sides of an input or output, None for a side that is not fixed."""
    return [side if isinstance(side, int) and side > 0 else None for side in port.shape]


def _words(port: NodeArg) -> str:
    sides = " × ".join("any" if side is None else f"{side:,}" for side in _shape(port)) or "no sides"
    return f"{sides} ({port.type})"


@FEATURES.register("ONNX model")
@dataclass
class OnnxModel(Feature):
    """The output of an uploaded ONNX model for the box, as one vector of length 1 (0 stays 0).

    The box is resized to the model's input, whatever its shape, and each channel is normalised: (pixel -
    mean) / deviation.
    """

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
    side: int = setting(
        224,
        label="Side",
        help="Width and height in pixels of the input of a model that accepts any size.",
        minimum=1,
        maximum=MAX_SIDE,
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
        label="Positions",
        help="For outputs with a vector for each position or token: their mean, the first token, or all of them.",
        choices=POOLS,
    )
    network: Network | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not is_model_name(self.model):
            raise InputError(
                self.name,
                "the name of an uploaded model",
                f"{self.model!r:.80}",
                "upload the file on the page Image sets, and choose it there",
            )
        normalisation(self.mean, self.deviation)
        self._mean, self._deviation = three_numbers(self.mean), three_numbers(self.deviation)

    @property
    def size(self) -> int:
        return self.columns

    def open(self, folder: Path) -> None:
        """Open the model in `folder`, so that images can be described.

        InputError if it is missing.
        """
        path = model_file(folder, self.model)
        if not path.is_file():
            raise InputError(
                f"model {self.model[:13]}",
                "its file in this workspace",
                "none",
                "upload the file again on the page Image sets: equal files have the same name",
            )
        self.network = Network(path)

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        vector = self.vector(crop).astype(np.float64)
        if vector.shape != (self.columns,):
            expected = f"{self.columns:,} numbers of output {self.output!r:.80}"
            raise InputError(self.name, expected, len(vector), "upload the model again")
        norm = np.linalg.norm(vector)
        return np.asarray(vector / norm if norm > 0 else vector, np.float32)

    def vector(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        """Return the output for an RGB crop of any shape as one vector, whatever its length."""
        if self.network is None:
            raise InputError(self.name, "an open model", remedy="call `open` first")
        # the caller refuses infinity and NaN
        with np.errstate(over="ignore", invalid="ignore"):
            output = self.network.run(self._pixels(crop, self.network), self.output)
            return self._pooled(np.asarray(output, np.float32), self.network)

    def _pixels(self, crop: Image.Image, network: Network) -> npt.NDArray[np.floating]:
        size = (network.width or self.side, network.height or self.side)
        shrunk = crop.convert("RGB").resize(size, Image.Resampling.BILINEAR)
        pixels = np.asarray(shrunk, np.float32) * (self.white / 255)
        if self.channels == "BGR":
            pixels = pixels[:, :, ::-1]
        pixels = (pixels - self._mean) / self._deviation
        ordered = pixels if network.last else pixels.transpose(2, 0, 1)
        return np.ascontiguousarray(ordered, network.type)

    def _pooled(self, output: npt.NDArray[np.float32], network: Network) -> npt.NDArray[np.float32]:
        """Return one vector of the output for one image."""
        if self.pooling == "first token" and output.ndim != 2:
            came = f"{output.ndim} dimensions"
            raise InputError(f"output {self.output}", "a vector for each token", came, "choose the mean")
        if self.pooling == "first token":
            output = output[0]
        elif self.pooling == "mean" and output.ndim == 3:
            output = output.mean(axis=(0, 1) if network.last else (1, 2))
        elif self.pooling == "mean" and output.ndim == 2:
            # a vector for each token: a patch of the image
            output = output.mean(axis=0)
        return output.reshape(-1)


def is_model_name(text: str) -> bool:
    """Return whether `text` can be the name of a model; no other text may become part of a path."""
    return re.fullmatch(r"onnx-[0-9a-f]{32}", text) is not None


def model_name(path: Path) -> str:
    """Return the name of the model in a file, a hash of its content: equal files have equal names."""
    with path.open("rb") as file:
        return f"onnx-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}"


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


def normalisation(mean: str, deviation: str) -> Settings:
    """Return the settings for these numbers; above 2 they refer to pixels from 0 to 255, otherwise from 0 to 1.

    InputError for texts that are no numbers, and a deviation of 0.

    >>> normalisation("0.5", "0.25, 0.5, 0.5")
    {'white': 1.0, 'mean': '0.5, 0.5, 0.5', 'deviation': '0.25, 0.5, 0.5'}
    """
    numbers = [three_numbers(text) for text in (mean, deviation)]
    if not numbers[1].all():
        raise InputError("deviation", "numbers other than 0", f"{deviation!r:.80}")
    written = [", ".join(np.format_float_positional(number, trim="-") for number in part) for part in numbers]
    return {"white": 255.0 if np.max(numbers) > 2 else 1.0, "mean": written[0], "deviation": written[1]}


def stated_normalisation(metadata: Mapping[str, str]) -> Settings:
    """Return the normalisation in a model's metadata; {} if there is none that can be read."""
    lower = {name.lower().rpartition(".")[2]: value for name, value in metadata.items()}
    texts = [next((lower[name] for name in names if name in lower), "") for names in (MEANS, DEVIATIONS)]
    try:
        return normalisation(*texts)
    except ValueError:
        return {}


# Usual ways to normalise pixels, by name. The last is that of models whose first layer normalises.
PRESETS = {
    "ImageNet": normalisation("0.485, 0.456, 0.406", "0.229, 0.224, 0.225"),
    "CLIP": normalisation("0.48145466, 0.4578275, 0.40821073", "0.26862954, 0.26130258, 0.27577711"),
    "−1 to 1": normalisation("0.5", "0.5"),
    "0 to 1": normalisation("0", "1"),
    "0 to 255": {**normalisation("0", "1"), "white": 255.0},
}
