"""Histograms of oriented gradients (Dalal and Triggs, CVPR 2005): the shape of what a box shows.

scikit-image, to which tests compare it, takes three to five times as long and differs in the last bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image

from ranking.core import Floats
from ranking.core.settings import setting
from ranking.features.registry import FEATURES


@FEATURES.register("HOG")
@dataclass
class HOG:
    """Directions of edges, counted in small cells of the grey box, each block of cells made comparable.

    The box is stretched to `side` x `side` pixels. A vector is, flattened: (block row, block column, cell row
    in the block, cell column in the block, orientation); see `layout` and `cells`.
    """

    name: ClassVar[str]
    order: ClassVar[int] = 0
    default: ClassVar[bool] = True
    version: ClassVar[int] = 2
    whole_image: ClassVar[bool] = False

    side: int = setting(
        64,
        label="Side in pixels",
        help="Every box is resized to a square of this side. Larger sees finer detail and takes longer.",
        choices=(32, 64, 96, 128),
        advanced=True,
    )
    cell: int = setting(
        8,
        label="Cell in pixels",
        help="The square in which directions of edges are counted. Smaller cells see where an edge is more "
        "exactly, larger ones forgive a shift.",
        choices=(8, 16),
        advanced=True,
    )
    block: int = setting(
        2,
        label="Cells per block side",
        help="So many cells by so many share one scale of brightness, so that light and shade matter less.",
        choices=(1, 2),
        advanced=True,
    )
    orientations: int = setting(
        9,
        label="Orientations",
        help="How many directions of edges are told apart, from 0 to 180 degrees.",
        minimum=2,
        maximum=36,
        advanced=True,
    )

    @property
    def layout(self) -> tuple[int, int, int, int, int]:
        """A vector's shape before it is flattened: rows and columns of blocks, of cells, orientations."""
        blocks = self.side // self.cell - self.block + 1
        return blocks, blocks, self.block, self.block, self.orientations

    @property
    def size(self) -> int:
        return int(np.prod(self.layout))

    @property
    def angles(self) -> Floats:
        """(orientations,) the middle direction of each, in radians: of the gradient, across the edge.

        A picture of weights draws the strokes of a cell by it, at right angles to the gradient.
        """
        return np.asarray((np.arange(self.orientations) + 0.5) * (np.pi / self.orientations), np.float64)

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        small = crop.convert("L").resize((self.side, self.side), Image.Resampling.BILINEAR)
        vector = self._in_blocks(_histograms(np.asarray(small), self.cell, self.orientations)).ravel()
        norm = np.linalg.norm(vector)
        return np.asarray(vector / norm if norm > 0 else vector, np.float32)

    def _in_blocks(self, cells: Floats) -> Floats:
        """`layout`: each block scaled to length 1, cut off at 0.2, and scaled again (L2-Hys)."""
        windows = np.lib.stride_tricks.sliding_window_view(cells, (self.block, self.block), axis=(0, 1))
        blocks = _scaled(windows.transpose(0, 1, 3, 4, 2))
        return _scaled(np.minimum(blocks, 0.2))

    def cells(self, vector: npt.ArrayLike) -> Floats:
        """(rows, columns, orientations): a vector or a method's weights, summed at the cell they belong to.

        A cell is part of up to block x block blocks, each with its own scale; the sum over these is what the
        cell adds to a score, and what a picture of the weights shows.

        >>> HOG().cells(np.ones(HOG().size)).shape
        (8, 8, 9)
        """
        parts = np.asarray(vector, np.float64).reshape(self.layout)
        rows, columns, block, _, orientations = self.layout
        total: Floats = np.zeros((rows + block - 1, columns + block - 1, orientations))
        for row in range(block):
            for column in range(block):
                total[row : row + rows, column : column + columns] += parts[:, :, row, column]
        return total


def _scaled(blocks: Floats) -> Floats:
    """Each block divided by its length; one that is nearly flat stays nearly 0."""
    squares = np.einsum("rcyxo,rcyxo->rc", blocks, blocks)
    return np.asarray(blocks / np.sqrt(squares + 1e-5**2)[:, :, None, None, None])


@FEATURES.register("HOG of the image")
@dataclass
class ImageHOG(HOG):
    """HOG of the whole image, which all its boxes share: the shapes around a box."""

    order: ClassVar[int] = 10
    default: ClassVar[bool] = False
    whole_image: ClassVar[bool] = True


@njit(cache=True, nogil=True)
def _histograms(grey: npt.NDArray[np.uint8], cell: int, orientations: int) -> Floats:
    """(rows, columns, orientations): in each cell, the mean length of its gradients by their direction.

    grey: (side, side), side a multiple of `cell`. Light to dark is as dark to light: directions are half a
    turn. A pixel of the border lacks a neighbour, and so has no gradient across the border. Differences are taken
    of whole numbers, so that equal slopes have exactly the same direction.
    """
    level = grey.astype(np.int64)
    side, width = len(grey), 180 / orientations
    total = np.zeros((side // cell, side // cell, orientations))
    for y in range(side):
        for x in range(side):
            down = float(level[y + 1, x] - level[y - 1, x]) if 0 < y < side - 1 else 0.0
            right = float(level[y, x + 1] - level[y, x - 1]) if 0 < x < side - 1 else 0.0
            if down < 0:
                down, right = -down, -right
            bin = int(np.rad2deg(np.arctan2(down, right)) / width)
            if bin == orientations:  # 180 degrees are 0
                bin = 0
            total[y // cell, x // cell, bin] += np.sqrt(down * down + right * right)
    return total / (255 * cell * cell)
