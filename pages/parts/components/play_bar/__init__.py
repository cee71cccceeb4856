"""Playback of the iterations of one or two training runs: bounds, measures, and the top samples, which move.

All data is sent to the browser once; playback needs no request to the server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import BLUE, VERMILLION
from pages.parts.components.tile import Tile, script, style

if TYPE_CHECKING:
    from ranking.explain.playback import Frame

FOLDER = Path(__file__).parent
STRIP = FOLDER.parent / "strip" / "strip.css"
COLOURS = f":host {{--primal: {BLUE}; --dual: {VERMILLION};}}\n"  # as in the chart of a training run

_mount = st.components.v2.component(
    "ranking_play_bar",
    html='<div class="play" role="group" tabindex="0"></div><div class="said" aria-live="polite"></div>',
    css=f"{COLOURS}{style(STRIP)}\n{(FOLDER / 'play_bar.css').read_text()}",
    js=script(FOLDER / "play_bar.js"),
)


@dataclass(frozen=True)
class Lane:
    """One run. violated: heading of the samples that its most violated ranking moves up; "" for a method without it."""

    title: str
    frames: Sequence[Frame]
    violated: str


def play_bar(lanes: Sequence[Lane], tiles: Mapping[int, Tile], *, name: str, token: str, label: str) -> None:
    """Show the lanes side by side with one slider. tiles: by row, for all samples in the frames.

    token: identifies the runs; while it is unchanged, the shown iteration is kept, also when frames are added.
    """
    data = {
        "token": token,
        "label": label,
        "steps": sorted({frame.iteration for lane in lanes for frame in lane.frames}),
        "tiles": {str(row): tile.item() for row, tile in tiles.items()},
        "lanes": [
            {
                "title": lane.title,
                "violated": lane.violated,
                "frames": [_frame(frame) for frame in lane.frames],
            }
            for lane in lanes
        ],
    }
    _mount(key=keys.widget(name), data=data)


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "iteration": frame.iteration,
        "primal": frame.primal,
        "dual": frame.dual if math.isfinite(frame.dual) else None,
        "top": [str(row) for row in frame.top],
        "ap": frame.average_precision,
        "precision": frame.precision,
        "moved_up": [[str(lift.sample), lift.passed] for lift in frame.lifted],
    }
