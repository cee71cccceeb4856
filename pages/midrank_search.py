"""MidRank search: all candidate orders that the search evaluates, and what each step gains."""

from __future__ import annotations

from math import factorial

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, downloads, figures_file, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.components import film, tiles
from pages.parts.components.film import Strip
from pages.parts.neighbours import graph_models
from pages.parts.sequences import order_models, tree_chart
from pages.parts.sequences.order_models import frames_of, true_strip
from ranking.core import ImageSet, Ints
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.order_task import Ordered, measure_order
from ranking.explain.tree_search import TreeSearch
from ranking.inference.best_permutation import MAX_COMPARED
from ranking.storage.run import Run

# of a sequence whose search is shown: the number of nodes grows with the cube of this
MAX_SAMPLES = 40
MAX_TREES = 5
POINTS = (
    "Each point is a candidate order that the search evaluated; each line swaps two positions. The search takes the "
    "best swap while the value increases (large points), then restarts: the second tree starts from the order with the "
    "greatest sum of window scores before their square roots are taken; the others start from random orders. Click a "
    "point to show its order below."
)


def steps() -> None:
    picture, settings = st.container(), st.container(key="settings-search")
    with settings:
        left, right = st.columns(2, gap="medium")
        with left:
            row = order_models.choose_set()
            criterion = order_models.choose_criterion(row)
        with right:
            run = order_models.choose_training(row, criterion, methods=[order_models.OWN])
    with picture:
        show_search(run, cache.image_set(row.key), criterion)


def show_search(run: Run, images: ImageSet, criterion: str) -> None:
    ordered = order_models.ordered(run)
    lengths = lengths_of(run, images)
    with frame.picture("search"):
        number, length, trees = choose_search(run, ordered, lengths)
        search = order_models.tree_search(run, number, length, trees)
        relevance, samples = ordered.relevance[number], ordered.samples(number)
        node = choose_node(search)
        figure = show_tree(search, relevance, node)
    show_orders(images, criterion, run, search, samples, relevance, node)
    offer_files(images, run, search, samples, relevance, figure)


def lengths_of(run: Run, images: ImageSet) -> tuple[int, ...]:
    """Return the lengths of the trained rankers, or show a button that computes missing features."""
    try:
        return order_models.mid_rank(run)[0].lengths
    except cache.NoFeatures:
        graph_models.offer_features(run, images)


# ---------------------------------------------------------------------------------------------------------
# Choosing a search and one of its orders
# ---------------------------------------------------------------------------------------------------------


def choose_search(run: Run, ordered: Ordered, lengths: tuple[int, ...]) -> tuple[int, int, int]:
    """Choose the number of the sequence, from 0, the length of the ranker, and the number of trees."""
    count = len(ordered)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = controls.number(f"Test sequence, of {count:,}", keys.SEQUENCE, 1, count, 1, width=190) - 1
        n = len(ordered.relevance[number])
        usable = [length for length in lengths if length <= n]
        if not usable or n > MAX_SAMPLES:
            st.info(
                f"This sequence has {n} images; the search can be shown for {lengths[0]} to {MAX_SAMPLES} images. "
                "Choose another sequence.",
                icon=":material/info:",
            )
            frame.end_page()
        length = controls.segments("Subsequences of", keys.LENGTH, usable, usable[0])
        first = min(MAX_TREES, order_models.mid_rank(run)[0].trees)
        trees = controls.number("Trees", keys.TREES, 1, MAX_TREES, first, width=140)
    return number, length, trees


def choose_node(search: TreeSearch) -> int:
    """Choose the order to show: by its number, by steps through the tree, or by a click on the chart."""
    trees = search.trees

    def targets(now: int) -> dict[str, int]:
        parent, children = int(trees.parents[now - 1]), np.flatnonzero(trees.parents == now - 1)
        return {
            "Start": 1,
            "Swap back": parent + 1 if parent >= 0 else now,
            "Best swap": int(children[np.argmax(trees.values[children])]) + 1 if len(children) else now,
            "Best found": trees.best + 1,
        }

    count = len(trees.values)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return (
            controls.stepper(
                f"Candidate order, of {count:,}", keys.VISIT, 1, count, trees.best + 1, targets, width=190
            )
            - 1
        )


# ---------------------------------------------------------------------------------------------------------
# Chart and orders
# ---------------------------------------------------------------------------------------------------------


def show_tree(search: TreeSearch, relevance: Ints, node: int) -> figures_file.Shown:
    """Show the chart and its caption."""
    plotted = tree_chart.plotted_nodes(search)
    figure = tree_chart.figure_of(
        search, node, [words_of(search, relevance, int(place)).replace(" · ", "<br>") for place in plotted]
    )
    message = notice(search, relevance)
    alt = f"Candidate orders of the search, by value. {message}"

    plots.show(
        figure,
        keys.widget(f"tree {node}"),
        alt,
        "search-tree",
        height=322,
        on_point=lambda visit: address.put(**{keys.VISIT: str(visit)}),
    )
    count = len(search.trees.values)
    part = "" if len(plotted) == count else f" The best {len(plotted):,} of {count:,} orders are plotted."
    st.caption(f"**Notice** {escaped(message)}{part}", help=POINTS)
    return figure, alt


def notice(search: TreeSearch, relevance: Ints) -> str:
    """Say how far the search raised the value, how Kendall tau changed, and the value of the best order."""
    trees = search.trees
    start, end = trees.values[0], trees.values[trees.best]
    before, after = (measure_order(relevance, trees.orders[node]).tau for node in (0, trees.best))
    n = trees.orders.shape[1]
    best = f"an exhaustive search takes at most {MAX_COMPARED} images"
    if search.best_value is not None:
        best = f"the best of all has value {search.best_value:.3f}"
    return (
        f"the climb from value {start:.3f}, the order of RankSVM, to {end:.3f}; Kendall tau {before:.2f} → {after:.2f}."
        f" {len(trees.values):,} of {factorial(n):,} orders were evaluated; {best}."
    )


def words_of(search: TreeSearch, relevance: Ints, node: int) -> str:
    trees = search.trees
    places = search.swapped(node)
    step = "the root" if places is None else f"swap of positions {places[0] + 1} and {places[1] + 1}"
    tau = measure_order(relevance, trees.orders[node]).tau
    return f"value {trees.values[node]:.3f} · Kendall tau {tau:.2f} · tree {trees.trees[node] + 1}, {step}"


def show_orders(
    images: ImageSet, criterion: str, run: Run, search: TreeSearch, samples: Ints, relevance: Ints, node: int
) -> None:
    """Show the chosen order, the start of its tree and the best order as strips."""
    trees = search.trees
    root = int(search.path_to(node)[0])
    strips = [Strip(f"Order {node + 1}", words_of(search, relevance, node), as_tuple(trees.orders[node]))]
    if root != node:
        start = f"Start of tree {trees.trees[node] + 1}"
        strips.append(Strip(start, words_of(search, relevance, root), as_tuple(trees.orders[root])))
    if search.best is not None:
        note = f"value {search.best_value:.3f} · Kendall tau {measure_order(relevance, search.best).tau:.2f}"
        strips.append(Strip("The best of all orders", note, as_tuple(search.best)))
    film.film(
        frames_of(images, criterion, samples, relevance),
        strips,
        truth=true_strip(run, as_tuple(np.argsort(-relevance, kind="stable"))),
        token=f"{run.id} {samples.tolist()}",
        label="The chosen order below the true one",
        key=keys.widget("visited film"),
    )
    st.caption(
        "Solid line: too early. Dashed: too late. The search does not know the true order: it maximises the value that "
        "the ranker assigns."
    )
    tiles.explain_cards(images)


def as_tuple(order: Ints) -> tuple[int, ...]:
    return tuple(int(place) for place in order)


def offer_files(
    images: ImageSet,
    run: Run,
    search: TreeSearch,
    samples: Ints,
    relevance: Ints,
    figure: figures_file.Shown,
) -> None:
    with st.container(horizontal=True):
        downloads.offer(
            "Candidate orders as CSV",
            lambda: csv_text(images, search, samples, relevance),
            f"search-{run.id}.csv",
        )
        figures_file.offer(f"Search tree on {images.title}", [figure], f"search-{run.id}.html")


def csv_text(images: ImageSet, search: TreeSearch, samples: Ints, relevance: Ints) -> str:
    """Return a line per candidate order in the order of evaluation, from 1, with the ids of its samples."""
    trees = search.trees
    return rows_csv(
        [
            {
                "order": node + 1,
                "tree": int(trees.trees[node]) + 1,
                "swaps": int(trees.depths[node]),
                "from order": parent + 1 if parent >= 0 else None,
                "on the path": int(trees.path[node]),
                "value": float(trees.values[node]),
                "Kendall tau": measure_order(relevance, trees.orders[node]).tau,
                "samples": images.ids[samples[trees.orders[node]]].tolist(),
            }
            for node, parent in enumerate(trees.parents.tolist())
        ]
    )


frame.show_page("midrank_search", "The orders of one search.", steps)
