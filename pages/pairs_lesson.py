"""The lesson about pairs and sequences: a sequence rules out more criteria than a few pairs.

Sometimes it helps to learn from subsequences.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import ablation_charts, plots
from pages.parts.charts.ablation_words import TAU
from pages.parts.components import film
from pages.parts.components.film import Strip
from pages.parts.lessons import lesson_steps, subsequence_worth
from pages.parts.lessons.lesson_settings import pairs_study
from pages.parts.lessons.lesson_steps import Step
from pages.parts.lessons.pair_cues import CUES, DRAWS, explained, pair_examples
from pages.parts.sequences import order_models
from pages.parts.sequences.order_models import frames_of
from pages.parts.training import jobs_panel, runs
from ranking.core import ImageSet, Ints
from ranking.experiments.ablations import FIGURES, FUSED, RANK_SVM
from ranking.features import default_names
from ranking.features.cnn import CNN
from ranking.metrics.ablation_curves import AblationResult
from ranking.reports.prose import markdown_table
from ranking.storage import jobs
from ranking.storage.run import ENDED

STEPS = ("1 · Pairs", "2 · A sequence", "3 · Rankers", "4 · Summary")
HEADLINES = (
    "In each pair the left image ranks first. Why?",
    "How many pairs does each criterion explain?",
    "Learning from ten sequences: pairs or subsequences?",
)

WHY = (
    "In sequences of eight different digits, each position shows similar digits, and MidRank has separate weights for "
    "each position."
)
KENDALL_TAU = "Kendall tau: the share of pairs in the right order minus that of the others."


def steps() -> None:
    lesson, settings = st.container(), st.container()
    with settings, st.expander("Other images"):
        row = order_models.choose_set()
        criterion = order_models.choose_criterion(row)
    with lesson:
        show_steps(cache.image_set(row.key), criterion)


def show_steps(images: ImageSet, criterion: str) -> None:
    for step in lesson_steps.each_step(STEPS, keys.PAIRS_STEP):
        if step.number == len(STEPS):
            show_summary(step)
        else:
            step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
            (show_pairs, show_sequence, show_rankers)[step.number - 1](images, criterion)


def show_film(images: ImageSet, criterion: str, rows: Ints, label: str, revealed: bool) -> None:
    """Show samples in the true order."""
    # revealed: with their values.
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
    examples, _ = pair_examples(images.key, criterion)
    for number, (column, pair) in enumerate(
        zip(st.columns(len(examples.pairs)), examples.pairs, strict=True)
    ):
        with column:
            show_film(images, criterion, pair, f"Pair {number + 1}", revealed=False)
    answers = [*CUES, "something else"]
    guess = controls.segments("Which criterion orders these pairs?", keys.GUESS, answers)
    if guess is None:
        return
    st.markdown(
        f"**These {len(examples.pairs)} pairs do not decide it.** In each, the left image is more colourful, "
        "brighter and first by a third criterion."
    )


def show_sequence(images: ImageSet, criterion: str) -> None:
    examples, cues = pair_examples(images.key, criterion)
    rows = examples.sequence
    show_film(images, criterion, rows, f"By “{criterion}”, the highest first", revealed=True)
    total = len(rows) * (len(rows) - 1) // 2
    explains = [(name, explained(rows, cue)) for name, cue in zip(CUES, cues.T, strict=True)]
    rows_of_table = [[name, f"{count} of {total}"] for name, count in explains]
    rows_of_table.append([f"{escaped(criterion)}, the highest first", f"{total} of {total}"])
    st.markdown(
        markdown_table(["Criterion", "Pairs explained"], rows_of_table),
        help="Colourful: the mean saturation of an image's pixels. Bright: the mean of their values.",
    )
    usual = " and ".join(f"{count:.1f}" for count in examples.usual)
    left = " and ".join(str(total - count) for _, count in explains)
    st.caption(
        f"**Notice**: colour and brightness leave {left} of {total} pairs unexplained. Of {DRAWS} sequences "
        f"they explain this one least; on average they explain {usual}."
    )


def show_rankers(images: ImageSet, criterion: str) -> None:
    """Show RankSVM, which learns from pairs, and rankers of longer subsequences of the same sequences."""
    # The bundled study does not use CNN.
    features = tuple((name, {}) for name in default_names(images) if name != CNN.name)
    settings = pairs_study(images.key, features, criterion)
    run = runs.best_equal(home.store(), "study", settings.to_json())
    if run is not None and run.state not in ENDED:
        jobs_panel.watch(run)
        return
    if run is None or run.state != "finished":
        if run is not None:
            jobs_panel.explain_end(run)
        if frame.pressed(
            "Train RankSVM and MidRank", keys.widget("train the lesson's rankers"), type="primary"
        ):
            with frame.errors_in_place():
                jobs.start_once(home.store(), "study", settings.to_json())
                st.rerun()
        st.caption("RankSVM learns from pairs, MidRank from subsequences of 3 to 8.")
        return
    with home.missing_as_error():
        outcome = AblationResult.from_json(run.result)
    curves = {curve.line: curve.measures[TAU] for curve in outcome.curves}
    own, baseline = (
        f"{curve.mean[0]:.3f} ± {curve.error[0]:.3f}" for curve in (curves[FUSED], curves[RANK_SVM])
    )
    st.markdown(f"### Kendall tau: MidRank {own}, RankSVM {baseline}", help=KENDALL_TAU)
    figure = ablation_charts.figure_of(outcome.curves, TAU, FIGURES[settings.study].across, (), "")
    alt = ablation_charts.in_words(outcome.curves, TAU)
    plots.show(figure, keys.widget("lesson of pairs"), alt, "pairs-and-subsequences", height=340, top=8)
    sequences = settings.drawing
    st.caption(
        f"Trained on {sequences['train']} sequences of {sequences['length']}, tested on {sequences['test']} with other "
        "images; bars: 95% confidence intervals over sequences. RankSVM learns from pairs. MidRank has a ranker for "
        "each length of subsequences, and they vote."
    )
    if frame.pressed("Measure it yourself", "to the page lengths"):
        st.switch_page("pages/lengths.py", query_params=address.only(**{keys.ABLATION_RUN: run.id}))


def show_summary(step: Step) -> None:
    """Show when subsequences help: on digits, in two kinds of sequences."""
    worths = subsequence_worth.measured()
    step.headline.markdown(f"## {subsequence_worth.summed_up(worths)}")
    st.markdown(subsequence_worth.table(worths), help=WHY)
    st.caption(
        f"Mean Kendall tau on {worths.test} sequences of {worths.length}, trained on {worths.train}; paired bootstrap "
        "over sequences."
    )
    frame.next_step("Train both yourself", "sequences")


frame.show_page("pairs_lesson", "A sequence shows more than a few pairs.", steps)
