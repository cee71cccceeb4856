"""Seats and tables, in the frame of the sitting person (see skeleton.py for the units)."""

from __future__ import annotations

from drawing.sketch import Colour, Sketch, darker, lighter, rgb

WOODS = [rgb(code) for code in ("9a6a3f", "7a4f33", "b98a55", "5c6b73")]
SOFAS = [rgb(code) for code in ("b5533c", "4f7a78", "c99a3f", "6a5d86", "6f8a5a")]


def chair(sketch: Sketch, height: float, colour: Colour) -> None:
    """Draw a chair for a person who faces right, its seat at `height`."""
    dark = darker(colour, 0.25)
    sketch.line([(-0.13, -height), (-0.15, 0.0)], 0.03, dark)
    sketch.line([(0.11, -height), (0.12, 0.0)], 0.03, colour)
    sketch.line([(-0.13, -height), (-0.17, -height - 0.27)], 0.035, colour)
    sketch.line([(-0.14, -height + 0.008), (0.13, -height + 0.008)], 0.045, colour)


def bench(sketch: Sketch, height: float, colour: Colour) -> None:
    """A park bench seen from its front or end."""
    for x in (-0.3, 0.3):
        sketch.line([(x, -height), (x, 0.0)], 0.035, darker(colour, 0.4))
    for up in (0.12, 0.2, 0.28):
        sketch.line([(-0.36, -height - up), (0.36, -height - up)], 0.045, darker(colour, 0.18))
    sketch.line([(-0.37, -height + 0.01), (0.37, -height + 0.01)], 0.05, colour)


def stool(sketch: Sketch, height: float, colour: Colour) -> None:
    for x in (-0.09, 0.09):
        sketch.line([(x * 0.7, -height), (x, 0.0)], 0.026, darker(colour, 0.25))
    sketch.line([(-0.1, -height + 0.012), (0.1, -height + 0.012)], 0.05, colour)


def armchair(sketch: Sketch, height: float, colour: Colour) -> None:
    """Draw an armchair for a person who faces right."""
    sketch.limb((-0.17, -0.12), (-0.22, -height - 0.32), 0.09, 0.1, darker(colour, 0.12))
    sketch.limb((-0.14, -height + 0.09), (0.13, -height + 0.09), 0.09, 0.09, colour)
    for x in (-0.16, 0.16):
        sketch.line([(x, -0.08), (x, 0.0)], 0.03, darker(WOODS[1], 0.2))


def armrest(sketch: Sketch, height: float, colour: Colour) -> None:
    """Draw the nearer side of an armchair, in front of the sitting person."""
    sketch.limb((-0.16, -height + 0.02), (0.13, -height + 0.02), 0.075, 0.075, darker(colour, 0.2))
    sketch.limb((-0.17, -height - 0.06), (0.13, -height - 0.06), 0.04, 0.045, lighter(colour, 0.12))


def table(sketch: Sketch, left: float, right: float, height: float, colour: Colour) -> None:
    for x in (left + 0.04, right - 0.04):
        sketch.line([(x, -height), (x, 0.0)], 0.035, darker(colour, 0.3))
    sketch.box(left, -height - 0.02, right, -height + 0.025, colour)
