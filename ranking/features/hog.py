"""Histograms of oriented gradients (Dalal and Triggs, CVPR 2005): the shape of the object in a box.

Tests compare it with scikit-image, which takes three to five times as long and differs in the last bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image

from ranking.core import Feature, Floats
from ranking.core.settings import setting
from ranking.features.registry import FEATURES


@FEATURES.register("HOG")
@dataclass
class HOG(Feature):
    """Histograms of edge directions in small cells of the grey box, normalised in blocks of cells.

    The box is resized to `side` x `side` pixels. A vector is flattened from (block row, block column, cell row in the
    block, cell column in the block, orientation); see `layout` and `cells`.
    """

    order: ClassVar[int] = 0
    default: ClassVar[bool] = True
    version: ClassVar[int] = 2
    whole_image: ClassVar[bool] = False

    side: int = setting(
        64,
        label="Side in pixels",
        help="Every box is resized to a square of this side. A larger side keeps finer detail and takes longer.",
        choices=(32, 64, 96, 128),
        advanced=True,
    )
    cell: int = setting(
        8,
        label="Cell in pixels",
        help="The square in which edge directions are counted. Smaller cells locate edges more precisely; larger cells "
        "tolerate shifts.",
        choices=(8, 16),
        advanced=True,
    )
    block: int = setting(
        2,
        label="Cells per block side",
        help="Cells are normalised in square blocks of this many cells per side, so that illumination matters less.",
        choices=(1, 2),
        advanced=True,
    )
    orientations: int = setting(
        9,
        label="Orientations",
        help="The number of edge directions, from 0 to 180 degrees.",
        minimum=2,
        maximum=36,
        advanced=True,
    )

    @property
    def layout(self) -> tuple[int, int, int, int, int]:
        """The shape of a vector before it is flattened: block rows, block columns, cells, orientations.

        Cells are rows and columns of a block.
        """
        blocks = self.side // self.cell - self.block + 1
        return blocks, blocks, self.block, self.block, self.orientations

    @property
    def size(self) -> int:
        return int(np.prod(self.layout))

    @property
    def angles(self) -> Floats:
        """Return (orientations,) the central direction of each, in radians: of the gradient, across the edge.

        A plot of weights shows each as a stroke at right angles to the gradient.
        """
        return np.asarray((np.arange(self.orientations) + 0.5) * (np.pi / self.orientations), np.float64)

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        small = crop.convert("L").resize((self.side, self.side), Image.Resampling.BILINEAR)
        vector = self._in_blocks(_histograms(np.asarray(small), self.cell, self.orientations)).ravel()
        norm = np.linalg.norm(vector)
        return np.asarray(vector / norm if norm > 0 else vector, np.float32)

    def _in_blocks(self, cells: Floats) -> Floats:
        """Return `layout`: each block scaled to length 1, clipped at 0.2, and scaled again (L2-Hys)."""
        windows = np.lib.stride_tricks.sliding_window_view(cells, (self.block, self.block), axis=(0, 1))
        blocks = _scaled(windows.transpose(0, 1, 3, 4, 2))
        return _scaled(np.minimum(blocks, 0.2))

    def cells(self, vector: npt.ArrayLike) -> Floats:
        """Return (rows, columns, orientations) the entries of a vector, summed by cell.

        The vector may also be a method's weights.

        A cell is part of up to block x block blocks, each with its own scale; the sum over these is the contribution of
        the cell to a score, as shown in a plot of the weights.

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
    """Return each block divided by its length; a nearly flat block stays nearly 0."""
    squares = np.einsum("rcyxo,rcyxo->rc", blocks, blocks)
    return np.asarray(blocks / np.sqrt(squares + 1e-5**2)[:, :, None, None, None])


@FEATURES.register("HOG of the image")
@dataclass
class ImageHOG(HOG):
    """HOG of the whole image, which is the same for all its boxes: the shapes around a box."""

    order: ClassVar[int] = 10
    default: ClassVar[bool] = False
    whole_image: ClassVar[bool] = True


@njit(cache=True, nogil=True)
def _histograms(grey: npt.NDArray[np.uint8], cell: int, orientations: int) -> Floats:
    """Return (rows, columns, orientations) the mean length of the gradients in each cell by direction."""
    # grey: (side, side), side a multiple of `cell`. Opposite gradients have the same direction: directions
    # cover half a turn. A border pixel lacks a neighbour, and so has no gradient across the border.
    # Differences are of whole numbers, so that equal slopes have exactly the same direction.
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
            # 180 degrees are 0
            if bin == orientations:
                bin = 0
            total[y // cell, x // cell, bin] += np.sqrt(down * down + right * right)
    return total / (255 * cell * cell)
