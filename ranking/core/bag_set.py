"""Images as bags of candidate windows: whether an image shows the object is known, where it is, is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core.arrays import (
    AnyArray,
    Features,
    Floats,
    Ints,
    check_features,
    check_ids,
    check_relevance,
    is_real,
)
from ranking.core.errors import InputError


@dataclass(frozen=True, eq=False)
class BagSet:
    """n images, each a bag of candidate windows (quicksort, section 6.2).

    windows: (rows, d) float16, float32 or float64 features of the windows, d >= 1, finite, image after image; those of
    image i are in the rows starts[i] to starts[i + 1], at least one. boxes: (rows, 4) of the windows, (left, top,
    right, bottom) in pixels; the first window of an image is the whole image, and the others are inside. relevance:
    (n,) grades >= 0, above 0 for images that show the object, needed for training only. ids: (n,) stable names of
    the images; the row numbers by default.
    """

    windows: Features
    starts: Ints
    boxes: Floats
    relevance: Ints | None = None
    ids: AnyArray | None = None

    def __post_init__(self) -> None:
        windows = check_features(self.windows, "windows", half=True)
        if not windows.shape[1]:
            raise InputError("windows", "one column or more", windows.shape)
        starts = np.asarray(self.starts)
        if starts.ndim != 1 or not np.issubdtype(starts.dtype, np.integer):
            raise InputError(
                "starts", "whole numbers of shape (n + 1,)", f"{starts.dtype} of shape {starts.shape}"
            )
        if not len(starts) or starts[0] != 0 or starts[-1] != len(windows) or (np.diff(starts) < 1).any():
            expected = f"numbers that rise from 0 to {len(windows)}, the number of windows"
            remedy = "give an image without candidates the whole image as its only window"
            raise InputError("starts", expected, starts.tolist(), remedy)
        object.__setattr__(self, "windows", windows)
        object.__setattr__(self, "starts", starts.astype(np.int64))
        object.__setattr__(self, "boxes", self._checked_boxes())
        if self.relevance is not None:
            object.__setattr__(self, "relevance", check_relevance(self.relevance, len(self)))
        object.__setattr__(self, "ids", check_ids(self.ids, len(self), "image"))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def shares(self) -> Floats:
        """The area of each window as a share of its image, (rows,)."""
        areas = (self.boxes[:, 2:] - self.boxes[:, :2]).prod(axis=1)
        return np.asarray(areas / np.repeat(areas[self.starts[:-1]], np.diff(self.starts)))

    def _checked_boxes(self) -> Floats:
        boxes = np.asarray(self.boxes)
        if boxes.shape != (len(self.windows), 4):
            raise InputError("boxes", f"shape ({len(self.windows)}, 4), one box per window", boxes.shape)
        if not is_real(boxes) or not np.isfinite(boxes).all():
            raise InputError("boxes", "finite real numbers", f"{boxes.dtype}, some not finite or not real")
        boxes = boxes.astype(np.float64)
        whole = boxes[self.starts[:-1]].repeat(np.diff(self.starts), axis=0)
        for wrong, expected in (
            ((boxes[:, :2] >= boxes[:, 2:]), "left < right and top < bottom"),
            (
                np.hstack([boxes[:, :2] < whole[:, :2], boxes[:, 2:] > whole[:, 2:]]),
                "boxes inside the first one of their image, which is the whole image",
            ),
        ):
            rows = np.flatnonzero(wrong.any(axis=1))
            if len(rows):
                raise InputError("boxes", expected, f"{boxes[rows[0]].tolist()} in row {rows[0]:,}")
        return boxes
