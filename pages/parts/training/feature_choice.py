"""The choice of features: of crops, and custom features that were uploaded for the image set.

Uploaded features are shown by their title, features of crops by their name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.app import address, home, keys
from pages.parts.app.frame import escaped
from ranking.core import ImageSet
from ranking.core.settings import Named
from ranking.core.text import readable
from ranking.features import default_names, feature_names
from ranking.features.onnx_model import OnnxModel
from ranking.features.uploaded_vectors import OwnVectors, is_vectors_name, short_name
from ranking.storage.uploads import KeptNetwork, KeptVectors, is_network_name, network_name, short_network

# letters of a title in lists of training runs
LONGEST_TITLE = 40
# value of keys.OWN: the form for uploads, before there is a preview
NEW = "new"


def choose(images: ImageSet) -> list[str]:
    """Choose features for an image set; returns their names. With a link to upload custom features."""
    names = [*feature_names(images), *(kept.name for kept in uploaded(images))]
    bound = address.bound(keys.FEATURES, _parser(names), default_names(images), ",".join)
    chosen = st.pills("Features", names, selection_mode="multi", format_func=words(images), **bound)
    st.page_link(
        "pages/image_sets.py",
        label="Upload custom features",
        icon=":material/upload_file:",
        query_params=address.only(**{keys.SET: images.key, keys.OWN: NEW}),
    )
    return list(chosen)


def uploaded(images: ImageSet) -> list[KeptVectors | KeptNetwork]:
    """The vectors that were uploaded for a set, and the uploaded models, unless the set has only features."""
    store = home.store()
    models = store.features.networks() if images.image_features is None else []
    return [*store.features.vectors_of(images.key), *models]


def words(images: ImageSet) -> Callable[[str], str]:
    """The labels of feature names."""
    titles = {kept.name: f"{escaped(kept.title)} ({kept.size:,} custom)" for kept in uploaded(images)}
    return lambda name: titles.get(name, name)


def named(names: Sequence[str]) -> Named:
    """The features with their settings, those of crops with their defaults. Gone if a model no longer exists."""
    networks = {kept.name: kept.settings for kept in home.store().features.networks()}
    return tuple(_named(name, networks) for name in names)


def _named(name: str, networks: Mapping[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    if is_vectors_name(name):
        return OwnVectors.name, {"vectors": name}
    if not is_network_name(name):
        return name, {}
    if name not in networks:
        raise home.Gone(
            f"the model {short_network(name)} no longer exists in this workspace; choose other features"
        )
    return OnnxModel.name, networks[name]


def names_of(features: Named) -> list[str]:
    """The names from which `named` makes these features."""
    return [_own_name(name, values) or name for name, values in features]


def _own_name(name: str, values: dict[str, Any]) -> str | None:
    """The name of an uploaded feature; None for other features."""
    if name == OwnVectors.name:
        return str(values.get("vectors"))
    return network_name(values) if name == OnnxModel.name else None


def by_words(features: Named, set_key: str) -> dict[str, dict[str, Any]]:
    """The settings of features by the labels of their names; {} for uploaded features."""
    own = [_own_name(name, values) for name, values in features]
    return {
        name if uploaded is None else display_name(uploaded, set_key): values if uploaded is None else {}
        for uploaded, (name, values) in zip(own, features, strict=True)
    }


def display_name(name: str, set_key: str) -> str:
    """The label of an uploaded feature in lists of runs: its title, or only its id if it no longer exists."""
    # The title is followed by a short id if another feature has the same title.
    store = home.store()
    kept: list[KeptVectors | KeptNetwork] = [*store.features.vectors_of(set_key), *store.features.networks()]
    titles = {uploaded.name: readable(uploaded.title, LONGEST_TITLE) for uploaded in kept}
    title = titles.get(name)
    if not title:
        return short(name)
    alike = [*titles.values(), *feature_names()].count(title)
    return title if alike == 1 else f"{title} ({short(name)})"


def short(name: str) -> str:
    """The short id of an uploaded feature."""
    return short_network(name) if is_network_name(name) else short_name(name)


def _parser(names: Sequence[str]) -> Callable[[str], list[str]]:
    """A parser of names joined by commas; its ValueError explains what to do about features uploaded elsewhere."""

    def parse(text: str) -> list[str]:
        for name in text.split(","):
            if name not in names and (is_vectors_name(name) or is_network_name(name)):
                what = "model" if is_network_name(name) else "file of vectors"
                raise ValueError(
                    f"the {what} {short(name)} was not uploaded for this image set in this workspace; upload the file "
                    "again, because equal files have the same name"
                )
        return address.some_of(names)(text)

    return parse
