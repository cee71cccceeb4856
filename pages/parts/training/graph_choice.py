"""The choice of a similarity graph: a built-in graph, or pairs that are uploaded as a CSV file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.app import address, downloads, dropped, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import export
from ranking.core import ImageSet, Ints
from ranking.core.spreadsheets import guarded
from ranking.features.graph import image_graph
from ranking.features.graph.image_graph import GRAPHS, within
from ranking.features.graph.uploaded_pairs import is_edges_name, read_pairs, short_name

LEAN = "Connected samples influence each other through η and the pairwise penalty."
# of a CSV file: a million pairs of ids of thirty characters
MAX_MEGABYTES = 64


def choose(images: ImageSet, methods: Sequence[str], above: DeltaGenerator) -> str | None:
    """The name of the graph of `methods`, all of which use one; None if there are none."""
    # above: where a graph without edges is named.
    if not methods:
        return None
    refused = _take_up(images)
    uploaded = home.store().features.edge_names(images.key)
    graph: str = st.selectbox(
        "Similarity graph: which samples are neighbours",
        [*GRAPHS, *uploaded],
        format_func=words,
        **address.bound(keys.GRAPH, lambda text: _known(text, uploaded), image_graph.default_graph(images)),
    )
    with frame.errors_in_place(), home.missing_as_error():
        edges = home.store().features.edges_of(images.key, graph)
        about = "" if edges is None else in_words(images, edges)
        if not image_graph.has_edges(images, graph, edges):
            above.warning(image_graph.no_edges(methods), icon=":material/warning:")
        elif graph == "same image":
            within_images, of_all = image_graph.shares_of_same_label(images)
            about = f"Same label: {within_images:.0%} of pairs in one image, {of_all:.0%} of all pairs."
        st.caption(f"{about} {LEAN}".strip())
    _offer(images, refused)
    return graph


def words(graph: str) -> str:
    return f"Pairs of {short_name(graph)}" if is_edges_name(graph) else GRAPHS[graph].words.capitalize()


def _known(text: str, uploaded: list[str]) -> str:
    if is_edges_name(text) and text not in uploaded:
        raise ValueError(
            f"the pairs of {short_name(text)} were not uploaded for this image set in this workspace; upload the CSV "
            "file again below, because equal pairs have the same name"
        )
    return address.one_of([*GRAPHS, *uploaded])(text)


def in_words(images: ImageSet, edges: Ints) -> str:
    """The number of pairs within each split, and of those ignored because they connect the splits."""
    parts, within_splits = [], 0
    for split, rows in (("training", ~images.test), ("test", images.test)):
        pairs = within(edges, np.flatnonzero(rows), len(images))
        within_splits += len(pairs)
        touched = len(np.unique(pairs))
        parts.append(f"{len(pairs):,} within the {split} split ({touched:,} of {rows.sum():,} samples)")
    return (
        f"Pairs: {len(edges):,}, {', '.join(parts)}; **{len(edges) - within_splits:,} between them are ignored**, "
        "because training must not see test samples."
    )


def _uploader(images: ImageSet) -> str:
    """The key of the uploader, new for each image set and CSV file, so that no old file stays in it."""
    return keys.widget(f"edges {images.key} {st.session_state.get(keys.UPLOADED_PAIRS, 0)}")


def _take_up(images: ImageSet) -> str | None:
    """Store the pairs of an uploaded CSV file and choose them; returns the reason if they are refused."""
    file = st.session_state.get(_uploader(images))
    if file is None:
        return None
    with st.spinner("Reading pairs …"):
        kept, refused = dropped.once(file, lambda file: store_pairs(images, file))
    if kept is not None:
        address.put(**{keys.GRAPH: kept})
        st.session_state[keys.UPLOADED_PAIRS] = st.session_state.get(keys.UPLOADED_PAIRS, 0) + 1
    return refused


def _offer(images: ImageSet, refused: str | None) -> None:
    """The uploader of a CSV file of pairs, and the reason why the last one was `refused`."""
    with st.expander("Upload your own pairs as CSV", icon=":material/hub:", expanded=refused is not None):
        first = [guarded(str(name)) for name in images.ids[:2]]
        st.caption("One line per pair. Columns i and j have sample ids from the list of samples.")
        st.code("i,j\n" + ",".join(first), language=None)
        file = f"samples-{images.key[:8]}.csv"
        downloads.offer(
            "List of samples (CSV)", lambda: export.samples_csv(images), file, icon=":material/list:"
        )
        st.file_uploader("CSV file of pairs", "csv", key=_uploader(images), max_upload_size=MAX_MEGABYTES)
        if refused is not None:
            st.error(escaped(refused), icon=":material/error:")


def store_pairs(images: ImageSet, file: UploadedFile) -> str:
    """Store the pairs of a CSV file and return their name."""
    # ValueError, with line and remedy, if the file is invalid.
    if file.size > MAX_MEGABYTES * 2**20:
        raise ValueError(
            f"{file.name}: expected at most {MAX_MEGABYTES} MB, got {file.size / 2**20:.1f} MB; remove other "
            "columns or some pairs"
        )
    return home.store().features.add_edges(images.key, read_pairs(file.name, file.getvalue(), images.ids))
