"""GIST (Oliva and Torralba, IJCV 2001): the layout of a scene, as energies of oriented filters in a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image
from scipy import fft

from ranking.core import Feature, Floats
from ranking.core.settings import setting
from ranking.features.registry import FEATURES

Plane = npt.NDArray[np.float32]

# per image: coarser structure is illumination, and is removed
CYCLES = 4.0
# pixels mirrored around the image while its contrast is normalised
MARGIN = 5
# added to the local contrast, so that noise in a flat region stays small
LEAST_CONTRAST = 0.2
# cycles per pixel: the middle of the finest scale
FINEST = 0.3
# from each scale to the next coarser one
STEP = 1.85


@FEATURES.register("GIST")
@dataclass
class GIST(Feature):
    """The energy of stripes of each size and direction in each part of the grey box.

    The box is resized to `side` x `side` pixels (grey, 0 to 255 from its darkest to its brightest) and its local
    contrast is normalised; see `prefiltered`. The energy is the magnitude of the box filtered by a transfer function of
    one size and direction; see `transfer_functions`. A vector contains the mean energy in `blocks` x `blocks` parts,
    flattened: (scale, orientation, block row, block column), see `layout`.

    Filters and constants are those of the authors' program, LMgist; with side 128 so is the mirrored border of 32
    pixels, which prevents wrap-around between opposite sides. The default, side 64 with a border of 16, takes a quarter
    of the time and uses every stripe at half the size. Unlike in LMgist, the box is stretched to a square instead of
    cropped, grey is Pillow's, and the vector has length 1. A box of one colour has the zero vector.
    """

    order: ClassVar[int] = 2
    default: ClassVar[bool] = False
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = False

    side: int = setting(
        64,
        label="Side in pixels",
        help="Every box is resized to a square of this side. The authors use 128, which takes four times as "
        "long.",
        choices=(64, 128),
        advanced=True,
    )
    scales: int = setting(
        4,
        label="Scales",
        help="The number of stripe sizes, from fine to coarse.",
        minimum=1,
        maximum=4,
        advanced=True,
    )
    orientations: int = setting(
        8,
        label="Orientations",
        help="The number of stripe directions, from 0 to 180 degrees.",
        minimum=2,
        maximum=16,
        advanced=True,
    )
    blocks: int = setting(
        4,
        label="Parts per side",
        help="The box is divided into this many rows and columns of parts. More parts locate stripes more precisely; "
        "fewer tolerate shifts.",
        choices=(1, 2, 4, 8),
        advanced=True,
    )

    @property
    def layout(self) -> tuple[int, int, int, int]:
        """The shape of a vector before it is flattened: scales, orientations, rows and columns of parts."""
        return self.scales, self.orientations, self.blocks, self.blocks

    @property
    def size(self) -> int:
        return int(np.prod(self.layout))

    @property
    def angles(self) -> Floats:
        """(orientations,) the direction across the stripes, in radians from 0 to pi, y down as in HOG."""
        return np.asarray(-np.arange(self.orientations) * np.pi / self.orientations % np.pi, np.float64)

    def cells(self, vector: npt.ArrayLike) -> Floats:
        """Return (rows, columns, orientations) the energies of a vector in each part, summed over scales."""
        energies = np.asarray(vector, np.float64).reshape(self.layout).sum(axis=0)
        return np.moveaxis(energies, 0, 2)

    def describe(self, crop: Image.Image) -> Plane:
        small = crop.convert("L").resize((self.side, self.side), Image.Resampling.BILINEAR)
        grey = np.asarray(small, np.float32)
        low, high = grey.min(), grey.max()
        if low == high:
            return np.zeros(self.size, np.float32)
        vector = self._energies(prefiltered((grey - low) * (255 / (high - low)))).ravel()
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def _energies(self, plane: Plane) -> Plane:
        """Return `layout`: the mean magnitude of each filter's response in each part."""
        # The inverse transform processes one axis, drops the border, then processes the other axis: a third
        # less work.
        border, part = self.side // 4, self.side // self.blocks
        inside = slice(border, border + self.side)
        spectrum = fft.fft2(_mirrored(plane, border))
        magnitudes = np.empty((self.scales, self.orientations, self.side, self.side), np.float32)
        for scale, filters in enumerate(transfer_functions(len(spectrum), self.scales, self.orientations)):
            rows = fft.ifft(spectrum * filters, axis=1, overwrite_x=True)[:, inside]
            np.abs(fft.ifft(rows, axis=2)[:, :, inside], out=magnitudes[scale])
        parts = magnitudes.reshape(*self.layout[:3], part, self.blocks, part)
        return np.asarray(np.einsum("soaxby->soab", parts) / part**2)


def prefiltered(grey: Plane) -> Plane:
    """Return a plane without illumination and with normalised local contrast."""
    # Planes are (n, n), n even, levels 0 to 255. With i = log(1 + grey), mirrored at its borders, and the
    # low-pass filter g(f) = exp(-|f|^2 / s^2), s = 4 / sqrt(log 2), f in cycles per image: d = i - g * i, and
    # the result is d / (0.2 + sqrt(g * d^2)), where * is convolution.
    inside = slice(MARGIN, -MARGIN)
    wide = _mirrored(grey, MARGIN)
    return _evened(wide, _smoother(len(wide)))[inside, inside]


def _mirrored(plane: Plane, border: int) -> Plane:
    """Return `plane` extended by `border` mirrored pixels on each side."""
    places = np.pad(np.arange(len(plane)), border, "symmetric")
    return plane[places[:, None], places]


@lru_cache(maxsize=4)
def _smoother(n: int) -> Plane:
    """Return (n, n) A, symmetric: A @ plane @ A is g * plane, because g is a product over the axes."""
    low_pass = np.exp(-(np.fft.fftfreq(n, 1 / n) ** 2) * np.log(2) / CYCLES**2)
    return np.asarray(fft.ifft(low_pass[:, None] * fft.fft(np.eye(n), axis=0), axis=0).real, np.float32)


@lru_cache(maxsize=4)
def transfer_functions(n: int, scales: int, orientations: int) -> Plane:
    """Return (scales, orientations, n, n): a filter each, frequencies in the order of a Fourier transform."""
    # At radius r (cycles per pixel) and angle a, scale s and orientation k of K have
    # G(r, a) = exp(-3.5 (r / r_s - 1)^2 - 2 pi (K / 8)^2 b^2), r_s = 0.3 / 1.85^s,
    # and b the angle a + pi k / K modulo 2 pi, from -pi to pi. One-sided, so that the magnitude of the
    # response is the local energy.
    rows, columns = np.meshgrid(np.fft.fftfreq(n), np.fft.fftfreq(n), indexing="ij")
    radius, angle = np.hypot(rows, columns), np.arctan2(rows, columns)
    middles = FINEST / STEP ** np.arange(scales)
    along = -3.5 * (radius / middles[:, None, None] - 1) ** 2
    turned = angle + np.pi / orientations * np.arange(orientations)[:, None, None]
    turned = np.where(turned > np.pi, turned - 2 * np.pi, turned)
    across = -2 * np.pi * (orientations / 8) ** 2 * turned**2
    exponents = along[:, None] + across[None]
    # Setting tiny values to 0 changes no float32 digit of a response; numbers near 1e-38 would double the time.
    return np.where(exponents > -30, np.exp(exponents), 0).astype(np.float32)


@FEATURES.register("GIST of the image")
@dataclass
class ImageGIST(GIST):
    """GIST of the whole image, which is the same for all its boxes: the scene around a box."""

    order: ClassVar[int] = 12
    whole_image: ClassVar[bool] = True


@njit(cache=True, nogil=True)
def _evened(wide: Plane, smoother: Plane) -> Plane:
    """Return `prefiltered` of a plane that includes the margin; the margin stays."""
    logarithm = np.log1p(wide)
    detail = logarithm - _smoothed(logarithm, smoother)
    contrast = np.sqrt(np.abs(_smoothed(detail * detail, smoother)))
    return (detail / (LEAST_CONTRAST + contrast)).astype(np.float32)


@njit(cache=True, nogil=True)
def _smoothed(plane: Plane, smoother: Plane) -> Plane:
    """Return smoother @ plane @ smoother, without BLAS."""
    # Its threads would compete with the threads of `extract`.
    for _ in range(2):
        product = np.zeros_like(plane)
        for row in range(len(plane)):
            for middle in range(len(plane)):
                for column in range(len(plane)):
                    product[row, column] += smoother[row, middle] * plane[middle, column]
        plane = np.ascontiguousarray(product.T)
    return plane
