"""A strip of ranked thumbnails that can be seen from the last row of a lecture hall; moves are animated."""

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
    ratio: float = 0.8,
) -> None:
    """Show `tiles` in rows of `columns`, on a phone of `narrow`; tiles glide to their new positions."""
    # flags: text on the tile with that id. ends: text below the tile with that id, which is followed by a
    # line. chosen: the id of a highlighted tile. brackets: the letter of the tile with that id; a bracket
    # joins adjacent tiles with the same letter. ratio: width / height of the images.
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
    data = {
        "items": items,
        "label": label,
        "columns": columns,
        "narrow": narrow,
        "chosen": chosen,
        "ratio": ratio,
    }
    _mount(key=keys.widget(name), data=data)
