"""A whole image with its labelled boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Box:
    """A box in pixels of the whole image."""

    box: tuple[int, int, int, int]
    label: str
    colour: str
    dashed: bool = False
    # Thicker outline.
    strong: bool = False


_mount = st.components.v2.component(
    "ranking_picture",
    html='<div class="picture" role="img"></div>',
    css=(FOLDER / "picture.css").read_text(),
    js=(FOLDER / "picture.js").read_text(),
)


def picture(src: str, size: tuple[int, int], boxes: Sequence[Box], *, alt: str, key: str) -> None:
    """Show the image with the data URL `src`."""
    # size: (width, height) in the pixels of the boxes.
    width, height = size
    data = {"src": src, "width": width, "height": height, "alt": alt, "boxes": [asdict(box) for box in boxes]}
    _mount(key=key, data=data)
