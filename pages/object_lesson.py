"""The lesson about hidden objects: images are labelled, windows are not, and training finds both."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, frame, keys
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.lessons import lesson_steps
from pages.parts.lessons.lesson_settings import (
    OBJECT_PART,
    OBJECT_ROUNDS,
    OBJECT_SET,
    OBJECT_STARTS,
    WHOLE,
    objects_run,
)
from pages.parts.lessons.lesson_steps import Step
from pages.parts.objects import object_lesson_words, object_starts
from pages.parts.training import playback, recordings
from ranking.core import ImageSet
from ranking.features.windows.settings import WindowSettings
from ranking.storage.run import Run

STEPS = ("1 · Labels", "2 · Rounds", "3 · Starts", "4 · A part")
# images with the object, and as many without it
SHOWN = 6


def steps() -> None:
    images = lesson_steps.bundled(OBJECT_SET)
    for step in lesson_steps.each_step(STEPS, keys.OBJECT_STEP):
        (show_labels, show_rounds, show_starts, show_part)[step.number - 1](step, images)


def run_of(images: ImageSet, shown: tuple[str, str]) -> Run:
    """The run of the lesson with this class and start."""
    [run] = lesson_steps.finished({"": lesson_steps.run_of(objects_run(images.key, *shown))}).values()
    return run


def training_rows(images: ImageSet, query: str) -> np.ndarray:
    """The training images that show the object."""
    return np.flatnonzero(~images.image_test & (images.image_relevance(query) > 0))


# ---------------------------------------------------------------------------------------------------------
# The steps
# ---------------------------------------------------------------------------------------------------------


def show_labels(step: Step, images: ImageSet) -> None:
    query, _ = OBJECT_ROUNDS
    relevance, learn = images.image_relevance(query), np.flatnonzero(~images.image_test)
    with_it = training_rows(images, query)
    step.headline.markdown(f"## {len(with_it)} of {len(learn)} images show a {query}; no label says where")
    for shows, words in ((1, f"With a {query}"), (0, "Without")):
        chosen = learn[relevance[learn] == shows][:SHOWN].tolist()
        shown = tiles.whole_tiles(images, {row: row for row in chosen}, dict.fromkeys(chosen, bool(shows)))
        st.markdown(f"**{words}**")
        strip(
            list(shown.values()),
            name=f"labels {shows}",
            label=words,
            columns=SHOWN,
            narrow=3,
            ratio=float(np.median(images.image_sizes[:, 0] / images.image_sizes[:, 1])),
        )
    st.caption(
        f"Each image has up to {WindowSettings().most} candidate windows. Its score is that of its best window, so "
        f"training must choose one window in each of {len(with_it)} images, and weights that rank these images first."
    )


def show_rounds(step: Step, images: ImageSet) -> None:
    query, _ = OBJECT_ROUNDS
    run = run_of(images, OBJECT_ROUNDS)
    frames = recordings.frames_of_images(run, "train")
    if not frames:
        st.info("The rounds of this run were not recorded. Train it again.", icon=":material/info:")
        return
    step.headline.markdown(f"## {object_lesson_words.of_rounds(query, frames, 'CorLoc, training')}")
    with frame.picture("rounds"):
        playback.show_images(run, "train")


def show_starts(step: Step, images: ImageSet) -> None:
    query, _ = OBJECT_STARTS
    located, objects = (
        recordings.localisation(run_of(images, OBJECT_STARTS)),
        recordings.objects(images.key, query) or [],
    )
    rows = training_rows(images, query)
    ends = object_lesson_words.ends_of(located, objects, rows)
    step.headline.markdown(f"## A good start matters: {object_lesson_words.of_starts(query, ends, WHOLE)}")
    with frame.picture("starts"):
        object_starts.show(images, located, objects, "train", images.image_relevance(query))


def show_part(step: Step, images: ImageSet) -> None:
    query, _ = OBJECT_PART
    run, objects = run_of(images, OBJECT_PART), recordings.objects(images.key, query) or []
    rows, located = training_rows(images, query), recordings.localisation(run)
    ends = object_lesson_words.ends_of(located, objects, rows)
    step.headline.markdown(f"## The lowest objective: {object_lesson_words.of_starts(query, ends, WHOLE)}")
    with frame.picture("part"):
        st.markdown(f"**{object_lesson_words.of_part(query, located.boxes, objects, rows)}**")
        playback.show_images(run, "train")
    st.caption(
        f"The objective asks only that images with a {query} score above all others. A window on a part that "
        f"only a {query} has achieves this too; no term of the objective rewards covering the rest. *Smallest window* "
        "and *Bonus for large windows* exclude or lower small windows."
    )
    if frame.pressed("Find the object", keys.widget("find the object"), type="primary"):
        st.switch_page("pages/find_the_object.py", query_params=address.only(**{keys.OBJECT_RUN: run.id}))


frame.show_page("object_lesson", "Only images are labelled; training has to find the objects.", steps)
