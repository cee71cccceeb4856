"""The image grid of all pages: at most PAGE_SIZE tiles, accessible with the keyboard and a screen reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from pages.parts.app import address, keys
from pages.parts.components.tile import Tile, style

PAGE_SIZE = 200
FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_image_grid",
    html='<div class="grid" role="listbox"></div><div class="card" aria-hidden="true" hidden></div>',
    css=style(FOLDER / "grid.css"),
    js=(FOLDER / "grid.js").read_text(),
)
_mount_line = st.components.v2.component("ranking_grid_line", js=(FOLDER / "line.js").read_text())


def image_grid(
    tiles: Sequence[Tile],
    *,
    label: str,
    name: str = keys.SAMPLE,
    selected: str | None = None,
    kind: Literal["ranking", "short", "images", "row"] = "ranking",
    several: bool = False,
    key: str | None = None,
) -> None:
    """Show `tiles` with the tile `selected`, by default the one in the URL."""
    # Selecting another tile writes its id to the URL parameter `name`. kind: a "row" is as high as its few
    # tiles; other kinds scroll, "short" after two rows. several: whether more than one tile can be selected;
    # the URL has the last of them, the session the others (see `together`). key: of the widget, if a page has
    # two grids for one parameter.
    if len(tiles) > PAGE_SIZE:
        raise ValueError(f"a grid shows at most {PAGE_SIZE} tiles, got {len(tiles)}; show them page by page")
    items = [tile.item() for tile in tiles]
    token = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    key = keys.widget(key or name)
    selected = selected or address.get(name)
    ids = together(name, selected) if several else [selected] if selected else []
    _mount(
        key=key,
        data={
            "channel": key,
            "token": token,
            "items": items,
            "label": label,
            "kind": kind,
            "several": several,
            "selection": selection_message(key, token, selected, ids),
        },
        default={"selected": None},
        on_selected_change=lambda: select(name, key),
    )


def draw_line(name: str, id: str, label: str) -> None:
    """A line after the tile with that id in the grid of `name`, if there is one, without sending the tiles again."""
    key = keys.widget(name)
    _mount_line(key=f"{key} line", data={"channel": key, "id": id, "label": label}, height=1)


def together(name: str, selected: str | None) -> list[str]:
    """The ids that were selected together with `selected`, including itself; [] for None."""
    # The URL has only `selected`. The session has the others, as long as `selected` is the same.
    if selected is None:
        return []
    ids: list[str] = st.session_state.get(keys.TOGETHER, {}).get(name, [])
    return list(ids) if selected in ids else [selected]


def selection_message(key: str, token: str, selected: str | None, ids: list[str]) -> list[Any]:
    """[number, id, ids]: the selection for the browser, which applies it if the number is new."""
    # The browser shows a click immediately, so the message changes only if the selection differs from what
    # the browser shows; an unchanged message is not sent again.
    memory = st.session_state.setdefault(keys.GRID_SENT, {})
    click = st.session_state[key]["selected"] if key in st.session_state else None
    before = memory.get(key)
    if key in st.session_state and before is not None and before["token"] == token:
        _, *shown = before["selection"]
        if click not in (None, before["click"]):
            shown = [click["id"], click["ids"]]
        if shown == [selected, ids]:
            return [*before["selection"]]
    number = before["selection"][0] + 1 if before else 1
    message = [number, selected, ids]
    memory[key] = {"token": token, "click": click, "selection": message}
    return message


def select(name: str, key: str) -> None:
    """Write the click in the component with that key to the URL parameter `name`."""
    click = st.session_state[key]["selected"]
    if click is not None:
        st.session_state.setdefault(keys.TOGETHER, {})[name] = click["ids"]
        address.put(**{name: click["id"]})
