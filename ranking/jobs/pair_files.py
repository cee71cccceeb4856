"""Uploaded pairs of samples: an isolated process reads the CSV, and this one stores them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.features.graph.image_graph import GRAPHS
from ranking.features.graph.uploaded_pairs import MAX_PAIRS, edges_from_csv
from ranking.files.isolated import Crashed, ask, serve
from ranking.storage.space import check_space
from ranking.storage.store import Store


def keep_pairs_isolated(store: Store, set_key: str, name: str, data: bytes) -> str:
    """Store the pairs of an image set in the CSV `data`, and return the name by which settings refer to them.

    name: the name of the uploaded file. ValueError, with the line and the remedy, for an invalid CSV; FullError in a
    workspace that is full.
    """
    check_space(store.home)  # here, because pages offer to free storage after a FullError
    try:
        return ask("ranking.jobs.pair_files", [str(store.home), set_key], data).decode()
    except Crashed:
        raise
    except InputError as error:
        raise InputError(f"{name}, {error.subject}", error.expected, error.came, error.remedy) from error


def read_pairs(data: bytes, ids: Any) -> Ints:
    """Return the pairs (m, 2), m > 0, of a CSV with columns i and j, by `ids` (n,) of the samples; else ValueError."""
    edges = edges_from_csv(io.BytesIO(data), ids, MAX_PAIRS)
    if not len(edges):
        remedy = f"write one below the line i,j, or choose “{GRAPHS['none'].words.capitalize()}” above"
        raise InputError("line 2", "a pair of samples", "nothing", remedy)
    return edges


def _work(arguments: list[str], data: bytes) -> bytes:
    home, set_key = arguments
    store = Store(Path(home))
    return store.features.keep_edges(set_key, read_pairs(data, store.sets.get(set_key).ids)).encode()


if __name__ == "__main__":
    serve(_work)
