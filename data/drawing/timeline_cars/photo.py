"""From a drawing to a photograph: painted at twice the size, halved, then aged as prints of its time are."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from ranking.datasets.drawn.action_figures.ground import HEIGHT, WIDTH
from ranking.datasets.drawn.action_figures.sketch import Sketch
from ranking.datasets.drawn.timeline_cars.eras import Print

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
SEPIA = np.array([1.07, 0.94, 0.72], np.float32)
WARM = np.array([1.1, 1.0, 0.82], np.float32)
PAPER = np.array([238, 232, 214], np.float32)


def paint(sketch: Sketch) -> Image.Image:
    """The drawing as pixels, 320 x 240, RGB."""
    large = Image.new("RGB", (WIDTH, HEIGHT), (200, 200, 200))
    solid, glass = ImageDraw.Draw(large), ImageDraw.Draw(large, "RGBA")
    for shape in sketch.shapes:
        (solid if len(shape.colour) == 3 else glass).polygon(shape.points, shape.colour)
    return large.reduce(2)


def photographed(picture: Image.Image, told: Print, random: Random) -> Image.Image:
    """`picture` as a print of that kind; the grain is drawn with `random`."""
    pixels = np.asarray(picture, np.float32)
    grey = (pixels @ LUMA)[..., None]
    brown = grey * (1 + told.sepia * (SEPIA - 1))
    pixels = brown + (pixels - brown) * told.colour
    pixels = grey + (pixels - grey) * (1 + 0.5 * told.vivid) if told.vivid else pixels
    pixels = 128 + (pixels - 128) * (1 + 0.25 * told.vivid)
    pixels = pixels * (1 + told.warm * (WARM - 1))
    pixels = pixels + told.faded * (PAPER * (0.55 + 0.2 * told.warm) - pixels * 0.6)
    pixels = pixels * _vignette(picture.size, told.vignette)
    noise = np.random.default_rng(random.getrandbits(63)).standard_normal(grey.shape[:2], np.float32)
    pixels = pixels + told.grain * noise[..., None]
    border = round(told.border)
    if border:
        for edge in (np.s_[:border], np.s_[-border:], np.s_[:, :border], np.s_[:, -border:]):
            pixels[edge] = PAPER
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def _vignette(size: tuple[int, int], share: float) -> npt.NDArray[np.float32]:
    """(height, width, 1), 1 in the middle, darker by up to 0.8 of `share` in the corners."""
    across = np.linspace(-1, 1, size[0], dtype=np.float32) ** 2
    down = np.linspace(-1, 1, size[1], dtype=np.float32)[:, None] ** 2
    corner: npt.NDArray[np.float32] = np.maximum(across + down - 0.5, 0)[..., None] / 1.5
    return 1 - np.float32(0.8 * share) * corner
