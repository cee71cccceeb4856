"""The projection of features before training: its controls and its URL parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts.app import address, keys
from pages.parts.app.frame import escaped
from ranking.core.settings import settings_of
from ranking.features.projection import PCA

NONE, PLAIN, WHITENED = KINDS = ("None", "PCA", "PCA, whitened")
COMPONENTS = next(item for item in settings_of(PCA) if item.name == "components")
HELP = (
    "PCA keeps the directions of largest variance in the training samples. Fewer columns make training faster and "
    "reduce overfitting. Distances change only by the dropped directions, so C keeps its meaning. Whitening gives all "
    "directions the same variance: small differences count as much as large ones, and so does noise. The mean becomes "
    "0, which can hurt SVM and HOB-SVM because they have no constant term. The projection is fitted on the training "
    "samples only, separately in each fold. Similarity graphs use the features without projection."
)


def choose() -> dict[str, Any] | None:
    """The settings of the chosen projection, None without one."""
    bound = address.bound(keys.PROJECTION, address.one_of(KINDS), NONE)
    beside, number = st.columns([3, 2], vertical_alignment="bottom")
    kind = beside.selectbox("Projection of the features", KINDS, help=HELP, **bound)
    if kind == NONE:
        return None
    low, high = (int(end) for end in (COMPONENTS.minimum or 1, COMPONENTS.maximum or 1))
    counted = address.bound(keys.PROJECTED_TO, address.number(int, low, high), COMPONENTS.default)
    components = number.number_input(
        COMPONENTS.label, low, high, step=1, help=escaped(COMPONENTS.help), **counted
    )
    return {"kind": PCA.name, "components": int(components), "whiten": kind == WHITENED}


def given(projection: Mapping[str, Any] | None) -> dict[str, str]:
    """The settings of a projection as URL parameters."""
    if projection is None:
        return {}
    kind = WHITENED if projection.get("whiten") is True else str(projection.get("kind"))
    return {
        keys.PROJECTION: kind,
        keys.PROJECTED_TO: str(projection.get("components", COMPONENTS.default)),
    }
