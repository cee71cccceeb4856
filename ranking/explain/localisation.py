"""What a localisation run located: the best window of each image, detections, and the same from each start."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from ranking.core import BagSet, Floats, ImageSet, Ints
from ranking.core.errors import InputError
from ranking.explain.playback import check_boxes
from ranking.files.archives import check_text, read_arrays
from ranking.inference.best_windows import best_windows
from ranking.methods.bag_method import BagMethod
from ranking.methods.bag_starts import STARTS
from ranking.metrics.detection import non_maximum_suppression

MOST_DETECTIONS = 20_000  # of the highest scores
MOST_BYTES = 50_000_000  # of the file
TYPES = {
    "boxes": np.int32,
    "detected": np.int32,
    "detections": np.int32,
    "confidences": np.float64,
    "objectives": np.float64,
    "start_boxes": np.int32,
}


@dataclass(frozen=True, eq=False)
class Localisation:
    """The boxes of n images, (left, top, right, bottom) in pixels.

    boxes: (n, 4) the best window of each image. detected: (k,) images, detections: (k, 4) and confidences: (k,) the
    windows that remain after suppression and their scores, highest first. starts: (s,) names of `bag_starts.STARTS`
    where training began, objectives: (s,) and start_boxes: (s, n, 4) the best windows where it ended.
    """

    boxes: Ints
    detected: Ints
    detections: Ints
    confidences: Floats
    starts: npt.NDArray[np.str_]
    objectives: Floats
    start_boxes: Ints

    @classmethod
    def of(cls, method: BagMethod, bags: BagSet, scores: Floats, searched: Ints) -> Self:
        """Return what a fitted method located. scores: (rows,) of all windows; searched: images with detections."""
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

    @classmethod
    def load(cls, data: bytes, images: int) -> Self:
        """Return what is in the bytes of an untrusted file; InputError unless it has the boxes of `images` images."""
        read = cls(**read_arrays(data, "localisation", ("starts", *TYPES), MOST_BYTES))
        read._check(images)
        return read

    def _check(self, images: int) -> None:
        count, starts = self.detected.size, self.starts.size
        shapes: dict[str, tuple[int, ...]] = {"boxes": (images, 4), "detections": (count, 4)}
        shapes |= {"detected": (count,), "confidences": (count,)}
        shapes |= {"objectives": (starts,), "start_boxes": (starts, images, 4)}
        for name, kind in TYPES.items():
            array = getattr(self, name)
            if array.dtype != kind or array.shape != shapes[name]:
                came = f"{array.dtype} of shape {array.shape}"
                raise InputError(
                    f"{name} of a localisation", f"{np.dtype(kind)} of shape {shapes[name]}", came
                )
        for name in ("boxes", "detections", "start_boxes"):
            check_boxes(getattr(self, name), f"{name} of a localisation")
        if not np.isin(self.detected, np.arange(images)).all():
            raise InputError("detected of a localisation", f"numbers of {images} images", "others")
        if not np.isfinite(self.confidences).all() or (np.diff(self.confidences) > 0).any():
            raise InputError("confidences of a localisation", "finite numbers that do not rise", "others")
        if not np.isfinite(self.objectives).all():
            raise InputError("objectives of a localisation", "finite numbers", "others")
        if self.starts.dtype.kind != "U" or self.starts.ndim != 1:
            raise InputError("starts of a localisation", "names", f"{self.starts.dtype}")
        check_text(self.starts, "starts of a localisation")
        if not {*self.starts.tolist()} <= STARTS.keys():
            raise InputError("starts of a localisation", f"of {', '.join(STARTS)}", "others")


def detections_of(bags: BagSet, scores: Floats, images: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the windows of some images that remain after suppression, highest score first, at most MOST_DETECTIONS:
    their images (k,), boxes (k, 4) and scores (k,). scores: (rows,); windows of score -inf are ignored."""
    rows = []
    for image in images:
        first = bags.starts[image]
        usable = first + np.flatnonzero(np.isfinite(scores[first : bags.starts[image + 1]]))
        rows.append(usable[non_maximum_suppression(bags.boxes[usable], scores[usable])])
    kept = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    kept = kept[np.argsort(-scores[kept], kind="stable")][:MOST_DETECTIONS]
    whose = np.searchsorted(bags.starts, kept, side="right") - 1
    return whose.astype(np.int32), bags.boxes[kept].astype(np.int32), scores[kept]


def objects_of(images: ImageSet, query: str) -> list[Ints] | None:
    """Return the boxes (k, 4) of a class in each image; None for a set in which every box is its whole image, because
    the objects are not known there."""
    whole = np.hstack([np.zeros_like(images.image_sizes), images.image_sizes])[images.image_of]
    if (images.boxes == whole).all():
        return None
    shown = images.relevance(query) > 0
    order = np.argsort(images.image_of[shown], kind="stable")
    counts = np.bincount(images.image_of[shown], minlength=len(images.image_names))
    return np.split(images.boxes[shown][order], np.cumsum(counts)[:-1])


def read_localisation(file: Path, images: int) -> Localisation:
    """Return the localisation in `file`. Raises InputError if it does not exist or is damaged."""
    try:
        with open(file, "rb") as stream:
            return Localisation.load(stream.read(MOST_BYTES + 1), images)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        why = error.strerror if isinstance(error, OSError) else error  # without the path
        raise InputError(file.name, "boxes of images", f"a damaged file ({why})", "train again") from error
