"""What is made of features before they are learnt from: the choice in a form, and in the address."""

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
    "PCA keeps the directions along which the training samples vary most: fewer columns to learn from, so that "
    "training is faster and learns less by heart. Distances stay but for what is dropped, and C means what it meant. "
    "Whitened, all of these directions vary alike: faint differences count as much as strong ones, and so does noise. "
    "The mean goes to 0, which SVM and HOB-SVM, without a constant term, may miss. Fitted on the training samples "
    "alone, in each fold anew. Neighbours are found and compared by the features as they are."
)


def choose() -> dict[str, Any] | None:
    """A projection as settings tell it, None where none is chosen."""
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
    """A projection of settings as the address would say it."""
    if projection is None:
        return {}
    kind = WHITENED if projection.get("whiten") is True else str(projection.get("kind"))
    return {
        keys.PROJECTION: kind,
        keys.PROJECTED_TO: str(projection.get("components", COMPONENTS.default)),
    }
