"""The problem of a training run in CVXPY: code with its numbers, and both optima on few of its samples."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import streamlit as st

from pages.parts.app import cache, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import jobs_panel
from pages.parts.training.certificate import percent
from ranking.storage.run import Run
from ranking.storage.run_settings import CvxpySettings, TrainSettings

# What a program omits of the problem of its method.
OMITTED = {
    "planes_primal": " The whole problem has a constraint for each ranking, too many for CVXPY. The program is given "
    "the planes of the training run, and its optimum is a lower bound on the objective.",
    "hoap_round": " The program in CVXPY is the convex bound at the trained weights. It has a constraint for each "
    "ranking, too many for CVXPY, so it is given the planes of the training run.",
}


def offer(run: Run) -> None:
    """An expander with the code, a button that solves it, and the outcome."""
    # run: with a model.
    folded = st.expander(
        "The same problem in CVXPY", key=keys.widget("the same problem in CVXPY"), on_change="rerun"
    )
    if folded.open:
        with folded, frame.errors_in_place():
            show(run)


def show(run: Run) -> None:
    # Imported here, because the page need not load it before the expander is open.
    from ranking.experiments.cvxpy_study import MAX_SAMPLES
    from ranking.explain.cvxpy_comparison import program_of

    settings = CvxpySettings(**{**vars(TrainSettings.from_json(run.settings)), "warm_start": None})
    program = program_of(settings.method, settings.method_settings)
    if program is None:
        st.caption(f"This app has no program in CVXPY for {escaped(settings.method)} with these settings.")
        return
    images = cache.image_set(settings.set)
    relevant = images.relevance(settings.query, settings.corrections)[~images.test] > 0
    with home.missing_as_error():
        st.code(code_of(program, cache.method_of(run), relevant), language="python", wrap_lines=True)
    samples = min(MAX_SAMPLES, len(relevant))
    label = f"Solve in CVXPY for {samples:,} samples"
    compared = jobs_panel.finished_study(settings, label, "solve in CVXPY")
    if compared is not None:
        show_outcome(compared, len(relevant), OMITTED.get(program.__name__))


def code_of(program: Any, method: Any, relevant: np.ndarray) -> str:
    """The source of a program and its call for a training run."""
    # relevant: (n,) of the training samples.
    from ranking.explain import programs

    planes, sizes = method.solution.working_set, f"{len(relevant):,} samples, {relevant.sum():,} relevant"
    about = [f"# {sizes}; {method.columns:,} features."]
    if program is programs.planes_primal:
        about.append(f"# planes: the {len(planes):,} that are active, of {len(relevant):,}! rankings.")
    if program is programs.hoap_round:
        about.append(f"# rankings: those of the {len(planes):,} active planes. at: the trained weights.")
    parameters = inspect.signature(program).parameters
    names = [name for name, item in parameters.items() if item.default is item.empty]
    known = {"C": f"{method.cost([relevant]):.6g}"} | ({"eta": f"{method.eta:g}"} if "eta" in names else {})
    call = ", ".join(f"{name}={known[name]}" if name in known else name for name in names)
    source = inspect.getsource(program)
    if "labellings(" in source:
        source += "\n\n" + inspect.getsource(programs.labellings)
    return "\n".join([source, "", *about, f"{program.__name__}({call})"])


def show_outcome(compared: Run, samples: int, omitted: str | None) -> None:
    """Both solutions of a finished comparison."""
    # samples: the number of all training samples. omitted: of OMITTED; None for the whole problem, whose time
    # for all samples is extrapolated.
    from ranking.explain.cvxpy_comparison import Solved, seconds_for

    with home.missing_as_error():
        small, large = (Solved(**each) for each in compared.result["solved"])
    st.markdown(
        f"| {large.samples:,} samples | {escaped(compared.settings['method'])} | CVXPY |\n|---|--:|--:|\n"
        f"| Objective | {large.primal:.6g} | {large.optimum:.6g} |\n"
        f"| Seconds | {large.seconds:.2g} | {large.cvxpy_seconds:.2g} |"
    )
    apart, gap = abs(large.primal - large.optimum) / large.primal, 1 - large.dual / large.primal
    st.caption(
        f"Both use the same {large.samples:,} training samples, {large.relevant:,} of them relevant. **Notice** that "
        f"the objectives differ by {percent(apart)} and the weights by {percent(large.apart)}; the method's duality "
        f"gap is {percent(gap)}.{omitted or ''}"
    )
    if samples > large.samples and omitted is None:
        time = jobs_panel.in_minutes(seconds_for(samples, small, large))
        st.caption(
            f"For all {samples:,} training samples, CVXPY would take {time} or more, extrapolated "
            f"from {small.samples:,} samples ({small.cvxpy_seconds:.2g} s) and {large.samples:,} "
            f"({large.cvxpy_seconds:.2g} s)."
        )
