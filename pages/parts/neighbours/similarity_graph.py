"""The view of the similarity graph: which samples are neighbours, and whether that improved their ranks."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, downloads, frame, keys
from pages.parts.app.colours import (
    DARK_BLUE,
    DARK_GREY,
    IRRELEVANT_GLYPH,
    IRRELEVANT_LABEL,
    RELEVANT_GLYPH,
    RELEVANT_LABEL,
)
from pages.parts.components import tiles
from pages.parts.neighbours import graph_models
from pages.parts.neighbours.graph import graph
from pages.parts.neighbours.graph.drawings import (
    MAX_NODES,
    Drawing,
    Node,
    Tie,
    as_svg,
    drawing,
    pages_of,
    widths,
)
from pages.parts.rankings import choices
from pages.parts.training import export
from ranking.core import ImageSet, Ints
from ranking.core.text import counted
from ranking.explain.neighbourhood import Neighbourhood
from ranking.metrics.ranked import Ranking
from ranking.reports.markup import data_url
from ranking.storage.run import Run

COLOURS = {"label": "Label", "map": "Best labelling (MAP)", "correct": "Correctness"}
LEGENDS = {
    "label": f"{RELEVANT_GLYPH} and a solid border: relevant; {IRRELEVANT_GLYPH} and a dashed border: irrelevant.",
    "map": "1 and a solid border: relevant in the best labelling; 0 and a dashed border: irrelevant.",
    "correct": "= and a solid border: the best labelling is correct for this sample; ≠ and a dashed border: incorrect.",
}
ORDERS = {"helped": "Helped most", "hurt": "Hurt most", "size": "Largest"}
SIZES: dict[str, tuple[str, float, float]] = {
    "connected": ("all with neighbours", 2, math.inf),
    "2": ("pairs", 2, 2),
    "3-5": ("3 to 5 samples", 3, 5),
    "6-24": ("6 to 24 samples", 6, 24),
    "25+": ("25 samples or more", 25, math.inf),
    "1": ("without neighbours", 1, 1),
}


def show(
    run: Run, images: ImageSet, model: Neighbourhood, ranked: Ranking, shown: choices.Shown, split: str
) -> None:
    """The connected components of a split, with the selected sample."""
    row = int(ranked.samples[shown.place])
    colour, numbers = choose(model, ranked)
    if len(numbers):
        show_components(run, images, model, row, numbers, colour, split)
    else:
        st.info("There is no component of this size; choose another size.")


def choose(model: Neighbourhood, ranked: Ranking) -> tuple[str, Ints]:
    """The meaning of colours, and the components to show, in their order."""
    of_split = np.unique(model.component_of[ranked.samples])
    sizes = model.components.sizes[of_split]
    fitting = {size: (sizes >= least) & (sizes <= most) for size, (_, least, most) in SIZES.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        colour = controls.segments("Colour", keys.COLOUR, COLOURS, "label")
        order = controls.segments("Sort by", keys.ORDER, ORDERS, "helped")
        words = {size: f"{SIZES[size][0]} · {fits.sum():,}" for size, fits in fitting.items()}
        first = "connected" if (sizes > 1).any() else "1"
        size = controls.select("Components", keys.SIZE, words, first, width=260)
    numbers = of_split[fitting[size]]
    # components are numbered by size
    if order != "size":
        helped = model.component_helped[numbers]
        numbers = numbers[np.argsort(-helped if order == "helped" else helped, kind="stable")]
    return colour, numbers


def show_components(
    run: Run, images: ImageSet, model: Neighbourhood, row: int, numbers: Ints, colour: str, split: str
) -> None:
    pages = pages_of(model.components.sizes[numbers])
    here = 1
    if address.get(keys.SAMPLE) is not None:
        own = int(model.component_of[row])
        here = next((page for page, places in enumerate(pages, 1) if own in numbers[places]), 1)
    page = address.read(keys.COMPONENTS, address.number(int, 1, len(pages)), here)
    penalties = model.penalty[model.test[model.components.edges[:, 0]] == (split == "test")]
    largest = float(np.abs(penalties).max(initial=0.0))
    drawings = [draw(images, model, int(number), row, colour, largest) for number in numbers[pages[page - 1]]]
    with frame.picture("graph"):
        graph(
            drawings,
            name=keys.SAMPLE,
            selected=str(images.ids[row]),
            label=f"Components of connected {split} samples",
            key="similarity graph",
        )
        controls.pages(keys.COMPONENTS, len(pages), here)
    between = f"from {np.abs(penalties).min():.3g} to {largest:.3g}" if len(penalties) else "none: no pairs"
    st.caption(
        f"Each thumbnail is a sample, clockwise by rank from the top. Below it: its rank, and how many ranks the "
        f"neighbours moved it. {LEGENDS[colour]} The wider a line, the larger {model.potentials.width} (here "
        f"{between}); a dashed line is a cut edge: its two samples have different labels in the best labelling. Pairs: "
        f"the change in correctly ordered ({RELEVANT_GLYPH}, {IRRELEVANT_GLYPH}) pairs due to neighbours. Click a "
        "thumbnail, or move with the arrow keys and press Enter."
    )
    heading, _, _ = export.title_of(run, images, cache.ranking(run, split), split).partition("\n")
    heading += f", components {page} of {len(pages)}" if len(pages) > 1 else ""
    downloads.offer(
        "This page as SVG",
        lambda: as_svg(heading, drawings),
        f"graph-{run.id}-{split}-{page}.svg",
        icon=":material/hub:",
    )


def draw(
    images: ImageSet, model: Neighbourhood, number: int, row: int, colour: str, largest: float
) -> Drawing:
    """One component; of a large one the part around the selected sample, or the one that moved most."""
    members = model.members(number)
    centre = row if row in members else int(members[np.abs(model.rise[members]).argmax()])
    shown = model.around(centre, MAX_NODES)
    shown = shown[np.argsort(model.rank[shown])]
    thumbnails = cache.thumbnails(images.key)
    nodes = [
        Node(
            str(images.ids[sample]),
            data_url(thumbnails.crop(sample)),
            f"{graph_models.in_words(images, model, sample)}; {graph_models.moved(model, sample)}",
            f"{model.rank[sample]:,} {graph_models.steps_of(int(model.rise[sample]))}",
            *style_of(model, sample, colour),
        )
        for sample in shown.tolist()
    ]
    title, note = described(images, model, members, number, len(shown))
    return drawing(title, note, nodes, ties(model, number, shown, largest))


def ties(model: Neighbourhood, number: int, shown: Ints, largest: float) -> list[Tie]:
    """The edges of a component between shown samples, by the indices of these."""
    place = {sample: at for at, sample in enumerate(shown.tolist())}
    edges = np.array(model.edges_of(number), np.int64)
    edges = edges[np.isin(model.components.edges[edges], shown).all(axis=1)]
    return [
        Tie(place[int(a)], place[int(b)], float(width), bool(cut))
        for (a, b), width, cut in zip(
            model.components.edges[edges],
            widths(model.penalty[edges], largest),
            model.cut[edges],
            strict=True,
        )
    ]


def described(
    images: ImageSet, model: Neighbourhood, members: Ints, number: int, shown: int
) -> tuple[str, str]:
    """Title and note of a component."""
    files = np.unique(images.image_of[members])
    within = str(images.image_names[files[0]]) if len(files) == 1 else f"{len(files):,} images"
    part = f", {shown} shown" if shown < len(members) else ""
    helped = int(model.component_helped[number])
    effect = (
        f"{'helped' if helped > 0 else 'hurt'}: {helped:+,} pairs" if helped else "neither helped nor hurt"
    )
    return f"{counted(len(members), 'sample')}{part} · {within}", effect


def style_of(model: Neighbourhood, row: int, colour: str) -> tuple[str, str, bool]:
    """Glyph, colour, and whether the border is dashed."""
    # colour: a key of COLOURS.
    relevant, best = bool(model.relevant[row]), bool(model.marginals.map[row])
    if colour == "map":
        return ("1", DARK_BLUE, False) if best else ("0", DARK_GREY, True)
    if colour == "correct":
        return ("=", DARK_BLUE, False) if best == relevant else ("≠", IRRELEVANT_LABEL, True)
    return tiles.glyph(relevant), RELEVANT_LABEL if relevant else IRRELEVANT_LABEL, not relevant
