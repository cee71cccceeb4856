"""Samples like the selected one: the nearest by some features, side by side."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from pages.parts.training import feature_choice, jobs_panel
from ranking.core import Features, ImageSet
from ranking.features import cached_features, feature_names
from ranking.features.graph.similarity import MEASURED, mean_precision, nearest_samples
from ranking.reports.markup import data_url
from ranking.storage.run_settings import DescribeSettings

# nearest samples by each feature
SHOWN = 10
# the features that stand first
FIRST = ("HOG", "CNN")


def show(images: ImageSet, sample: int) -> None:
    """The nearest samples of a sample by each chosen feature, with their precision; of others, how to compute them."""
    words, k, means = feature_choice.words(images), min(SHOWN, len(images) - 1), list[str]()
    names = [*feature_names(images), *(kept.name for kept in feature_choice.uploaded(images))]
    names.sort(key=lambda name: name not in FIRST)
    st.subheader("Samples like this one", anchor=False)
    crop = data_url(cache.thumbnails(images.key).crop(sample))
    st.image(crop, width=72, alt=f"The sample {images.ids[sample]}")
    bound = address.bound(keys.SIMILAR_BY, address.some_of(names), names[:2], ",".join)
    chosen = st.pills("By feature", names, selection_mode="multi", format_func=words, **bound)
    for column, name in zip(st.columns(2) * len(chosen), chosen, strict=False):
        with column, frame.errors_in_place():
            described = feature_choice.named([name])
            vectors = cached_features(images, described, home.store().features.cache)
            if vectors is None:
                settings = DescribeSettings(images.key, described)
                jobs_panel.finished_study(settings, f"Compute {words(name)}", f"compute {name}", again=True)
            elif k:
                _show_nearest(images, sample, words(name), vectors, k)
                if images.labels.any():
                    means += [f"{words(name)} {_mean_precision(images.key, name, k, vectors, images):.2f}"]
    if means:
        count = min(MEASURED, int(images.labels.any(axis=1).sum()))
        st.caption(f"Mean precision at {k} over {count:,} samples: {', '.join(means)}.")


def _show_nearest(images: ImageSet, sample: int, feature: str, vectors: Features, k: int) -> None:
    near = nearest_samples(vectors, sample, k)
    same = (images.labels & images.labels[sample]).any(axis=1)
    if same[sample]:
        shown = tiles.labelled_tiles(images, near, same)
    else:
        shown = tiles.sample_tiles(images, cache.thumbnails(images.key), near.tolist())
    shares = [f"{name} {images.relevance(name)[near].mean():.1f}" for name in images.classes_of(sample)]
    st.markdown(f"**{feature}**" + (f": precision at {k} for {escaped(', '.join(shares))}" if shares else ""))
    grid.image_grid(shown, label=f"Nearest samples by {feature}", kind="row", key=f"similar {feature}")


@st.cache_data(show_spinner="Measuring precision …", max_entries=64)
def _mean_precision(key: str, name: str, k: int, _vectors: Features, _images: ImageSet) -> float:
    return mean_precision(_vectors, _images.labels, k)
