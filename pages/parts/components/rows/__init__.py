"""Rankings of the same samples as rows of pictures below each other (high-order, Fig. 1), with lines that follow a
sample from one row to the next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.parts.app import keys
from pages.parts.components import grid
from pages.parts.components.tile import Tile, style
from ranking.reports.line_styles import Look

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_rows",
    html='<div class="rows" role="group"></div>',
    css=style(FOLDER / "rows.css"),
    js=(FOLDER / "rows.js").read_text(),
)


@dataclass(frozen=True)
class Row:
    """The first places of one ranking. notes: what stands below its title, the first in bold. flagged: the number, from
    0, of the tile with the first mistake, None where it is not among them. beyond: the selected sample where it stands
    below those places."""

    title: str
    notes: Sequence[str]
    look: Look
    tiles: Sequence[Tile]
    flagged: int | None = None
    beyond: Tile | None = None


def rows(shown: Sequence[Row], *, name: str, selected: str, follow_all: bool, label: str) -> None:
    """Show rankings, each by equally many tiles. Selecting another sample writes its id to `name` of the address.

    follow_all: lines for all samples that are shown, not for the selected one alone.
    """
    key = keys.widget(name)
    described = [
        {
            "title": row.title,
            "notes": list(row.notes),
            "colour": row.look.colour,
            "dash": row.look.dash,
            "flagged": row.flagged,
            "tiles": [tile.item() for tile in row.tiles],
        }
        for row in shown
    ]
    token = hashlib.sha256(json.dumps(described).encode()).hexdigest()
    _mount(
        key=key,
        data={
            "token": token,
            "label": label,
            "rows": described,
            "beyond": [row.beyond and row.beyond.item() for row in shown],
            "all": follow_all,
            "told": grid.selection_message(key, token, selected, [selected]),
        },
        default={"selected": None},
        on_selected_change=lambda: grid.select(name, key),
    )
