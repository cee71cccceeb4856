"""A strip of ranked pictures to look at from the last row of a lecture hall: nothing to press, moves are animated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from pages.parts.app import keys
from pages.parts.components.tile import Tile, script, style

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_strip",
    html='<div class="strip" role="list"></div>',
    css=style(FOLDER / "strip.css"),
    js=script(FOLDER / "strip.js"),
)


def strip(
    tiles: Sequence[Tile],
    *,
    name: str,
    label: str,
    columns: int,
    narrow: int,
    flags: Mapping[str, str] | None = None,
    ends: Mapping[str, str] | None = None,
    chosen: str | None = None,
    brackets: Mapping[str, str] | None = None,
) -> None:
    """Show `tiles` in rows of `columns`, of `narrow` on a phone. Tiles that change places from one run to the next
    glide there.

    flags: texts that lie on the tiles of those ids. ends: texts of what ends with the tiles of those ids, where a
    line follows. chosen: the id of a tile that stands out. brackets: the letters of those that belong together, which
    one bracket joins where they stand side by side.
    """
    flags, ends, brackets = flags or {}, ends or {}, brackets or {}
    letters = [brackets.get(tile.id, "") for tile in tiles]
    items = [
        {
            **tile.item(),
            "flag": flags.get(tile.id, ""),
            "below": ends.get(tile.id, ""),
            "bracket": letter,
            "joined": letter != "" and letter == following,
        }
        for tile, letter, following in zip(tiles, letters, [*letters[1:], ""], strict=True)
    ]
    data = {"items": items, "label": label, "columns": columns, "narrow": narrow, "chosen": chosen}
    _mount(key=keys.widget(name), data=data)
