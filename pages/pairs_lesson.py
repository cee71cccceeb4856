"""The lesson about pairs: what did these pairs mean? A sequence tells, and a ranker of subsequences learns from it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components import film
from pages.parts.runs import jobs_panel, lessons, order_models
from pages.parts.runs.order_models import frames_of
from pages.parts.studies import ablation_charts
from pages.parts.studies.ablation_words import TAU, WORDS
from pages.parts.views import charts
from pages.parts.views.pair_cues import CUES, explained
from pages.parts.views.strips import Strip
from ranking.core import ImageSet, Ints
from ranking.core.run_settings import AblationSettings
from ranking.experiments.ablations import FIGURES
from ranking.features import default_names
from ranking.jobs import jobs
from ranking.metrics.ablation_curves import AblationResult
from ranking.workspace.run import ENDED

STEPS = ("1 · Pairs", "2 · A sequence", "3 · Rankers")
HEADLINES = (
    "In each pair the left one goes first. By what?",
    "One sequence tells more than its pairs seem to",
    "Learn from ten sequences: by pairs, or by subsequences?",
)
STUDY = "subsequence length"
DRAWING = {"length": 8, "train": 10, "test": 500}


def steps() -> None:
    row = order_models.choose_set()
    criterion = order_models.choose_criterion(row)
    images = cache.image_set(row.key)
    for step in lessons.each_step(STEPS, keys.PAIRS_STEP):
        step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
        (show_pairs, show_sequence, show_rankers)[step.number - 1](images, criterion)
        step.offer_next()


def show_film(images: ImageSet, criterion: str, rows: Ints, label: str, revealed: bool) -> None:
    """Samples in the right order; told: with their numbers."""
    count = len(rows)
    strip = Strip(label, "", tuple(range(count)))
    film.film(
        frames_of(images, criterion, rows, np.arange(count)[::-1]),
        [] if revealed else [strip],
        truth=strip if revealed else None,
        token=f"{label} {rows.tolist()}",
        label=label,
        key=keys.widget(f"{label} {revealed}"),
    )


def show_pairs(images: ImageSet, criterion: str) -> None:
    examples, _ = cache.pair_examples(images.key, criterion)
    for number, (column, pair) in enumerate(
        zip(st.columns(len(examples.pairs)), examples.pairs, strict=True)
    ):
        with column:
            show_film(images, criterion, pair, f"Pair {number + 1}", revealed=False)
    answers = [*CUES, "something else"]
    guess = controls.segments("What do these pairs mean?", keys.GUESS, answers)
    if guess is None:
        st.caption("What would you tell a friend who has to go on in the same way? Choose an answer above.")
        return
    right = "It could be" if guess in CUES else "It could be that, too"
    st.markdown(
        f"**{right}: these {len(examples.pairs)} pairs cannot tell.** In every one the left picture is more colourful, "
        "and brighter, and goes first by a third criterion. All three explain all that you have seen."
    )


def show_sequence(images: ImageSet, criterion: str) -> None:
    examples, cues = cache.pair_examples(images.key, criterion)
    rows = examples.sequence
    show_film(images, criterion, rows, f"By “{criterion}”, the highest first", revealed=True)
    total = len(rows) * (len(rows) - 1) // 2
    explains = [(name, explained(rows, cue)) for name, cue in zip(CUES, cues.T, strict=True)]
    listed = "\n".join(f"| {name} | {count} of {total} |" for name, count in explains)
    st.markdown(
        f"| If it meant that … | pairs of this sequence that it explains |\n|---|---|\n{listed}\n"
        f"| {escaped(criterion)}, the highest first | {total} of {total} |"
    )
    st.caption(
        f"{len(rows)} images in order hold {total} pairs, which all have to fit. **Notice** that colour and brightness "
        f"leave {' and '.join(str(total - count) for _, count in explains)} of them unexplained. Colourful is the mean "
        "saturation of an image's pixels, bright the mean of their values. Of fifty sampled sequences this is the one "
        "of which both tell least, turned around too."
    )


def settings_of(images: ImageSet, criterion: str) -> AblationSettings:
    """The study of the lesson: ten training sequences, all lengths."""
    features = tuple((name, {}) for name in default_names(images))
    return AblationSettings(images.key, features, criterion, STUDY, {}, DRAWING)


def show_rankers(images: ImageSet, criterion: str) -> None:
    """RankSVM, which learns from pairs, beside the rankers of longer subsequences, from the same ten sequences."""
    settings = settings_of(images, criterion).to_json()
    run = lessons.best_equal(cache.store(), "study", settings)
    if run is not None and run.state not in ENDED:
        jobs_panel.watch(run)
        return
    if run is None or run.state != "finished":
        if run is not None:
            jobs_panel.explain_end(run)
        if frame.pressed("Train them", keys.widget("train the lesson's rankers"), type="primary"):
            jobs.start_once(cache.store(), "study", settings)
            st.rerun()
        st.caption("RankSVM learns from pairs, MidRank from subsequences of 3 to 8. It takes half a minute.")
        return
    with cache.or_gone():
        outcome = AblationResult.from_json(run.result)
    figure = ablation_charts.figure_of(outcome.curves, TAU, FIGURES[STUDY].across, (), "")
    alt = ablation_charts.in_words(outcome.curves, TAU)
    charts.show(figure, keys.widget("lesson of pairs"), alt, "pairs-and-subsequences", height=380, top=8)
    notice = WORDS[STUDY].notice({curve.line: curve for curve in outcome.curves})
    st.caption(
        f"Trained on {DRAWING['train']} sequences of {DRAWING['length']}, tested on {DRAWING['test']} of other images; "
        f"bars are 95% intervals over sequences. **Notice** {escaped(notice)}"
    )
    if frame.pressed("Measure it yourself", "to the page lengths", type="primary"):
        st.switch_page("pages/lengths.py", query_params=address.only(**{keys.ABLATION_RUN: run.id}))


frame.show_page("pairs_lesson", "A few ordered pairs leave the criterion open; a sequence reveals it.", steps)
