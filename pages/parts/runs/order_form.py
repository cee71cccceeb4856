"""What a new training of orders needs to know, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, forms, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import trainings
from pages.parts.runs.order_models import OWN
from ranking import method_class, method_names
from ranking.core.run_settings import OrderTrainSettings
from ranking.core.settings import settings_of
from ranking.datasets.sequences import Drawing
from ranking.experiments.order_training import training_grades
from ranking.workspace.store import ImageSetRow


def show(row: ImageSetRow, criterion: str) -> None:
    """Settings of the sequences, the features and the method, and the button."""
    names = method_names(ranks="orders")
    bound = address.bound(keys.ORDER_METHOD, address.one_of(names), OWN)
    form = trainings.form(row, names, bound, lambda method: warn_of_few_grades(row, criterion, method))
    drawn = forms.settings_form("drawing", [(Drawing.name, Drawing)], "More settings of the sequences")
    usual = {item.name: item.default for item in settings_of(Drawing)}
    drawing = {name: value for name, value in drawn[Drawing.name].items() if value != usual[name]}
    settings = OrderTrainSettings(
        row.key, form.features, criterion, form.method, form.method_settings, drawing, form.projection
    )
    trainings.offer_start(settings, "train orders")
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
