"""From a drawing to pixels: painted with Pillow at twice the size, halved, lit, and seen through a camera."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

from ranking.datasets.drawn.action_figures.ground import HEIGHT, WIDTH
from ranking.datasets.drawn.action_figures.paint import lit, tint, weathered
from ranking.datasets.drawn.action_figures.sketch import Shape
from ranking.datasets.drawn.label_scenes.canvas import Canvas, Mirror

OUT_OF_FOCUS = 2.6  # pixels, of what lies behind a portrait
BLUR = (1.9, 3.6)  # pixels, of a picture that is blurred
CONTRAST = 1.15  # of a picture in black and white


def paint(canvas: Canvas) -> Image.Image:
    """The picture of a drawing, 320 x 240, RGB."""
    large = Image.new("RGB", (WIDTH, HEIGHT), (200, 200, 200))
    shapes, near = canvas.sketch.shapes, len(canvas.sketch.shapes) if canvas.near is None else canvas.near
    still = 0 if canvas.mirror is None else canvas.mirror.shapes
    _draw(large, shapes[:still])
    if canvas.mirror is not None:
        _reflect(large, canvas.mirror)
    _draw(large, shapes[still:near])
    if canvas.near is not None:
        behind = lit(large.reduce(2), canvas.glows, 0.6).filter(ImageFilter.GaussianBlur(OUT_OF_FOCUS))
        large = behind.resize(large.size, Image.Resampling.BILINEAR)
        _draw(large, shapes[near:])
    story, light = canvas.story, canvas.light
    small = weathered(large.reduce(2), story.weather, light.haze, canvas.random("weather"))
    small = small.point(tint(light.tint))
    if canvas.near is None:
        small = lit(small, canvas.glows, 0.75 if light.dark else 0.45)
    return _photographed(canvas, small)


def _draw(picture: Image.Image, shapes: Sequence[Shape]) -> None:
    solid, glass = ImageDraw.Draw(picture), ImageDraw.Draw(picture, "RGBA")
    for shape in shapes:
        (solid if len(shape.colour) == 3 else glass).polygon(shape.points, shape.colour)


def _reflect(picture: Image.Image, mirror: Mirror) -> None:
    """What stands above the water upside down in it, squashed, fainter towards us."""
    top, bottom = round(mirror.top), round(mirror.bottom)
    tall = bottom - top
    above = picture.crop((0, max(0, top - round(tall * 1.25)), WIDTH, top))
    upside_down = ImageOps.flip(above).resize((WIDTH, tall))
    rippled = upside_down.filter(ImageFilter.BoxBlur((0.6, 2.4)))
    veil = (
        Image.linear_gradient("L")
        .resize((WIDTH, tall))
        .point([62 + level * 110 // 255 for level in range(256)])
    )
    picture.paste(Image.composite(Image.new("RGB", (WIDTH, tall), mirror.colour), rippled, veil), (0, top))


def _photographed(canvas: Canvas, picture: Image.Image) -> Image.Image:
    if canvas.shows("blur"):
        radius = canvas.random("blur").uniform(*BLUR)
        return picture.filter(ImageFilter.GaussianBlur(radius))
    if canvas.shows("black and white"):
        return ImageEnhance.Contrast(ImageOps.grayscale(picture)).enhance(CONTRAST).convert("RGB")
    return picture
