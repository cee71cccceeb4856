"""What a finished training proves, in numbers and in words; of an imported one, what its laboratory claims."""

from __future__ import annotations

import streamlit as st

from pages.parts import runs
from pages.parts.frame import escaped
from ranking.run import Run

FORMULA = r"\text{primal}(w)-\text{dual}(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"
CLAIMED = "says the laboratory that trained it"


def stops(tolerance: float) -> str:
    """When training stops by itself, in words."""
    return f"stops by itself when the gap is at most {percent(tolerance)} of the objective"


def show_gap(gap: float | None, tolerance: float) -> None:
    """Where a live training stands, and where it will stop."""
    now = "not known yet" if gap is None else f"{percent(gap)} of the objective"
    st.markdown(f"Gap now: **{now}** · {stops(tolerance)}")


def show(run: Run) -> None:
    """Did it converge, between which bounds lies the optimum, and what did it cost."""
    proof = run.result["certificate"]
    if proof is None:
        method = run.settings["method"]
        st.info(
            f"**No proof.** {escaped(method)} does not say how far its weights are from the best.",
            icon=":material/info:",
        )
    else:
        _verdict(proof, runs.tolerance_of(run), run.imported is not None)
    measured = run.result.get("test") or {}
    with st.container(horizontal=True):
        _number("Test AP", measured.get("AP"), ".3f", "Average precision on the images it has not seen.")
        if proof is not None:
            _bounds(proof, run.imported is not None)


def say_origin(run: Run) -> None:
    """Of an imported training: what of it was checked here, and what its file claims."""
    told = (run.imported or {}).get("checked") or {}
    checks = {
        "its metrics against its scores": told.get("metrics") is True,
        "its scores against its model": told.get("scores") is True,
        "its bounds and its curve": False,
    }
    done = ", ".join(what for what, checked in checks.items() if checked)
    left = ", ".join(what for what, checked in checks.items() if not checked)
    checked = f" Checked here: {done}." if done else ""
    missing = "" if runs.set_is_here(run) else f" {runs.missing_set(run)}"
    st.info(
        f"This training was imported.{checked} Claimed elsewhere, not checked here: {left}.{escaped(missing)}",
        icon=":material/upload:",
    )


def _bounds(proof: dict[str, float], imported: bool) -> None:
    exactly = "as its file says" if imported else "recomputed exactly"
    _number("Primal", proof["primal"], ".4g", "The objective at these weights: an upper bound.")
    _number("Dual", proof["dual"], ".4g", "No weights can bring the objective below this.")
    _number("Gap / primal", proof["relative_gap"], ".3%", f"(primal - dual) / primal, {exactly}.")
    _number("Iterations", proof["iterations"], ",", "Steps of the optimiser.")
    _number("Seconds", proof["seconds"], ".2f", "Time in training, without features and pictures.")


def _verdict(proof: dict[str, float], tolerance: float | None, imported: bool) -> None:
    gap = proof["relative_gap"]
    bound = "" if tolerance is None else f", below the tolerance of {percent(tolerance)}"
    if proof["converged"] and imported:
        st.info(
            f"**Converged, {CLAIMED}.** It gives the gap as {percent(gap)} of the objective{bound}.",
            icon=":material/info:",
        )
    elif proof["converged"]:
        st.success(
            f"**Converged.** The gap is {percent(gap)} of the objective{bound}: "
            "this is proof that no weights do better by more than that.",
            icon=":material/check_circle:",
        )
    else:
        claimed = f", {CLAIMED}" if imported else ""
        known = "not known yet" if gap is None else f"{percent(gap)} of the objective"
        asked = "" if tolerance is None else f"; {percent(tolerance)} was asked for"
        st.warning(
            f"**Not converged{claimed}.** The gap is {known}{asked}. Better weights may exist.",
            icon=":material/warning:",
        )


def percent(share: float) -> str:
    """A share as people read it: 0.1%."""
    return f"{100 * share:.3g}%"


def _number(label: str, value: float | None, form: str, help: str) -> None:
    st.metric(label, "–" if value is None else format(value, form), help=help, width="content")
