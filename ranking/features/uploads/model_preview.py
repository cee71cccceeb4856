"""A preview of an uploaded ONNX model: its inputs and outputs, and the vectors of a few samples.

The user chooses what the file does not contain: how pixels are normalised, and which output is used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Features, ImageSet, Ints, OnStep
from ranking.core.errors import InputError
from ranking.core.settings import settings_dict
from ranking.core.text import readable
from ranking.features.onnx.running import Network, Port
from ranking.features.onnx_model import MAX_COLUMNS, MAX_SIDE, TYPES, OnnxModel, model_name, three_numbers
from ranking.features.uploads.vector_plot import VectorPlot, vector_plot

SAMPLES = 60  # that are described
USUAL_SIDE = 224  # for a model that accepts any size
MAX_PORTS = 50  # outputs that are listed
IMAGENET = {"white": 1.0, "mean": "0.485, 0.456, 0.406", "deviation": "0.229, 0.224, 0.225"}
# Metadata about normalisation, by the names that exporters use; numbers above 2 refer to pixels from 0 to 255.
MEANS, DEVIATIONS = ("mean", "image_mean", "img_mean"), ("std", "image_std", "img_std", "stddev")


@dataclass(frozen=True)
class ModelPreview:
    """inputs, outputs: descriptions by name. settings: of `OnnxModel`, used for the samples. read: which of them the
    file contains. refused: why the model cannot be used with these settings, or "".

    seconds: the median time per sample. plot: of the vectors of the samples.
    """

    inputs: dict[str, str]
    outputs: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    refused: str = ""
    seconds: float = 0.0
    plot: VectorPlot | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ModelPreview:
        """Return the preview that `to_json` wrote; ValueError, TypeError or KeyError for any other record."""
        plot = None if record["plot"] is None else VectorPlot(**record["plot"])
        return cls(**{**record, "plot": plot})


def is_network(path: Path) -> bool:
    """Return whether a file could be an ONNX model: it begins with the version of its format."""
    with path.open("rb") as file:
        return file.read(1) == b"\x08"


def preview_model(path: Path, images: ImageSet, chosen: Mapping[str, Any], on_step: OnStep) -> ModelPreview:
    """Return a preview of the model in `path`, with the vectors of some samples of an image set.

    chosen: settings that override those of the file and the defaults. InputError if the model cannot be loaded.
    """
    if images.image_features is not None:
        reason = f"{images.title} was imported with features; its images are cards that name labels"
        return ModelPreview({}, {}, refused=reason)
    on_step("Reading the model", 0, 1)
    network = Network(path)
    inputs, outputs = (
        {readable(port.name): words(port) for port in ports[:MAX_PORTS]}
        for ports in (network.inputs, network.outputs)
    )
    preview = ModelPreview(inputs, outputs)
    try:
        settings, read = proposed(network)
        settings |= {**chosen, "model": model_name(path)}
        return _described_by(replace(preview, read=read), settings, network, images, on_step)
    except ValueError as error:
        return replace(preview, refused=" ".join(str(error).split()))
    finally:
        network.close()


def proposed(model: Network) -> tuple[dict[str, Any], list[str]]:
    """Return settings for a model, and which of them its file contains; ValueError unless its input is an image.

    Free sizes become USUAL_SIDE; without metadata, the normalisation is that of ImageNet.
    """
    if len(model.inputs) != 1:
        names = ", ".join(readable(port.name) for port in model.inputs[:5]) or "none"
        raise InputError("model", "one input, an image", f"{len(model.inputs)}: {names}")
    [port] = model.inputs
    if not model.outputs:
        raise InputError("model", "an output", "none")
    if port.element not in TYPES:
        raise InputError("input of the model", " or ".join(TYPES), port.element)
    if len(port.shape) != 4 or port.shape[0] not in (None, 1):
        expected = "one image, 1 × 3 × height × width or 1 × height × width × 3"
        remedy = "export the model so that it takes one image at a time"
        raise InputError("input of the model", expected, words(port), remedy)
    last = port.shape[3] == 3 and port.shape[1] != 3
    channels, height, width = port.shape[3 if last else 1], *(port.shape[1:3] if last else port.shape[2:])
    if channels not in (None, 3):
        raise InputError("input of the model", "3 channels, red, green and blue", words(port))
    sides = {"height": height, "width": width}
    settings: dict[str, Any] = {"type": port.element, "layout": "NHWC" if last else "NCHW"}
    settings |= {name: side or USUAL_SIDE for name, side in sides.items()}
    if max(settings["width"], settings["height"]) > MAX_SIDE:
        raise InputError("input of the model", f"at most {MAX_SIDE:,} pixels per side", words(port))
    normalised = _normalisation(model.metadata)
    settings |= normalised or IMAGENET
    settings["output"] = _likely_output(model.outputs)
    read = [name for name, side in sides.items() if side] + list(normalised)
    return settings, [*read, "layout", "type"]


def _likely_output(outputs: list[Port]) -> str:
    """Return an output whose name suggests features, otherwise the first."""
    named = [port.name for port in outputs if re.search("feat|embed|pool|vector", port.name, re.IGNORECASE)]
    return named[0] if named else outputs[0].name


def _normalisation(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the normalisation in a model's metadata; {} if there is none that can be read."""
    lower = {name.lower().rpartition(".")[2]: value for name, value in metadata.items()}
    mean, deviation = (
        next((lower[name] for name in names if name in lower), None) for names in (MEANS, DEVIATIONS)
    )
    if mean is None or deviation is None:
        return {}
    try:
        numbers = three_numbers(mean), three_numbers(deviation)
    except ValueError:
        return {}
    if not numbers[1].all():
        return {}
    white = 255.0 if max(numbers[0].max(), numbers[1].max()) > 2 else 1.0
    written = [", ".join(np.format_float_positional(number, trim="-") for number in part) for part in numbers]
    return {"white": white, "mean": written[0], "deviation": written[1]}


def _described_by(
    preview: ModelPreview,
    settings: dict[str, Any],
    network: Network,
    images: ImageSet,
    on_step: OnStep,
) -> ModelPreview:
    """Describe a few samples, which completes the settings."""
    feature = OnnxModel(**settings)
    if feature.output not in preview.outputs:
        raise InputError("output", f"one of {', '.join(preview.outputs)}", f"{feature.output!r:.80}")
    rows = np.unique(np.linspace(0, len(images) - 1, min(SAMPLES, len(images))).round().astype(np.int64))
    length = len(feature.pooled(network.ask(feature.pixels(_crop(images, rows[0])), feature.output)))
    if not 1 <= length <= MAX_COLUMNS:
        expected = f"1 to {MAX_COLUMNS:,} numbers"
        raise InputError(f"output {feature.output}", expected, length, "pool its positions")
    feature = OnnxModel(**{**settings, "columns": length})
    feature.network = network
    vectors, seconds = _described(feature, images, rows, on_step)
    preview = replace(preview, settings=settings_dict(feature), seconds=seconds)
    return replace(preview, plot=vector_plot(vectors, images, rows))


def _described(feature: OnnxModel, images: ImageSet, rows: Ints, on_step: OnStep) -> tuple[Features, float]:
    """Return (m, d) the vectors of the samples `rows`, and the median time per sample."""
    vectors, times = np.zeros((len(rows), feature.size), np.float32), []
    for place, row in enumerate(rows):
        on_step("Describing a few samples", place, len(rows))
        crop, began = _crop(images, int(row)), time.perf_counter()
        vectors[place] = feature.describe(crop)
        times.append(time.perf_counter() - began)
        if not np.isfinite(vectors[place]).all():
            came = f"NaN or infinity for sample {images.ids[row]}"
            remedy = "choose another normalisation or another output"
            raise InputError(f"output {feature.output}", "finite numbers", came, remedy)
    if (vectors == vectors[0]).all():
        expected, remedy = "numbers that differ between samples", "choose another output"
        raise InputError(f"output {feature.output}", expected, "the same for all samples", remedy)
    return vectors, float(np.median(times))


def _crop(images: ImageSet, row: int) -> Any:
    return images.open_image(int(images.image_of[row])).crop(tuple(images.boxes[row].tolist()))


def words(port: Port) -> str:
    """
    >>> words(Port("x", "float32", (None, 3, 224, 224)))
    'any × 3 × 224 × 224 (float32)'
    """
    sides = " × ".join("any" if side is None else f"{side:,}" for side in port.shape) or "no sides"
    return f"{sides} ({port.element})"
