"""The appearance of cars: proportions and styles in some years, with interpolation between them.

Lengths are in metres, along from the front axle to the rear, up from the ground.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

FIRST, LAST = 1920, 1999


class Body(NamedTuple):
    """The outline of a saloon."""

    wheelbase: float
    sill: float
    nose: float
    hood_x: float
    hood_y: float
    cowl_x: float
    cowl_y: float
    front_x: float
    front_y: float
    rear_x: float
    rear_y: float
    base_x: float
    base_y: float
    deck_x: float
    deck_y: float
    tail: float
    # The distance from a corner where its curve begins.
    round_hood: float
    round_roof: float
    round_deck: float
    # 1 separate from the body, 0 part of it.
    fender: float
    # The height of the tail above the deck.
    fin: float
    # The width of the pillars.
    pillar: float


# year: wheelbase, sill, nose, hood, cowl, roof front, roof rear, C pillar, deck, tail, roundings, fender, fin, pillar
BODIES: dict[float, Body] = {
    1920: Body(2.75, 0.56, -0.16, -0.14, 1.22, 1.02, 1.30, 1.04, 2.02, 3.12, 2.02, 3.16, 1.25, 3.16, 1.10, 3.14,
               0.04, 0.06, 0.04, 1.0, 0.0, 0.08),
    1928: Body(2.85, 0.54, -0.20, -0.17, 1.17, 1.10, 1.27, 1.14, 1.90, 3.08, 1.89, 3.20, 1.20, 3.22, 1.02, 3.22,
               0.05, 0.12, 0.10, 1.0, 0.0, 0.09),
    1934: Body(2.95, 0.48, -0.34, -0.24, 1.08, 1.16, 1.19, 1.34, 1.76, 2.90, 1.74, 3.26, 1.16, 3.42, 0.90, 3.56,
               0.14, 0.26, 0.30, 0.9, 0.0, 0.11),
    1941: Body(3.02, 0.36, -0.66, -0.50, 0.98, 1.08, 1.12, 1.52, 1.64, 2.62, 1.62, 3.22, 1.12, 3.80, 0.88, 4.02,
               0.36, 0.42, 0.50, 0.55, 0.0, 0.12),
    1949: Body(3.05, 0.28, -0.86, -0.74, 0.88, 1.02, 1.05, 1.46, 1.57, 2.58, 1.56, 3.12, 1.06, 3.96, 0.95, 4.16,
               0.30, 0.40, 0.36, 0.12, 0.02, 0.10),
    1956: Body(3.12, 0.26, -0.98, -0.92, 0.86, 0.98, 0.99, 1.28, 1.45, 2.54, 1.44, 2.98, 0.98, 4.18, 0.96, 4.30,
               0.14, 0.22, 0.12, 0.0, 0.14, 0.06),
    1960: Body(3.16, 0.25, -1.02, -1.00, 0.83, 0.98, 0.94, 1.24, 1.38, 2.52, 1.37, 2.92, 0.94, 4.30, 0.90, 4.40,
               0.10, 0.14, 0.06, 0.0, 0.17, 0.05),
    1967: Body(3.06, 0.24, -1.00, -1.02, 0.80, 1.06, 0.92, 1.58, 1.34, 2.50, 1.33, 3.12, 0.91, 4.16, 0.88, 4.20,
               0.07, 0.20, 0.08, 0.0, 0.02, 0.09),
    1975: Body(3.02, 0.24, -1.08, -1.08, 0.78, 1.00, 0.91, 1.62, 1.33, 2.62, 1.32, 3.06, 0.91, 4.18, 0.88, 4.20,
               0.04, 0.12, 0.04, 0.0, 0.0, 0.11),
    1983: Body(2.62, 0.23, -0.86, -0.86, 0.68, 0.68, 0.91, 1.30, 1.37, 2.44, 1.36, 2.86, 0.94, 3.46, 0.93, 3.48,
               0.03, 0.07, 0.03, 0.0, 0.0, 0.06),
    1990: Body(2.62, 0.21, -0.88, -0.80, 0.64, 0.52, 0.91, 1.28, 1.39, 2.34, 1.38, 2.92, 0.97, 3.42, 0.98, 3.50,
               0.16, 0.26, 0.14, 0.0, 0.0, 0.07),
    1999: Body(2.66, 0.20, -0.90, -0.74, 0.64, 0.34, 0.94, 1.24, 1.46, 2.20, 1.45, 3.00, 1.04, 3.40, 1.02, 3.54,
               0.34, 0.46, 0.34, 0.0, 0.0, 0.09),
}  # fmt: skip


class Wheel(NamedTuple):
    """The wheels of a car."""

    # Of the tyre.
    radius: float
    # Its share of the radius.
    rim: float
    # 1 for wood or wire.
    spokes: float
    # The share of the side wall.
    white: float
    # The share of the rim under its cap.
    chrome: float
    # 1 for cast wheels with few spokes.
    alloy: float


WHEELS: dict[float, Wheel] = {
    1920: Wheel(0.43, 0.82, 1.0, 0.0, 0.20, 0.0),
    1930: Wheel(0.41, 0.76, 1.0, 0.25, 0.22, 0.0),
    1936: Wheel(0.38, 0.68, 0.55, 0.5, 0.40, 0.0),
    1942: Wheel(0.36, 0.62, 0.0, 0.75, 0.55, 0.0),
    1955: Wheel(0.35, 0.60, 0.0, 1.0, 0.75, 0.0),
    1963: Wheel(0.34, 0.62, 0.0, 0.6, 0.80, 0.0),
    1970: Wheel(0.33, 0.64, 0.0, 0.25, 0.66, 0.1),
    1978: Wheel(0.32, 0.66, 0.0, 0.0, 0.50, 0.3),
    1986: Wheel(0.30, 0.70, 0.0, 0.0, 0.30, 0.6),
    1999: Wheel(0.31, 0.76, 0.0, 0.0, 0.20, 1.0),
}


class Fittings(NamedTuple):
    """Bumpers, lamps and trim of a car."""

    # Its height.
    bumper: float
    # 1 chrome, 0 plastic.
    metal: float
    # 1 in the colour of the body.
    painted: float
    # The distance of the lamps from the body, and their size.
    apart: float
    lamp: float
    # 1 rectangular lamps.
    angular: float
    # Chrome along the side.
    trim: float
    # 1 a strip of black plastic along the side.
    strip: float
    # Visible running board and chassis.
    board: float


FITTINGS: dict[float, Fittings] = {
    1920: Fittings(0.00, 1.0, 0.0, 0.20, 0.155, 0.0, 0.0, 0.0, 1.0),
    1930: Fittings(0.05, 1.0, 0.0, 0.16, 0.150, 0.0, 0.0, 0.0, 1.0),
    1937: Fittings(0.07, 1.0, 0.0, 0.05, 0.130, 0.0, 0.1, 0.0, 0.8),
    1946: Fittings(0.12, 1.0, 0.0, 0.0, 0.110, 0.0, 0.4, 0.0, 0.2),
    1956: Fittings(0.19, 1.0, 0.0, 0.0, 0.110, 0.0, 1.0, 0.0, 0.0),
    1964: Fittings(0.13, 1.0, 0.0, 0.0, 0.090, 0.15, 0.8, 0.0, 0.0),
    1971: Fittings(0.13, 0.9, 0.0, 0.0, 0.085, 0.45, 0.5, 0.1, 0.0),
    1977: Fittings(0.19, 0.5, 0.0, 0.0, 0.085, 0.85, 0.3, 0.5, 0.0),
    1984: Fittings(0.23, 0.0, 0.05, 0.0, 0.080, 1.0, 0.0, 1.0, 0.0),
    1991: Fittings(0.24, 0.0, 0.6, 0.0, 0.080, 0.6, 0.0, 0.6, 0.0),
    1999: Fittings(0.26, 0.0, 1.0, 0.0, 0.105, 0.25, 0.0, 0.05, 0.0),
}


class Print(NamedTuple):
    """The look of photographs."""

    # The remaining saturation.
    colour: float
    # The brown tone.
    sepia: float
    # In grey levels.
    grain: float
    # How much dark pixels are brightened.
    faded: float
    # The yellow tone.
    warm: float
    vignette: float
    # Of the print, in pixels.
    border: float
    # Additional contrast and saturation.
    vivid: float


PRINTS: dict[float, Print] = {
    1920: Print(0.0, 1.0, 11, 0.16, 0.0, 0.75, 9, 0.0),
    1934: Print(0.0, 0.7, 10, 0.12, 0.0, 0.5, 8, 0.0),
    1944: Print(0.05, 0.25, 9, 0.05, 0.0, 0.35, 8, 0.1),
    1952: Print(0.35, 0.15, 8, 0.08, 0.2, 0.3, 7, 0.0),
    1960: Print(0.75, 0.0, 6, 0.14, 0.3, 0.25, 6, 0.0),
    1969: Print(0.85, 0.0, 5, 0.18, 0.6, 0.2, 4, 0.0),
    1976: Print(0.85, 0.0, 4, 0.2, 0.8, 0.2, 1, 0.0),
    1984: Print(1.0, 0.0, 4, 0.06, 0.4, 0.12, 0, 0.35),
    1992: Print(1.0, 0.0, 2, 0.0, 0.1, 0.0, 0, 0.25),
    1999: Print(1.0, 0.0, 1, 0.0, 0.0, 0.0, 0, 0.0),
}

# Colours of the decades: of bodies, and of a roof or panel in a second colour.
PAINTS: dict[int, tuple[str, ...]] = {
    1920: ("17171b", "1d1d22", "20202a", "2b1719", "17261f", "1a2036"),
    1930: ("1b1b20", "4a1a1e", "1c3529", "1d2a4a", "6b5a3e", "8a8272", "2f2a28"),
    1940: ("23242a", "3b4a44", "4b3a34", "56616b", "2a3a52", "7d7362", "5c2427"),
    1950: ("7fc6bd", "e9a7a8", "efd98a", "9cc3df", "d8594c", "b9dcc0", "e8dcc2", "2d6f7d"),
    1960: ("b8312f", "2f5d94", "e6e2d6", "4f7a5a", "c9a85a", "3d8a92", "7a1f2b", "1f2f4f"),
    1970: ("a5642a", "c98a2b", "6d7a34", "8a4a2a", "d9702c", "5a3a24", "b9a77a", "e0ded2"),
    1980: ("d8d9d8", "9da3a8", "b3262a", "4a4d52", "cbbd9d", "2a3f6a", "6b1f2a", "f0efea"),
    1990: ("1f6a63", "3a2f6a", "2a5a3a", "8f9aa6", "b01f2e", "22406f", "5a2a4a", "c2c7cb"),
}

Keyed = TypeVar("Keyed", Body, Wheel, Fittings, Print)


def between(eras: Mapping[float, Keyed], year: float) -> Keyed:
    """Return the linear interpolation of eras at `year`; constant before the first era and after the last.

    >>> between(WHEELS, 1925).rim
    0.79
    """
    years = sorted(eras)
    at = min(max(bisect_right(years, year) - 1, 0), len(years) - 2)
    share = min(max((year - years[at]) / (years[at + 1] - years[at]), 0.0), 1.0)
    before, after = eras[years[at]], eras[years[at + 1]]
    return type(before)(*(round(b + (a - b) * share, 6) for b, a in zip(before, after, strict=True)))
