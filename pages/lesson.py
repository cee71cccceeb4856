"""The first lesson, why optimise AP: one query ranked by two methods, and one image that moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from pages.parts.app import cache, frame, keys
from pages.parts.charts import measures, moving_image, plots
from pages.parts.charts.moving_image import DEFAULT_K, OTHERS, RELEVANT, SHOWN
from pages.parts.comparison import compared_rankings
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.lessons import all_actions, lesson_comparison, lesson_steps
from pages.parts.lessons.lesson_comparison import LessonComparison, MethodResult
from pages.parts.lessons.lesson_settings import WHY_AP as LESSON
from pages.parts.lessons.lesson_steps import Step
from ranking.core import ImageSet
from ranking.datasets.splits import blocks_of
from ranking.explain import moving
from ranking.metrics.comparison import Comparison
from ranking.metrics.ranked import Ranking
from ranking.reports.comparison_words import listed
from ranking.storage.run import Run

PAIR = LESSON.methods[0], LESSON.methods[1]
DOES = dict(zip(PAIR, ("for labels", "for ranks"), strict=True))
STEPS = ("1 · Two rankings", "2 · One image moves", "3 · Summary")
COLUMNS = 6

HEADLINES = (
    f"“{LESSON.query}” with {listed(LESSON.features)}: two methods, two rankings",
    f"{RELEVANT} of {SHOWN} show “{LESSON.query}”. Move one down: what does it cost?",
    "AP depends on *where* images rank, the error rate only on the *side of a cutoff*",
)

BOUNDS = (
    f"{PAIR[0]} learns to label: it minimises a bound on the weighted 0-1 loss. {PAIR[1]} learns to rank: it "
    "minimises a bound on 1 − AP."
)
WEIGHTED = (
    r"$\displaystyle\frac12\Bigl(\frac{m}{|P|}+\frac{f}{|N|}\Bigr)$: the error of labels. A sample is "
    "predicted relevant if its score is above the threshold; the threshold is the one that is best on the training "
    "samples. $m$ of $|P|$ relevant and $f$ of $|N|$ irrelevant people are misclassified. "
    "The same label for all people costs 0.5."
)


class Both(NamedTuple):
    """Both methods on the test samples."""

    images: ImageSet
    trained: Mapping[str, Run]
    rankings: Mapping[str, Ranking]
    # The rankings with scores shifted so that a score above 0 predicts relevant.
    labelled: Mapping[str, Ranking]

    @property
    def standings(self) -> tuple[MethodResult, MethodResult]:
        first, second = (lesson_comparison.standing(method, self.labelled[method]) for method in PAIR)
        return first, second


def steps() -> None:
    for step in lesson_steps.each_step(STEPS, keys.STEP):
        step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
        show_step(step)


def show_step(step: Step) -> None:
    trained = lesson_steps.trained(LESSON)
    images = cache.image_set(next(iter(trained.values())).settings["set"])
    rankings = {method: cache.ranking(run, "test") for method, run in trained.items()}
    if step.number == 2:
        lesson_steps.by_itself(show_moving)(images, rankings[LESSON.methods[-1]])
        st.caption(costs_text(*costs()))
        return
    labelled = {
        method: lesson_comparison.labelling(ranked, cache.ranking(trained[method], "train"))
        for method, ranked in rankings.items()
    }
    (show_rankings if step.number == 1 else show_summary)(step, Both(images, trained, rankings, labelled))


# ---------------------------------------------------------------------------------------------------------
# 1: one query, two methods
# ---------------------------------------------------------------------------------------------------------


def show_rankings(step: Step, both: Both) -> None:
    for column, stands in zip(st.columns(2, gap="large"), both.standings, strict=True):
        with column:
            show_method(both, stands)
    show_outcome(step, both)


def show_method(both: Both, stands: MethodResult) -> None:
    method = stands.method
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"### {method} {DOES[method]}", width="content", help=BOUNDS)
        st.metric("AP", f"{stands.average_precision:.3f}", help=measures.AP, width="content")
        st.metric("Weighted 0-1 loss", f"{stands.zero_one:.3f}", help=WEIGHTED, width="content")
    shown, first = tiles.top_tiles(both.images, both.rankings[method], SHOWN), stands.first_mistake
    flags = {shown[first - 1].id: "first error"} if first is not None and first <= SHOWN else {}
    label = f"The first {len(shown)} test samples as {method} ranks them"
    strip(shown, name=f"strip of {method}", label=label, columns=COLUMNS, narrow=4, flags=flags)
    link = {keys.RUN: both.trained[method].id}
    st.page_link("pages/ranked_images.py", label="Whole ranking", query_params=link)


def show_outcome(step: Step, both: Both) -> LessonComparison:
    """Show which method ranks better and which labels better, on this query and on average."""
    runs = list(both.trained.values())
    resampled, compared = (
        compared_rankings.resampled(runs, "test"),
        Comparison.of(list(both.labelled.values())),
    )
    loss = lesson_comparison.loss_difference(
        compared.relevance, compared.scores, blocks_of(both.images, compared.samples)
    )
    pair = LessonComparison(*both.standings, resampled.difference("AP", 1, 0), loss)
    st.markdown(f"### {lesson_comparison.compared(pair)}")
    own = all_actions.of_runs(list(both.trained), resampled, [PAIR])
    actions = all_actions.measured("why AP", both.images, LESSON.query, own)
    st.markdown(f"{all_actions.on_average(actions, [PAIR])} Features: {listed(LESSON.features)}.")
    return pair


# ---------------------------------------------------------------------------------------------------------
# 2: one image moves
# ---------------------------------------------------------------------------------------------------------


def show_moving(images: ImageSet, ranked: Ranking) -> None:
    place, k = moving_image.choose()
    order = moving.small_ranking(ranked, OTHERS, place)
    with frame.errors_in_place():
        moving_image.show_ranking(images, order, place)
    moving_image.show_measures(order, place, k)


def costs() -> tuple[list[float], list[float]]:
    """AP and the error rate at the cutoff by the rank of the moving image, each (n,)."""
    by_place = moving.measures_by_rank(OTHERS, DEFAULT_K)
    return [at.average_precision for at in by_place], [at.zero_one for at in by_place]


def costs_text(ap: Sequence[float], zero_one: Sequence[float]) -> str:
    """Say what the first and the last step down cost, and how often the error rate changes."""
    # Both arguments are (n,).
    return (
        f"**Notice** that the first step down costs {ap[0] - ap[1]:.3f} AP, the last {ap[-2] - ap[-1]:.3f}; the error "
        f"rate changes at {len(moving.changes(zero_one))} of {len(zero_one) - 1} steps."
    )


# ---------------------------------------------------------------------------------------------------------
# 3: summary
# ---------------------------------------------------------------------------------------------------------


def show_summary(step: Step, both: Both) -> None:
    ap, zero_one = costs()
    plots.cost_of_a_place(ap, zero_one, keys.widget("cost of a place"))
    st.caption(costs_text(ap, zero_one))
    pair = show_outcome(step, both)
    lesson_steps.offer_training(both.trained[LESSON.methods[-1]], "train it yourself")
    st.caption(
        f"{lesson_comparison.intervals(pair)} {lesson_comparison.why(pair)} “{LESSON.query}” and "
        f"{listed(LESSON.features)} were chosen from ten queries and five feature sets as an example where AP differs."
    )


frame.show_page("lesson", "What a method optimises decides what ranks first.", steps)
