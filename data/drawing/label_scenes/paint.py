"""The painting steps of a label scene: shapes and reflections, light, then effects of the camera."""

from __future__ import annotations

from drawing.action_figures.paint import weather_steps
from drawing.generated import Steps
from drawing.label_scenes.canvas import Canvas

# pixels, behind a portrait
OUT_OF_FOCUS = 2.6
# pixels, of a blurred image
BLUR = (1.9, 3.6)
# of an image in black and white
CONTRAST = 1.15


def steps_of(canvas: Canvas) -> Steps:
    story, light, mirror = canvas.story, canvas.light, canvas.mirror
    count = len(canvas.sketch.shapes)
    near = count if canvas.near is None else canvas.near
    steps: Steps = []
    if mirror is not None:
        steps += [["polygons", 0, mirror.shapes], ["mirror", mirror.top, mirror.bottom, mirror.colour]]
    steps += [["polygons", 0 if mirror is None else mirror.shapes, near]]
    if canvas.near is not None:
        steps += [
            ["halve"],
            *_glows(canvas, 0.6),
            ["blur", OUT_OF_FOCUS],
            ["double"],
            ["polygons", near, count],
        ]
    steps += [["halve"], *weather_steps(story.weather, light.haze, f"{story.key}/weather")]
    steps += [["tint", *light.tint]]
    if canvas.near is None:
        steps += _glows(canvas, 0.75 if light.dark else 0.45)
    if canvas.shows("blur"):
        return [*steps, ["blur", canvas.random("blur").uniform(*BLUR)]]
    return [*steps, ["grey", CONTRAST]] if canvas.shows("black and white") else steps


def _glows(canvas: Canvas, strength: float) -> Steps:
    return [["glow", *glow, strength] for glow in canvas.glows]
