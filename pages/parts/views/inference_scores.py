"""Which scores the most violated ranking is looked for: of a model, sampled, or typed."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, keys, selection
from pages.parts.importing import sets
from pages.parts.runs import runs
from ranking.core import Bools, Floats, ImageSet, Ints
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import ENDED, SAMPLES, Run
from ranking.workspace.run_files import read_scores

MODEL, SAMPLED, TYPED = "a model's", "sampled", "typed"
LOSSES = {"ap": "AP", "ndcg": "NDCG"}
SCALES = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MOST_RELEVANT, MOST_IRRELEVANT = 60, 540  # of a model that are looked at: more cannot be told apart
FEW_RELEVANT, FEW_IRRELEVANT = 3, 5  # of the lesson
TYPED_SCORES = "1.4 0.6 0.1", "1.1 0.8 0.3 -0.2 -0.7"


@dataclass(frozen=True, eq=False)
class Scores:
    """scores (n,), relevant (n,), and what they are of. images, rows (n,): where they are of samples of a set.

    note: what there is to know of them, "" where nothing.
    """

    scores: Floats
    relevant: Bools
    images: ImageSet | None = None
    rows: Ints | None = None
    note: str = ""

    @property
    def token(self) -> str:
        """A content hash."""
        told = hashlib.sha256(np.ascontiguousarray(self.scores, np.float64).tobytes())
        told.update(np.ascontiguousarray(self.relevant, np.bool_).tobytes())
        return told.hexdigest()

    def times(self, scale: float) -> Scores:
        return Scores(self.scores * scale, self.relevant, self.images, self.rows, self.note)


def choose() -> Scores:
    """The scores that the address asks for; ends the page where there are none."""
    sets.prepare()
    run, listed = runs.chosen(), with_scores()
    sources = [MODEL, SAMPLED, TYPED]
    left, right = st.columns([2, 5], gap="medium", vertical_alignment="bottom")
    with left:
        bound = address.bound(keys.SCORES, address.one_of(sources), MODEL if listed else SAMPLED)
        source = st.segmented_control("Scores", sources, required=True, **bound)
    with right:
        if source == MODEL:
            return of_model(run, listed)
        return sampled() if source == SAMPLED else typed()


def choose_loss() -> str:
    bound = address.bound(keys.LOSS, address.one_of(list(LOSSES)), "ap")
    return str(st.segmented_control("Loss", list(LOSSES), format_func=LOSSES.get, required=True, **bound))


def choose_scale() -> float:
    """What all scores are multiplied by: at 0 only the loss counts, as when training begins at w = 0."""
    bound = address.bound(
        keys.TIMES,
        address.one_of(SCALES, show=lambda scale: f"{scale:g}"),
        1.0,
        show=lambda scale: f"{scale:g}",
    )
    return float(
        st.select_slider(
            "All scores times",
            SCALES,
            format_func=lambda scale: f"{scale:g}",
            help="Training begins with all weights and scores at 0, where only the loss counts; then they grow.",
            **bound,
        )
    )


def address_of(run: Run) -> dict[str, str] | None:
    """The address of the most violated ranking by what a training has scored; None where its method asks for none."""
    loss = runs.loss_of(run)
    if loss not in LOSSES:
        return None
    return {keys.RUN: run.id, keys.SCORES: MODEL, keys.SPLIT: "train", keys.LOSS: loss}


# ---------------------------------------------------------------------------------------------------------
# Of a model
# ---------------------------------------------------------------------------------------------------------


def with_scores() -> list[Run]:
    """Trainings that have scores, also so far: those under way first."""
    here = {row.key for row in cache.store().image_sets()}
    live = [
        run
        for run in cache.store().runs(task=SAMPLES)
        if run.state not in ENDED and run.scores_so_far_file.exists() and run.settings["set"] in here
    ]
    return [*live, *runs.with_scores()]


def of_model(asked: Run | None, listed: list[Run]) -> Scores:
    if not listed:
        frame.way_on("Nothing is ranked yet: train a method first", "Train a method", "train")
    known = {run.id: run for run in listed}
    if asked is not None and asked.id not in known:
        address.complain(f"Training {asked.id} is {asked.state} and has no scores. Showing another one.")
        address.amend(**{keys.RUN: None})
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        bound = address.bound(keys.RUN, address.one_of(list(known)), listed[0].id)
        names = runs.labels(listed)
        run = known[st.selectbox("Training", list(known), format_func=names.__getitem__, **bound)]
    if address.get(keys.RUN) is None:
        address.put(**{keys.RUN: run.id})  # the link shall show it tomorrow
    images = cache.image_set(run.settings["set"])
    if run.state not in ENDED:
        return so_far(run, images)
    splits = cache.splits(images)
    with right:
        default = "train" if "train" in splits else splits[0]
        if (row := selection.row(images)) is not None:
            default = "test" if images.test[row] else "train"
        bound = address.bound(keys.SPLIT, address.one_of(splits), default)
        split = str(st.segmented_control("Split", splits, required=True, **bound))
    return thinned(images, cache.ranking(run, split))


def so_far(run: Run, images: ImageSet) -> Scores:
    """The scores with which a training that goes on has asked for its last most violated ranking."""
    rows = np.flatnonzero(~images.test)
    with cache.or_gone():
        scores = read_scores(run.scores_so_far_file, f"training {run.id}", len(rows))
    note = f"This training goes on: these are the scores that its {len(rows):,} training samples had a moment ago."
    found = thinned(images, Ranking.of(rows, images.relevance(run.settings["query"])[rows], scores))
    return Scores(found.scores, found.relevant, images, found.rows, note)


def thinned(images: ImageSet, ranked: Ranking) -> Scores:
    """The samples of a ranking, in the order of the set, for sorting is part of the work; of more than can be looked
    at, as many as can, evenly along the ranking."""
    if not 0 < ranked.positives < len(ranked):
        frame.way_on(
            "A ranking is violated by samples of both kinds; this split has one",
            "Train a method",
            "train",
        )
    kept = []
    for kind, most in ((ranked.relevance > 0, MOST_RELEVANT), (ranked.relevance == 0, MOST_IRRELEVANT)):
        places = np.flatnonzero(kind)
        kept.append(places[np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int)])
    places = np.concatenate(kept)
    places = places[np.argsort(ranked.samples[places])]
    note = (
        ""
        if len(places) == len(ranked)
        else f"Of {len(ranked):,} samples, {len(places)} evenly along the ranking."
    )
    return Scores(ranked.scores[places], ranked.relevance[places] > 0, images, ranked.samples[places], note)


def handful(images: ImageSet, ranked: Ranking) -> Scores:
    """A few samples of a ranking, of each kind evenly along its better half."""
    kept = []
    for kind, count in ((ranked.relevance > 0, FEW_RELEVANT), (ranked.relevance == 0, FEW_IRRELEVANT)):
        places = np.flatnonzero(kind)
        kept.append(places[np.linspace(0, len(places) // 2, count).round().astype(int)])
    places = np.sort(np.concatenate(kept))
    return Scores(ranked.scores[places], ranked.relevance[places] > 0, images, ranked.samples[places])


# ---------------------------------------------------------------------------------------------------------
# Made up
# ---------------------------------------------------------------------------------------------------------


def sampled() -> Scores:
    """Normal scores, those of relevant samples higher by a chosen distance."""
    positives, negatives, apart, seed = keys.SAMPLED
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound = address.bound(positives, address.number(int, 1, MOST_RELEVANT), 6)
        p = int(st.number_input("Relevant", 1, MOST_RELEVANT, step=1, width=130, **bound))
        bound = address.bound(negatives, address.number(int, 1, MOST_IRRELEVANT), 24)
        n = int(st.number_input("Irrelevant", 1, MOST_IRRELEVANT, step=1, width=130, **bound))
        bound = address.bound(apart, address.number(float, -5, 5), 1.0)
        distance = float(st.number_input("Apart by", -5.0, 5.0, step=0.5, format="%g", width=130, **bound))
        bound = address.bound(seed, address.number(int, 0, 9999), 0)
        chosen = int(st.number_input("Seed", 0, 9999, step=1, width=110, **bound))
    random = np.random.default_rng(chosen)
    relevant = random.permutation(np.arange(p + n) < p)
    return Scores(random.normal(size=p + n) + distance * relevant, relevant)


def typed() -> Scores:
    """Numbers that a person writes, of each kind."""
    found = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, name, default in zip(
            ("Scores of relevant samples", "Scores of irrelevant ones"),
            (keys.TYPED_RELEVANT, keys.TYPED_IRRELEVANT),
            TYPED_SCORES,
            strict=True,
        ):
            text = st.text_input(label, **address.bound(name, str, default))
            found.append(numbers_of(text))
    problems = [told for told in found if isinstance(told, str)]
    for told in problems:
        st.info(told, icon=":material/info:")
    if problems:
        frame.end_page()
    plus, minus = (np.array(numbers) for numbers in found)
    return Scores(np.concatenate([plus, minus]), np.arange(len(plus) + len(minus)) < len(plus))


def numbers_of(text: str) -> list[float] | str:
    """The numbers of a text, between blanks or commas; in words what is wrong with it.

    >>> numbers_of("1.5, -2 0"), numbers_of("1 two")
    ([1.5, -2.0, 0.0], 'Expected numbers such as 1.5 -2 0, got: two')
    """
    found = []
    for part in re.split(r"[\s,;]+", text.strip()):
        try:
            value = float(part)
        except ValueError:
            value = float("nan")
        if not abs(value) <= 1e6:
            return f"Expected numbers such as 1.5 -2 0, got: {part[:40] or 'nothing'}"
        found.append(value)
    return (
        found
        if len(found) <= MOST_RELEVANT
        else f"Expected at most {MOST_RELEVANT} numbers, got {len(found)}"
    )
