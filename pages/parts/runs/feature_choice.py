"""What methods see of a sample: features of its crop, and custom features that were uploaded for the image set.

Uploaded features are called by their title wherever those of crops are called by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.app import address, home, keys
from pages.parts.app.frame import escaped
from ranking.core import ImageSet
from ranking.core.run_settings import Named
from ranking.core.text import readable
from ranking.features import default_names, feature_names
from ranking.features.onnx_model import OnnxModel
from ranking.features.uploaded_vectors import OwnVectors, is_vectors_name, short_name
from ranking.workspace.uploads import KeptNetwork, KeptVectors, is_network_name, network_name, short_network

LONGEST_TITLE = 40  # letters, in lists of trainings
NEW = "new"  # of keys.OWN: the form to bring features, before there is a look at any


def choose(images: ImageSet) -> list[str]:
    """The names of the features that are chosen for a set, and the way to upload others."""
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
    """The vectors that were uploaded for a set, and the models for any whose images are no tables."""
    store = home.store()
    models = store.networks() if images.image_features is None else []
    return [*store.vectors_of(images.key), *models]


def words(images: ImageSet) -> Callable[[str], str]:
    """What is shown of a name."""
    titles = {kept.name: f"{escaped(kept.title)} ({kept.size:,} own)" for kept in uploaded(images)}
    return lambda name: titles.get(name, name)


def named(names: Sequence[str]) -> Named:
    """Features as settings have them, those of crops with their defaults. Gone where a model has gone."""
    networks = {kept.name: kept.settings for kept in home.store().networks()}
    return tuple(_named(name, networks) for name in names)


def _named(name: str, networks: Mapping[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    if is_vectors_name(name):
        return OwnVectors.name, {"vectors": name}
    if not is_network_name(name):
        return name, {}
    if name not in networks:
        raise home.Gone(f"the model {short_network(name)} is not here any more; choose other features")
    return OnnxModel.name, networks[name]


def names_of(features: Named) -> list[str]:
    """The names by which `named` gives these features."""
    return [_own_name(name, values) or name for name, values in features]


def _own_name(name: str, values: dict[str, Any]) -> str | None:
    """The name of an uploaded feature; None of any other."""
    if name == OwnVectors.name:
        return str(values.get("vectors"))
    return network_name(values) if name == OnnxModel.name else None


def by_words(features: Named, set_key: str) -> dict[str, dict[str, Any]]:
    """The settings of features for an image set by what is shown of their names; of uploaded ones that is all."""
    own = [_own_name(name, values) for name, values in features]
    return {
        name if uploaded is None else called(uploaded, set_key): values if uploaded is None else {}
        for uploaded, (name, values) in zip(own, features, strict=True)
    }


def called(name: str, set_key: str) -> str:
    """What lists of runs on an image set call an uploaded feature: its title; beside it what no other has, where
    something else is called so; that alone, where it is not here."""
    store = home.store()
    kept: list[KeptVectors | KeptNetwork] = [*store.vectors_of(set_key), *store.networks()]
    titles = {uploaded.name: readable(uploaded.title, LONGEST_TITLE) for uploaded in kept}
    title = titles.get(name)
    if not title:
        return short(name)
    alike = [*titles.values(), *feature_names()].count(title)
    return title if alike == 1 else f"{title} ({short(name)})"


def short(name: str) -> str:
    """What is shown of the name of an uploaded feature, where its title is not known."""
    return short_network(name) if is_network_name(name) else short_name(name)


def _parser(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Of names joined by commas; ValueError, with the remedy, for what was uploaded elsewhere."""

    def parse(text: str) -> list[str]:
        for name in text.split(","):
            if name not in names and (is_vectors_name(name) or is_network_name(name)):
                what = "model" if is_network_name(name) else "vectors"
                raise ValueError(
                    f"the {what} {short(name)} were not uploaded for this image set in this workspace; upload the file "
                    "once more, equal files have the same name"
                )
        return address.some_of(names)(text)

    return parse
