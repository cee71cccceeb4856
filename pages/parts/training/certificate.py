"""The certificate of a finished training run."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from pages.parts.app import cache
from pages.parts.app.frame import errors_in_place, escaped
from pages.parts.training import runs
from ranking.core import Bounds
from ranking.core.text import counted
from ranking.storage.run import Run
from ranking.storage.run_settings import TASK_SETTINGS, BagTrainSettings

FORMULA = r"\text{primal}(w)-\text{dual}(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"
LOCAL_FORMULA = r"\text{primal}(w)-\text{dual}_w(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"

LOCAL = (
    "**No global guarantee.** This objective is not convex. Each round decreases a convex upper bound that touches it "
    "at the current weights, so the objective never increases. Training stops when no round can lower it, and the "
    "result depends on the starting point."
)


def formula(convex: bool) -> str:
    """The stopping criterion; dual_w is a lower bound on the convex problem that touches the objective at w."""
    return FORMULA if convex else LOCAL_FORMULA


def stops(tolerance: float, convex: bool = True) -> str:
    """The stopping criterion as text."""
    if convex:
        return f"stops when the duality gap is at most {percent(tolerance)} of the objective"
    return f"stops when another round can gain at most {percent(tolerance)} of the objective"


def show_gap(last: dict[str, Any], tolerance: float, convex: bool) -> None:
    """The gap of a running training run at its last iteration, and when the run will stop."""
    gap = last["relative_gap"]
    now = "not known yet" if gap is None else f"{percent(gap)} of the objective"
    where = "Current gap" if convex else f"Round **{last.get('round', 0)}**, gap of its convex problem"
    st.markdown(f"{where}: **{now}** · {stops(tolerance, convex)}")


def show(run: Run) -> None:
    """Whether a run converged, its bounds on the optimum, and its cost."""
    proof, convex = run.result["certificate"], runs.is_convex(run)
    is_of_bags = run.task == BagTrainSettings.task
    if proof is None:
        method = escaped(run.settings["method"])
        st.info(
            f"**No certificate.** {method} has no bound on the distance from the optimum.",
            icon=":material/info:",
        )
    else:
        # whose page shows the outcome
        if not is_of_bags:
            _verdict(proof, runs.tolerance_of(run), convex)
    if (bounds := run.result.get("bounds")) is not None:
        show_bounds(Bounds(**bounds))
    if used := run.corrections:
        st.caption(f"Trained and evaluated with {counted(len(used), 'corrected label')}.")
    measured, (name, key, what) = run.result.get("test") or {}, TASK_SETTINGS[run.task].measure
    with st.container(horizontal=True):
        _number(f"Test {name}", measured.get(key), ".3f", f"{what} on the test images.")
        if proof is not None:
            _bounds(proof, convex, ", from the start that was kept" if is_of_bags else "")


def show_outcome(run: Run) -> None:
    """What training of a localisation run proved, in the words of its method."""
    with errors_in_place():
        method = cache.method_of(run)
        outcome = escaped(f"{method.outcome[0].upper()}{method.outcome[1:]}.")
        if run.state == "cancelled":
            outcome = f"This training run was cancelled. {outcome}"
        if method.learned and method.certificate.converged:
            st.success(f"{outcome} A start that was not tried may end lower.", icon=":material/check_circle:")
        else:
            st.warning(outcome, icon=":material/warning:")


def show_bounds(bounds: Bounds) -> None:
    """Whether the scores are differences of max-marginals or of upper bounds on them."""
    if not bounds.large:
        st.caption(f"Pairs of either sign: the max-marginals of all {bounds.of:,} samples are exact.")
        return
    st.warning(
        f"**Approximate.** {in_words(bounds)} The largest score is {bounds.score:.3g}. The objective is computed with "
        "such bounds too.",
        icon=":material/warning:",
    )


def in_words(bounds: Bounds) -> str:
    """The number of samples whose max-marginals are upper bounds, and the largest excess."""
    return (
        f"{bounds.large:,} of {bounds.of:,} samples are in components that are too large to enumerate and have pairs "
        f"of either sign. Their max-marginals are upper bounds: {bounds.large - bounds.samples:,} are attained by a "
        f"labelling and so exact, the others are at most {bounds.excess:.3g} above the best known labelling."
    )


def show_projection(run: Run) -> None:
    """The number of columns that the projection of a run kept and their share of the variance; nothing without one."""
    with errors_in_place():
        if (projection := cache.projection(run)) is None:
            return
        components = int(run.settings["projection"].get("components", projection.kept))
        few = (
            f" {components:,} were requested, but these samples vary in no more directions."
            if projection.kept < components
            else ""
        )
        whitened = " Whitened: all have the same variance." if projection.whiten else ""
        st.caption(
            f"**PCA kept {projection.kept:,} of {projection.columns:,} columns**, {floored(projection.share)} of the "
            f"variance of the training samples.{few}{whitened}"
        )


def floored(share: float) -> str:
    """A share in tenths of a percent, rounded down, so that 100% is exact.

    >>> floored(0.9316), floored(0.99996), floored(1.0)
    ('93.1%', '99.9%', '100%')
    """
    return f"{math.floor(1000 * share + 1e-6) / 10:g}%"


def _bounds(proof: dict[str, float], convex: bool, counted_from: str) -> None:
    if convex:
        _number(
            "Primal", proof["primal"], ".4g", "The objective at these weights: an upper bound on the optimum."
        )
        _number("Dual", proof["dual"], ".4g", "A proven lower bound on the objective for any weights.")
    else:
        help = "A lower bound on the convex problem of the last round. It is not a bound on the objective."
        _number("Objective", proof["primal"], ".4g", "The objective at these weights.")
        _number("Dual of the last round", proof["dual"], ".4g", help)
    _number("Duality gap", proof["relative_gap"], ".3%", "(primal - dual) / primal, recomputed exactly.")
    _number("Iterations", proof["iterations"], ",", f"Steps of the optimiser{counted_from}.")
    _number("Seconds", proof["seconds"], ".2f", "Time in training, without features and images.")


def _verdict(proof: dict[str, Any], tolerance: float | None, convex: bool) -> None:
    """Whether a run converged, and what that proves about the optimum."""
    # If the objective is not `convex`, it is about another round.
    gap = proof["relative_gap"]
    where = "Converged" if convex else "Converged: no round can lower the objective"
    bound = "" if tolerance is None else f", below the tolerance of {percent(tolerance)}"
    if proof["converged"]:
        proven = (
            f"No weights lower the objective by more than {percent(gap)}{bound}."
            if convex
            else f"The convex upper bound that touches the objective here can decrease by at most {percent(gap)} of "
            f"its value{bound}, so another round would gain no more. This does not prove a global or even a local "
            "optimum: another starting point may end lower."
        )
        st.success(f"**{where}.** {proven}", icon=":material/check_circle:")
    else:
        known = "not known yet" if gap is None else f"{percent(gap)} of the objective"
        wanted = "" if tolerance is None else f"; {percent(tolerance)} was requested"
        what = "The gap" if convex else "The gap of the convex problem of the last round"
        st.warning(
            f"**Not converged.** {what} is {known}{wanted}. Better weights may exist.",
            icon=":material/warning:",
        )


def percent(share: float) -> str:
    """A share as a percentage, such as 0.1%."""
    return f"{100 * share:.3g}%"


def _number(label: str, value: float | None, form: str, help: str) -> None:
    st.metric(label, "–" if value is None else format(value, form), help=help, width="content")
