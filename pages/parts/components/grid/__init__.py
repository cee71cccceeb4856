"""The image grid of all pages: one component, at most PAGE_SIZE tiles, with keyboard and screen reader."""

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
    """Show `tiles`, `selected` as the selected one, else that of the address. Selecting another writes its id to `name`
    of the address.

    kind: a row is as high as its few tiles; the others scroll, a short one at two rows. several: more than one can be
    selected. The address holds the last of them, this browser tab the others (see `together`). key: of the widget,
    where one page has two grids for one name.
    """
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
            "told": selection_message(key, token, selected, ids),
        },
        default={"selected": None},
        on_selected_change=lambda: select(name, key),
    )


def draw_line(name: str, id: str, label: str) -> None:
    """A line after the tile with that id of the grid for `name`, if it has one; the tiles do not travel again."""
    key = keys.widget(name)
    _mount_line(key=f"{key} line", data={"channel": key, "id": id, "label": label}, height=1)


def together(name: str, selected: str | None) -> list[str]:
    """The ids that were selected together with `selected`, itself among them; [] for None.

    Only that one is in the address. The others are of this browser tab, and stay as long as it is that one.
    """
    if selected is None:
        return []
    ids: list[str] = st.session_state.get(keys.TOGETHER, {}).get(name, [])
    return list(ids) if selected in ids else [selected]


def selection_message(key: str, token: str, selected: str | None, ids: list[str]) -> list[Any]:
    """[number, id, ids]: what the browser is told to select; it obeys where the number is new to it.

    It paints a click at once, so it is told only what it does not know: then what is sent stays equal from
    run to run, and equal messages do not travel again.
    """
    memory = st.session_state.setdefault(keys.GRID_SENT, {})
    click = st.session_state[key]["selected"] if key in st.session_state else None
    before = memory.get(key)
    if key in st.session_state and before is not None and before["token"] == token:
        _, *shown = before["told"]
        if click not in (None, before["click"]):
            shown = [click["id"], click["ids"]]
        if shown == [selected, ids]:
            return [*before["told"]]
    number = before["told"][0] + 1 if before else 1
    message = [number, selected, ids]
    memory[key] = {"token": token, "click": click, "told": message}
    return message


def select(name: str, key: str) -> None:
    """Have `name` of the address be what was clicked in the component of that key."""
    click = st.session_state[key]["selected"]
    if click is not None:
        st.session_state.setdefault(keys.TOGETHER, {})[name] = click["ids"]
        address.put(**{name: click["id"]})
