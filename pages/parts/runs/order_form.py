"""What a new training of orders needs to know, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import feature_choice, projections
from ranking import method_class, method_names
from ranking.core.run_settings import OrderTrainSettings
from ranking.core.settings import settings_of
from ranking.datasets.sequences import Drawing
from ranking.experiments.order_training import training_grades
from ranking.jobs import jobs
from ranking.workspace.store import ImageSetRow

FIRST = "MidRank"


def show(row: ImageSetRow, criterion: str) -> None:
    """Settings of the sequences, the features and the method, and the button; pressed twice it starts one training."""
    left, right = st.columns(2, gap="large")
    with left:
        names = method_names(ranks="orders")
        bound = address.bound(keys.ORDER_METHOD, address.one_of(names), FIRST)
        method = st.selectbox("Method", names, **bound)
        st.caption(escaped(method_class(method).summary))
        warn_of_few_grades(row, criterion, method)
        values = forms.settings_form("method", [(method, method_class(method))], f"More settings of {method}")
    with right:
        features = feature_choice.choose(cache.image_set(row.key))
        projection = projections.choose()
        drawn = forms.settings_form("drawing", [(Drawing.name, Drawing)], "More settings of the sequences")
    usual = {item.name: item.default for item in settings_of(Drawing)}
    drawing = {name: value for name, value in drawn[Drawing.name].items() if value != usual[name]}
    settings = OrderTrainSettings(
        row.key,
        feature_choice.named(features),
        criterion,
        method,
        values[method],
        drawing,
        projection,
    )
    if frame.pressed(
        "Train", "train orders", type="primary", icon=":material/play_arrow:", disabled=not features
    ):
        jobs.start_once(cache.store(), "order", settings.to_json())
        st.rerun()
    if not features:
        st.info("Choose at least one feature.", icon=":material/info:")
    st.caption(
        "Trainings that are tested on the same sequences can be looked at side by side: the same criterion, and the "
        "same settings of the sequences. Features, their scale, methods and the sequences to train on may differ."
    )


def warn_of_few_grades(row: ImageSetRow, criterion: str, method: str) -> None:
    """Say before training that RankSVM is the better choice where a method needs more different values."""
    grades, enough = training_grades(cache.image_set(row.key), criterion), method_class(method).enough_grades
    if grades < enough:
        st.warning(
            f"{method} is not recommended here. The training images have only {grades} different values of "
            f"“{escaped(criterion)}”, so that most samples of a sequence are tied. With 3 and 4 values the "
            f"Kendall tau of {method} was .005 to .065 below that of RankSVM in sequences of any samples. "
            "Choose RankSVM.",
            icon=":material/warning:",
        )
