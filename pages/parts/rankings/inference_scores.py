"""The scores for the most violated ranking: of a model, sampled, or typed."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.app.home import EACH
from pages.parts.rankings import choices
from pages.parts.training import runs
from ranking.core import Bools, Floats, ImageSet, Ints
from ranking.losses import AveragePrecision, RankingLoss, loss_names, make_loss
from ranking.metrics.ranked import Ranking
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.run_files import read_scores

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.inference_steps import InferenceProblem, Trace

MODEL, SAMPLED, TYPED = "a model's", "sampled", "typed"
SCALES = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# samples of a model that are shown; more cannot be distinguished
MAX_RELEVANT, MAX_IRRELEVANT = 60, 540
# of the lesson
FEW_RELEVANT, FEW_IRRELEVANT = 3, 5
TYPED_SCORES = "1.4 0.6 0.1", "1.1 0.8 0.3 -0.2 -0.7"


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores (n,) and relevance (n,) of the samples of a problem."""

    scores: Floats
    relevant: Bools
    # The image set and the rows (n,) of the samples, if they belong to one.
    images: ImageSet | None = None
    rows: Ints | None = None
    # A remark about the scores, or "".
    note: str = ""
    # Whose scores they are.
    run: Run | None = None

    @property
    def token(self) -> str:
        """A content hash."""
        digest = hashlib.sha256(np.ascontiguousarray(self.scores, np.float64).tobytes())
        digest.update(np.ascontiguousarray(self.relevant, np.bool_).tobytes())
        return digest.hexdigest()


def choose() -> Scores:
    """The scores in the URL; ends the page if there are none."""
    run, listed = runs.chosen(), with_scores()
    left, right = st.columns([2, 5], gap="medium", vertical_alignment="bottom")
    with left:
        first = MODEL if listed else SAMPLED
        source = controls.segments("Scores", keys.SCORES, (MODEL, SAMPLED, TYPED), first)
    with right:
        if source == MODEL:
            return of_model(run, listed)
        return sampled() if source == SAMPLED else typed()


def choose_loss(run: Run | None) -> RankingLoss:
    """A registered loss at default settings, or the loss of the chosen run."""
    own = runs.loss_of(run) if run is not None else None
    losses = {loss.key: loss for loss in [*map(make_loss, loss_names()), *([own] if own else [])]}
    titles = {key: loss.title for key, loss in losses.items()}
    return losses[controls.segments("Loss", keys.LOSS, titles, AveragePrecision().key)]


def choose_scale() -> float:
    """The factor of all scores: at 0 only the loss counts, as at the start of training at w = 0."""
    bound = address.bound(
        keys.TIMES,
        address.one_of(SCALES, show=lambda scale: f"{scale:g}"),
        1.0,
        show=lambda scale: f"{scale:g}",
    )
    return float(
        st.select_slider(
            "Multiply all scores by",
            SCALES,
            format_func=lambda scale: f"{scale:g}",
            help="Training starts with all weights and scores at 0, where only the loss counts; then the scores grow.",
            **bound,
        )
    )


def address_of(run: Run) -> dict[str, str] | None:
    """The URL parameters of the most violated ranking for a run's scores."""
    # None if its method does not use one.
    loss = runs.loss_of(run)
    if loss is None:
        return None
    return {keys.RUN: run.id, keys.SCORES: MODEL, keys.SPLIT: "train", keys.LOSS: loss.key}


# ---------------------------------------------------------------------------------------------------------
# Scores of a model
# ---------------------------------------------------------------------------------------------------------


def with_scores() -> list[Run]:
    """Training runs with scores: running ones, then those whose training uses most violated rankings."""
    here = {row.key for row in home.store().sets.rows()}
    live = [
        run
        for run in home.store().runs.all(task=SAMPLES)
        if run.state not in ENDED and run.scores_so_far_file.exists() and run.settings["set"] in here
    ]
    return [*live, *sorted(runs.with_scores(), key=lambda run: not runs.has_loss(run))]


def of_model(named: Run | None, listed: list[Run]) -> Scores:
    if not listed:
        frame.show_empty_state("No rankings yet. Train a method first", "Train a method", "train")
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        lacks = named is not None and named.id not in [run.id for run in listed]
        run = choices.choose(
            listed, f"Run {named.id} is {named.state} and has no scores." if named and lacks else None
        )
    images = cache.image_set(run.settings["set"])
    if run.state not in ENDED:
        return so_far(run, images)
    with right:
        split = choices.split(images, "train")
    return replace(thinned(images, cache.ranking(run, split)), run=run)


def so_far(run: Run, images: ImageSet) -> Scores:
    """The scores in the last most violated ranking of a running training run."""
    rows = np.flatnonzero(~images.test)
    with home.missing_as_error():
        scores = read_scores(run.scores_so_far_file, f"run {run.id}", len(rows))
    note = f"This run is still running: these are the latest scores of its {len(rows):,} training samples."
    relevance = images.relevance(run.settings["query"], run.corrections)
    given = thinned(images, Ranking.of(rows, relevance[rows], scores))
    return replace(given, note=note, run=run)


def thinned(images: ImageSet, ranked: Ranking) -> Scores:
    """The samples of a ranking, at most MAX_RELEVANT and MAX_IRRELEVANT, evenly spaced along the ranking."""
    # In the order of the set, because sorting is part of the algorithms.
    if not 0 < ranked.positives < len(ranked):
        frame.show_empty_state(
            "This split has only relevant or only irrelevant samples. A violated ranking needs both",
            "Train a method",
            "train",
        )
    places = _evenly(ranked, MAX_RELEVANT, MAX_IRRELEVANT)
    places = places[np.argsort(ranked.samples[places])]
    note = f"{len(places)} of {len(ranked):,} samples, evenly spaced along the ranking."
    return _scores_of(images, ranked, places, "" if len(places) == len(ranked) else note)


def _evenly(ranked: Ranking, relevant: int, irrelevant: int, part: float = 1.0) -> Ints:
    """Positions in a ranking: at most `relevant` and `irrelevant` samples, evenly spaced."""
    # Along the first `part` of the relevant and of the irrelevant samples.
    kept = []
    for kind, most in ((ranked.relevance > 0, relevant), (ranked.relevance == 0, irrelevant)):
        places = np.flatnonzero(kind)
        last = int(part * (len(places) - 1) + 0.5)
        kept.append(places[np.linspace(0, last, min(most, len(places))).round().astype(int)])
    return np.concatenate(kept)


def _scores_of(images: ImageSet, ranked: Ranking, places: Ints, note: str = "") -> Scores:
    return Scores(ranked.scores[places], ranked.relevance[places] > 0, images, ranked.samples[places], note)


def handful(images: ImageSet, ranked: Ranking) -> Scores:
    """A few relevant and irrelevant samples, evenly spaced along the top half of each."""
    places = _evenly(ranked, FEW_RELEVANT, FEW_IRRELEVANT, part=0.5)
    return _scores_of(images, ranked, np.sort(places))


# ---------------------------------------------------------------------------------------------------------
# Sampled and typed scores
# ---------------------------------------------------------------------------------------------------------


def sampled() -> Scores:
    """Normally distributed scores; the mean for relevant samples is higher by a chosen difference."""
    positives, negatives, apart, seed = keys.SAMPLED
    with st.container(horizontal=True, vertical_alignment="bottom"):
        p = controls.number("Relevant", positives, 1, MAX_RELEVANT, 6, width=130)
        n = controls.number("Irrelevant", negatives, 1, MAX_IRRELEVANT, 24, width=130)
        bound = address.bound(apart, address.number(float, -5, 5), 1.0)
        distance = float(
            st.number_input("Mean difference", -5.0, 5.0, step=0.5, format="%g", width=130, **bound)
        )
        random = np.random.default_rng(controls.number("Seed", seed, 0, 9999, 0, width=110))
    relevant = random.permutation(np.arange(p + n) < p)
    return Scores(random.normal(size=p + n) + distance * relevant, relevant)


def typed() -> Scores:
    """Typed scores of relevant and irrelevant samples."""
    values: list[list[float]] = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = [
            st.text_input(label, **address.bound(name, str, default))
            for label, name, default in zip(
                ("Scores of relevant samples", "Scores of irrelevant samples"),
                (keys.TYPED_RELEVANT, keys.TYPED_IRRELEVANT),
                TYPED_SCORES,
                strict=True,
            )
        ]
    for text in texts:
        try:
            values.append(numbers_of(text))
        except ValueError as error:
            st.info(str(error), icon=":material/info:")
    if len(values) < len(texts):
        frame.end_page()
    plus, minus = map(np.array, values)
    return Scores(np.concatenate([plus, minus]), np.arange(len(plus) + len(minus)) < len(plus))


def numbers_of(text: str) -> list[float]:
    """The numbers in a text, separated by blanks or commas; ValueError if the text is invalid.

    >>> numbers_of("1.5, -2 0")
    [1.5, -2.0, 0.0]
    """
    numbers = []
    for part in re.split(r"[\s,;]+", text.strip()):
        try:
            value = float(part)
        except ValueError:
            value = float("nan")
        if not abs(value) <= 1e6:
            raise ValueError(f"Expected numbers such as 1.5 -2 0, got: {part[:40] or 'nothing'}")
        numbers.append(value)
    if len(numbers) > MAX_RELEVANT:
        raise ValueError(f"Expected at most {MAX_RELEVANT} numbers, got {len(numbers)}")
    return numbers


# ---------------------------------------------------------------------------------------------------------
# Loss-augmented inference
# ---------------------------------------------------------------------------------------------------------


def inference_problem(given: Scores, loss: RankingLoss) -> InferenceProblem:
    return _inference_problem(given.token, loss.key, given, loss)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _inference_problem(token: str, loss: str, _given: Scores, _loss: RankingLoss) -> InferenceProblem:
    from ranking.explain.inference_steps import InferenceProblem

    return InferenceProblem.of(_given.scores, _given.relevant, _loss)


def inference_trace(token: str, problem: InferenceProblem, algorithm: str) -> Trace:
    """All steps of an algorithm on the problem whose scores have this token."""
    return _inference_trace(token, problem.loss.key, algorithm, problem)


@st.cache_resource(show_spinner="Searching for the most violated ranking …", max_entries=64)
def _inference_trace(token: str, loss: str, algorithm: str, _problem: InferenceProblem) -> Trace:
    from ranking.explain.inference_steps import trace_of

    return trace_of(_problem, algorithm)
