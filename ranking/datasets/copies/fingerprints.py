"""Fingerprints of images: a perceptual hash of ImageHash, and a small grey image for the details.

Histograms are equalised, so that a darkened or faded copy has nearly the same fingerprint. An image rotated by an
arbitrary angle has a black frame: a second fingerprint is computed from the content of the frame, set upright.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from ranking.core import Floats

# pixels of the grey image
SIDE = 48
# 64 bits
HASH_SIDE = 8
# pixels of a side: smaller images are too similar to each other, whatever they show
SMALLEST = 64
# pixels of the longer side when the image is searched for a black frame
SCALED_DOWN = 192
# grey level, and share of the highest level, up to which a pixel is black
BLACK, BLACK_SHARE = 6, 0.06
# Angles of the rectangle in a black frame, in steps finer than the comparison needs.
ANGLES = np.radians(np.arange(0, 90, 0.5))
# a rectangle that covers a larger share of the image has no frame
MAX_OF_FRAME = 0.92
# pixels of the rectangle that are omitted at each side, because they are half black
INSET = 1
# The share of the rectangle that is not black, from which it certainly is a rotated image, and from which it may be
# one: in a night scene only the lit part is not black, before and after a rotation.
SURELY_FILLED, LEAST_FILLED = 0.6, 0.1

Grey = npt.NDArray[np.uint8]


class Fingerprint(NamedTuple):
    """What identifies an image, or the content of its black frame.

    hash: (HASH_SIDE, HASH_SIDE) bits of ImageHash's average hash. grey: (SIDE, SIDE). framed: whether the
    image includes a black frame; two frames of the same shape are similar, whatever their content.
    """

    hash: npt.NDArray[np.bool_]
    grey: Grey
    framed: bool = False


def fingerprints(picture: Image.Image) -> list[Fingerprint]:
    """Return a fingerprint of the image, and another of the content of its black frame, if it has one.

    An image that is too small, or has a single grey level, has no fingerprint.
    """
    if min(picture.size) < SMALLEST:
        return []
    grey = picture.convert("L")
    grey.thumbnail((SCALED_DOWN, SCALED_DOWN), Image.Resampling.BOX)
    size = (2 * SIDE, 2 * SIDE)
    rectangle = rectangle_in_frame(np.asarray(grey))
    framed = rectangle is not None and rectangle.filled >= SURELY_FILLED
    pictures = [(grey.resize(size, Image.Resampling.BOX), framed)]
    if rectangle is not None:
        held = grey.transform(size, Image.Transform.QUAD, rectangle.corners, Image.Resampling.BILINEAR)
        pictures.append((held, False))
    return [_fingerprint(each, framed) for each, framed in pictures if len(each.getcolors() or ()) != 1]


def _fingerprint(grey: Image.Image, framed: bool) -> Fingerprint:
    # when an import begins, not when a page loads
    import imagehash

    equal = ImageOps.equalize(grey)
    bits = imagehash.average_hash(equal, HASH_SIDE).hash
    return Fingerprint(bits, np.asarray(equal.resize((SIDE, SIDE), Image.Resampling.BOX)), framed)


class Rectangle(NamedTuple):
    """A rectangle around the content of an image, which may be rotated."""

    # x and y in pixels of the upper left, lower left, lower right and upper right corner
    corners: tuple[float, ...]
    # the share of its pixels that is not black
    filled: float


def rectangle_in_frame(grey: Grey) -> Rectangle | None:
    """Return the smallest rectangle around all pixels that are not black; None if there is no black frame.

    >>> frame = np.zeros((100, 100), np.uint8)
    >>> frame[20:80, 10:90] = 200
    >>> rectangle_in_frame(frame).corners
    (11.0, 21.0, 11.0, 79.0, 89.0, 79.0, 89.0, 21.0)
    """
    # There is none if the rectangle covers nearly the whole image, or is mostly black.
    black = max(BLACK, BLACK_SHARE * int(grey.max()))
    if max(grey[0, 0], grey[0, -1], grey[-1, 0], grey[-1, -1]) > black:
        return None
    outline, filled = _outline(grey > black)
    if not filled:
        return None
    along = outline @ np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    across = outline @ np.stack([-np.sin(ANGLES), np.cos(ANGLES)])
    areas = np.ptp(along, axis=0) * np.ptp(across, axis=0)
    best = int(areas.argmin())
    if areas[best] > MAX_OF_FRAME * grey.size or filled < LEAST_FILLED * areas[best]:
        return None
    cos, sin = math.cos(ANGLES[best]), math.sin(ANGLES[best])
    (left, right), (top, bottom) = _ends(along[:, best]), _ends(across[:, best])
    left, right, top, bottom = left + INSET, right - INSET, top + INSET, bottom - INSET
    turned = ((left, top), (left, bottom), (right, bottom), (right, top))
    corners = tuple(edge for u, v in turned for edge in (u * cos - v * sin, u * sin + v * cos))
    return Rectangle(corners, filled / float(areas[best]))


def _outline(shown: npt.NDArray[np.bool_]) -> tuple[Floats, int]:
    """Return (n, 2) the corners of each row's first and last pixels, and how many pixels lie between."""
    rows = np.flatnonzero(shown.any(axis=1))
    first = shown[rows].argmax(axis=1)
    end = shown.shape[1] - shown[rows, ::-1].argmax(axis=1)
    x, y = np.concatenate([first, end, first, end]), np.concatenate([rows, rows, rows + 1, rows + 1])
    return np.stack([x, y], axis=1).astype(np.float64), int((end - first).sum())


def _ends(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())
