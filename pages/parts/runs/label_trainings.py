"""Trainings that rank labels: begun with any settings, watched, and looked at when they have ended."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.app import cache, forms, frame, keys
from pages.parts.runs import (
    certificate,
    feature_choice,
    jobs_panel,
    projections,
    run_actions,
    runs,
    training_view,
    trainings,
)
from ranking import method_class
from ranking.core.run_settings import LabelTrainSettings
from ranking.features import default_names
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow


def train_another(row: ImageSetRow, methods: Sequence[str]) -> None:
    """A form for a training with other settings."""
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
            trainings.start(settings)
            st.rerun()
        if not features:
            st.info("Choose at least one feature.", icon=":material/info:")


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
