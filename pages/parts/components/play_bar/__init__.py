"""Playback of the iterations of one or two training runs: curves, measures, and the top samples, which move.

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
STYLES = [FOLDER.parent / "strip" / "strip.css", FOLDER.parent / "said.css", FOLDER / "play_bar.css"]
COLOURS = f":host {{--first: {BLUE}; --second: {VERMILLION};}}\n"  # as in the chart of a training run
BOUNDS = ("primal", "dual")
NONE = "–"  # shown if there is no number

_mount = st.components.v2.component(
    "ranking_play_bar",
    html='<div class="play" role="group" tabindex="0"></div><div class="said" aria-live="polite"></div>',
    css=f"{COLOURS}{style(*STYLES)}",
    js=script(FOLDER / "play_bar.js"),
)


@dataclass(frozen=True)
class Lane:
    """One run. curves: one or two numbers of its frames, bounds or measures, which are plotted over the iterations.
    round: the name of a round; "" for a method with a single round. violated: the heading of the samples that its most
    violated ranking moves up; "" for a method without it."""

    title: str
    frames: Sequence[Frame]
    curves: tuple[str, ...] = BOUNDS
    round: str = ""
    violated: str = ""


def play_bar(lanes: Sequence[Lane], tiles: Mapping[int, Tile], *, name: str, token: str, label: str) -> None:
    """Show the lanes side by side with one slider. tiles: by row, for all samples in the frames.

    token: identifies the playback; while it is unchanged, the shown iteration is kept, also when frames are added.
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
                "curves": list(lane.curves),
                "frames": [_frame(frame, lane) for frame in lane.frames],
            }
            for lane in lanes
        ],
    }
    _mount(key=keys.widget(name), data=data)


def _frame(frame: Frame, lane: Lane) -> dict[str, Any]:
    bounds = {"primal": frame.primal, "dual": frame.dual if math.isfinite(frame.dual) else None}
    rounds = {lane.round: f"{frame.round}"} if lane.round else {}
    facts = {
        "iteration": f"{frame.iteration:,}",
        **rounds,
        **{name: NONE if value is None else f"{value:.3f}" for name, value in frame.measures.items()},
        **{name: _four_digits(value) for name, value in bounds.items()},
    }
    numbers = {**bounds, **frame.measures}
    return {
        "iteration": frame.iteration,
        "facts": list(facts.items()),
        "values": {name: numbers[name] for name in lane.curves},
        "top": [str(row) for row in frame.top],
        "moved_up": [[str(lift.sample), lift.passed] for lift in frame.lifted],
    }


def _four_digits(value: float | None) -> str:
    """A bound with four significant digits.

    >>> _four_digits(20000.4), _four_digits(0.0012345), _four_digits(None)
    ('20,000', '0.001234', '–')
    """
    return NONE if value is None else f"{float(f'{value:.4g}'):,g}"
