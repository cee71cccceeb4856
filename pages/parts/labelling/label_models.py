"""The label-ranking model of a page: image set, training run and baseline, and how to train them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.app.home import of_home
from pages.parts.labelling import label_styles
from pages.parts.training import run_actions, run_steps, runs
from ranking import method_names
from ranking.core import LabelSet
from ranking.datasets.label_sets import label_set
from ranking.explain import label_pairs as pairs_of_labels
from ranking.explain.label_pairs import LabelPairs
from ranking.features.projection import projected
from ranking.reports.line_styles import LineStyle
from ranking.reports.settings_words import against
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import LabelTrainSettings
from ranking.storage.sets import ImageSetRow

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.question_strategies import LabelEntropy
    from ranking.methods.label_ranker import LabelRanker

OWN, BASELINE = "C-star p@k", "Independent p@k"
# image sets with fewer labels per image on average have no labels to rank
MAX_LABELS_OF_ONE = 2.0
PICKER = run_steps.Picker(
    task="labels",
    run=keys.LABEL_RUN,
    set=keys.LABEL_SET,
    own=OWN,
    baseline=BASELINE,
    source="Label scenes",
    needs="Label ranking needs images with several labels each",
    contrast="In C-star, a few core labels attract or repel all others. The baseline, the independent model, scores "
    "each label independently.",
)
# short enough for a projector
NAMES = {OWN: "C-star", BASELINE: "Independent"}


class Player(NamedTuple):
    """A model or its baseline."""

    run: Run
    # Its title beside the other model.
    title: str
    # The style of its line.
    style: LineStyle


def choose_set() -> ImageSetRow:
    """Choose an image set whose images have several labels."""
    return PICKER.choose_set(lambda row: _mean_labels(row) >= MAX_LABELS_OF_ONE, _title)


def _mean_labels(row: ImageSetRow) -> float:
    """Return the mean number of labels per image of an image set."""
    try:
        return float(image_labels(row.key).labels.sum(axis=1).mean())
    except home.Gone:
        return 0.0


def _title(row: ImageSetRow) -> str:
    shown = image_labels(row.key)
    counts = f"{len(shown):,} images, {len(shown.names)} classes, {_mean_labels(row):.1f} labels per image"
    return f"{row.title} — {counts}"


def choose_training(row: ImageSetRow, label: str = "Model", methods: Sequence[str] | None = None) -> Run:
    """Choose a label-ranking run on an image set."""
    # methods: the methods to offer; None: all label-ranking methods.
    methods = method_names(ranks="labels") if methods is None else methods
    listed = [run for run in PICKER.runs(row.key) if run.settings["method"] in methods]
    run_actions.show_deleted(task=PICKER.task)
    run = PICKER.choose(
        listed,
        label,
        f"rank the labels of {row.title}",
        lambda method: LabelTrainSettings(row.key, run_steps.usual_features(row.key), method),
    )
    PICKER.show_run(run)
    _train_another(row, sorted(methods, key=lambda name: name != OWN))
    PICKER.show_new(listed)
    run_actions.show_trash(task=PICKER.task)
    return run


def _train_another(row: ImageSetRow, methods: Sequence[str]) -> None:
    """Show a form for a training run with other settings."""
    with st.expander("Train another model", icon=":material/model_training:"):
        form = run_steps.form(row, methods, {"key": keys.widget("label training method")})
        least = st.number_input(
            "Minimum number of images per label",
            1,
            max(runs.LEAST, row.images),
            runs.LEAST,
            step=1,
            key=keys.widget("label training least"),
            help="Classes with fewer images are not used as labels. Only models with the same labels can be compared.",
        )
        settings = LabelTrainSettings(
            row.key, form.features, form.method, form.method_settings, int(least), form.projection
        )
        if run_steps.offer_start(settings, "train labels"):
            st.rerun()


def _baseline_of(run: Run) -> str:
    """Return the method to compare a run with."""
    return BASELINE if run.settings["method"] == OWN else OWN


def baselines_of(run: Run) -> list[Run]:
    """Return the other runs with the same images, features, projection and labels."""
    # First the runs of the other method, then the newest.
    same = ("set", "features", "min_images", "projection")
    baselines = [
        baseline_run
        for baseline_run in PICKER.runs(run.settings["set"])
        if baseline_run.has_model
        and baseline_run.id != run.id
        and all(baseline_run.settings.get(part) == run.settings.get(part) for part in same)
    ]
    return sorted(baselines, key=lambda baseline_run: baseline_run.settings["method"] != _baseline_of(run))


def choose_baseline(run: Run) -> Run | None:
    """Choose the baseline of `run`; None without any, with a button that trains the other model."""
    baselines = baselines_of(run)
    if not baselines:
        offer_baseline(run)
        return None
    if len(baselines) > 1:
        return run_steps.choose_among(baselines, "Baseline", keys.BASELINE_RUN)
    address.bound(keys.BASELINE_RUN, address.one_of([baselines[0].id]), baselines[0].id)
    return baselines[0]


def players(run: Run, baseline_run: Run | None = None) -> list[Player]:
    """The models that are shown, with short names; two of one method by the settings in which they differ."""
    listed = [run] if baseline_run is None else [run, baseline_run]
    methods = [str(each.settings["method"]) for each in listed]
    names = [NAMES.get(method, method) for method in methods]
    if baseline_run is not None and names[0] == names[1]:
        differing = [against(run, [baseline_run]), against(baseline_run, [run])]
        names = [f"{name} ({settings})" for name, settings in zip(names, differing, strict=True)]
    styles = label_styles.of_models(dict(zip(names, methods, strict=True)))
    return [Player(each, name, styles[name]) for each, name in zip(listed, names, strict=True)]


def offer_baseline(run: Run) -> None:
    """Show a button that trains a baseline, or its progress."""
    baseline = _baseline_of(run)
    if any(
        each.settings["method"] == baseline and each.state not in ENDED
        for each in PICKER.runs(run.settings["set"])
    ):
        st.caption(f"{escaped(baseline)} is being trained; it appears when it is ready.")
    elif frame.pressed(f"Train {baseline} as a baseline", keys.widget("train baseline")):
        settings = LabelTrainSettings.from_json(run.settings)
        with frame.errors_in_place():
            run_steps.start(replace(settings, method=baseline, method_settings={}))
            st.rerun()


# ---------------------------------------------------------------------------------------------------------
# Cached models
# ---------------------------------------------------------------------------------------------------------


@of_home()
def image_labels(key: str) -> LabelSet:
    """The images of a set with the labels of all their samples, without features."""
    # not the cached image set: this reads all sets, the cache holds few
    images = home.store().sets.get(key)
    return label_set(images, np.zeros((len(images), 0), np.float32))


@of_home(spinner="Counting label co-occurrences …", needs="model")
def label_pairs(run: Run) -> LabelPairs:
    """The learned interactions of a label-ranking run, and co-occurrences of labels in training images."""
    # Gone if the set lacks a label of the run's method.
    method, images = cache.method_of(run), image_labels(run.settings["set"])
    unknown = [name for name in method.names if name not in images.names]
    if unknown:
        raise ValueError(f"the model of run {run.id} has the label {unknown[0]!r}, which its image set lacks")
    columns = [images.names.index(name) for name in method.names]
    labels = images.labels[~images.test][:, columns]
    return pairs_of_labels.label_pairs(method.names, method.core, method.weights.interactions, labels)


@of_home(needs="model")
def label_ranker(run: Run) -> tuple[LabelRanker, LabelSet]:
    """The method of a label-ranking run, and the images of its set with the run's features and labels."""
    images, settings = cache.image_set(run.settings["set"]), LabelTrainSettings.from_json(run.settings)
    features = projected(cache.projection(run), cache.features_of(run, settings.features))
    method, shown = cache.method_of(run), label_set(images, features, settings.min_images)
    # raises a ValueError if its labels or features differ
    method.prediction(shown.part([0]))
    return method, shown


@of_home()
def label_entropy(run: Run) -> LabelEntropy:
    """The label probabilities of a label-ranking run, fitted on its training images."""
    from ranking.explain.question_strategies import LabelEntropy

    method, shown = label_ranker(run)
    return LabelEntropy.fitted(method, shown.part(~shown.test))
