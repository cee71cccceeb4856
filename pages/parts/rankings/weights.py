"""The weights of a linear model as strokes and colours, beside the average of its highest-ranked crops."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from PIL import Image

from pages.parts.app import cache, figures_file, home, keys
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import errors_in_place, escaped
from pages.parts.app.home import of_home
from pages.parts.charts import plots
from ranking.core import Floats, ImageSet, Ints
from ranking.explain.strokes import Strokes, strokes
from ranking.features import feature_columns
from ranking.features.colour import Colour
from ranking.features.hog import HOG
from ranking.methods import score_direction
from ranking.metrics.comparison import largest
from ranking.metrics.ranked import Ranking
from ranking.storage.run import Run

# crops, or images, from the top of the ranking
AVERAGED = 20
# of their average, in pixels
SIDE = 128
# of the largest weight; fainter strokes cannot be seen
FAINTEST = 0.02
# strokes that are plotted per cell and sign; all of them would look like an asterisk
STRONGEST = 2
SWATCHES = 8
# of strokes
SHADES = 10
# background of the bright strokes, the same in the light and the dark theme
DARK = "#101418"
SIGNS = {1: f"{RELEVANT_GLYPH} raises the score", -1: f"{IRRELEVANT_GLYPH} lowers the score"}


@dataclass(frozen=True, eq=False)
class HogWeights:
    """The weights of one HOG feature, and the colours (bins, 3) RGB of a colour feature of its pixels."""

    title: str
    # along a side
    cells: int
    strokes: Strokes
    colours: Ints | None
    colour_weights: Floats | None
    orientations: int
    whole_image: bool


@st.fragment
def show(run: Run, images: ImageSet, ranked: Ranking) -> None:
    """Show the weights, or a sentence that says why there are none to plot; they are computed when opened."""
    folded = st.expander("Weights of the linear model", key=keys.widget("weights"), on_change="rerun")
    if not folded.open:
        return
    with folded, errors_in_place():
        direction = direction_of(run)
        if direction is None:
            method = run.settings["method"]
            st.caption(f"{method} is not linear in the features, so it has no weights to plot.")
            return
        with home.missing_as_error():
            each_learned = hog_weights_of(run.settings["features"], direction, images)
        if not each_learned:
            st.caption(
                "This training run does not use the feature HOG, whose weights are shown here as edges. Train with HOG "
                "to see them."
            )
        for number, learned in enumerate(each_learned):
            show_weights(run, learned, images, ranked, f"{run.id}-{number}")


def hog_weights_of(
    features: Sequence[tuple[str, dict[str, object]]], direction: Floats, images: ImageSet | None = None
) -> list[HogWeights]:
    """Return the weights of each HOG feature of a run on `images`, with the colours of the same pixels."""
    # ValueError unless `direction` is finite and has one weight per column of the features.
    columns = feature_columns(features, images)
    size = columns[-1][1].stop if columns else 0
    if direction.shape != (size,) or not np.isfinite(direction).all():
        raise ValueError(
            f"the model of this run must have {size} finite weights, one per column of its features; it has "
            f"{len(direction)}, {np.count_nonzero(~np.isfinite(direction))} of them not finite; train again"
        )
    parts = [(feature, direction[part]) for feature, part in columns]
    colours = {
        part.whole_image: (part.middles, weights) for part, weights in parts if isinstance(part, Colour)
    }
    each_learned = []
    for part, weights in parts:
        if isinstance(part, HOG):
            middles, colour_weights = colours.get(part.whole_image, (None, None))
            cells = part.side // part.cell
            each_learned.append(
                HogWeights(
                    part.name,
                    cells,
                    strokes(part.cells(weights), part.angles),
                    middles,
                    colour_weights,
                    part.orientations,
                    part.whole_image,
                )
            )
    return each_learned


def show_weights(run: Run, learned: HogWeights, images: ImageSet, ranked: Ranking, name: str) -> None:
    query, thumbnails, rows = run.settings["query"], cache.thumbnails(images.key), ranked.samples[:AVERAGED]
    if learned.whole_image:
        seen = [thumbnails.image(int(images.image_of[row])) for row in rows]
    else:
        seen = [thumbnails.crop(int(row)) for row in rows]
    average = f"average of the first {len(seen)}"
    wide, narrow = st.columns([3, 2], gap="medium", vertical_alignment="center")
    # a chart per panel, because a phone shows them below each other
    with wide:
        *panels, last = st.columns(3, gap="xsmall")
        figures = []
        for panel, sign, side in zip(panels, SIGNS, ("for", "against"), strict=True):
            alt = f"Weights of {learned.title} as strokes in {learned.cells} by {learned.cells} cells: edges {side}"
            figure, key = figure_of(learned, sign), keys.widget(f"weights {name} {side}")
            figures.append((figure, f"{alt} {query}"))
            with panel:
                plots.show(figure, key, f"{alt} {query}", f"weights-{side}-{name}", height=290)
        last.image(average_of(seen), width="stretch", alt=f"The {average}", caption=average)
    with narrow:
        colours = "" if learned.colours is None else " The squares are the colours with the largest weights."
        st.caption(
            f"The weights that {escaped(run.settings['method'])} has learned for {escaped(learned.title)}. Strokes lie "
            f"along edges, in steps of {180 / learned.orientations:g}°, because HOG sorts directions into "
            f"{learned.orientations} bins. A brighter stroke has a larger weight; each cell shows its {STRONGEST} "
            f"strongest strokes, and both panels have the same scale.{colours} **Notice** which bright strokes follow "
            f"an outline in the {average}, and which come from the surroundings of “{escaped(query)}”."
        )
        figures_file.offer(
            f"Weights of {run.settings['method']} for {query}", figures, f"weights-{name}.html"
        )


def figure_of(learned: HogWeights, sign: int) -> go.Figure:
    """Plot the weights of one sign: strokes by cell, and below them the colours with the largest weights."""
    figure = stroke_figure(learned.strokes, learned.cells, 36, sign, swatches_of(learned, sign))
    figure.update_layout(title={"text": SIGNS[sign], "font": {"color": "white"}, "x": 0.05})
    return figure


def stroke_figure(
    shown: Strokes, cells: int, width: float, sign: int = 1, swatches: list[str] | None = None
) -> go.Figure:
    """Plot the STRONGEST strokes of one sign in each of `cells` x `cells` cells, and colours below them."""
    # width: of a stroke as long as the figure, in pixels.
    figure = go.Figure()
    ends, strengths = of_sign(shown, sign)
    shades = np.ceil(strengths * SHADES).astype(int)
    for shade in np.unique(shades):
        chosen = ends[shades == shade]
        nothing = np.full(len(chosen), np.nan)
        x, y = (np.stack([chosen[:, axis], chosen[:, axis + 2], nothing], axis=1).ravel() for axis in (0, 1))
        plots.line(figure, x, y, f"rgba(255,255,255,{shade / SHADES:g})", max(2, width / cells))
    if swatches:
        x = (np.arange(len(swatches)) + 0.5) * cells / SWATCHES
        plots.points(figure, x, [1.08 * cells] * len(x), swatches, "square", 20, ("white", 2))
    below = 0 if swatches is None else 0.16 * cells
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[0, cells], **axis)
    figure.update_yaxes(range=[cells + below, 0], scaleanchor="x", **axis)
    figure.update_layout(paper_bgcolor=DARK, plot_bgcolor=DARK)
    return figure


def of_sign(shown: Strokes, sign: int) -> tuple[Floats, Floats]:
    """Return ends (n, 4) and strengths (n,) of the STRONGEST strokes of one sign in each cell."""
    # The faintest first. Both signs share one scale. A strength is (weight / largest weight)^1.5, from 0 to
    # 1, which emphasises large weights.
    weights = sign * shown.weights
    most = np.abs(weights).max(initial=0)
    counts: dict[tuple[int, ...], int] = {}
    chosen = []
    for stroke in np.argsort(-weights, kind="stable"):
        if weights[stroke] <= FAINTEST * most:
            break
        ends = shown.ends[stroke]
        # a stroke runs through the middle of its cell
        cell = tuple(((ends[:2] + ends[2:]) // 2).astype(int))
        counts[cell] = counts.get(cell, 0) + 1
        if counts[cell] <= STRONGEST:
            chosen.append(stroke)
    kept = np.array(chosen[::-1], np.int64)
    return shown.ends[kept], (weights[kept] / most) ** 1.5 if len(kept) else np.zeros(0)


def swatches_of(learned: HogWeights, sign: int) -> list[str] | None:
    """Return the colours with the largest weights of one sign, the largest first; None without colours."""
    if learned.colours is None or learned.colour_weights is None:
        return None
    chosen = largest(sign * learned.colour_weights, SWATCHES)
    return ["#{:02x}{:02x}{:02x}".format(*learned.colours[bin]) for bin in chosen]


def average_of(encoded: Sequence[bytes]) -> Ints:
    """Return the mean of image files as (SIDE, SIDE, 3) RGB, each stretched to a square as for HOG."""
    total = np.zeros((SIDE, SIDE, 3))
    for file in encoded:
        with Image.open(io.BytesIO(file)) as image:
            total += np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    return np.round(total / len(encoded)).astype(np.uint8)


@of_home(needs="model")
def direction_of(run: Run) -> Floats | None:
    """(d,) direction in which the scores of a run's method increase; None if the method has no weights."""
    # In the feature space before any projection.
    direction = score_direction(cache.method_of(run))
    through = cache.projection(run)
    return direction if direction is None or through is None else through.before(direction)
