"""A training as it goes on or has gone: its bounds over the iterations, and what to notice in them."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import keys
from pages.parts.app.frame import escaped
from pages.parts.runs import certificate, jobs_panel, runs
from pages.parts.views import training_charts
from ranking.workspace.run import ENDED, Run

# What to notice in the curve of a training, by whether its objective is convex.
NOTICE = {
    True: "**Notice** how the two bounds close in on the optimum: it lies in the grey band.",
    False: (
        "**Notice** the stairs: each round bounds the objective by a convex problem, which touches it where the step "
        "begins, and the next step is where that problem's best weights bring the objective. It never rises. The "
        "dashed line is the lower bound on the convex problem of its own round, not on the objective."
    ),
}


def log_choice() -> bool:
    """Whether iterations have a logarithmic scale."""
    return st.toggle("Logarithmic iterations", key=keys.widget("logarithmic iterations"))


def draw(run: Run, seen: list[jobs_panel.Event], logarithmic: bool) -> None:
    """The bounds of a training over its iterations so far; of one that goes on where it stands, too."""
    convex, tolerance = runs.is_convex(run), runs.tolerance_of(run)
    iterations = jobs_panel.iterations_of(seen)
    if not convex:
        begun, iterations = iterations, training_charts.in_rounds(iterations)
        if begun and not iterations:
            say_beginning(run)
    if not iterations:
        return
    ranker = iterations[-1].get("round", 0) if convex else 0
    if ranker:  # MidRank solves a problem for each of its rankers
        iterations = [event for event in iterations if event.get("round", 0) == ranker]
    if run.state not in ENDED and tolerance is not None:
        certificate.show_gap(iterations[-1], tolerance, convex)
    curve = training_charts.training_curve if convex else training_charts.training_stairs
    curve(iterations, tolerance, logarithmic, "training curve")
    floor = training_charts.lowest_bound(iterations)
    scale = (
        ""
        if floor is None
        else (
            "The objective has a logarithmic scale, for it has fallen far; bounds below "
            f"{floor:.3g} are too far down to be drawn. "
        )
    )
    which = f"The bounds are those of ranker {ranker}, the last one so far. " if ranker else ""
    st.caption(f"{which}{NOTICE[convex]} {scale}Training ends when ${certificate.formula(convex)}$.")


def say_beginning(run: Run) -> None:
    """That a method that takes rounds is still busy with the weights that the first one begins with."""
    first = runs.method_settings(run).get("start")
    what = "the weights that it begins with" if first is None else f"{first}, whose weights it begins with"
    method = escaped(run.settings["method"])
    tense = "had no round yet: it was" if run.state in ENDED else "is before its first round: it is"
    st.caption(f"{method} {tense} finding {escaped(what)}.")
