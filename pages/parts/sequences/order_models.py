"""The sequence-ranking runs of a page: image set, criterion, one run and others to compare it with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.app import address, cache, controls, home, keys
from pages.parts.app.home import SOME, of_home
from pages.parts.components.film import Frame, Strip
from pages.parts.training import playback, run_steps, runs, sets
from ranking import method_names
from ranking.core import ImageSet, Ints
from ranking.core.text import written
from ranking.datasets.sequences import HIGHEST
from ranking.experiments.order_task import Ordered, held_out_sequences, make_drawing
from ranking.features.projection import projected
from ranking.reports.markup import data_url
from ranking.storage.run import Run
from ranking.storage.run_files import read_scores
from ranking.storage.run_settings import OrderTrainSettings
from ranking.storage.sets import ImageSetRow

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.core import Features
    from ranking.explain.tree_search import TreeSearch
    from ranking.methods.mid_rank import MidRank

OWN, BASELINE = "MidRank", "RankSVM"
PICKER = run_steps.Picker(
    task="sequences",
    run=keys.ORDER_RUN,
    set=keys.ORDER_SET,
    own=OWN,
    baseline=BASELINE,
    source="Timeline cars",
    needs="Sequence ranking needs images with a numeric value each",
    contrast=f"{BASELINE} learns from pairs which of two images ranks first. {OWN} learns from subsequences: one "
    "ranker for each length from 3 to 8, combined by voting. Both train on the same thousand sequences.",
    playing=lambda run: playback.show_sequence([run], 0),
)
MAX_BESIDE = 3


def choose_set() -> ImageSetRow:
    """Choose an image set whose samples have a criterion."""
    return PICKER.choose_set(lambda row: bool(_criteria(row)))


def _criteria(row: ImageSetRow) -> tuple[str, ...]:
    try:
        return criteria(row.key)
    except home.Gone:
        return ()


def choose_criterion(row: ImageSetRow) -> str:
    """Choose the criterion by which samples are ordered; there is no control if there is only one."""
    names = criteria(row.key)
    run, first = PICKER.named(), sets.first_of(names)
    if run is not None and run.settings["set"] == row.key and run.settings["criterion"] in names:
        first = run.settings["criterion"]
    return first if len(names) == 1 else controls.select("Criterion", keys.CRITERION, names, first)


def choose_training(
    row: ImageSetRow, criterion: str, label: str = "Training run", methods: Sequence[str] | None = None
) -> Run:
    """Choose a sequence-ranking run on an image set by a criterion."""
    # methods: the methods to offer; None: all sequence-ranking methods.
    methods = method_names(ranks="sequences") if methods is None else methods
    return PICKER.choose(
        [run for run in by_criterion(row, criterion) if run.settings["method"] in methods],
        label,
        f"order {row.title} by “{criterion}”",
        lambda method: OrderTrainSettings(row.key, run_steps.usual_features(row.key), criterion, method),
    )


def by_criterion(row: ImageSetRow, criterion: str) -> list[Run]:
    """Return the sequence-ranking runs on an image set by a criterion, newest first."""
    return [run for run in PICKER.runs(row.key) if run.settings["criterion"] == criterion]


def choose_beside(run: Run) -> list[Run]:
    """Choose up to MAX_BESIDE other runs tested on the same sequences."""
    # By default the newest runs of other methods.
    others = {each.id: each for each in same_sequences(run)}
    if not others:
        return []
    newest = {each.settings["method"]: each.id for each in reversed(list(others.values()))}
    newest.pop(run.settings["method"], None)
    chosen = controls.several(
        "Compare with",
        keys.BESIDE,
        runs.labels(list(others.values()), lambda each: f"{short_name(each)} · {runs.measured(each)}"),
        [key for key in others if key in newest.values()][:MAX_BESIDE],
        max_selections=MAX_BESIDE,
        placeholder="no other training run",
    )
    return [others[key] for key in chosen]


def same_sequences(run: Run) -> list[Run]:
    """Return the other runs with scores and the same test sequences as `run`, newest first."""
    return [
        each
        for each in PICKER.runs(run.settings["set"])
        if each.id != run.id and each.has_scores and _tested_on(each) == _tested_on(run)
    ]


def _tested_on(run: Run) -> tuple[object, ...]:
    """Return the settings that determine the test sequences of an image set."""
    settings = OrderTrainSettings.from_json(run.settings)
    return settings.criterion, make_drawing(settings.drawing).tested_on


def short_name(run: Run) -> str:
    """Return the title of the strip of a run."""
    return run.name or str(run.settings["method"])


def frames_of(images: ImageSet, criterion: str, samples: Ints, relevance: Ints) -> list[Frame]:
    """Return a frame per sample, (n,), with its value of the criterion."""
    thumbnails, values = cache.thumbnails(images.key), images.numbers_of(criterion)
    return [
        Frame(
            data_url(thumbnails.crop(row)),
            f"image {images.image_names[images.image_of[row]]}",
            written(float(values[row])),
            grade,
        )
        for row, grade in zip(samples.tolist(), relevance.tolist(), strict=True)
    ]


def link_to_lesson() -> None:
    """Link to the summary of the lesson about subsequences."""
    summary = address.only(**{keys.PAIRS_STEP: "4"})
    label = "When do subsequences help?"
    st.page_link("pages/pairs_lesson.py", label=label, query_params=summary, width="content")


def goes_first(run: Run) -> str:
    """Return which end of the criterion ranks first in a sequence."""
    drawing = make_drawing(OrderTrainSettings.from_json(run.settings).drawing)
    return "highest" if drawing.first == HIGHEST else "lowest"


def true_strip(run: Run, order: tuple[int, ...]) -> Strip:
    return Strip("The true order", f"by “{run.settings['criterion']}”, the {goes_first(run)} first", order)


def show_new(row: ImageSetRow, criterion: str) -> None:
    """Show the running training runs, and the result of the last started run."""
    PICKER.show_new(by_criterion(row, criterion))


# ---------------------------------------------------------------------------------------------------------
# Cached models
# ---------------------------------------------------------------------------------------------------------


@of_home()
def criteria(key: str) -> tuple[str, ...]:
    """The criteria of an image set; () if it has none."""
    # Not the cached image set: this reads all sets, the cache holds few.
    return home.store().sets.get(key).criteria


@of_home(spinner="Reading the test sequences …", needs="scores")
def ordered(run: Run) -> Ordered:
    """The test sequences of a sequence-ranking run in the predicted order."""
    settings = OrderTrainSettings.from_json(run.settings)
    held_out = held_out_sequences(cache.image_set(settings.set), settings)
    scores = read_scores(run.scores_file, f"run {run.id}", len(held_out.sequences.members))
    return Ordered.of(held_out, scores, make_drawing(settings.drawing))


@of_home(entries=SOME, needs="model")
def mid_rank(run: Run) -> tuple[MidRank, Features]:
    """The MidRank model of a sequence-ranking run, and the (n, d) features of its pool of test samples."""
    settings = OrderTrainSettings.from_json(run.settings)
    features = projected(cache.projection(run), cache.features_of(run, settings.features))
    held_out = held_out_sequences(cache.image_set(settings.set), settings, features)
    return cache.method_of(run), held_out.sequences.features


@of_home(spinner="Searching …")
def tree_search(run: Run, number: int, length: int, trees: int) -> TreeSearch:
    """The search of MidRank's ranker of one length for the best order of a test sequence."""
    from ranking.explain.tree_search import tree_search as search

    method, features = mid_rank(run)
    return search(method, length, features[ordered(run).sampled.sequences.sequence(number)], trees)
