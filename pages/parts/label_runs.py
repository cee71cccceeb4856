"""Rankers of labels as the pages speak of them: which image set, which training; and what to do where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from pages.parts import address, cache, frame, jobs_panel, keys, runs, sets
from pages.parts.frame import escaped
from ranking import jobs, method_names
from ranking.features import default_names
from ranking.run import ENDED, Run
from ranking.run_settings import ImportSettings, LabelTrainSettings
from ranking.store import ImageSetRow

SOURCE = "Label scenes"  # what one imports first to see labels
WITH_CORE = "C-star p@k"
LEAST = 2.0  # labels an image has in the mean: below that there is hardly an order of labels


def choose_set() -> ImageSetRow:
    """One of the image sets whose images have several labels; at first that of the run in the address, else the one
    with most labels an image. Without any: the way to import one."""
    sets.prepare()
    labelled = {row.key: several for row in cache.store().image_sets() if (several := _mean(row)) >= LEAST}
    if not labelled:
        _offer_import()
    known = {row.key: row for row in cache.store().image_sets() if row.key in labelled}
    first = max(labelled, key=labelled.__getitem__)
    bound = address.bound(keys.LABEL_SET, address.one_of(list(known)), first)
    key = st.selectbox(
        "Image set", list(known), format_func=lambda key: _title(known[key], labelled[key]), **bound
    )
    return known[key]


def _mean(row: ImageSetRow) -> float:
    """How many labels an image of a set has in the mean."""
    labels = cache.image_labels(row.key).labels
    return float(labels.sum(axis=1).mean()) if len(labels) else 0.0


def _title(row: ImageSetRow, several: float) -> str:
    return f"{row.title} — {row.images:,} images, {len(row.classes)} labels, {several:.3g} an image"


def _offer_import() -> None:
    """Import the scenes with labels, and keep them: whoever presses the button wants them. Ends the page."""
    settings = ImportSettings(SOURCE).to_json()
    begun = [run for run in cache.store().equal_runs("import", settings) if "decision" not in run.result]
    run = jobs.poll(cache.store(), begun[0].id) if begun else None
    if run is not None and run.state not in ENDED:
        st.markdown(f"#### Drawing {SOURCE}")
        jobs_panel.watch(run)
        frame.end_page()
    if run is not None and run.state == "finished":
        with cache.or_gone():
            cache.store().keep(run.id)
        st.rerun()
    if run is not None:
        jobs_panel.explain_end(run)
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("#### No image set has images with several labels yet", text_alignment="center")
        if frame.pressed(f"Import {SOURCE.lower()}", "import label scenes", type="primary"):
            jobs.start_once(cache.store(), "import", settings)
            st.rerun()
    frame.end_page()


# ---------------------------------------------------------------------------------------------------------
# Trainings
# ---------------------------------------------------------------------------------------------------------


def run_of(name: str, kind: str, called: str) -> Run | None:
    """The run of a kind that `name` of the address names; None where it names none that is known. Its image set need
    not be in the address then: it implies that."""

    def parse(run_id: str) -> Run:
        run = cache.store().run(run_id)
        if run.kind != kind:
            raise ValueError(f"expected a {called}, got: {run.called}")
        if run.deleted is not None:
            raise ValueError(f"that {called} was deleted")
        return run

    run = address.read(name, parse, None)
    if run is not None and runs.set_is_here(run):
        address.imply({keys.LABEL_SET: run.settings["set"]})
    return run


def choose_training(row: ImageSetRow, run: Run | None) -> Run:
    """A training of a c-star on a set: `run` of the address, or the newest. Without any: the way to train one."""
    if run is not None and run.state not in ENDED:
        st.markdown(f"#### Training {escaped(run.settings['method'])}")
        jobs_panel.watch(run)
        frame.end_page()
    if run is not None and not runs.set_is_here(run):
        frame.way_on(runs.missing_set(run), "Import images", "image_sets")
    trained = [one for one in cache.store().runs("label", row.key) if has_star(one)]
    if run is not None and run.id not in [one.id for one in trained]:
        jobs_panel.explain_end(run)
        if run.has_model:
            address.complain(
                f"Training {run.id} is by {run.settings['method']}, which has no core. Showing another one."
            )
        address.amend(**{keys.LABEL_RUN: None})
    if not trained:
        _offer_training(row)
    labels = names_of(trained)
    bound = address.bound(keys.LABEL_RUN, address.one_of(list(labels)), trained[0].id)
    chosen = st.selectbox("Training", list(labels), format_func=labels.__getitem__, **bound)
    if address.get(keys.LABEL_RUN) is None:
        address.put(**{keys.LABEL_RUN: chosen, keys.CORE: address.get(keys.CORE)})  # for the link, tomorrow
    return next(one for one in trained if one.id == chosen)


def has_star(run: Run) -> bool:
    """Whether a training has left a model by a method whose labels interact."""
    return run.has_model and run.settings["method"] == WITH_CORE


def names_of(listed: Sequence[Run]) -> dict[str, str]:
    """Names of trainings by id, no two alike: a selectbox tells its options apart by what they are called."""
    names = {run.id: name_of(run) for run in listed}
    often = Counter(names.values())
    return {key: name if often[name] == 1 else f"{name} · {key}" for key, name in names.items()}


def name_of(run: Run) -> str:
    """One line that tells a training of labels from its neighbours."""
    features = " + ".join(name for name, _ in run.settings["features"])
    measured = runs.finite((run.result.get("test") or {}).get("BEP"))
    found = run.state if measured is None else f"test BEP {100 * measured:.1f}%"
    star = "★ " if run.star else ""
    return f"{star}{run.name or run.settings['method']} · {features} · {found} · {runs.when(run)}"


def _offer_training(row: ImageSetRow) -> None:
    """Train both rankers as they come, or show that it goes on. Ends the page."""
    going = [one for one in cache.store().runs("label", row.key) if one.state not in ENDED]
    if star := next((one for one in going if one.settings["method"] == WITH_CORE), None):
        address.put(**{keys.LABEL_RUN: star.id})
        st.rerun()
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(
            f"#### No c-star has learnt the labels of {escaped(row.title)} yet: train one, and beside it the same "
            "model without interactions",
            text_alignment="center",
        )
        if frame.pressed("Train both rankers of labels", "train both rankers", type="primary"):
            features = tuple((name, {}) for name in default_names(cache.image_set(row.key)))
            for method in method_names(ranks="labels"):
                asked = LabelTrainSettings(row.key, features, method).to_json()
                run = jobs.start_once(cache.store(), "label", asked)
                if method == WITH_CORE:
                    address.put(**{keys.LABEL_RUN: run.id})
            st.rerun()
    frame.end_page()
