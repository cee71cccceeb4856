"""What a finished training run proves, in numbers and in words; of an imported one, what its laboratory claims."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from pages.parts.app import cache
from pages.parts.app.frame import escaped, in_place
from pages.parts.runs import runs
from ranking.core import Bounds
from ranking.core.run_settings import TASK_SETTINGS
from ranking.core.text import counted
from ranking.workspace.run import Run

FORMULA = r"\text{primal}(w)-\text{dual}(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"
LOCAL_FORMULA = r"\text{primal}(w)-\text{dual}_w(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"
CLAIMED = "says the laboratory that trained it"

LOCAL = (
    "**Ends where no round goes lower.** This objective is not convex. Each round bounds it from above by a convex "
    "problem that touches it at the weights of now, and goes down that: the objective never rises, and where training "
    "begins decides where it ends."
)


def formula(convex: bool) -> str:
    """When training stops; dual_w bounds the convex problem that touches the objective at w."""
    return FORMULA if convex else LOCAL_FORMULA


def stops(tolerance: float, convex: bool = True) -> str:
    """When training stops by itself, in words."""
    if convex:
        return f"stops by itself when the gap is at most {percent(tolerance)} of the objective"
    return f"stops by itself when one more round can gain at most {percent(tolerance)} of the objective"


def show_gap(last: dict[str, Any], tolerance: float, convex: bool) -> None:
    """Where a running training run stands, by its last iteration, and where it will stop."""
    gap = last["relative_gap"]
    now = "not known yet" if gap is None else f"{percent(gap)} of the objective"
    where = (
        "Gap now" if convex else f"Round **{last.get('round', 0)}**, gap to the bound of its convex problem"
    )
    st.markdown(f"{where}: **{now}** · {stops(tolerance, convex)}")


def show(run: Run) -> None:
    """Did it converge, between which bounds lies the optimum, and what did it cost."""
    proof, convex, imported = run.result["certificate"], runs.is_convex(run), run.imported is not None
    if proof is None:
        method = escaped(run.settings["method"])
        st.info(
            f"**No proof.** {method} does not bound how far its weights are from the best.",
            icon=":material/info:",
        )
    else:
        _verdict(proof, runs.tolerance_of(run), imported, convex)
    if (bounds := run.result.get("bounds")) is not None:
        show_bounds(Bounds(**bounds), convex)
    if used := run.corrections:
        st.caption(f"Trained with {counted(len(used), 'corrected label')}, and measured by them.")
    measured, (name, key, what) = run.result.get("test") or {}, TASK_SETTINGS[run.task].measure
    with st.container(horizontal=True):
        _number(f"Test {name}", measured.get(key), ".3f", f"{what} on the test images.")
        if proof is not None:
            _bounds(proof, imported, convex)


def show_bounds(bounds: Bounds, convex: bool) -> None:
    """Whether scores are differences of max-marginals or of bounds on them."""
    if not bounds.large:
        st.caption(f"Pairs of either sign: the max-marginals of all {bounds.of:,} samples are exact.")
        return
    objective = (
        "minimised with such bounds too: it is at least that of exact labellings."
        if convex
        else "made of such bounds too."
    )
    st.warning(
        f"**Approximate.** {in_words(bounds)} The largest score is {bounds.score:.3g}. The objective was {objective}",
        icon=":material/warning:",
    )


def in_words(bounds: Bounds) -> str:
    """Of how many samples max-marginals are upper bounds, and how far off."""
    text = (
        f"{bounds.large:,} of {bounds.of:,} samples stand in components too large to enumerate, of pairs of either "
        "sign: their max-marginals are upper bounds, "
    )
    if not bounds.samples:
        return f"{text}all of which labellings attain here, so that they are exact."
    rest = bounds.large - bounds.samples
    attained = f"; those of the other {rest:,} are attained" if rest else ""
    return f"{text}at most {bounds.excess:.3g} above the best labelling known{attained}."


def show_origin(run: Run) -> None:
    """That a training was imported, and that its numbers are claims."""
    missing = "" if runs.set_is_here(run) else f" {runs.missing_set(run)}"
    st.info(
        "This training run was imported. Its scores, metrics, bounds and curve are those of its file; none of them "
        f"was computed again here.{escaped(missing)}",
        icon=":material/upload:",
    )


def show_projection(run: Run) -> None:
    """How many columns the projection of a training run kept, and how much of its training samples; nothing of none."""
    with in_place():
        if (projection := cache.projection(run)) is None:
            return
        components = int(run.settings["projection"].get("components", projection.kept))
        claimed = "" if run.imported is None else f", {CLAIMED}"
        few = (
            f" {components:,} were requested: these samples vary in no more directions."
            if projection.kept < components
            else ""
        )
        whitened = " Whitened: all of them vary alike now." if projection.whiten else ""
        st.caption(
            f"**PCA kept {projection.kept:,} of {projection.columns:,} columns**, {floored(projection.share)} of the "
            f"variance of the training samples{claimed}.{few}{whitened}"
        )


def floored(share: float) -> str:
    """A share in tenths of a percent, never rounded up: 100% is all of it.

    >>> floored(0.9316), floored(0.99996), floored(1.0)
    ('93.1%', '99.9%', '100%')
    """
    return f"{math.floor(1000 * share + 1e-6) / 10:g}%"


def _bounds(proof: dict[str, float], imported: bool, convex: bool) -> None:
    exactly = "as its file says" if imported else "recomputed exactly"
    if convex:
        _number("Primal", proof["primal"], ".4g", "The objective at these weights: an upper bound.")
        _number("Dual", proof["dual"], ".4g", "No weights can bring the objective below this.")
    else:
        help = (
            "No weights can bring the convex problem that touches the objective at these weights below this. "
            "It is no bound on the objective."
        )
        _number("Objective", proof["primal"], ".4g", "The objective at these weights.")
        _number("Dual of the last round", proof["dual"], ".4g", help)
    _number("Gap / primal", proof["relative_gap"], ".3%", f"(primal - dual) / primal, {exactly}.")
    _number("Iterations", proof["iterations"], ",", "Steps of the optimiser.")
    _number("Seconds", proof["seconds"], ".2f", "Time in training, without features and images.")


def _verdict(proof: dict[str, Any], tolerance: float | None, imported: bool, convex: bool) -> None:
    """Converged or not, and what that proves: of the optimum, or, where it is not `convex`, of the round that begins
    here."""
    gap = proof["relative_gap"]
    where = "Converged" if convex else "Converged: no round goes lower"
    bound = "" if tolerance is None else f", below the tolerance of {percent(tolerance)}"
    if proof["converged"] and imported:
        st.info(
            f"**{where}, {CLAIMED}.** It gives the gap as {percent(gap)} of the objective{bound}.",
            icon=":material/info:",
        )
    elif proof["converged"]:
        proven = (
            f"No weights lower the objective by more than {percent(gap)}{bound}."
            if convex
            else f"The convex bound that touches the objective here falls no further than {percent(gap)} of it{bound}: "
            "another round would gain no more. This is no proof of the best weights, not even of those nearby: another "
            "beginning may end lower."
        )
        st.success(f"**{where}.** {proven}", icon=":material/check_circle:")
    else:
        claimed = f", {CLAIMED}" if imported else ""
        known = "not known yet" if gap is None else f"{percent(gap)} of the objective"
        wanted = "" if tolerance is None else f"; {percent(tolerance)} was requested"
        what = "The gap" if convex else "The gap to the convex bound that touches the objective here"
        st.warning(
            f"**Not converged{claimed}.** {what} is {known}{wanted}. Better weights may exist.",
            icon=":material/warning:",
        )


def percent(share: float) -> str:
    """A share as people read it: 0.1%."""
    return f"{100 * share:.3g}%"


def _number(label: str, value: float | None, form: str, help: str) -> None:
    st.metric(label, "–" if value is None else format(value, form), help=help, width="content")
