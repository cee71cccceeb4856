"""The lesson about hidden objects: images are labelled, windows are not, and training finds both."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, home, keys
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.runs import lessons, playback
from pages.parts.runs.lessons import Step
from pages.parts.views import object_lesson_words, object_starts
from pages.parts.views.lesson_settings import OBJECT_PART, OBJECT_ROUNDS, OBJECT_SET, objects_run
from ranking.core import ImageSet
from ranking.features.windows import WindowSettings
from ranking.workspace.examples import folder_of
from ranking.workspace.run import Run

STEPS = ("1 · Labels", "2 · Rounds", "3 · Starts", "4 · A part")
SHOWN = 6  # images with the object, and as many without it


def steps() -> None:
    images = cache.image_set(home.key_of(folder_of(OBJECT_SET)))
    for step in lessons.each_step(STEPS, keys.OBJECT_STEP):
        (show_labels, show_rounds, show_starts, show_part)[step.number - 1](step, images)
        step.offer_next()


def run_of(images: ImageSet, query: str, start: str) -> Run:
    [run] = lessons.finished({start: lessons.run_of(objects_run(images.key, query, start))}).values()
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
    step.headline.markdown(f"## {len(with_it)} of {len(learn)} images show a {query}. Where, nobody says")
    for shows, words in ((1, f"With a {query}"), (0, "Without")):
        chosen = learn[relevance[learn] == shows][:SHOWN].tolist()
        shown = tiles.whole_tiles(images, {row: row for row in chosen}, dict.fromkeys(chosen, bool(shows)))
        st.markdown(f"**{words}**")
        strip(list(shown.values()), name=f"labels {shows}", label=words, columns=SHOWN, narrow=3)
    st.caption(
        f"Each image has up to {WindowSettings().most} candidate windows. Its score is that of its best window, so "
        f"training must choose one window in each of {len(with_it)} images, and weights that rank these images first."
    )


def show_rounds(step: Step, images: ImageSet) -> None:
    query, start = OBJECT_ROUNDS
    run = run_of(images, query, start)
    frames = cache.frames_of_images(run, "train")
    step.headline.markdown(f"## {object_lesson_words.of_rounds(query, frames, cache.LOCATED['train'])}")
    playback.show_images(run, "train")


def show_starts(step: Step, images: ImageSet) -> None:
    query, start = OBJECT_PART
    run, objects = run_of(images, query, "several"), cache.objects(images.key, query)
    rows, found = training_rows(images, query), cache.localisation(run)
    ends = object_lesson_words.ends_of(found, objects or [], rows)
    step.headline.markdown(f"## {object_lesson_words.of_starts(query, ends, start)}")
    object_starts.show(images, found, objects, rows, images.image_relevance(query))


def show_part(step: Step, images: ImageSet) -> None:
    query, _ = OBJECT_PART
    run, objects = run_of(images, query, "LDA"), cache.objects(images.key, query)
    boxes = cache.localisation(run).boxes
    words = object_lesson_words.of_part(query, boxes, objects or [], training_rows(images, query))
    step.headline.markdown(f"## {words}")
    playback.show_images(run, "train")
    st.caption(
        f"The objective asks only that images with a {query} score above all others. A part that every {query} has, "
        "and nothing else has, does this as well as the whole, and no term rewards covering the rest. A bonus for "
        "large windows does (*Find the object*)."
    )
    with st.container(horizontal=True):
        if frame.pressed("Find the object", keys.widget("find the object"), type="primary"):
            st.switch_page("pages/find_the_object.py", query_params=address.only(**{keys.OBJECT_RUN: run.id}))


frame.show_page("object_lesson", "Images are labelled, objects are not.", steps)
