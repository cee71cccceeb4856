"""What the lessons have in common: their steps, and their training runs, which all visitors share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.lessons.lesson_settings import Lesson
from pages.parts.training import feature_choice, jobs_panel, run_steps, runs
from ranking.core import ImageSet
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import AnyTrainSettings, train_settings

# folder of a workspace with an empty file for each completed lesson
DONE = "lessons"


def bundled(source: str) -> ImageSet:
    """Return a bundled image set; end the page if the visitor's workspace does not list it."""
    images, _ = cache.ready_made(source)
    if images.key not in {row.key for row in home.store().sets.rows()}:
        frame.show_empty_state(f"The lesson needs the image set {source}", "Image sets", "image_sets")
    return images


def begin(lesson: Lesson) -> dict[str, Run]:
    """Return the training runs of a lesson by method."""
    # They come with the program; a run that was deleted is started again.
    images, _ = cache.ready_made()
    return {method: run_of(lesson.settings_of(images.key, method)) for method in lesson.methods}


def trained(lesson: Lesson) -> dict[str, Run]:
    """Return the training runs of a lesson by method, as `finished` does."""
    return finished(begin(lesson))


def finished(named: dict[str, Run]) -> dict[str, Run]:
    """Return runs of a lesson when all are finished; until then, show their progress and end the page."""
    for run in named.values():
        if run.state not in ENDED:
            jobs_panel.watch(run)
            frame.end_page()
    broken = [run for run in named.values() if run.state != "finished"]
    for run in broken:
        jobs_panel.explain_end(run)
    if broken:
        if frame.pressed("Train again", keys.widget("train the lesson again"), type="primary"):
            with frame.errors_in_place():
                run_steps.start_all([train_settings(run.settings) for run in broken])
                st.rerun()
        frame.end_page()
    return named


def run_of(settings: AnyTrainSettings) -> Run:
    """Return the best run with these settings; start one if there is none."""
    store, values = home.store(), settings.to_json()
    return runs.best_equal(store, "train", values) or jobs.start_once(store, "train", values)


def offer_training(run: Run, key: str) -> None:
    """Show the button that opens the page Train with the settings of `run`."""
    settings = run.settings
    features = ",".join(feature_choice.names_of(settings["features"]))
    link = address.only(
        **{keys.SET: settings["set"], keys.QUERY: settings["query"], keys.METHOD: settings["method"]},
        **{keys.FEATURES: features},
    )
    if frame.pressed("Train it yourself", key, type="primary"):
        st.switch_page("pages/train.py", query_params=link)


@dataclass(frozen=True)
class Step:
    """A step of a lesson, by its number from 1."""

    number: int
    # The container of its headline.
    headline: DeltaGenerator


def each_step(titles: Sequence[str], name: str) -> Iterator[Step]:
    """Yield the steps to show: the step of the URL parameter `name`, with controls for the others, or all."""
    # Beside the control, where it never moves, is a button for the next step.
    if on_one_page():
        for number, title in enumerate(titles, start=1):
            st.header(title, anchor=False, divider="gray")
            yield Step(number, st.container())
        _mark_done()
    else:
        with st.container(key="steps", horizontal=True, horizontal_alignment="right"):
            headline = st.container()
            numbered = dict(enumerate(titles, start=1))
            number = controls.segments("Step", name, numbered, 1, label_visibility="collapsed")
            if number < len(titles):
                st.button(
                    "Next step",
                    type="primary",
                    key="next step",
                    on_click=address.put,
                    kwargs={name: str(number + 1)},
                )
        if number == len(titles):
            _mark_done()
        yield Step(number, headline)
    with st.container(key="all-steps" if on_one_page() else "settings-one-step"):
        controls.toggle(
            "All steps",
            keys.ALL_STEPS,
            help="All steps on one page, to read the lesson as a whole or to print it from the browser.",
        )


def done() -> set[str]:
    """Return the pages of the lessons whose last step was shown in this workspace."""
    folder = home.store().home / DONE
    return {file.name for file in folder.iterdir()} if folder.is_dir() else set()


def _mark_done() -> None:
    """Record that the current lesson is done."""
    with home.missing_as_error():
        folder = home.store().home / DONE
        folder.mkdir(exist_ok=True)
        (folder / st.session_state[keys.PAGE_SHOWN]).touch()


def on_one_page() -> bool:
    """Return whether all steps are shown."""
    return bool(address.read(keys.ALL_STEPS, address.one_of([True, False]), False))


def by_itself(show: Callable[..., None]) -> Callable[..., Any]:
    """Return `show` as a fragment, which runs again without its page, if only one step is on the page."""
    # If all steps are on the page, other steps depend on its settings too.
    return show if on_one_page() else st.fragment(show)
