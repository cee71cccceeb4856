"""What methods see of a sample: features of its picture, and those that a person brought for the image set.

Features that were brought are called by their name wherever those of pictures are called by theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, keys
from pages.parts.app.frame import escaped
from ranking.core import ImageSet
from ranking.core.run_settings import Named
from ranking.core.text import readable
from ranking.features import default_names, feature_names
from ranking.features.onnx_model import OnnxModel
from ranking.features.own_vectors import OwnVectors, is_vectors_name, short_name
from ranking.workspace.uploads import KeptNetwork, KeptVectors, is_network_name, network_name, short_network

LONGEST_TITLE = 40  # letters, in lists of trainings
NEW = "new"  # of keys.OWN: the form to bring features, before there is a look at any


def choose(images: ImageSet) -> list[str]:
    """The names of the features that a person chooses for a set, and the way to bring others."""
    names = offered(images)
    bound = address.bound(keys.FEATURES, _parser(names), default_names(images), ",".join)
    chosen = st.pills("Features", names, selection_mode="multi", format_func=words(images), **bound)
    show_way(images)
    return list(chosen)


def show_way(images: ImageSet) -> None:
    """The link to where features of one's own are brought for a set."""
    link = address.only(**{keys.SET: images.key, keys.OWN: NEW})
    label = "Bring features of your own"
    st.page_link("pages/image_sets.py", label=label, icon=":material/upload_file:", query_params=link)


def offered(images: ImageSet) -> list[str]:
    """All that a set offers: features of its pictures, and those that were brought."""
    return [*feature_names(images), *(told.name for told in brought(images))]


def brought(images: ImageSet) -> list[KeptVectors | KeptNetwork]:
    """The vectors that were brought for a set, and the models for any whose pictures are no cards."""
    store = cache.store()
    models = store.networks() if images.image_features is None else []
    return [*store.vectors_of(images.key), *models]


def words(images: ImageSet) -> Callable[[str], str]:
    """What people are shown of a name."""
    by_name = {told.name: told for told in brought(images)}

    def shown(name: str) -> str:
        told = by_name.get(name)
        return name if told is None else f"{escaped(told.title)} ({told.size:,} own)"

    return shown


def named(names: Sequence[str]) -> Named:
    """Features as settings have them, those of pictures with their defaults. Gone where a model has gone."""
    networks = {told.name: told.settings for told in cache.store().networks()}
    return tuple(_named(name, networks) for name in names)


def _named(name: str, networks: Mapping[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    if is_vectors_name(name):
        return OwnVectors.name, {"vectors": name}
    if not is_network_name(name):
        return name, {}
    if name not in networks:
        raise cache.Gone(f"the model {short_network(name)} is not here any more; choose other features")
    return OnnxModel.name, networks[name]


def names_of(features: Named) -> list[str]:
    """The names by which `named` gives these features."""
    return [_own_name(name, values) or name for name, values in features]


def _own_name(name: str, values: dict[str, Any]) -> str | None:
    """The name of what was brought, of a feature that was."""
    if name == OwnVectors.name:
        return str(values.get("vectors"))
    return network_name(values) if name == OnnxModel.name else None


def by_words(features: Named, set_key: str) -> dict[str, dict[str, Any]]:
    """The settings of features for an image set by what people are shown of their names; of what was brought that is
    all."""
    told = {}
    for name, values in features:
        own = _own_name(name, values)
        told[name if own is None else called(own, set_key)] = values if own is None else {}
    return told


def called(name: str, set_key: str) -> str:
    """What lists of trainings on an image set call what was brought: its title; beside it what no other has, where
    something else is called so; that alone, where it is not here."""
    store = cache.store()
    kept = [*store.vectors_of(set_key), *store.networks()]
    titles = {told.name: readable(told.title, LONGEST_TITLE) for told in kept}
    title = titles.get(name)
    if not title:
        return short(name)
    alike = [*titles.values(), *feature_names()].count(title)
    return title if alike == 1 else f"{title} ({short(name)})"


def short(name: str) -> str:
    """What is shown of the name of something that was brought, where its title is not known."""
    return short_network(name) if is_network_name(name) else short_name(name)


def _parser(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Of names joined by commas; ValueError, with the remedy, for what was brought elsewhere."""

    def parse(text: str) -> list[str]:
        for one in text.split(","):
            if one not in names and (is_vectors_name(one) or is_network_name(one)):
                what = "model" if is_network_name(one) else "vectors"
                raise ValueError(
                    f"the {what} {short(one)} were not brought for this image set in this home; bring the file once "
                    "more, equal files have the same name"
                )
        return address.some_of(names)(text)

    return parse
