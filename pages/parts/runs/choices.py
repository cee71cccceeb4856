"""What a page about a ranking chooses first: the training run, the split, the page and the rank on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.components import grid, selection
from pages.parts.runs import run_actions, runs, training_runs
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import ENDED, Run

FIRST_WITH_NEIGHBOURS = "HOB-SVM"  # the method that one trains first to see what neighbours do


class Shown(NamedTuple):
    """The page of the grid and the page that the selected place is on, both from 1, of how many; that place, from 0,
    and those on the page."""

    page: int
    here: int
    pages: int
    place: int
    places: Ints


def where(
    images: ImageSet, ranked: Ranking, otherwise: int | None = None, among: Ints | None = None
) -> Shown:
    """The page of the address, else that of the selected sample; without one the place `otherwise` is selected, or
    the first of the page. among: the places that the grid shows, all of them if None."""
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
    """The place, from 0, of the sample with that id."""
    places = np.flatnonzero(images.ids[ranked.samples] == sample)
    if not len(places):
        raise ValueError("expected the id of a sample of this split")
    return int(places[0])


def split(images: ImageSet, first: str = "test") -> str:
    """Test or train, whichever has samples: of the address, else that of the selected sample, else `first`."""
    splits = cache.splits(images)
    row = selection.row(images)
    default = first if row is None else ("test" if images.test[row] else "train")
    return controls.segments("Split", keys.SPLIT, splits, default if default in splits else splits[0])


def training(with_neighbours: bool = False) -> Run:
    """The training run of the address, or the newest that left scores. with_neighbours: only by a method that has a
    similarity graph."""
    run_actions.show_errors()
    run = runs.chosen()
    scored = runs.with_scores()
    listed = [each for each in scored if runs.uses_graph(each)] if with_neighbours else scored
    if run is not None and run.deleted:
        run_actions.offer_undo(run)
        frame.end_page()
    if run is not None and not runs.set_is_here(run):
        frame.way_on(runs.missing_set(run), "Import images", "image_sets")
    if run is not None and run.state not in ENDED:
        frame.way_on("This training run is still running", "Watch it train", "train", run=run.id)
    if not listed and not with_neighbours:
        frame.way_on("Nothing is ranked yet: train a method first", "Train a method", "train")
    if not listed:
        same = {name: address.get(name) for name in (keys.SET, keys.QUERY, keys.FEATURES)}
        frame.way_on(
            f"No training run uses a similarity graph yet. {FIRST_WITH_NEIGHBOURS} lets the samples of one image pull "
            "each other up or down: train it, and see here whom that helped.",
            f"Train {FIRST_WITH_NEIGHBOURS}",
            "train",
            **{**same, keys.METHOD: FIRST_WITH_NEIGHBOURS, keys.RUN: None},
        )
    return choose(listed, None if run is None else _why_not(run, listed, scored))


def choose(listed: Sequence[Run], why_not: str | None = None) -> Run:
    """One of the training runs that are listed; why_not: the address names another one, and why it is not listed."""
    if why_not is not None:
        address.complain(f"{why_not} Showing another one.")
        address.put(**{keys.RUN: listed[0].id})  # in one step, which the browser's Back undoes
    run = training_runs.choose_among(listed, "Training run", keys.RUN)
    if address.get(keys.RUN) is None:
        address.put(**{keys.RUN: run.id})  # also where it is only the newest: the link shall show it tomorrow
    return run


def _why_not(run: Run, listed: Sequence[Run], scored: Sequence[Run]) -> str | None:
    if run.id in [each.id for each in listed]:
        return None
    if run.id in [each.id for each in scored]:
        return f"{runs.short_name(run)} does not use neighbours."
    return f"{runs.short_name(run)} has {run.state} and has no scores. Train it again."
