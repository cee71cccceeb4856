"""The kernel of `alignment.sampled`."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def sample(images, warps, edge, margin, values, inside):  # type: ignore[no-untyped-def]
    """Write the pixels of each warped image, by linear interpolation, and whether they lie inside."""
    # edge: (side,) the coordinates of pixels in a row. margin: pixels farther out are not inside.
    side = len(edge)
    half, most = np.float32(side / 2), np.float32(side - 1.001)
    for n in range(len(images)):
        image, warp = images[n], warps[n]
        for row in range(side):
            for column in range(side):
                x = warp[0, 0] * edge[column] + warp[0, 1] * edge[row] + warp[0, 2]
                y = warp[1, 0] * edge[column] + warp[1, 1] * edge[row] + warp[1, 2]
                near = max(abs(edge[row]), abs(edge[column]))
                inside[n, row * side + column] = max(abs(x), abs(y), near) < margin
                x = min(max((x + np.float32(1)) * half - np.float32(0.5), np.float32(0)), most)
                y = min(max((y + np.float32(1)) * half - np.float32(0.5), np.float32(0)), most)
                left, top = int(x), int(y)
                right, down = x - np.float32(left), y - np.float32(top)
                upper = image[top, left] + (image[top, left + 1] - image[top, left]) * right
                lower = image[top + 1, left] + (image[top + 1, left + 1] - image[top + 1, left]) * right
                values[n, row * side + column] = upper + (lower - upper) * down
