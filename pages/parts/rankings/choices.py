"""The choices of a page about a ranking: training run, split, page of the grid and selected sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.components import grid, selection
from pages.parts.training import run_actions, run_steps, runs
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking
from ranking.storage.run import ENDED, Run

# the suggested first method with a similarity graph
FIRST_WITH_NEIGHBOURS = "HOB-SVM"


class Shown(NamedTuple):
    """The shown page of the grid, and the selected sample."""

    # Both from 1; `here` is the page of the selected sample.
    page: int
    here: int
    pages: int
    # The position of the selected sample in the ranking, from 0.
    place: int
    # The positions on the shown page.
    places: Ints


def where(
    images: ImageSet, ranked: Ranking, otherwise: int | None = None, among: Ints | None = None
) -> Shown:
    """The page in the URL, else that of the selected sample."""
    # Without a selected sample, the position `otherwise` is selected, or the first on the page. among: the
    # positions that the grid shows; None for all.
    among = np.arange(len(ranked)) if among is None else among
    chosen = address.read(keys.SAMPLE, lambda text: place_of(images, ranked, text), None)
    chosen = otherwise if chosen is None else chosen
    at = np.flatnonzero(among == chosen)
    here = int(at[0]) // grid.PAGE_SIZE + 1 if len(at) else 1
    pages = max(1, -(-len(among) // grid.PAGE_SIZE))
    page = address.read(keys.PAGE, address.number(int, 1, pages), here)
    places = among[(page - 1) * grid.PAGE_SIZE : page * grid.PAGE_SIZE]
    first = int(places[0]) if len(places) else 0
    return Shown(page, here, pages, first if chosen is None else chosen, places)


def id_of(images: ImageSet, ranked: Ranking, place: int) -> str:
    return str(images.ids[ranked.samples[place]])


def place_of(images: ImageSet, ranked: Ranking, sample: str) -> int:
    """The position, from 0, of the sample with that id."""
    places = np.flatnonzero(images.ids[ranked.samples] == sample)
    if not len(places):
        raise ValueError("expected the id of a sample of this split")
    return int(places[0])


def split(images: ImageSet, first: str = "test") -> str:
    """The chosen split: by default that of the selected sample, else `first` if it has samples."""
    splits = cache.splits(images)
    row = selection.row(images)
    default = first if row is None else ("test" if images.test[row] else "train")
    return controls.segments("Split", keys.SPLIT, splits, default if default in splits else splits[0])


def training(with_neighbours: bool = False) -> Run:
    """The training run in the URL, or the newest with scores."""
    # with_neighbours: only runs of methods that use the similarity graph.
    run_actions.show_errors()
    run = runs.chosen()
    scored = runs.with_scores()
    listed = [each for each in scored if runs.uses_graph(each)] if with_neighbours else scored
    if run is not None and run.deleted:
        run_actions.offer_undo(run)
        frame.end_page()
    if run is not None and not runs.set_is_here(run):
        frame.show_empty_state(runs.missing_set(run), "Import images", "image_sets")
    if run is not None and run.state not in ENDED:
        frame.show_empty_state("This training run is still running", "Watch it train", "train", run=run.id)
    if not listed and not with_neighbours:
        frame.show_empty_state("No rankings yet. Train a method first", "Train a method", "train")
    if not listed:
        same = {name: address.get(name) for name in (keys.SET, keys.QUERY, keys.FEATURES)}
        frame.show_empty_state(
            f"No training run uses a similarity graph yet. In {FIRST_WITH_NEIGHBOURS}, the samples in an image move "
            "each other up or down. Train it, and this page shows the effect.",
            f"Train {FIRST_WITH_NEIGHBOURS}",
            "train",
            **{**same, keys.METHOD: FIRST_WITH_NEIGHBOURS, keys.RUN: None},
        )
    return choose(listed, None if run is None else _why_not(run, listed, scored))


def choose(listed: Sequence[Run], why_not: str | None = None) -> Run:
    """One of the listed training runs."""
    # why_not: the reason why the run in the URL is not listed, if it is not.
    if why_not is not None:
        address.complain(f"{why_not} Showing another run.")
        # in one step, so that the browser's Back undoes it
        address.put(**{keys.RUN: listed[0].id})
    run = run_steps.choose_among(listed, "Training run", keys.RUN)
    if address.get(keys.RUN) is None:
        # also by default, so that the link shows the same run later
        address.put(**{keys.RUN: run.id})
    return run


def _why_not(run: Run, listed: Sequence[Run], scored: Sequence[Run]) -> str | None:
    if run.id in [each.id for each in listed]:
        return None
    if run.id in [each.id for each in scored]:
        return f"{runs.short_name(run)} does not use neighbours."
    return f"{runs.short_name(run)} has {run.state} and has no scores. Train it again."
