"""From a scene to pixels: painted with Pillow at twice the size, halved, then lit."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from random import Random

from PIL import Image, ImageChops, ImageDraw

from ranking.datasets.drawn.action_figures.ground import HEIGHT, WIDTH, Glow
from ranking.datasets.drawn.action_figures.scene import Scene
from ranking.datasets.drawn.action_figures.sketch import Colour

SIZE = (WIDTH // 2, HEIGHT // 2)
QUALITY = 88


def paint(scene: Scene) -> Image.Image:
    """The picture of `scene`, 320 x 240, RGB."""
    large = Image.new("RGB", (WIDTH, HEIGHT), (200, 200, 200))
    for top, bottom, first, last in scene.ground.gradients:
        box = (0, round(top), WIDTH, round(bottom))
        large.paste(_gradient(first, last).resize((box[2], box[3] - box[1])), box)
    solid, glass = ImageDraw.Draw(large), ImageDraw.Draw(large, "RGBA")
    for shape in scene.sketch.shapes:
        (solid if len(shape.colour) == 3 else glass).polygon(shape.points, shape.colour)
    small = large.reduce(2)
    indoors = scene.ground.indoors
    if not indoors:
        small = weathered(small, scene.light.weather, scene.light.haze, scene.weather)
        small = small.point(tint(scene.light.tint))
    elif scene.light.dark:
        small = small.point(tint((0.88, 0.84, 0.88)))
    return lit(small, scene.ground.glows, 0.75 if scene.light.dark else 0.4)


def jpeg(picture: Image.Image) -> bytes:
    """`picture` as a file."""
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()


def _gradient(first: Colour, last: Colour) -> Image.Image:
    ramp = Image.linear_gradient("L").resize((1, 256))
    return Image.composite(Image.new("RGB", (1, 256), last[:3]), Image.new("RGB", (1, 256), first[:3]), ramp)


@cache
def tint(factors: tuple[float, float, float]) -> list[int]:
    """What `Image.point` takes to multiply red, green and blue."""
    return [min(255, round(level * factor)) for factor in factors for level in range(256)]


def weathered(picture: Image.Image, weather: str, haze: Colour, random: Random) -> Image.Image:
    """`picture`, 320 x 240, behind fog, rain or falling snow; as it is in any other weather."""
    if weather == "fog":
        ramp = Image.linear_gradient("L").transpose(Image.Transpose.FLIP_TOP_BOTTOM).resize(SIZE)
        mask = ramp.point([int(12 + level * 0.45) for level in range(256)])
        return Image.composite(Image.new("RGB", SIZE, haze), picture, mask)
    draw = ImageDraw.Draw(picture, "RGBA")
    if weather == "rain":
        slant = random.uniform(-4, 4)
        for _ in range(150):
            x, y, long = random.uniform(-5, 325), random.uniform(-10, 240), random.uniform(6, 16)
            draw.line([(x, y), (x + slant * long / 14, y + long)], fill=(232, 240, 245, 95), width=1)
    elif weather == "snow":
        for _ in range(170):
            x, y, r = random.uniform(0, 320), random.uniform(0, 240), random.choice((0.6, 0.9, 1.3, 1.8))
            draw.ellipse((x - r, y - r, x + r, y + r), fill=(255, 255, 255, 215))
    return picture


@cache
def _halo() -> Image.Image:
    return ImageChops.invert(Image.radial_gradient("L")).point(
        [int((max(0, level - 76) / 179) ** 1.5 * 255) for level in range(256)]
    )


def lit(picture: Image.Image, glows: Sequence[Glow], strength: float) -> Image.Image:
    """`picture` with a halo around each lamp, whose place is given in pixels of the large drawing."""
    for x, y, far, colour in glows:
        side = max(2, round(far))
        left, top = round(x / 2 - side / 2), round(y / 2 - side / 2)
        mask = _halo().resize((side, side)).point([int(level * strength) for level in range(256)])
        picture.paste(colour[:3], (left, top), mask)
    return picture
