"""The lesson about neighbours: methods with and without them, one person whom they lift, one scene they mislead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.runs import lessons
from pages.parts.runs.lessons import Step
from pages.parts.views import all_actions, leanings, measures
from pages.parts.views.leanings import LEARNT, OFF
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.workspace.run import Run

if TYPE_CHECKING:
    from ranking.explain.edge_strength import EdgeStrengthCurve

LESSON = lessons.NEIGHBOURS
STEPS = ("1 · With and without", "2 · Lifted", "3 · Misled", "4 · Summary")
MODEL = "HOAP-SVM"  # whose edges are switched off and on
SHOWN = 8

HEADLINES = (
    f"Query “{LESSON.query}”: do people of one scene help each other?",
    "One person, lifted by the people beside",
    "One scene, lifted wrongly as a whole",
    "Neighbours pass on what they are believed to do, right or wrong.",
)


def steps() -> None:
    for step in lessons.each_step(STEPS, keys.NEIGHBOURS_STEP):
        step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
        show_step(step)


def show_step(step: Step) -> None:
    trained = LESSON.trained()
    images = cache.image_set(trained[MODEL].settings["set"])
    if step.number == 1:
        show_pairs(images, {method: cache.ranking(run, "test") for method, run in trained.items()})
        step.offer_next()
        with frame.in_place():  # below the way on, so that a projector shows the step without it
            all_actions.show(images, LESSON.query)
        return
    leaning = cache.leaning(trained[MODEL])
    if step.number == 4:
        show_summary(trained, leaning)
        return
    lifted, people = None, leaning.most_misled()
    if step.number == 2:
        lifted = leaning.most_lifted()
        people = None if lifted is None else leaning.of_image(int(leaning.image_of[lifted]))
    if people is None:
        nobody = "no one who is relevant" if step.number == 2 else "no scene wrongly as a whole"
        st.info(f"Here {MODEL} lifts {nobody}.", icon=":material/info:")
    else:
        lessons.by_itself(show_scene)(images, leaning, people, step.number, lifted)
    step.offer_next()


# ---------------------------------------------------------------------------------------------------------
# 1: with and without neighbours
# ---------------------------------------------------------------------------------------------------------


def show_pairs(images: ImageSet, rankings: dict[str, Ranking]) -> None:
    for column, pair in zip(st.columns(2, gap="large"), leanings.PAIRS, strict=True):
        with column:
            for method in pair:
                show_ranking(images, method, rankings[method])
    precisions = {method: ranked.average_precision for method, ranked in rankings.items()}
    st.markdown(f"## {leanings.compared(precisions)}")
    measured = all_actions.measured(images)
    st.markdown(all_actions.beside_average(measured, LESSON.query, precisions, leanings.PAIRS))
    st.caption(
        "SVM and AP-SVM see each person by itself; HOB-SVM and HOAP-SVM pay a penalty wherever two people of one scene "
        "get different labels. The same letter below two pictures: people of one scene, and a bracket where they stand "
        "side by side. **Notice** the first mistake of each, and that with neighbours people of one scene share their "
        "fate. SVM and HOB-SVM count wrong "
        f"labels, the other two optimise AP. Of these people only {rankings[MODEL].positives} are relevant: "
        "differences of a few hundredths may come out otherwise on other images. "
        f"“{LESSON.query}” was chosen as an example where neighbours help; all ten actions stand below."
    )


def show_ranking(images: ImageSet, method: str, ranked: Ranking) -> None:
    st.markdown(f"### {method}: AP {ranked.average_precision:.3f}", help=measures.AP)
    scenes = leanings.shared(images.image_of[ranked.samples[:SHOWN]])
    shown = [
        replace(tile, alt=f"{tile.alt}, {leanings.with_whom(scenes, place)}") if scenes[place] else tile
        for place, tile in enumerate(tiles.top_tiles(images, ranked, SHOWN))
    ]
    first = first_mistake(ranked.relevance)
    strip(
        shown,
        name=f"strip of {method}",
        label=f"The first {len(shown)} test samples as {method} ranks them",
        columns=SHOWN,
        narrow=4,
        flags={shown[first - 1].id: "error"} if first is not None and first <= SHOWN else {},
        brackets={tile.id: scene for tile, scene in zip(shown, scenes, strict=True) if scene},
    )


# ---------------------------------------------------------------------------------------------------------
# 2 and 3: one scene
# ---------------------------------------------------------------------------------------------------------


def choose_strength(leaning: EdgeStrengthCurve, repeated: bool) -> float:
    """How much neighbours count. repeated: the slider stands in a step above already."""
    parse = address.number(float, OFF, float(leaning.strengths[-1]))
    if repeated:
        strength = address.read(keys.STRENGTH, parse, LEARNT)
        st.markdown(f"Strength of the neighbours: **{strength:g}**")
        return float(strength)
    bound = address.bound(keys.STRENGTH, parse, LEARNT, "{:g}".format)
    label = "Strength of the neighbours: 0 switches the edges off, 1 is what was learnt"
    return float(st.slider(label, OFF, float(leaning.strengths[-1]), step=0.1, format="%.1f", **bound))


def show_scene(
    images: ImageSet, leaning: EdgeStrengthCurve, people: Ints, step: int, lifted: int | None
) -> None:
    """A scene whose neighbours grow weaker and stronger. people: those of the scene among the test samples. lifted: the
    one that it is about."""
    left, right = st.columns([2, 3], gap="large")
    with right:
        repeated = step == 3 and leaning.most_lifted() is not None and lessons.on_one_page()
        now = leaning.at(choose_strength(leaning, repeated))
    names = letters(len(people))
    with left, frame.in_place():
        show_people(images, leaning, people, names, now, lifted, step)
    with right:
        leanings.places_by_strength(
            leaning.strengths,
            leaning.ranks[:, people],
            leaning.relevance[people] > 0,
            names,
            now,
            keys.widget(f"places by strength {step}"),
        )
        summary = (
            leanings.misleading(leaning, people, LESSON.query)
            if lifted is None
            else leanings.lifting(leaning, people, lifted, names)
        )
        st.markdown(f"### {summary}")
        st.caption(
            rf"Scores are max-marginals, in which an edge costs $t\cdot\eta\,w_2^\top\Phi(x_i,x_j)$ where its ends "
            rf"differ; here $t={leaning.strengths[now]:g}$, and AP is "
            f"**{leaning.average_precision[now]:.3f}** ({leaning.precision_at(OFF):.3f} without edges). "
            f"**Notice** that ranks move while no image changes{leanings.along(leaning, people, names)}."
        )
    frame.show_menu()


def letters(count: int) -> list[str]:
    """Names of people: A, B, ...; numbers where there are more than letters."""
    return [chr(ord("A") + i) if count <= 26 else f"{i + 1}" for i in range(count)]


def show_people(
    images: ImageSet,
    leaning: EdgeStrengthCurve,
    people: Ints,
    names: Sequence[str],
    now: int,
    lifted: int | None,
    step: int,
) -> None:
    """The scene with its boxes, and below it its people, best first, with the ranks that they have now."""
    rows = np.flatnonzero(images.test)
    image = int(images.image_of[rows[people[0]]])
    chosen = int(rows[people[0] if lifted is None else lifted])
    boxes = [
        replace(box, label=name, strong=box.strong and lifted is not None)
        for box, name in zip(tiles.relevance_boxes(images, LESSON.query, chosen), names, strict=True)
    ]
    relevant = int((leaning.relevance[people] > 0).sum())
    alt = f"The scene of {len(people)} people, {relevant} of them relevant"
    tiles.show_image(images, image, boxes, alt, f"scene {step}")
    places = leaning.ranks[now, people]
    order = np.argsort(places, kind="stable")
    ranked = Ranking(rows[people[order]], leaning.relevance[people[order]], -places[order].astype(float))
    shown = [
        replace(tile, left=names[at], right=f"{places[at]}")
        for tile, at in zip(tiles.top_tiles(images, ranked), order, strict=True)
    ]
    strip(
        shown,
        name=f"people of the scene {step}",
        label="The people of the scene, best first: their letters and their ranks now",
        columns=max(4, len(shown)),
        narrow=4,
        chosen=None if lifted is None else str(images.ids[rows[lifted]]),
    )
    classes = sorted({tiles.shows(images, int(row)) for row in rows[people]})
    st.caption(f"Letter and rank now. The scene shows {escaped(', '.join(classes))}.")


# ---------------------------------------------------------------------------------------------------------
# 4: summary
# ---------------------------------------------------------------------------------------------------------


def show_summary(trained: dict[str, Run], leaning: EdgeStrengthCurve) -> None:
    leanings.precision_by_strength(
        leaning.strengths, leaning.average_precision, keys.widget("AP by strength")
    )
    best = int(leaning.average_precision.argmax())
    alone = cache.ranking(trained["AP-SVM"], "test").average_precision
    st.caption(
        f"{MODEL} on the test people, its penalties weakened and strengthened after training. **Notice** where AP is "
        f"highest: {leaning.average_precision[best]:.3f} at strength {leaning.strengths[best]:g}, which is not known "
        f"before the test; as learned it is {leaning.precision_at(LEARNT):.3f}. Edges off is not AP-SVM: the weights "
        f"stay those that were trained with neighbours. AP-SVM, trained without, has {alone:.3f}."
    )
    st.markdown(f"## {leanings.summed_up(leaning)}")
    st.caption(
        "High-order information may put all of a scene on the wrong side where classes look alike. Train with another "
        "η, with other neighbours, or on another query, and see whether it does."
    )
    lessons.offer_training(trained[MODEL], "train with neighbours")


frame.show_page(
    "neighbours_lesson",
    "People in one scene often do the same thing. A method that uses this can gain, and can be misled.",
    steps,
)
