"""The image grid of all pages: one component, at most PAGE_SIZE tiles, with keyboard and screen reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from pages.parts import address, keys

PAGE_SIZE = 200
FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_image_grid",
    html='<div class="grid" role="listbox"></div>',
    css=(FOLDER / "grid.css").read_text(),
    js=(FOLDER / "grid.js").read_text(),
)


@dataclass(frozen=True)
class Tile:
    """One picture: `src` is a data URL; left and right stand below it; a mark shows as border and glyph."""

    id: str
    src: str
    alt: str
    left: str = ""
    right: str = ""
    below: str = ""  # says that something ends with this tile: a line after it, and this label
    mark: Literal["relevant", "irrelevant"] | None = None


def image_grid(
    tiles: Sequence[Tile],
    *,
    name: str,
    selected: str | None,
    label: str,
    kind: Literal["ranking", "images"] = "ranking",
) -> None:
    """Show `tiles`, `selected` as the selected one. Selecting another writes its id to `name` of the address."""
    if len(tiles) > PAGE_SIZE:
        raise ValueError(f"a grid shows at most {PAGE_SIZE} tiles, got {len(tiles)}; show them page by page")
    items = [vars(tile) for tile in tiles]
    token = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    key = keys.widget(name)
    _mount(
        key=key,
        data={
            "token": token,
            "items": items,
            "label": label,
            "kind": kind,
            "told": _told(key, token, selected),
        },
        default={"selected": None},
        on_selected_change=lambda: _select(name, key),
    )


def _told(key: str, token: str, selected: str | None) -> list[Any]:
    """[number, id]: what the browser is told to select; it obeys where the number is new to it.

    It paints a click at once, so it is told only what it does not know: then what is sent stays equal from
    run to run, and equal messages do not travel again.
    """
    memory = st.session_state.setdefault(keys.GRID_TOLD, {})
    click = st.session_state[key]["selected"] if key in st.session_state else None
    before = memory.get(key)
    if key in st.session_state and before is not None and before["token"] == token:
        shown = click["id"] if click not in (None, before["click"]) else before["told"][1]
        if shown == selected:
            return [*before["told"]]
    number = before["told"][0] + 1 if before else 1
    told = [number, selected]
    memory[key] = {"token": token, "click": click, "told": told}
    return told


def _select(name: str, key: str) -> None:
    click = st.session_state[key]["selected"]
    if click is not None:
        address.put(**{name: click["id"]})
