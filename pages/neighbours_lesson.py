"""The lesson about neighbours: methods with and without a similarity graph.

It shows the people whom neighbours move up and down, and a scene in which neighbours mislead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, home, keys, menu
from pages.parts.app.frame import escaped
from pages.parts.charts import measures
from pages.parts.charts.measures import ends
from pages.parts.comparison import compared_rankings
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.lessons import all_actions, lesson_steps, neighbour_captions
from pages.parts.lessons.lesson_settings import NEIGHBOURS as LESSON
from pages.parts.lessons.lesson_steps import Step
from pages.parts.lessons.neighbour_captions import LEARNED, OFF
from pages.parts.neighbours import graph_models
from pages.parts.studies import experiment_results
from pages.parts.training import runs
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.comparison_words import listed
from ranking.reports.prose import change
from ranking.storage.run import Run
from ranking.storage.run_settings import ExperimentSettings

if TYPE_CHECKING:
    from ranking.explain.edge_strength import EdgeStrengthCurve

STEPS = ("1 · Rankings", "2 · Up", "3 · Down", "4 · Misled", "5 · Summary")
UP, DOWN, MISLED, SUMMARY = 2, 3, 4, 5
# whose edges are switched off and on
MODEL = "HOAP-SVM"
SHOWN = 8

HEADLINES = (
    f"“{LESSON.query}” with {listed(LESSON.features)}",
    "A relevant person in their scene",
    "An irrelevant person in their scene",
    "A scene without relevant people",
)

MAX_MARGINALS = (
    " A score is the difference of two max-marginals: the value of the best labelling with the person relevant, minus "
    "that with the person irrelevant."
)
COST = (
    r"An edge between different labels costs $t\cdot\eta\,w_2^\top\Phi(x_i,x_j)$; $t$ is the edge strength."
)


def steps() -> None:
    for step in lesson_steps.each_step(STEPS, keys.NEIGHBOURS_STEP):
        show_step(step)


def show_step(step: Step) -> None:
    if step.number == 1:
        step.headline.markdown(f"## {HEADLINES[0]}")
    trained = lesson_steps.trained(LESSON)
    images = cache.image_set(trained[MODEL].settings["set"])
    if step.number == 1:
        show_pairs(images, trained)
        return
    # takes seconds once, before the new headline
    strength_curve = graph_models.strength_curve(trained[MODEL])
    if step.number == SUMMARY:
        show_summary(step, images, trained, strength_curve)
        return
    step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
    person, people = None, strength_curve.most_misled()
    if step.number != MISLED:
        person = strength_curve.most_raised() if step.number == UP else strength_curve.most_lowered()
        people = None if person is None else strength_curve.of_image(int(strength_curve.image_of[person]))
    if people is None:
        st.info(f"{NO_EXAMPLE[step.number]} by neighbours here.", icon=":material/info:")
    else:
        lesson_steps.by_itself(show_scene)(images, strength_curve, people, step.number, person)


NO_EXAMPLE = {
    UP: "No relevant person is moved up",
    DOWN: "No irrelevant person is moved down",
    MISLED: "No scene without relevant people is moved up as a whole",
}


def all_measured(images: ImageSet, trained: Mapping[str, Run]) -> all_actions.Measured:
    """Return the results of all actions; those of the lesson's action are of its own runs."""
    resampled = compared_rankings.resampled(list(trained.values()), "test")
    own = all_actions.of_runs(list(trained), resampled, neighbour_captions.PAIRS)
    return all_actions.measured("neighbours", images, LESSON.query, own)


# ---------------------------------------------------------------------------------------------------------
# 1: with and without neighbours
# ---------------------------------------------------------------------------------------------------------


def show_pairs(images: ImageSet, trained: Mapping[str, Run]) -> None:
    for column, pair in zip(st.columns(2, gap="large"), neighbour_captions.PAIRS, strict=True):
        with column:
            for method in pair:
                show_ranking(images, method, cache.ranking(trained[method], "test"))
    actions = all_measured(images, trained)
    own = actions[LESSON.query]
    st.markdown(
        f"### With neighbours, at default settings: {neighbour_captions.compared(own.precisions, own.gains)}."
    )
    show_with_chosen_settings(trained)
    st.caption(
        "Same letter: one scene.",
        help="HOB-SVM is SVM, and HOAP-SVM is AP-SVM, with a penalty for two people of a scene with different labels.",
    )
    with frame.errors_in_place():
        all_actions.show(actions, LESSON)
        intervals = "; ".join(f"{with_graph}, {ends(gain)}" for (_, with_graph), gain in own.gains.items())
        st.caption(f"“{LESSON.query}” was chosen as an example where neighbours help: {intervals}.")


def show_ranking(images: ImageSet, method: str, ranked: Ranking) -> None:
    first = first_mistake(ranked.relevance)
    st.markdown(f"### {method}: AP {ranked.average_precision:.3f}", help=measures.AP)
    scenes = neighbour_captions.shared(images.image_of[ranked.samples[:SHOWN]])
    shown = [
        replace(tile, alt=f"{tile.alt}, scene {scene}") if scene else tile
        for tile, scene in zip(tiles.top_tiles(images, ranked, SHOWN), scenes, strict=True)
    ]
    strip(
        shown,
        name=f"strip of {method}",
        label=f"The first {len(shown)} test samples as {method} ranks them",
        columns=SHOWN,
        narrow=4,
        flags={shown[first - 1].id: "first error"} if first is not None and first <= SHOWN else {},
        brackets={tile.id: scene for tile, scene in zip(shown, scenes, strict=True) if scene},
    )


# ---------------------------------------------------------------------------------------------------------
# 2 to 4: one scene
# ---------------------------------------------------------------------------------------------------------


def choose_strength(strength_curve: EdgeStrengthCurve, repeated: bool) -> float:
    """Choose the edge strength."""
    # repeated: an earlier step of the page has the slider.
    parse = address.number(float, OFF, float(strength_curve.strengths[-1]))
    if repeated:
        strength = address.read(keys.STRENGTH, parse, LEARNED)
        st.markdown(f"Edge strength: **{strength:g}**")
        return float(strength)
    bound = address.bound(keys.STRENGTH, parse, LEARNED, "{:g}".format)
    label, most = "Edge strength (0: off, 1: as learned)", float(strength_curve.strengths[-1])
    return float(st.slider(label, OFF, most, step=0.1, format="%.1f", help=COST, **bound))


def show_scene(
    images: ImageSet, strength_curve: EdgeStrengthCurve, people: Ints, step: int, person: int | None
) -> None:
    """Show a scene and the ranks of its people by edge strength."""
    # people: positions of the scene among the test samples. person: the position of the person that the step
    # is about; None if it is about the whole scene.
    left, right = st.columns([2, 3], gap="large")
    with right:
        first = next(
            number for number in (UP, DOWN, MISLED) if number == step or shown_before(strength_curve, number)
        )
        now = strength_curve.at(choose_strength(strength_curve, lesson_steps.on_one_page() and first < step))
    names = letters(len(people))
    with left, frame.errors_in_place():
        show_people(images, strength_curve, people, names, now, person, step)
    with right:
        neighbour_captions.places_by_strength(
            strength_curve.strengths,
            strength_curve.ranks[:, people],
            strength_curve.relevance[people] > 0,
            names,
            now,
            keys.widget(f"places by strength {step}"),
        )
        if person is None:
            summary = neighbour_captions.misleading(strength_curve, people, LESSON.query)
        else:
            summary = neighbour_captions.moving(strength_curve, people, person, names)
        st.markdown(f"### {summary}")
        strength, precision = strength_curve.strengths[now], strength_curve.average_precision[now]
        st.caption(
            f"Test AP at strength {strength:g} is **{precision:.3f}**, without edges "
            f"{strength_curve.precision_at(OFF):.3f}.{MAX_MARGINALS if step == UP else ''}"
        )
    menu.show_again()


def shown_before(strength_curve: EdgeStrengthCurve, number: int) -> bool:
    """Return whether the step of this number has a scene to show."""
    scenes = {
        UP: strength_curve.most_raised,
        DOWN: strength_curve.most_lowered,
        MISLED: strength_curve.most_misled,
    }
    return scenes[number]() is not None


def letters(count: int) -> list[str]:
    """Return names of people: A, B, ...; numbers if there are more than 26."""
    return [chr(ord("A") + i) if count <= 26 else f"{i + 1}" for i in range(count)]


def show_people(
    images: ImageSet,
    strength_curve: EdgeStrengthCurve,
    people: Ints,
    names: Sequence[str],
    now: int,
    person: int | None,
    step: int,
) -> None:
    """Show the scene with its boxes, and below it its people by their current ranks."""
    rows = np.flatnonzero(images.test)
    image = int(images.image_of[rows[people[0]]])
    chosen = int(rows[people[0] if person is None else person])
    boxes = [
        replace(box, label=name, strong=box.strong and person is not None)
        for box, name in zip(tiles.relevance_boxes(images, LESSON.query, chosen), names, strict=True)
    ]
    relevant = int((strength_curve.relevance[people] > 0).sum())
    alt = f"The scene of {len(people)} people, {relevant} of them relevant"
    tiles.show_image(images, image, boxes, alt, f"scene {step}")
    places = strength_curve.ranks[now, people]
    order = np.argsort(places, kind="stable")
    ranked = Ranking(
        rows[people[order]], strength_curve.relevance[people[order]], -places[order].astype(float)
    )
    shown = [
        replace(tile, left=names[at], right=f"{places[at]}")
        for tile, at in zip(tiles.top_tiles(images, ranked), order, strict=True)
    ]
    strip(
        shown,
        name=f"people of the scene {step}",
        label="The people of the scene, best first, with their letters and current ranks",
        columns=max(4, len(shown)),
        narrow=4,
        chosen=None if person is None else str(images.ids[rows[person]]),
    )
    classes = sorted({tiles.shows(images, int(row)) for row in rows[people]})
    st.caption(f"Letter and current rank. Classes: {escaped(', '.join(classes))}.")


# ---------------------------------------------------------------------------------------------------------
# 5: summary
# ---------------------------------------------------------------------------------------------------------


def show_summary(
    step: Step, images: ImageSet, trained: Mapping[str, Run], strength_curve: EdgeStrengthCurve
) -> None:
    step.headline.markdown(
        f"## {neighbour_captions.summed_up(strength_curve, neighbour_captions.by_strength(strength_curve))}"
    )
    neighbour_captions.precision_by_strength(
        strength_curve.strengths, strength_curve.average_precision, keys.widget("AP by strength")
    )
    best = int(strength_curve.average_precision.argmax())
    alone, learned = (cache.ranking(trained[name], "test").average_precision for name in ("AP-SVM", MODEL))
    st.caption(
        f"Default settings. **Notice** the highest AP: {strength_curve.average_precision[best]:.3f} at strength "
        f"{strength_curve.strengths[best]:g}, as learned {strength_curve.precision_at(LEARNED):.3f}. AP-SVM, trained "
        f"without edges: {alone:.3f} ({MODEL}: {change(alone, learned)})."
    )
    actions = all_measured(images, trained)
    st.markdown(all_actions.on_average(actions, neighbour_captions.PAIRS))
    show_with_chosen_settings(trained)
    lesson_steps.offer_training(trained[MODEL], "train with neighbours")


def show_with_chosen_settings(trained: Mapping[str, Run]) -> None:
    """Say how neighbours change test AP in the newest finished experiment of the lesson."""
    # An experiment with the lesson's images, query, features and methods.
    settings = trained[MODEL].settings
    for run in home.store().runs.all(set_key=settings["set"], task=ExperimentSettings.task):
        has_all = set(LESSON.methods) <= set(runs.compared_methods(run))
        if run.state == "finished" and has_all and run.settings["features"] == settings["features"]:
            results = experiment_results.findings(run).results
            if results.protocol.measure != "AP":
                continue
            values = {method: results.test(LESSON.query, method) for method in LESSON.methods}
            tested = {method: value for method, value in values.items() if value is not None}
            gains = {
                (alone, with_graph): experiment_results.difference_on_test(
                    run, LESSON.query, with_graph, alone
                )
                for alone, with_graph in neighbour_captions.PAIRS
            }
            known = {pair: gain for pair, gain in gains.items() if gain is not None}
            if len(known) == len(gains):
                chosen = neighbour_captions.compared(tested, known)
                st.markdown(f"“{LESSON.query}” with neighbours, cross-validated C and η: {chosen}.")
                return


frame.show_page("neighbours_lesson", "Neighbours help, or mislead.", steps)
