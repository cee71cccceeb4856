"""A sequence of samples as the frames of a film, and which end of its criterion goes first."""

from __future__ import annotations

from pages.parts.app import cache
from pages.parts.components.picture import data_url
from pages.parts.views.strips import Frame
from ranking.core import ImageSet, Ints
from ranking.core.run_settings import OrderTrainSettings
from ranking.core.text import written
from ranking.datasets.sequences import HIGHEST
from ranking.experiments.order_training import make_drawing
from ranking.workspace.run import Run


def frames_of(images: ImageSet, criterion: str, samples: Ints, relevance: Ints) -> list[Frame]:
    """A frame for each of the samples (n,) with its number by the criterion."""
    thumbnails, numbers = cache.thumbnails(images.key), images.numbers_of(criterion)
    return [
        Frame(
            data_url(thumbnails.crop(row)),
            f"image {images.image_names[images.image_of[row]]}",
            written(float(numbers[row])),
            grade,
        )
        for row, grade in zip(samples.tolist(), relevance.tolist(), strict=True)
    ]


def goes_first(run: Run) -> str:
    """Which end of the criterion begins a sequence."""
    drawing = make_drawing(OrderTrainSettings.from_json(run.settings).drawing)
    return "highest" if drawing.first == HIGHEST else "lowest"
