"""The localisation runs of a page: the image set, the class whose objects are located, and one run."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, controls, forms, home, keys
from pages.parts.app.home import of_home
from pages.parts.training import playback, run_steps, sets
from ranking import method_names
from ranking.core.settings import settings_dict
from ranking.core.text import counted
from ranking.features.windows.settings import WindowSettings
from ranking.storage.run import Run
from ranking.storage.run_settings import BagTrainSettings
from ranking.storage.sets import ImageSetRow

OWN, BASELINE = "Latent AP-SVM", "MI-SVM"
PICKER = run_steps.Picker(
    task=BagTrainSettings.task,
    run=keys.OBJECT_RUN,
    set=keys.OBJECT_SET,
    own=OWN,
    baseline=BASELINE,
    source="Hidden objects",
    needs="Finding objects needs images with classes",
    contrast=f"Both know only which images show the object. {OWN} learns to rank these first, {BASELINE} to classify "
    "them.",
    playing=lambda run: playback.show_images(run, "train") and None,
)


def choose_set() -> ImageSetRow:
    """Choose an image set with images and classes."""
    return PICKER.choose_set(lambda row: bool(row.classes) and _has_images(row))


def _has_images(row: ImageSetRow) -> bool:
    try:
        return bool(has_images(row.key))
    except home.Gone:
        return False


def choose_class(row: ImageSetRow) -> str:
    """Choose the class whose objects are located; by default that of the run in the URL."""
    images, run = cache.image_set(row.key), PICKER.named()
    first = sets.first_of(row.classes)
    if run is not None and run.settings["set"] == row.key and run.settings["query"] in row.classes:
        first = run.settings["query"]
    elif trained := [each.settings["query"] for each in PICKER.runs(row.key) if each.usable]:
        first = trained[0]
    shown = {
        name: f"{name} — {counted(int(images.image_relevance(name).sum()), 'image')}" for name in row.classes
    }
    return controls.select("Object", keys.OBJECT_CLASS, shown, first)


def choose_training(row: ImageSetRow, query: str) -> Run:
    """Choose a localisation run of a class on an image set."""
    return PICKER.choose(
        listed(row, query),
        "Training run",
        f"find “{query}” in {row.title}",
        lambda method: BagTrainSettings(row.key, query, method),
    )


def listed(row: ImageSetRow, query: str) -> list[Run]:
    """Return the localisation runs of a class on an image set, newest first."""
    return [run for run in PICKER.runs(row.key) if run.settings["query"] == query]


def train_another(row: ImageSetRow, query: str) -> None:
    """Show a form for a run with other settings."""
    names = method_names(ranks="windows")
    left, right = st.columns(2, gap="large")
    with left:
        bound = address.bound(keys.OBJECT_METHOD, address.one_of(names), OWN)
        method, settings = run_steps.method_form(names, bound)
    with right:
        values = forms.settings_form("windows", [(WindowSettings.name, WindowSettings)], "")
    defaults = settings_dict(WindowSettings())
    windows = {name: value for name, value in values[WindowSettings.name].items() if value != defaults[name]}
    if run_steps.offer_start(BagTrainSettings(row.key, query, method, settings, windows), "train objects"):
        st.rerun()


@of_home()
def has_images(key: str) -> bool:
    """Whether a set has images, not only features."""
    # not the cached image set, as for `criteria`
    return home.store().sets.get(key).image_features is None
