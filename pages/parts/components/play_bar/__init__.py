"""Playback of the iterations of one or two training runs: curves, measures, and the top samples, which move.

All data is sent to the browser once; playback needs no request to the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import BLUE, VERMILLION
from pages.parts.components.tile import Tile, script, style

if TYPE_CHECKING:
    from ranking.core import Ints
    from ranking.explain.playback import Frame

FOLDER = Path(__file__).parent
STYLES = [FOLDER.parent / "strip" / "strip.css", FOLDER.parent / "screen_reader.css", FOLDER / "play_bar.css"]
# as in the chart of a training run
COLOURS = f":host {{--first: {BLUE}; --second: {VERMILLION};}}\n"
BOUNDS = ("primal", "dual")
# shown if there is no number
NONE = "–"
ITERATION, ROUND = "Iteration", "Round"
Edges = tuple[float, float, float, float]

_mount = st.components.v2.component(
    "ranking_play_bar",
    html='<div class="play" role="group" tabindex="0"></div><div class="screen-reader" aria-live="polite"></div>',
    css=f"{COLOURS}{style(*STYLES)}",
    js=script(FOLDER / "play_bar.js"),
)


@dataclass(frozen=True)
class Lane:
    """One run."""

    title: str
    frames: Sequence[Frame]
    # One or two numbers of the frames, bounds or measures, which are plotted over the iterations.
    curves: tuple[str, ...] = BOUNDS
    # The name of a round; "" for a method with a single round.
    round: str = ""
    # The heading of the samples that the most violated ranking moves up; "" for a method without it.
    violated: str = ""


@dataclass(frozen=True)
class Boxes:
    """Boxes on tiles that are whole images, each as left, top, width and height in shares of the tile."""

    # Width / height of the tiles.
    ratio: float
    # By row, the dashed boxes.
    known: Mapping[int, Sequence[Edges]]
    # Maps a row and its box in a frame, in pixels, to the solid box, which moves.
    share: Callable[[int, Ints], Edges]


def play_bar(
    lanes: Sequence[Lane],
    tiles: Mapping[int, Tile],
    *,
    name: str,
    token: str,
    label: str,
    boxes: Boxes | None = None,
) -> None:
    """Show the lanes side by side with one slider."""
    # tiles: by row, for all samples in the frames. token: identifies the playback; while it is unchanged, the
    # shown iteration is kept, also when frames are added. boxes: for frames with boxes, whose iterations are
    # rounds; each curve then has its own scale.
    data = {
        "token": token,
        "label": label,
        "unit": ITERATION if boxes is None else ROUND,
        "ratio": None if boxes is None else boxes.ratio,
        "known": {} if boxes is None else {str(row): list(edges) for row, edges in boxes.known.items()},
        "steps": sorted({frame.iteration for lane in lanes for frame in lane.frames}),
        "tiles": {str(row): tile.item() for row, tile in tiles.items()},
        "lanes": [
            {
                "title": lane.title,
                "violated": lane.violated,
                "curves": list(lane.curves),
                "frames": [_frame(frame, lane, boxes) for frame in lane.frames],
            }
            for lane in lanes
        ],
    }
    _mount(key=keys.widget(name), data=data)


def _frame(frame: Frame, lane: Lane, boxes: Boxes | None) -> dict[str, Any]:
    if boxes is None or frame.boxes is None:
        bounds = {"primal": frame.primal, "dual": frame.dual if math.isfinite(frame.dual) else None}
        where = {
            "iteration": f"{frame.iteration:,}",
            **({lane.round: f"{frame.round}"} if lane.round else {}),
        }
        solid = []
    else:
        bounds = {"objective": frame.primal} if lane.curves else {}
        where = {"start": frame.start} if frame.start else {}
        solid = [boxes.share(int(row), box) for row, box in zip(frame.top, frame.boxes, strict=True)]
    measures = {name: NONE if value is None else f"{value:.3f}" for name, value in frame.measures.items()}
    facts = {**where, **measures, **_four_digits(bounds)}
    numbers = {**bounds, **frame.measures}
    return {
        "iteration": frame.iteration,
        "facts": list(facts.items()),
        "values": {name: numbers[name] for name in lane.curves},
        "top": [str(row) for row in frame.top],
        "ranks": list(frame.ranks) or list(range(1, len(frame.top) + 1)),
        "boxes": solid,
        "moved_up": [[str(lift.sample), lift.passed] for lift in frame.lifted],
    }


def _four_digits(bounds: Mapping[str, float | None]) -> dict[str, str]:
    """Bounds with the decimals that give the first one four significant digits.

    >>> _four_digits({"primal": 689.61, "dual": 689.02}), _four_digits({"primal": 20000.4, "dual": None})
    ({'primal': '689.6', 'dual': '689.0'}, {'primal': '20,000', 'dual': '–'})
    """
    first = next(iter(bounds.values()), None) or 1.0
    decimals = max(0, 3 - math.floor(math.log10(abs(first))))
    return {name: NONE if value is None else f"{value:,.{decimals}f}" for name, value in bounds.items()}
