"""Measures of localisation and detection: do boxes lie on objects?

All boxes are (left, top, right, bottom), half open.

A box lies on an object where their intersection over union is at least 0.5, as in the PASCAL VOC challenge
(Everingham et al. 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints, is_real
from ranking.core.errors import InputError
from ranking.metrics.measures import rank

# of overlap: a box lies on an object
ENOUGH = 0.5


def overlap(boxes: npt.ArrayLike, others: npt.ArrayLike) -> Floats:
    """Return (n, m) the intersection over union of boxes (n, 4) and (m, 4); ValueError for empty boxes.

    >>> overlap([[0, 0, 2, 2]], [[1, 0, 3, 2], [5, 5, 6, 6]]).round(3)
    array([[0.333, 0.   ]])
    """
    left, right = _checked(boxes), _checked(others)
    sides = np.minimum(left[:, None, 2:], right[:, 2:]) - np.maximum(left[:, None, :2], right[:, :2])
    shared = np.maximum(sides, 0.0).prod(axis=2)
    areas = [(corners[:, 2:] - corners[:, :2]).prod(axis=1) for corners in (left, right)]
    return np.asarray(shared / (areas[0][:, None] + areas[1] - shared))


def correct_localisation(boxes: npt.ArrayLike, objects: Sequence[npt.ArrayLike]) -> float:
    """Return CorLoc (Deselaers et al. 2012): the share of images whose box lies on one of their objects.

    boxes: (n, 4), one per image that shows an object. objects: the boxes (k, 4) of the objects of each image, at least
    one each (else ValueError).

    >>> correct_localisation([[0, 0, 2, 2], [0, 0, 2, 2]], [[[0, 0, 2, 3]], [[1, 1, 5, 5]]])
    0.5
    """
    chosen = _checked(boxes)
    if len(chosen) != len(objects) or not len(objects) or not all(len(np.asarray(real)) for real in objects):
        empty = sum(not len(np.asarray(real)) for real in objects)
        got = f"{len(chosen)} boxes and {len(objects)} images, {empty} of them without objects"
        raise InputError("objects", "at least one object for each box", got, "omit images without objects")
    return float(
        np.mean([overlap(box[None], real).max() >= ENOUGH for box, real in zip(chosen, objects, strict=True)])
    )


def window_recall(windows: Sequence[npt.ArrayLike], objects: Sequence[npt.ArrayLike]) -> float:
    """Return the share of objects on which a candidate window of their image lies: no others can be found.

    windows: the boxes (m, 4) of each image, at least one each. objects: (k, 4), of all images at least one (else
    ValueError).

    >>> window_recall([[[0, 0, 2, 2]], [[0, 0, 9, 9]]], [[[0, 0, 2, 3], [5, 5, 6, 6]], []])
    0.5
    """
    best = [
        overlap(candidates, real).max(axis=0)
        for candidates, real in zip(windows, objects, strict=True)
        if len(np.asarray(real))
    ]
    if not best:
        raise InputError("objects", "at least one object", 0, "omit a class without objects")
    return float(np.mean(np.concatenate(best) >= ENOUGH))


def non_maximum_suppression(boxes: npt.ArrayLike, scores: npt.ArrayLike, most: float = 0.3) -> Ints:
    """Return the boxes that remain, highest score first.

    None overlaps a higher one that remains by more than `most`.

    Boxes (n, 4) of equal score come in their order.

    >>> non_maximum_suppression([[0, 0, 4, 4], [0, 0, 4, 5], [9, 9, 12, 12]], [0.2, 0.9, 0.1])
    array([1, 2])
    """
    corners, order = _checked(boxes), rank(scores)
    if len(order) != len(corners):
        raise InputError("scores", f"({len(corners)},), one score per box", (len(order),))
    kept: list[int] = []
    while len(order):
        kept.append(int(order[0]))
        order = order[1:][overlap(corners[order[:1]], corners[order[1:]])[0] <= most]
    return np.array(kept, np.int64)


def detection_average_precision(
    detections: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], objects: Sequence[npt.ArrayLike]
) -> float:
    """Return the average precision of detections as VOC computes it since 2010: the area below the envelope.

    detections: boxes (k, 4) and scores (k,) of each image, after suppression. objects: the boxes (m, 4) of the objects
    of each image; ValueError if there are none in all. From the highest score on, a detection is correct if it lies on
    the object that it overlaps most and no higher one does. The envelope is the highest precision at that recall or a
    higher one. Of all orders that equal scores allow, the one with the least average precision counts.

    >>> detection_average_precision([([[0, 0, 2, 2], [5, 5, 6, 6]], [0.9, 0.8])], [[[0, 0, 2, 2], [7, 7, 9, 9]]])
    0.5
    """
    hits, total = _ranked_hits(detections, objects)
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(envelope[hits].sum() / total)


def detection_curve(
    detections: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], objects: Sequence[npt.ArrayLike]
) -> tuple[Floats, Floats]:
    """Return precision and recall, (k,) each, among the highest 1, 2, ... k detections.

    Arguments as in `detection_average_precision`.

    >>> detection_curve([([[0, 0, 2, 2], [5, 5, 6, 6]], [0.9, 0.8])], [[[0, 0, 2, 2], [7, 7, 9, 9]]])
    (array([1. , 0.5]), array([0.5, 0.5]))
    """
    hits, total = _ranked_hits(detections, objects)
    return np.cumsum(hits) / np.arange(1, len(hits) + 1), np.cumsum(hits) / total


def _ranked_hits(
    detections: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], objects: Sequence[npt.ArrayLike]
) -> tuple[npt.NDArray[np.bool_], int]:
    """Return (k,) which detections of all images are correct, by falling score, and the number of objects."""
    if len(detections) != len(objects):
        raise InputError(
            "objects", f"boxes of objects for {len(detections)} images", f"{len(objects)} images"
        )
    total = sum(len(_checked(real)) for real in objects)
    if not total:
        raise InputError("objects", "at least one object", 0, "omit a class without objects")
    nearest, scores, earlier = [], [], 0
    for (boxes, values), real in zip(detections, objects, strict=True):
        number = _nearest_objects(boxes, values, real)
        # numbered over all images
        nearest.append(np.where(number >= 0, number + earlier, -1))
        scores.append(np.asarray(values, np.float64))
        earlier += len(np.asarray(real))
    return _least_hits(np.concatenate(nearest), np.concatenate(scores)), total


def _least_hits(nearest: Ints, scores: Floats) -> npt.NDArray[np.bool_]:
    """Return (k,) which detections are correct in that order of equal scores in which every correct one comes last.

    nearest: (k,) the object on which each lies, or -1. In any order the first detection of an object is correct and
    the others are not. So those of no object, or of one that a higher score has found, come first, then objects with
    many detections before objects with few: the m-th correct detection of a group of equal scores then has the largest
    rank that any order gives it, and so the precision is lowest at every recall.
    """
    hits, found = [], set()
    for score in np.unique(scores)[::-1]:
        group = Counter(nearest[scores == score].tolist())
        fresh = sorted(
            (count for number, count in group.items() if number >= 0 and number not in found), reverse=True
        )
        hits += [False] * (group.total() - sum(fresh))
        for count in fresh:
            hits += [True] + [False] * (count - 1)
        found |= set(group)
    return np.array(hits, np.bool_)


def correct_detections(
    boxes: npt.ArrayLike, scores: npt.ArrayLike, objects: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Return (k,) which detections of one image are correct: see `detection_average_precision`."""
    # Of equal scores the first is found first.
    nearest, order = _nearest_objects(boxes, scores, objects), rank(scores)
    correct, first = np.zeros(len(order), np.bool_), np.unique(nearest[order], return_index=True)[1]
    correct[order[first]] = True
    return correct & (nearest >= 0)


def _nearest_objects(boxes: npt.ArrayLike, scores: npt.ArrayLike, objects: npt.ArrayLike) -> Ints:
    """Return (k,) the object of an image that each box overlaps most, -1 where it does not lie on it."""
    corners, given = _checked(boxes), np.shape(scores)
    if given != (len(corners),):
        raise InputError("scores", f"({len(corners)},), one score per box", given)
    shared = overlap(corners, objects)
    if not shared.shape[1]:
        return np.full(len(corners), -1)
    return np.where(shared.max(axis=1) >= ENOUGH, shared.argmax(axis=1), -1)


def _checked(boxes: npt.ArrayLike) -> Floats:
    """Return boxes (n, 4) as float64; ValueError unless they are finite and not empty."""
    corners = np.asarray(boxes)
    if not corners.size:
        return np.empty((0, 4))
    if corners.ndim != 2 or corners.shape[1] != 4 or not is_real(corners) or not np.isfinite(corners).all():
        raise InputError(
            "boxes", "finite numbers of shape (n, 4)", f"{corners.dtype} of shape {corners.shape}"
        )
    if (corners[:, :2] >= corners[:, 2:]).any():
        wrong = (corners[:, :2] >= corners[:, 2:]).any(axis=1)
        raise InputError("boxes", "left < right and top < bottom", corners[wrong][0].tolist())
    return corners.astype(np.float64)
