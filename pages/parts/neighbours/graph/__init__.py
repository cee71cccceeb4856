"""Connected components of the similarity graph in the browser, for keyboard and screen reader too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from pages.parts.app import keys
from pages.parts.components import grid
from pages.parts.neighbours.graph.drawings import Drawing

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_sample_graph",
    html='<div class="graph" role="listbox"></div>',
    css=(FOLDER / "graph.css").read_text(),
    js=(FOLDER / "graph.js").read_text(),
)


def graph(drawings: Sequence[Drawing], *, name: str, selected: str | None, label: str, key: str) -> None:
    """Show `drawings` with the node `selected`; a newly selected node is written to the URL."""
    # name: of the URL parameter.
    shown = [asdict(drawing) for drawing in drawings]
    token = hashlib.sha256(json.dumps(shown).encode()).hexdigest()
    key = keys.widget(key)
    message = grid.selection_message(key, token, selected, [selected] if selected else [])
    _mount(
        key=key,
        data={"token": token, "drawings": shown, "label": label, "selection": message},
        default={"selected": None},
        on_selected_change=lambda: grid.select(name, key),
    )
