"""Playback of training runs: one iteration after the other.

Two runs with the same image set and query, two orders of a test sequence, or the rounds of a localisation
run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from pages.parts.app import cache, controls, frame, home, keys
from pages.parts.app.colours import RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.play_bar import Lane, play_bar
from pages.parts.components.tile import Tile
from pages.parts.training import recordings, run_steps, runs
from ranking.core.text import written
from ranking.features.windows.settings import GIVEN
from ranking.storage.run import SAMPLES, Run

if TYPE_CHECKING:
    from ranking.explain.playback import Frame

NONE = "none"
# the method that is shown beside a method by default
OPPOSITE = {"SVM": "AP-SVM", "AP-SVM": "SVM"}
# runs side by side
LANES = 2
CORLOC = (
    "CorLoc: the share of the images with the object whose best window overlaps it by half or more (intersection over "
    "union)."
)
RANKERS = (
    "Each ranker has its own objective and bounds. Ranker 0 is RankSVM, whose order is the start of the search; the "
    "others are for subsequences of increasing length. The order shown combines all rankers trained up to this "
    "iteration."
)


class Recorded(NamedTuple):
    """A run and its recorded iterations, at least one."""

    run: Run
    frames: Sequence[Frame]

    @property
    def round(self) -> str:
        """The name of a round; "" if there is a single one."""
        if not any(frame.round for frame in self.frames):
            return ""
        return "ranker" if runs.is_convex(self.run) else "round"


def show(run: Run) -> bool:
    """The playback of a run and of another run beside it; returns whether there is a recording."""
    if not runs.set_is_here(run) or not (frames := _read(recordings.frames, run)):
        return False
    recorded = [Recorded(run, frames)]
    if listed := comparable(run):
        names = {NONE: "no run", **runs.labels(listed)}
        chosen = controls.select("Compare with", keys.PLAYED, names, opposite(run, listed) or NONE)
        for candidate in listed:
            second = _read(recordings.frames, candidate) if candidate.id == chosen else ()
            if second:
                recorded.append(Recorded(candidate, second))
    images = cache.image_set(run.settings["set"])
    relevance = images.relevance(run.settings["query"], run.corrections)
    with frame.picture("course"):
        _play(
            recorded,
            [
                Lane(
                    runs.short_name(each.run),
                    each.frames,
                    round=each.round,
                    violated=violated_heading(each.run),
                )
                for each in recorded
            ],
            tiles.marked_tiles(images, {row: bool(relevance[row]) for row in _rows(recorded)}),
            "iteration by iteration",
        )
    scales = "Each run has its own objective: compare AP, not primal and dual. " if len(recorded) > 1 else ""
    part = "test" if images.test.any() else "training"
    st.caption(f"{scales}{words(frames, 'AP', f'the {part} samples', 'samples')}")
    tiles.explain_cards(images)
    return True


def show_sequence(listed: Sequence[Run], number: int) -> None:
    """The playback of the orders of a test sequence by the first LANES runs that recorded it."""
    # number: the index of the sequence. A note is shown if only other sequences are recorded.
    known = [
        Recorded(run, frames)
        for run in listed
        if (frames := _read(recordings.frames_of_sequence, run, number))
    ]
    recorded = known[:LANES]
    if not recorded:
        if any(run.playback_file.exists() for run in listed):
            st.caption("Playback is available for the first test sequences: choose sequence 1.")
        return
    run, frames = recorded[0]
    images = cache.image_set(run.settings["set"])
    values, [measure] = images.numbers_of(run.settings["criterion"]), frames[0].measures
    _play(
        recorded,
        [
            Lane(runs.short_name(each.run), each.frames, curves=(measure,), round=each.round)
            for each in recorded
        ],
        tiles.plain_tiles(images, {row: written(float(values[row])) for row in _rows(recorded)}),
        f"test sequence {number + 1} iteration by iteration",
    )
    rankers = f" {RANKERS}" if recorded[0].round else ""
    st.caption(f"{words(frames, measure, 'this sequence', 'sequences')}{rankers}")


def show_images(run: Run, split: str) -> bool:
    """The playback of a localisation run, by rounds; returns whether there is a recording."""
    # It shows the images of a split that are on top in the end, with their ranks and best windows.
    if not (frames := _read(recordings.frames_of_images, run, split)):
        return False
    images, query = cache.image_set(run.settings["set"]), run.settings["query"]
    shown = {image: image for image in sorted({int(image) for frame in frames for image in frame.top})}
    objects, relevance = recordings.objects(images.key, query), images.image_relevance(query)
    located = f"CorLoc, {recordings.PARTS[split]}"
    curves = ("objective",) if objects is None else ("objective", located)
    play_bar(
        [Lane(runs.short_name(run), frames, curves=curves)],
        tiles.whole_tiles(images, shown, {image: bool(relevance[image]) for image in shown}),
        name=f"play bar {run.id}",
        token=f"{run.id} {split}",
        label=f"Training of {runs.short_name(run)}, round by round",
        boxes=tiles.boxes_of(images, shown, objects),
    )
    given = run.settings["windows"].get("source") == GIVEN
    unseen = "the candidate windows, without their classes" if given else "which training does not see"
    known = " This set has no boxes, so CorLoc is unknown."
    if objects is not None:
        known = f" Dashed: the true boxes, {unseen}."
    shows = f"{RELEVANT_GLYPH}: the image shows “{escaped(query)}”, wherever the box is."
    words_of_rounds = rounds_words(frames, located)
    st.caption(f"{words_of_rounds} Solid: the best window of each image.{known}", help=f"{shows} {CORLOC}")
    return True


def rounds_words(frames: Sequence[Frame], located: str) -> str:
    """What to notice of the rounds: the objective, and CorLoc if it is known."""
    # located: the name of CorLoc.
    first, last = frames[0], frames[-1]
    words = (
        f"**Notice** the objective: {first.primal:.1f} in round {first.iteration}, {last.primal:.1f} in round "
        f"{last.iteration}."
    )
    shares = [share for each in frames if (share := each.measures.get(located)) is not None]
    if shares:
        words += f" {located}: {shares[0]:.2f} → {shares[-1]:.2f}."
    if len({each.start for each in frames}) > 1:
        words += f" {run_steps.JOINED_STARTS}"
    return words


def _play(recorded: Sequence[Recorded], lanes: Sequence[Lane], shown: Mapping[int, Tile], what: str) -> None:
    ids = [each.run.id for each in recorded]
    titles = " and ".join(lane.title for lane in lanes)
    play_bar(
        lanes,
        shown,
        name=f"play bar {ids[0]}",
        token=" ".join([*ids, what]),
        label=f"Training of {titles}, {what}",
    )


def _rows(recorded: Sequence[Recorded]) -> list[int]:
    """The samples in the frames."""
    frames = [frame for each in recorded for frame in each.frames]
    rows = {int(row) for frame in frames for row in frame.top}
    return sorted(rows | {lift.sample for frame in frames for lift in frame.lifted})


def violated_heading(run: Run) -> str:
    """The heading of the samples that the most violated ranking of a run moves up; "" if it has none."""
    if not runs.has_loss(run):
        return ""
    return "Training samples moved up by the most violated ranking"


def words(frames: Sequence[Frame], measure: str, of: str, learned: str) -> str:
    """What to notice: the recorded iteration with the highest value of a measure."""
    # of: what is measured. learned: what the run is trained on.
    values = [(frame.measures[measure], frame.iteration) for frame in frames]
    known = [(value, iteration) for value, iteration in values if value is not None]
    if not known:
        return ""
    best, reached = max(known, key=lambda each: each[0])
    last, end = known[-1]
    return (
        f"**Notice** the highest {measure} on {of}, {best:.3f} at recorded iteration {reached:,}, and the last, "
        f"{last:.3f} at iteration {end:,}. Training minimises the objective on the training {learned}."
    )


def comparable(run: Run) -> list[Run]:
    """The ended runs with a recording and the same image set and query, newest first."""
    return [
        each
        for each in home.store().runs.all(set_key=run.settings["set"], task=SAMPLES)
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


def _read(read: Callable[..., Sequence[Frame]], run: Run, *arguments: Any) -> Sequence[Frame]:
    """The frames of a run as a function of the cache reads them; () with a warning if they cannot be read."""
    try:
        return read(run, *arguments)
    except home.Gone as error:
        st.warning(escaped(str(error)), icon=":material/warning:")
        return ()
