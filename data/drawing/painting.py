"""From a drawing to pixels: polygons and effects, such as rain or grain, are painted step by step.

A drawing is a list of filled polygons and a list of steps, each the name of a function in STEPS and its arguments. The
canvas has twice the width and height of the image: halving it at the end smooths the edges.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageOps

SIZE = (320, 240)
CANVAS = (2 * SIZE[0], 2 * SIZE[1])
GROUND = (200, 200, 200)
# red, green, blue
Colour = Sequence[int]

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
SEPIA = np.array([1.07, 0.94, 0.72], np.float32)
WARM = np.array([1.1, 1.0, 0.82], np.float32)
PAPER = np.array([238, 232, 214], np.float32)


@dataclass(frozen=True)
class Polygon:
    """points: x, y, x, y, ... in pixels of the canvas. colour: red, green, blue and opacity, 0 to 255."""

    points: list[int]
    colour: tuple[int, int, int, int]


def paint(polygons: Sequence[Polygon], steps: Sequence[Sequence[Any]]) -> Image.Image:
    """Return a drawing as an RGB image, 320 x 240. The step ["polygons", first, last] draws those polygons."""
    picture = Image.new("RGB", CANVAS, GROUND)
    for name, *values in steps:
        if name == "polygons":
            _draw(picture, polygons[slice(*values)])
        else:
            picture = STEPS[name](picture, *values)
    return picture


def webp(picture: Image.Image, quality: int) -> bytes:
    """Return an image as the bytes of a WebP file."""
    stream = io.BytesIO()
    picture.save(stream, "WEBP", quality=quality, method=6)
    return stream.getvalue()


def _draw(picture: Image.Image, polygons: Sequence[Polygon]) -> None:
    solid, glass = ImageDraw.Draw(picture), ImageDraw.Draw(picture, "RGBA")
    for polygon in polygons:
        if polygon.colour[3] == 255:
            solid.polygon(polygon.points, polygon.colour[:3])
        else:
            glass.polygon(polygon.points, polygon.colour)


# ---------------------------------------------------------------------------------------------------------
# Steps on the canvas
# ---------------------------------------------------------------------------------------------------------


def _gradient(picture: Image.Image, top: float, bottom: float, first: Colour, last: Colour) -> Image.Image:
    """Paint a gradient over the whole width between two rows."""
    box = (0, round(top), picture.width, round(bottom))
    ramp = Image.linear_gradient("L").resize((1, 256))
    column = Image.composite(_plain((1, 256), last), _plain((1, 256), first), ramp)
    picture.paste(column.resize((box[2], box[3] - box[1])), box)
    return picture


def _mirror(picture: Image.Image, top: float, bottom: float, colour: Colour) -> Image.Image:
    """Mirror the image above the water in it, compressed, and fainter towards the viewer."""
    start = round(top)
    size = (picture.width, round(bottom) - start)
    above = picture.crop((0, max(0, start - round(size[1] * 1.25)), picture.width, start))
    rippled = ImageOps.flip(above).resize(size).filter(ImageFilter.BoxBlur((0.6, 2.4)))
    veil = Image.linear_gradient("L").resize(size).point([62 + level * 110 // 255 for level in range(256)])
    picture.paste(Image.composite(_plain(size, colour), rippled, veil), (0, start))
    return picture


def _halve(picture: Image.Image) -> Image.Image:
    return picture.reduce(2)


def _double(picture: Image.Image) -> Image.Image:
    return picture.resize((2 * picture.width, 2 * picture.height), Image.Resampling.BILINEAR)


# ---------------------------------------------------------------------------------------------------------
# Steps on the halved image
# ---------------------------------------------------------------------------------------------------------


def _fog(picture: Image.Image, haze: Colour) -> Image.Image:
    ramp = Image.linear_gradient("L").transpose(Image.Transpose.FLIP_TOP_BOTTOM).resize(picture.size)
    mask = ramp.point([int(12 + level * 0.45) for level in range(256)])
    return Image.composite(_plain(picture.size, haze), picture, mask)


def _rain(picture: Image.Image, seed: str) -> Image.Image:
    random, draw = Random(seed), ImageDraw.Draw(picture, "RGBA")
    slant = random.uniform(-4, 4)
    for _ in range(150):
        x, y, long = random.uniform(-5, 325), random.uniform(-10, 240), random.uniform(6, 16)
        draw.line([(x, y), (x + slant * long / 14, y + long)], fill=(232, 240, 245, 95), width=1)
    return picture


def _snow(picture: Image.Image, seed: str) -> Image.Image:
    random, draw = Random(seed), ImageDraw.Draw(picture, "RGBA")
    for _ in range(170):
        x, y, r = random.uniform(0, 320), random.uniform(0, 240), random.choice((0.6, 0.9, 1.3, 1.8))
        draw.ellipse((x - r, y - r, x + r, y + r), fill=(255, 255, 255, 215))
    return picture


def _tint(picture: Image.Image, *factors: float) -> Image.Image:
    """Multiply red, green and blue by a factor each."""
    return picture.point([min(255, round(level * factor)) for factor in factors for level in range(256)])


def _glow(
    picture: Image.Image, x: float, y: float, far: float, colour: Colour, strength: float
) -> Image.Image:
    """Add a halo around a lamp, whose position is in pixels of the canvas."""
    side = max(2, round(far))
    left, top = round(x / 2 - side / 2), round(y / 2 - side / 2)
    mask = _halo().resize((side, side)).point([int(level * strength) for level in range(256)])
    picture.paste((colour[0], colour[1], colour[2]), (left, top), mask)
    return picture


@cache
def _halo() -> Image.Image:
    return ImageChops.invert(Image.radial_gradient("L")).point(
        [int((max(0, level - 76) / 179) ** 1.5 * 255) for level in range(256)]
    )


def _blur(picture: Image.Image, radius: float) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(radius))


def _grey(picture: Image.Image, contrast: float) -> Image.Image:
    return ImageEnhance.Contrast(ImageOps.grayscale(picture)).enhance(contrast).convert("RGB")


def _print(picture: Image.Image, seed: int, kind: Mapping[str, float]) -> Image.Image:
    """Make the image look like a print of its time, described by `kind`; `seed` determines the grain."""
    pixels = np.asarray(picture, np.float32)
    grey = _luma(pixels)[..., None]
    brown = grey * (1 + kind["sepia"] * (SEPIA - 1))
    pixels = brown + (pixels - brown) * kind["colour"]
    pixels = grey + (pixels - grey) * (1 + 0.5 * kind["vivid"]) if kind["vivid"] else pixels
    pixels = 128 + (pixels - 128) * (1 + 0.25 * kind["vivid"])
    pixels = pixels * (1 + kind["warm"] * (WARM - 1))
    pixels = pixels + kind["faded"] * (PAPER * (0.55 + 0.2 * kind["warm"]) - pixels * 0.6)
    pixels = pixels * _vignette(picture.size, kind["vignette"])
    noise = np.random.default_rng(seed).standard_normal(grey.shape[:2], np.float32)
    pixels = pixels + kind["grain"] * noise[..., None]
    border = round(kind["border"])
    if border:
        for edge in (np.s_[:border], np.s_[-border:], np.s_[:, :border], np.s_[:, -border:]):
            pixels[edge] = PAPER
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def _luma(pixels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return (height, width) brightness of pixels (height, width, 3), the same bits on every processor."""
    # The rounding of a matrix product depends on the processor, and the keys of the image sets are hashes of
    # pixels.
    luma: npt.NDArray[np.float32] = pixels[..., 0] * LUMA[0]
    # a product of two float32 is exact in float64, so only each sum is rounded
    for channel in (1, 2):
        luma = (luma + pixels[..., channel].astype(np.float64) * np.float64(LUMA[channel])).astype(np.float32)
    return luma


def _vignette(size: tuple[int, int], share: float) -> npt.NDArray[np.float32]:
    """Return (height, width, 1), 1 in the centre, lower by up to 0.8 of `share` in the corners."""
    across = np.linspace(-1, 1, size[0], dtype=np.float32) ** 2
    down = np.linspace(-1, 1, size[1], dtype=np.float32)[:, None] ** 2
    corner: npt.NDArray[np.float32] = np.maximum(across + down - 0.5, 0)[..., None] / 1.5
    return 1 - np.float32(0.8 * share) * corner


def _plain(size: tuple[int, int], colour: Colour) -> Image.Image:
    return Image.new("RGB", size, (colour[0], colour[1], colour[2]))


STEPS: dict[str, Callable[..., Image.Image]] = {
    "gradient": _gradient,
    "mirror": _mirror,
    "halve": _halve,
    "double": _double,
    "fog": _fog,
    "rain": _rain,
    "snow": _snow,
    "tint": _tint,
    "glow": _glow,
    "blur": _blur,
    "grey": _grey,
    "print": _print,
}
