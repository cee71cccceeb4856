"""The pixels of any image as RGB with 8 bits per channel, and what had to be changed for that.

- Transparent pixels are laid on white, as browsers and paper show them.
- Grey levels of more than 8 bits (of 16 bits, of 32 bits, or fractions) become level * 255 / top, rounded. `top` is the
  smallest of TOPS that no level exceeds: the levels of a camera with 12 bits are not all black, all images of one
  camera are treated alike, and a brighter pixel is never darker than before. Levels that are negative, or larger than
  all TOPS, are stretched from the lowest to the highest of the image.
- Of an animation, or of several pages, the first image is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from PIL import Image

from ranking.core import Problem
from ranking.core.text import counted, listed
from ranking.files import Unusable

# the highest levels of fractions, and of 8, 10, 12, 14 and 16 bits
TOPS = (1, 255, 1023, 4095, 16_383, 65_535)
# of a level, so that its distance to others is a float32
MAX_LEVEL = 1e30
# the TIFF tag that says what 0 is, and its value for white, which Pillow ignores above 8 bits
PHOTOMETRIC, WHITE_IS_ZERO = 262, 0


class Change(NamedTuple):
    """A change of pixels, as the columns of its row in the import report."""

    expected: str
    came: str
    done: str


ON_WHITE = Change("opaque pixels", "transparent pixels", "laid on white")
FIRST = Change("a single image in each file", "several frames or pages", "the first one is used")


def to_rgb(picture: Image.Image) -> tuple[Image.Image, tuple[Change, ...]]:
    """Return the pixels of an opened image, without metadata, and what was changed; Unusable if they have no levels."""
    # further images of an MPO are previews and depths of a photograph
    several = picture.format != "MPO" and getattr(picture, "n_frames", 1) > 1
    changes = [FIRST] if several else []
    if picture.mode.startswith(("I", "F")):
        rgb, change = _with_8_bits(picture)
        changes.append(change)
    elif picture.has_transparency_data:
        clear = picture.convert("RGBA")
        alpha = clear.getchannel("A")
        rgb = clear.convert("RGB")
        if alpha.getextrema() != (255, 255):
            rgb = Image.composite(rgb, Image.new("RGB", rgb.size, "white"), alpha)
            changes.append(ON_WHITE)
    else:
        rgb = picture.convert("RGB")
    # encoders copy comments, profiles and more from it
    rgb.info = {}
    return rgb, tuple(changes)


def _with_8_bits(picture: Image.Image) -> tuple[Image.Image, Change]:
    levels = np.asarray(picture, np.float32)
    low, high = float(levels.min()), float(levels.max())
    # also for NaN
    if not -MAX_LEVEL <= low <= high <= MAX_LEVEL:
        raise Unusable(f"grey levels of at most {MAX_LEVEL:g}", "NaN, infinity or larger numbers")
    tops = TOPS if picture.mode == "F" else TOPS[1:]
    top = next((top for top in tops if low >= 0 and high <= top), None)
    done = "levels from the lowest to the highest of each image became 0 to 255"
    if top is not None:
        low, high, done = 0.0, float(top), f"levels 0 to {top:,} became 0 to 255"
    scaled = (levels - low) * (255 / max(high - low, 1 / MAX_LEVEL))
    if getattr(picture, "tag_v2", {}).get(PHOTOMETRIC) == WHITE_IS_ZERO:
        scaled = 255 - scaled
    grey = Image.fromarray((scaled + 0.5).astype(np.uint8))
    return grey.convert("RGB"), Change("8 bits per channel", "grey levels with more bits", done)


def change_rows(images: Iterable[tuple[str, tuple[Change, ...]]]) -> list[Problem]:
    """Return a row of the import report for each change, from names of images and what was changed of each."""
    names: dict[Change, list[str]] = {}
    for name, changes in images:
        for change in changes:
            names.setdefault(change, []).append(name)
    return [
        Problem(counted(len(of), "image"), change.expected, f"{change.came} in {listed(of)}", change.done)
        for change, of in names.items()
    ]
