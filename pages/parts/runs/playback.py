"""Playback of a training run, beside another run with the same image set and query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.app import cache, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.play_bar import Lane, play_bar
from pages.parts.runs import runs
from ranking.workspace.run import SAMPLES, Run

if TYPE_CHECKING:
    from ranking.explain.playback import Frame

NONE = "none"
OPPOSITE = {"SVM": "AP-SVM", "AP-SVM": "SVM"}  # the method that is shown beside a method by default


def show(run: Run) -> bool:
    """The playback of a run and of another run beside it; returns whether there is a recording."""
    if not runs.set_is_here(run) or not (frames := _frames(run)):
        return False
    listed = comparable(run)
    shown, recorded = [run], [frames]
    if listed:
        names = {NONE: "no run", **runs.labels(listed)}
        label = "Compare with"
        chosen = controls.select(label, keys.PLAYED, names, opposite(run, listed) or NONE)
        for candidate in listed:
            if candidate.id == chosen and (second := _frames(candidate)):
                shown, recorded = [run, candidate], [frames, second]
    images = cache.image_set(run.settings["set"])
    relevance = images.relevance(run.settings["query"], run.corrections)
    rows = {int(row) for each in recorded for frame in each for row in frame.top}
    rows |= {lift.sample for each in recorded for frame in each for lift in frame.lifted}
    with frame.picture("course"):
        play_bar(
            [
                Lane(runs.short_name(each), frames, violated_heading(each))
                for each, frames in zip(shown, recorded, strict=True)
            ],
            {row: tiles.marked_tile(images, row, bool(relevance[row])) for row in sorted(rows)},
            name="play bar",
            token=" ".join(each.id for each in shown),
            label=f"Training of {' and '.join(runs.short_name(each) for each in shown)}, iteration by iteration",
        )
    scales = "Each run has its own objective: compare AP, not primal and dual. " if len(shown) > 1 else ""
    st.caption(f"{scales}{words(frames, bool(images.test.any()))}")
    tiles.explain_cards(images)
    return True


def violated_heading(run: Run) -> str:
    """The heading of the samples that the most violated ranking of a run moves up; "" if it has none."""
    if runs.loss_of(run) is None:
        return ""
    return "Training samples moved up by the most violated ranking"


def words(frames: Sequence[Frame], tested: bool) -> str:
    """What to notice: at which recorded iteration AP is highest."""
    values = [frame.average_precision for frame in frames]
    part = "test" if tested else "training"
    known = [
        (value, frame.iteration) for value, frame in zip(values, frames, strict=True) if value is not None
    ]
    if not known:
        return ""
    best, last = max(known, key=lambda pair: pair[0]), known[-1]
    first = next(iteration for value, iteration in known if value == best[0])
    if first == last[1]:
        return f"**Notice** that AP on the {part} samples is highest at the last recorded iteration: {best[0]:.3f}."
    return (
        f"**Notice** that AP on the {part} samples is highest at recorded iteration {first:,}: {best[0]:.3f}. It is "
        f"{last[0]:.3f} at iteration {last[1]:,}. Training minimises the objective on the training samples."
    )


def comparable(run: Run) -> list[Run]:
    """The ended runs with a recording and the same image set and query, newest first."""
    return [
        each
        for each in home.store().runs(set_key=run.settings["set"], task=SAMPLES)
        if each.id != run.id
        and each.has_scores
        and each.settings["query"] == run.settings["query"]
        and each.playback_file.exists()
    ]


def opposite(run: Run, listed: Sequence[Run]) -> str | None:
    """The id of the finished run with the opposite method and the same features; None without one."""
    method = OPPOSITE.get(run.settings["method"])
    seen = ("features", "projection")
    for each in listed:
        same = all(each.settings.get(name) == run.settings.get(name) for name in seen)
        if same and each.settings["method"] == method and each.state == "finished":
            return each.id
    return None


def _frames(run: Run) -> Sequence[Frame]:
    try:
        return cache.frames(run, runs.loss_of(run))
    except home.Gone as error:
        st.warning(escaped(str(error)), icon=":material/warning:")
        return ()
