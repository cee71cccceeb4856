"""The first lesson: why optimise AP? One query ranked by two methods, and one image that moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import streamlit as st

from pages.parts.app import cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.runs import lessons, rivals
from pages.parts.runs.lessons import Step
from pages.parts.runs.rivals import Rivals, Standing
from pages.parts.views import all_actions, charts, measures, moving_image
from pages.parts.views.moving_image import DEFAULT_K, OTHERS, RELEVANT, SHOWN
from ranking.core import ImageSet
from ranking.datasets.splits import blocks_of
from ranking.metrics import moving
from ranking.metrics.comparison import Comparison
from ranking.metrics.moving import Measures
from ranking.metrics.ranked import Ranking
from ranking.reports.comparison_words import listed
from ranking.workspace.run import Run

LESSON = lessons.WHY_AP
PAIR = LESSON.methods[0], LESSON.methods[1]
STEPS = ("1 · Two rankings", "2 · One image moves", "3 · Summary")
COLUMNS = 6

HEADLINES = (
    f"Query “{LESSON.query}”: two methods, two rankings",
    f"{RELEVANT} of {SHOWN} show “{LESSON.query}”. What does moving one cost?",
    "AP depends on *where* the relevant images rank, the error rate only on *which side of a cutoff*.",
)

WEIGHTED = (
    r"$\displaystyle\frac12\Bigl(\frac{m}{|P|}+\frac{f}{|N|}\Bigr)$: above the threshold that is best on the "
    "training samples a score predicts relevant. $m$ of $|P|$ relevant and $f$ of $|N|$ "
    "irrelevant people are misclassified. The same label for everybody costs 0.5."
)


def steps() -> None:
    for step in lessons.each_step(STEPS, keys.STEP):
        step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
        show_step(step)


def show_step(step: Step) -> None:
    trained = LESSON.trained()
    images = cache.image_set(next(iter(trained.values())).settings["set"])
    rankings = {method: cache.ranking(run, "test") for method, run in trained.items()}
    if step.number == 2:
        lessons.by_itself(show_moving)(step, images, rankings[LESSON.methods[-1]])
        return
    labelled = {
        method: rivals.labelling(ranked, cache.ranking(trained[method], "train"))
        for method, ranked in rankings.items()
    }
    standings = [rivals.standing(method, ranked, SHOWN) for method, ranked in labelled.items()]
    if step.number == 1:
        for column, stands in zip(st.columns(2, gap="large"), standings, strict=True):
            with column:
                show_rival(images, trained[stands.method], rankings[stands.method], stands)
        show_outcome(step, images, trained, labelled, standings)
    else:
        show_summary(step, images, trained, labelled, standings)


# ---------------------------------------------------------------------------------------------------------
# 1: one query, two methods
# ---------------------------------------------------------------------------------------------------------


def show_outcome(
    step: Step,
    images: ImageSet,
    trained: Mapping[str, Run],
    labelled: Mapping[str, Ranking],
    standings: Sequence[Standing],
) -> Rivals:
    """Which method does what better on this query, and beside it the average of all actions."""
    runs = list(trained.values())
    resampled, compared = cache.redrawn(runs, "test"), Comparison.of(list(labelled.values()))
    loss = rivals.loss_difference(compared.relevance, compared.scores, blocks_of(images, compared.samples))
    first, second = standings
    pair = Rivals(first, second, resampled.difference("AP", 1, 0), loss)
    step.end(f"### {rivals.compared(pair)} {rivals.verdict(pair)}", headline=True)
    own = all_actions.of_runs(list(trained), resampled, [PAIR])
    actions = all_actions.measured("why AP", images, LESSON.query, own)
    st.markdown(f"{all_actions.on_average(actions, [PAIR])} AP {all_actions.counted(actions, PAIR)}.")
    return pair


def show_rival(images: ImageSet, run: Run, ranked: Ranking, stands: Standing) -> None:
    method = stands.method
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"### {method}", width="content")
        st.metric("AP", f"{stands.average_precision:.3f}", help=measures.AP, width="content")
        st.metric(f"P@{SHOWN}", f"{stands.precision:.3f}", help=measures.PRECISION, width="content")
        st.metric("Weighted 0-1 loss", f"{stands.zero_one:.3f}", help=WEIGHTED, width="content")
    shown, first = tiles.top_tiles(images, ranked, SHOWN), stands.first_mistake
    flags = {shown[first - 1].id: "first error"} if first is not None and first <= SHOWN else {}
    label = f"The first {len(shown)} test samples as {method} ranks them"
    strip(shown, name=f"strip of {method}", label=label, columns=COLUMNS, narrow=4, flags=flags)
    right = int(np.count_nonzero(ranked.relevance[:SHOWN]))
    notice = f"**Notice**: {right} of {SHOWN} are relevant."
    if first is not None:
        shows = escaped(tiles.shows(images, int(ranked.samples[first - 1])))
        notice += f" First error: rank **{first}**, “{shows}”."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(notice, width="content")
        link = {keys.RUN: run.id}
        st.page_link("pages/ranked_images.py", label="Whole ranking", query_params=link, width="content")


# ---------------------------------------------------------------------------------------------------------
# 2: one image moves
# ---------------------------------------------------------------------------------------------------------


def show_moving(step: Step, images: ImageSet, ranked: Ranking) -> None:
    place, k = moving_image.choose()
    order = moving.small_ranking(ranked, OTHERS, place)
    with frame.in_place():
        moving_image.show_ranking(images, order, place)
    moving_image.show_measures(order, place, k)
    by_place = moving.measures_by_rank(OTHERS, k)
    step.end(
        f"**Notice** how AP and NDCG fall: {falls_text(by_place)}. P@{k} "
        f"{changes_text([measured.precision for measured in by_place])}; the error rate at the cutoff "
        f"{changes_text([measured.zero_one for measured in by_place])}. {next_step_text(by_place, place)}"
    )


def falls_text(by_place: Sequence[Measures]) -> str:
    """Say what the first and the last step down cost in AP and NDCG."""
    costs = [
        [getattr(now, field) - getattr(then, field) for now, then in pairwise(by_place)]
        for field in ("average_precision", "ndcg")
    ]
    first, last = (" and ".join(f"{cost[at]:.3f}" for cost in costs) for at in (0, -1))
    return f"by {first} at the first step down, by {last} at the last"


def changes_text(values: Sequence[float]) -> str:
    """Say at how many steps down a measure (n,) by rank changes."""
    steps, places = len(values) - 1, moving.changes(values)
    if not places:
        return "does not change at all"
    if len(places) == 1:
        return f"changes at one step of {steps}, {down_from(places[0])}"
    return f"changes at {len(places)} steps of {steps}"


def down_from(place: int) -> str:
    return f"{place} → {place + 1}"


def next_step_text(by_place: Sequence[Measures], place: int) -> str:
    """Say what moving down one rank costs in AP and in the error rate at the cutoff."""
    if place == len(by_place):
        return "It cannot move further down."
    now, then = by_place[place - 1], by_place[place]
    fall = now.average_precision - then.average_precision
    rise = then.zero_one - now.zero_one
    return f"Moving down one rank costs {fall:.3f} AP and adds {rise:.3f} to the error rate."


# ---------------------------------------------------------------------------------------------------------
# 3: summary
# ---------------------------------------------------------------------------------------------------------


def show_summary(
    step: Step,
    images: ImageSet,
    trained: Mapping[str, Run],
    labelled: Mapping[str, Ranking],
    standings: Sequence[Standing],
) -> None:
    by_place = moving.measures_by_rank(OTHERS, DEFAULT_K)
    ap = [measured.average_precision for measured in by_place]
    zero_one = [measured.zero_one for measured in by_place]
    charts.cost_of_a_place(ap, zero_one, keys.widget("cost of a place"))
    st.caption(costs_caption(ap, zero_one))
    pair = show_outcome(step, images, trained, labelled, standings)
    st.caption(
        f"{rivals.intervals(pair)} {rivals.why(*standings)} “{LESSON.query}” and the features "
        f"{listed(LESSON.features)} were chosen, of ten queries and five sets of features, as an example "
        "where AP differs."
    )
    lessons.offer_training(trained[LESSON.methods[-1]], "train it yourself")


def costs_caption(ap: Sequence[float], zero_one: Sequence[float]) -> str:
    """Say at which ranks moving down costs AP and at which it costs nothing; both measures are (n,) by rank."""
    gaps = sorted(set(range(1, len(ap))) - set(moving.changes(ap)))
    free = ", ".join(down_from(place) for place in gaps)
    return (
        "What moving down one rank costs the image of step 2. **Notice**: from rank 1 to 2 it costs "
        f"{ap[0] - ap[1]:.3f} AP, from {SHOWN - 1} to {SHOWN} {ap[-2] - ap[-1]:.3f}. At the gaps ({free}) it passes "
        f"another relevant image. Striped: the error rate at the cutoff {changes_text(zero_one)}."
    )


frame.show_page(
    "lesson",
    "Two methods rank the same images; the loss that each one optimises decides what comes first.",
    steps,
)
