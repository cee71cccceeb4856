"""One whole image with its boxes drawn and labelled; and pictures as data URLs."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from pages.parts.views.strips import Box

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_picture",
    html='<div class="picture" role="img"></div>',
    css=(FOLDER / "picture.css").read_text(),
    js=(FOLDER / "picture.js").read_text(),
)


def picture(src: str, size: tuple[int, int], boxes: Sequence[Box], *, alt: str, key: str) -> None:
    """Show the image at data URL `src`, (width, height) pixels in the coordinates of its boxes."""
    width, height = size
    data = {"src": src, "width": width, "height": height, "alt": alt, "boxes": [asdict(box) for box in boxes]}
    _mount(key=key, data=data)


def data_url(data: bytes, kind: str = "image/webp") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
