"""Rankings of the same samples as rows of thumbnails (high-order, Fig. 1).

Lines connect a sample from row to row.
"""

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
from ranking.reports.line_styles import LineStyle

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_rows",
    html='<div class="rows" role="group"></div>',
    css=style(FOLDER / "rows.css"),
    js=(FOLDER / "rows.js").read_text(),
)


@dataclass(frozen=True)
class Row:
    """The top ranks of a ranking."""

    title: str
    # Texts below the title, the first in bold.
    notes: Sequence[str]
    style: LineStyle
    tiles: Sequence[Tile]
    # The index of the tile with the first error, None if it is not shown.
    flagged: int | None = None
    # The tile of the selected sample if its rank is not shown.
    beyond: Tile | None = None


def rows(shown: Sequence[Row], *, name: str, selected: str, follow_all: bool, label: str) -> None:
    """Show rankings with the same number of tiles; a selected sample is written to the URL."""
    # name: of the URL parameter. follow_all: lines for all samples that are shown, not only for the selected
    # sample.
    key = keys.widget(name)
    described = [
        {
            "title": row.title,
            "notes": list(row.notes),
            "colour": row.style.colour,
            "dash": row.style.dash,
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
            "selection": grid.selection_message(key, token, selected, [selected]),
        },
        default={"selected": None},
        on_selected_change=lambda: grid.select(name, key),
    )
