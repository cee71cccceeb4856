"""What a feature sees: a crop as HOG, GIST and Colour describe it, and the AP of one method by feature."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from PIL import Image

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.colours import BLUE
from pages.parts.app.frame import escaped
from pages.parts.app.home import of_home
from pages.parts.charts import measures, plots
from pages.parts.components import tiles
from pages.parts.rankings.weights import average_of, stroke_figure
from pages.parts.training import jobs_panel, sets
from ranking.core import Floats, ImageSet, Ints
from ranking.explain.strokes import strokes
from ranking.features import feature_class, feature_names, make_feature
from ranking.metrics.comparison import largest
from ranking.reports.experiment_charts import whiskers
from ranking.reports.markup import data_url
from ranking.reports.prose import signed
from ranking.storage.run_settings import FeatureStudySettings

# of each picture in pixels: two fit beside each other on a phone
SIDE = 168
# what the strokes of a feature are
STROKES = {"HOG": "edges", "GIST": "stripes"}


def show(images: ImageSet, sample: int) -> None:
    """Show a sample as features describe it, and below it the AP by feature."""
    if images.image_features is not None:
        return
    st.subheader("What a feature sees", anchor=False)
    with frame.errors_in_place():
        show_sample(images, sample)
    if images.classes:
        names = (address.get(keys.SHEET_CLASS), *images.classes_of(sample), sets.first_of(images.classes))
        with frame.errors_in_place():
            show_by_feature(images, next(name for name in names if name in images.classes))


@of_home()
def vectors_of(key: str, sample: int) -> dict[str, Floats]:
    """The vectors of a sample by feature, computed from its crop."""
    images = cache.image_set(key)
    with cache.opened(images, int(images.image_of[sample])) as picture:
        crop = picture.crop(tuple(images.boxes[sample].tolist()))
    return {name: make_feature(name).describe(crop) for name in (*STROKES, "Colour")}


def show_sample(images: ImageSet, sample: int) -> None:
    vectors, thumbnails = vectors_of(images.key, sample), cache.thumbnails(images.key)
    pictures = {
        "Crop": average_of([thumbnails.crop(sample)]),
        "Colour: shares": colours_of(vectors["Colour"]),
    }
    for name, what in STROKES.items():
        feature: Any = make_feature(name)
        cells = feature.cells(vectors[name])
        pictures[f"{name}: {what}"] = stroke_figure(strokes(cells, feature.angles), len(cells), 20)
    with st.container(horizontal=True, gap="small"):
        for title, picture in pictures.items():
            with st.container(width=SIDE, gap="xsmall"):
                st.markdown(f"**{title}**")
                alt = f"{title} of a crop that shows {tiles.shows(images, sample)}"
                if isinstance(picture, go.Figure):
                    plots.show(picture, keys.widget(title), alt, title.replace(": ", "-"), SIDE, top=8)
                else:
                    st.image(address_of(picture), width=SIDE, alt=alt)
    st.caption(
        "The crop is stretched to a square. Colour keeps the share of the pixels with each colour, HOG the edges in "
        "each cell, GIST the stripes of all widths in each part; the strongest edges and stripes are shown. The "
        "numbers of CNN have no picture: above are the samples with the most similar ones."
    )


def address_of(picture: Ints) -> str:
    """An address that holds a picture: a file of Streamlit's may be gone when another page asks for it."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return data_url(file.getvalue(), "image/png")


def colours_of(vector: Floats) -> Ints:
    """The colours of a histogram as a square picture: each is a stripe whose height is its share, largest on top."""
    feature: Any = make_feature("Colour")
    bins = largest(vector, len(vector))
    # the entries of the histogram are square roots
    ends = np.round(SIDE * np.cumsum(vector[bins] ** 2)).astype(int)
    rows = np.repeat(feature.middles[bins], np.diff(ends, prepend=0), axis=0)
    return np.repeat(rows[:, None], SIDE, axis=1)


def show_by_feature(images: ImageSet, query: str) -> None:
    # it loads the methods, which the page does not need before
    from ranking.experiments.feature_study import FOLDS, measured_of

    names = [name for name in feature_names(images) if not feature_class(name).whole_image]
    settings = FeatureStudySettings(images.key, tuple((name, {}) for name in names), query)
    label = f"Measure AP by feature for “{escaped(query)}”"
    run = jobs_panel.finished_study(settings, label, "measure by feature")
    if run is None:
        return
    rows = measured_of(run.result)
    baseline, ordered = rows[0], sorted(rows, key=lambda row: row.AP.value)
    best, places = ordered[-1], list(range(len(rows)))
    apart = f", {signed(best.difference.value)} AP against {baseline.name} ({measures.ends(best.difference)})"
    title = f"##### “{escaped(query)}”: the highest AP is with {best.name}"
    st.markdown(title if best is baseline else title + apart)
    symbols = ["circle" if row.difference.without_zero else "circle-open" for row in ordered]
    symbols[ordered.index(baseline)] = "diamond"
    texts = [f"{row.AP.value:.3f} ({signed(row.difference.value)})" for row in ordered]
    figure, values = go.Figure(), [row.AP.value for row in ordered]
    bars = whiskers([row.AP for row in ordered])
    plots.points(figure, values, places, BLUE, symbols, 13, (BLUE, 2), mode="markers+text", error_x=bars)
    hover = [measures.ends(row.difference) for row in ordered]
    figure.update_traces(text=texts, textposition="top center", hovertext=hover, hoverinfo="text")
    figure.update_xaxes(title_text="test AP", range=[0, 1])
    figure.update_yaxes(tickvals=places, ticktext=[row.name for row in ordered], range=[-0.5, len(rows)])
    listed = "; ".join(f"{row.name} {text}" for row, text in zip(ordered, texts, strict=True))
    alt = f"Test AP of {settings.method} for {query} by feature, and its difference: {listed}"
    plots.show(figure, keys.widget("AP by feature"), alt, "ap-by-feature", 80 + 46 * len(rows), top=8)
    st.caption(
        f"Test AP of {settings.method} with 95% confidence intervals (paired bootstrap over images), and its "
        f"difference from {baseline.name} (diamond). Filled circles: the interval of the difference excludes 0. "
        f"C is chosen for each row by cross-validation over {FOLDS} folds of the training images."
    )
