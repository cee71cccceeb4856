"""A preview of an uploaded ONNX model: the vectors of a few samples.

The user chooses what the file may not contain: how pixels are normalised, and which output is used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from ranking.core import Features, ImageSet, Ints, OnStep
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, GivenSettings, Json, Settings, settings_dict
from ranking.features.onnx_model import MAX_COLUMNS, Network, OnnxModel, model_name, stated_normalisation
from ranking.features.uploads.vector_plot import VectorPlot, vector_plot

# that are described
SAMPLES = 60
UNKNOWN = "the file does not say how pixels are normalised; choose what the model was trained with"


@dataclass(frozen=True)
class ModelPreview:
    """What a page shows of an uploaded model."""

    # shapes in words, by name
    outputs: dict[str, str]
    # of `OnnxModel`, used for the samples
    settings: Settings = field(default_factory=dict)
    # why the model cannot be used with these settings, or ""
    refused: str = ""
    # the median time per sample
    seconds: float = 0.0
    # of the vectors of the samples
    plot: VectorPlot | None = None

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: GivenJson) -> ModelPreview:
        """Return the preview that `to_json` wrote; ValueError, TypeError or KeyError for any other record."""
        plot = None if record["plot"] is None else VectorPlot(**record["plot"])
        return cls(**{**record, "plot": plot})


def is_network(path: Path) -> bool:
    """Return whether a file could be an ONNX model: it begins with the version of its format."""
    with path.open("rb") as file:
        return file.read(1) == b"\x08"


def preview_model(path: Path, images: ImageSet, chosen: GivenSettings, on_step: OnStep) -> ModelPreview:
    """Return a preview of the model in `path`, with the vectors of some samples of an image set."""
    # chosen: settings that override the defaults: the normalisation in the file, and the output whose name
    # suggests features.
    if images.image_features is not None:
        came = "cards that name labels, because it was imported with features"
        raise InputError(images.title, "images", came, "choose an image set of images")
    on_step("Reading the model", 0, 1)
    network = Network(path)
    settings = {"output": _likely_output(network.outputs), **stated_normalisation(network.metadata), **chosen}
    preview = ModelPreview(network.outputs, {**settings, "model": model_name(path)})
    if "mean" not in settings:
        return replace(preview, refused=UNKNOWN)
    rows = np.unique(np.linspace(0, len(images) - 1, min(SAMPLES, len(images))).round().astype(np.int64))
    try:
        feature = OnnxModel(**{**preview.settings, "columns": 1})
        feature.network = network
        vectors, seconds = _vectors(feature, images, rows, on_step)
    except ValueError as error:
        return replace(preview, refused=" ".join(str(error).split()))
    feature.columns = vectors.shape[1]
    plot = vector_plot(vectors, images, rows)
    return replace(preview, settings=settings_dict(feature), seconds=seconds, plot=plot)


def _likely_output(names: Iterable[str]) -> str:
    """Return an output whose name suggests features, otherwise the first."""
    return max(names, key=lambda name: bool(re.search("feat|embed|pool|vector", name, re.IGNORECASE)))


def _vectors(feature: OnnxModel, images: ImageSet, rows: Ints, on_step: OnStep) -> tuple[Features, float]:
    """Return (m, d) the vectors of the samples `rows`, and the median time per sample in seconds."""
    vectors, times = [], []
    for place, row in enumerate(rows):
        on_step("Describing a few samples", place, len(rows))
        crop = images.open_image(int(images.image_of[row])).crop(tuple(images.boxes[row].tolist()))
        began = time.perf_counter()
        vectors.append(feature.vector(crop))
        times.append(time.perf_counter() - began)
        if not 1 <= len(vectors[-1]) <= MAX_COLUMNS:
            expected = f"1 to {MAX_COLUMNS:,} numbers"
            raise InputError(f"output {feature.output}", expected, len(vectors[-1]), "pool its positions")
        if not np.isfinite(vectors[-1]).all():
            came = f"NaN or infinity for sample {images.ids[row]}"
            remedy = "choose another normalisation or another output"
            raise InputError(f"output {feature.output}", "finite numbers", came, remedy)
    matrix = np.stack(vectors)
    if (matrix == matrix[0]).all():
        expected, remedy = "numbers that differ between samples", "choose another output"
        raise InputError(f"output {feature.output}", expected, "the same for all samples", remedy)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0), float(np.median(times))
