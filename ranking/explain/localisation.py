"""What a localisation run located: best windows, detections, and the same from each start."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from ranking.core import BagSet, Floats, ImageSet, Ints
from ranking.core.errors import InputError
from ranking.explain.playback import read_arrays
from ranking.inference.best_windows import best_windows
from ranking.methods.bag_method import BagMethod
from ranking.metrics.detection import non_maximum_suppression

# of the highest scores
MAX_DETECTIONS = 20_000


@dataclass(frozen=True, eq=False)
class Localisation:
    """The boxes of n images, (left, top, right, bottom) in pixels."""

    # (n, 4) the best window of each image
    boxes: Ints
    # (k,) images of `detections`
    detected: Ints
    # (k, 4) the windows that remain after suppression
    detections: Ints
    # (k,) the scores of `detections`, highest first
    confidences: Floats
    # (s,) names of `bag_starts.STARTS` where training began
    starts: npt.NDArray[np.str_]
    # (s,) where training from each start ended
    objectives: Floats
    # (s, n, 4) the best windows there
    start_boxes: Ints

    @classmethod
    def of(cls, method: BagMethod, bags: BagSet, scores: Floats, searched: Ints) -> Self:
        """Return what a fitted method located."""
        # scores: (rows,) of all windows; searched: images with detections.
        boxes = bags.boxes.astype(np.int32)
        ends = [
            best_windows(method.window_scores(bags, weights), bags.starts)
            for _, weights in method.ends.values()
        ]
        return cls(
            boxes[best_windows(scores, bags.starts)],
            *detections_of(bags, scores, searched),
            np.array(list(method.ends), "U"),
            np.array([objective for objective, _ in method.ends.values()], np.float64),
            boxes[np.array(ends, np.int64).reshape(-1, len(bags))],
        )

    def by_image(self, images: Ints) -> list[tuple[Ints, Floats]]:
        """Return the detections and their scores in each of the images."""
        return [
            (self.detections[rows], self.confidences[rows])
            for rows in (np.flatnonzero(self.detected == image) for image in images)
        ]

    def save(self, path: Path) -> None:
        stream = io.BytesIO()
        np.savez(stream, **vars(self))
        path.write_bytes(stream.getvalue())


def detections_of(bags: BagSet, scores: Floats, images: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the images (k,), boxes (k, 4) and scores (k,) of the windows that suppression leaves."""
    # scores: (rows,). Windows of score -inf are ignored. Highest score first, at most MAX_DETECTIONS.
    rows = []
    for image in images:
        first = bags.starts[image]
        usable = first + np.flatnonzero(np.isfinite(scores[first : bags.starts[image + 1]]))
        rows.append(usable[non_maximum_suppression(bags.boxes[usable], scores[usable])])
    kept = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    kept = kept[np.argsort(-scores[kept], kind="stable")][:MAX_DETECTIONS]
    whose = np.searchsorted(bags.starts, kept, side="right") - 1
    return whose.astype(np.int32), bags.boxes[kept].astype(np.int32), scores[kept]


def objects_of(images: ImageSet, query: str) -> list[Ints] | None:
    """Return the boxes (k, 4) of a class in each image; None where the objects are not known."""
    # They are not known in a set in which every box is its whole image.
    whole = np.hstack([np.zeros_like(images.image_sizes), images.image_sizes])[images.image_of]
    if (images.boxes == whole).all():
        return None
    shown = images.relevance(query) > 0
    order = np.argsort(images.image_of[shown], kind="stable")
    counts = np.bincount(images.image_of[shown], minlength=len(images.image_names))
    return np.split(images.boxes[shown][order], np.cumsum(counts)[:-1])


def read_localisation(file: Path, images: int) -> Localisation:
    """Return the localisation of `images` images in `file`; InputError if it is missing or damaged."""
    read = Localisation(**read_arrays(file))
    if read.boxes.shape != (images, 4):
        raise InputError(
            file.name, f"boxes of {images} images", f"boxes of shape {read.boxes.shape}", "train again"
        )
    return read
