"""Trainings that rank labels: begun with any settings, watched, and looked at when they have ended."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.app import address, cache, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import (
    certificate,
    feature_choice,
    jobs_panel,
    projections,
    run_actions,
    runs,
    training_view,
)
from ranking import method_class
from ranking.core.run_settings import LabelTrainSettings
from ranking.features import default_names
from ranking.jobs import jobs
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow


def start(key: str, method: str, like: Run | None = None) -> Run:
    """A training with default settings; on the features and labels of another one that it shall be compared with."""
    if like is None:
        features = tuple((name, {}) for name in default_names(cache.image_set(key)))
        settings = LabelTrainSettings(key, features, method)
    else:
        given = LabelTrainSettings.from_json(like.settings)
        settings = LabelTrainSettings(
            key, given.features, method, min_images=given.min_images, projection=given.projection
        )
    return jobs.start_once(cache.store(), "train", settings.to_json())


def watch(live: Sequence[Run]) -> None:
    """All trainings that go on, the one that was asked for first on top."""
    for run in sorted(live, key=lambda run: run.created):
        told = ", ".join(runs.differing(run))
        st.caption(f"{escaped(runs.short_name(run))}{f' · {escaped(told)}' if told else ''}")
        jobs_panel.watch(run, lambda seen, run=run: _show_gap(run, seen))


def _show_gap(run: Run, seen: list[jobs_panel.Event]) -> None:
    iterations, tolerance = jobs_panel.iterations_of(seen), runs.tolerance_of(run)
    if iterations and tolerance is not None:
        certificate.show_gap(iterations[-1], tolerance, runs.is_convex(run))


def train_another(row: ImageSetRow, methods: Sequence[str], live: Sequence[Run]) -> None:
    """A form for a training with other settings; what goes on stands below it, and what has failed of it."""
    with st.expander("Train another model", icon=":material/model_training:"):
        method = st.selectbox("Method", methods, key=keys.widget("label training method"))
        images = cache.image_set(row.key)
        features = st.pills(
            "Features",
            feature_choice.offered(images),
            selection_mode="multi",
            default=default_names(images),
            format_func=feature_choice.words(images),
            key=keys.widget(f"label training features {row.key}"),
        )
        projection = projections.choose("label training ")
        plugins = [(method, method_class(method))]
        values = forms.settings_form("label training", plugins, f"More settings of {method}", shared=False)
        least = st.number_input(
            "Images that must show a label",
            1,
            max(runs.LEAST, row.images),
            runs.LEAST,
            step=1,
            key=keys.widget("label training least"),
            help="A class that fewer images show is no label. Only models of the same labels can be rivals.",
        )
        if frame.pressed(
            "Train this model", keys.widget("train another"), type="primary", disabled=not features
        ):
            described = feature_choice.named(features)
            settings = LabelTrainSettings(row.key, described, method, values[method], int(least), projection)
            run = jobs.start_once(cache.store(), "train", settings.to_json())
            st.session_state[keys.LABEL_STARTED] = run.id
            st.rerun()
        if not features:
            st.info("Choose at least one feature.", icon=":material/info:")
    watch(live)
    _say_outcome([run.id for run in live])


def _say_outcome(live: Sequence[str]) -> None:
    """What came of the training that this tab has begun last: until it is looked at, or another one is begun."""
    run_id = st.session_state.get(keys.LABEL_STARTED)
    if run_id is None or run_id in live:
        return
    run = cache.store().run(run_id)
    if not run.has_model:
        jobs_panel.explain_end(run)
        return
    st.button(
        f"Show {escaped(runs.short_name(run))}, just trained: {runs.measured(run)}",
        key=keys.widget("show just trained"),
        icon=":material/arrow_upward:",
        on_click=_show,
        args=(run.id,),
    )


def _show(run_id: str) -> None:
    del st.session_state[keys.LABEL_STARTED]
    address.put(**{keys.LABEL_RUN: run_id})


def look_at(run: Run) -> None:
    """What a training proves, its bounds over the iterations, and what a person does with it; made when opened."""
    folded = st.expander("How it was trained", key=keys.widget("label training"), on_change="rerun")
    if not folded.open:
        return
    with folded:
        jobs_panel.explain_end(run)
        if runs.has_numbers(run):
            certificate.show(run)
        certificate.say_projection(run)
        if iterations := jobs_panel.events_of(run):
            training_view.draw(run, iterations, training_view.log_choice())
        run_actions.manage(run)
