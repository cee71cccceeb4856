"""What methods see of a sample: features of its picture, and those that a person brought for the image set.

Features that were brought are called by their name wherever those of pictures are called by theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, cache, keys
from pages.parts.frame import escaped
from ranking.features import default_names, feature_names
from ranking.features.own_vectors import OwnVectors
from ranking.run_settings import Named
from ranking.types import ImageSet
from ranking.vector_files import is_vectors_name, short_name

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
    """All that a set offers: features of its pictures, and those that were brought for it."""
    return [*feature_names(images), *(told.name for told in cache.store().vectors_of(images.key))]


def words(images: ImageSet) -> Callable[[str], str]:
    """What people are shown of a name."""
    brought = {told.name: told for told in cache.store().vectors_of(images.key)}

    def shown(name: str) -> str:
        told = brought.get(name)
        return name if told is None else f"{escaped(told.title)} ({told.size:,} own)"

    return shown


def named(names: Sequence[str]) -> Named:
    """Features as settings have them, those of pictures with their defaults."""
    return tuple(
        (OwnVectors.name, {"vectors": name}) if is_vectors_name(name) else (name, {}) for name in names
    )


def names_of(features: Named) -> list[str]:
    """The names by which `named` gives these features."""
    return [values["vectors"] if _is_own(name, values) else name for name, values in features]


def by_words(features: Named) -> dict[str, dict[str, Any]]:
    """The settings of features by what people are shown of their names; of vectors that were brought that is all."""
    return {
        short_name(values["vectors"]) if _is_own(name, values) else name: {}
        if _is_own(name, values)
        else values
        for name, values in features
    }


def spoken(features: Named) -> str:
    """Features in a few words: "HOG + own 01234567"."""
    return " + ".join(by_words(features))


def _is_own(name: str, values: dict[str, Any]) -> bool:
    return name == OwnVectors.name and is_vectors_name(str(values.get("vectors")))


def _parser(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Of names joined by commas; ValueError, with the remedy, for vectors that are not here."""

    def parse(text: str) -> list[str]:
        for one in text.split(","):
            if is_vectors_name(one) and one not in names:
                raise ValueError(
                    f"the vectors {short_name(one)} were not brought for this image set in this home; bring the file "
                    "once more, equal vectors have the same name"
                )
        return address.some_of(names)(text)

    return parse
