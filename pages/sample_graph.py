"""Sample graph: which samples listen to each other, and whether that did them good."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.colours import (
    DARK_BLUE,
    DARK_GREY,
    IRRELEVANT_GLYPH,
    IRRELEVANT_LABEL,
    RELEVANT_GLYPH,
    RELEVANT_LABEL,
)
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.graph import graph
from pages.parts.components.picture import data_url
from pages.parts.runs import export, neighbours
from pages.parts.views.graph_picture import MOST_NODES, Drawing, Node, Tie, as_svg, drawing, pages_of, widths
from ranking.core import ImageSet, Ints
from ranking.explain.neighbourhood import Neighbourhood
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import Run

Look = tuple[str, str, bool]  # glyph, colour, whether its border is broken

COLOURS = {"label": "Label", "map": "Best labelling (MAP)", "correct": "Right or wrong"}
LEGENDS = {
    "label": f"{RELEVANT_GLYPH} and a whole border: relevant; {IRRELEVANT_GLYPH} and a broken one: not relevant.",
    "map": "1 and a whole border: the best labelling calls it relevant; 0 and a broken one: it does not.",
    "correct": "= and a whole border: the best labelling has its label right; ≠ and a broken one: wrong.",
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


def steps() -> None:
    look(*neighbours.choose())


@st.fragment
def look(run: Run, images: ImageSet, found: Neighbourhood, split: str) -> None:
    """What answers to a click, without the rest of the page running again."""
    with frame.in_place():
        ranked = found.ranking(split == "test")
        neighbours.show_measures(found, split == "test")
        neighbours.jump_buttons(images, found, split == "test")
        place = neighbours.where(images, found, ranked).place
        row = int(ranked.samples[place])
        colour, numbers = choose(found, ranked)
        show_selected(images, found, row)
        if len(numbers):
            show_components(run, images, found, row, numbers, colour, split)
        else:
            st.info("There is no component of this size; choose another size.")
    frame.show_menu()


def choose(found: Neighbourhood, ranked: Ranking) -> tuple[str, Ints]:
    """What colours tell, and the components to show, in their order."""
    sizes = found.components.sizes
    of_split = np.unique(found.component_of[ranked.samples])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        bound = address.bound(keys.COLOUR, address.one_of(list(COLOURS)), "label")
        colour = st.segmented_control(
            "Colour", list(COLOURS), format_func=COLOURS.__getitem__, required=True, **bound
        )
        bound = address.bound(keys.ORDER, address.one_of(list(ORDERS)), "helped")
        order = st.segmented_control(
            "First", list(ORDERS), format_func=ORDERS.__getitem__, required=True, **bound
        )
        default = "connected" if (sizes[of_split] > 1).any() else "1"
        bound = address.bound(keys.SIZE, address.one_of(list(SIZES)), default)
        size = st.selectbox(
            "Components", list(SIZES), format_func=named_size(sizes[of_split]), width=260, **bound
        )
    return str(colour), in_order(found, of_split[fits(sizes[of_split], str(size))], str(order))


def fits(sizes: Ints, size: str) -> np.ndarray:
    """(c,) which components have a size that is called `size`."""
    _, least, most = SIZES[size]
    return (sizes >= least) & (sizes <= most)


def named_size(sizes: Ints) -> Callable[[str], str]:
    return lambda size: f"{SIZES[size][0]} · {fits(sizes, size).sum():,}"


def in_order(found: Neighbourhood, numbers: Ints, order: str) -> Ints:
    """Components by how much neighbours helped all of its samples, or by size."""
    if order == "size":
        return numbers  # that is how they are numbered
    helped = found.component_helped[numbers]
    first: Ints = numbers[np.argsort(-helped if order == "helped" else helped, kind="stable")]
    return first


def show_selected(images: ImageSet, found: Neighbourhood, row: int) -> None:
    """The selected sample in a line, and the way to its labellings."""
    glyph = RELEVANT_GLYPH if found.relevant[row] else IRRELEVANT_GLYPH
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        shown = tiles.shows(images, row)
        st.image(cache.thumbnails(images.key).crop(row), width=44, alt=f"The selected sample: {shown}")
        st.markdown(f"#### {glyph} {escaped(shown)}: {neighbours.moved(found, row)}")
        st.page_link(
            "pages/max_marginals.py",
            label="Its two labellings",
            icon=":material/compare:",
            query_params=address.changed(**{keys.SAMPLE: str(images.ids[row])}),
        )


def show_components(
    run: Run, images: ImageSet, found: Neighbourhood, row: int, numbers: Ints, colour: str, split: str
) -> None:
    pages = pages_of(found.components.sizes[numbers])
    here = 1
    if address.get(keys.SAMPLE) is not None:
        own = int(found.component_of[row])
        here = next((page for page, places in enumerate(pages, 1) if own in numbers[places]), 1)
    page = address.read(keys.COMPONENTS, address.number(int, 1, len(pages)), here)
    penalties = found.penalty[found.test[found.components.edges[:, 0]] == (split == "test")]
    largest = float(np.abs(penalties).max(initial=0.0))
    drawings = [draw(images, found, int(number), row, colour, largest) for number in numbers[pages[page - 1]]]
    graph(
        drawings,
        name=keys.SAMPLE,
        selected=str(images.ids[row]),
        label=f"Components of connected {split} samples",
        key="sample graph",
    )
    address.pager(keys.COMPONENTS, len(pages), here)
    between = f"from {np.abs(penalties).min():.3g} to {largest:.3g}" if len(penalties) else "none: no pairs"
    st.caption(
        f"Each picture is a sample, clockwise from the top by rank; below it its rank and by how many places "
        f"neighbours moved it. {LEGENDS[colour]} The wider a line, the larger {found.potentials.width} (here "
        f"{between}); a broken line is cut: its ends differ in the best labelling. Pairs: of a {RELEVANT_GLYPH} and an "
        f"{IRRELEVANT_GLYPH}; so many more are in the right order thanks to neighbours. **Notice** whether components "
        "that were helped are of one label, and those that were hurt of two. Click a picture, or walk with the arrow "
        "keys and press Enter."
    )
    export_of(run, images, drawings, split, page, len(pages))


def draw(
    images: ImageSet, found: Neighbourhood, number: int, row: int, colour: str, largest: float
) -> Drawing:
    """One component; of a large one what is around the selected sample, or around the one that moved most."""
    members = found.members(number)
    centre = row if row in members else int(members[np.abs(found.rise[members]).argmax()])
    shown = found.around(centre, MOST_NODES)
    shown = shown[np.argsort(found.rank[shown])]
    thumbnails = cache.thumbnails(images.key)
    nodes = [
        node(images, found, int(one), data_url(thumbnails.crop(int(one))), LOOKS[colour](found, int(one)))
        for one in shown
    ]
    title, note = described(images, found, members, number, len(shown))
    return drawing(title, note, nodes, ties(found, number, shown, largest))


def node(images: ImageSet, found: Neighbourhood, row: int, src: str, look: Look) -> Node:
    glyph, colour, dashed = look
    caption = f"{found.rank[row]:,} {neighbours.steps_of(int(found.rise[row]))}"
    alt = f"{neighbours.said_of(images, found, row)}; {neighbours.moved(found, row)}"
    return Node(str(images.ids[row]), src, alt, caption, glyph, colour, dashed)


def ties(found: Neighbourhood, number: int, shown: Ints, largest: float) -> list[Tie]:
    """The pairs of a component among the samples that are shown, by their places there."""
    place = {int(one): at for at, one in enumerate(shown)}
    chosen = [
        edge
        for edge in found.edges_of(number)
        if all(int(end) in place for end in found.components.edges[edge])
    ]
    drawn = widths(found.penalty[chosen], largest)
    ends = found.components.edges[chosen]
    return [
        Tie(place[int(a)], place[int(b)], float(width), bool(cut))
        for (a, b), width, cut in zip(ends, drawn, found.cut[chosen], strict=True)
    ]


def described(
    images: ImageSet, found: Neighbourhood, members: Ints, number: int, shown: int
) -> tuple[str, str]:
    """The two lines above a component."""
    files = np.unique(images.image_of[members])
    size = "1 sample" if len(members) == 1 else f"{len(members):,} samples"
    within = str(images.image_names[files[0]]) if len(files) == 1 else f"{len(files):,} images"
    part = f", {shown} shown" if shown < len(members) else ""
    helped = int(found.component_helped[number])
    done = f"{'helped' if helped > 0 else 'hurt'}: {helped:+,} pairs" if helped else "neither helped nor hurt"
    return f"{size}{part} · {within}", done


def by_label(found: Neighbourhood, row: int) -> Look:
    if found.relevant[row]:
        return RELEVANT_GLYPH, RELEVANT_LABEL, False
    return IRRELEVANT_GLYPH, IRRELEVANT_LABEL, True


def by_map(found: Neighbourhood, row: int) -> Look:
    return ("1", DARK_BLUE, False) if found.marginals.map[row] else ("0", DARK_GREY, True)


def by_correctness(found: Neighbourhood, row: int) -> Look:
    right = bool(found.marginals.map[row]) == bool(found.relevant[row])
    return ("=", DARK_BLUE, False) if right else ("≠", IRRELEVANT_LABEL, True)


LOOKS: dict[str, Callable[[Neighbourhood, int], Look]] = {
    "label": by_label,
    "map": by_map,
    "correct": by_correctness,
}


def export_of(
    run: Run, images: ImageSet, drawings: Sequence[Drawing], split: str, page: int, pages: int
) -> None:
    """The page of components as a file."""
    heading, _, _ = export.title_of(run, images, cache.ranking(run, split), split).partition("\n")
    st.download_button(
        "This page as SVG",
        lambda: as_svg(f"{heading}, components {page} of {pages}" if pages > 1 else heading, drawings),
        f"graph-{run.id}-{split}-{page}.svg",
        "image/svg+xml",
        icon=":material/hub:",
        on_click="ignore",
    )


frame.show_page("sample_graph", "Which samples listen to each other, and whether that did them good.", steps)
