"""What a finished training proves, in numbers and in words."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame import escaped
from ranking.store import Run

FORMULA = r"\text{primal}(w)-\text{dual}(\alpha)\;\le\;\varepsilon\,\lvert\text{primal}(w)\rvert"


def tolerance_of(run: Run) -> float | None:
    """The relative gap at which the run was to stop, where its method has one."""
    value = run.settings["method_settings"].get("tolerance")
    return None if value is None else float(value)


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
        _verdict(proof, tolerance_of(run))
    measured = run.result.get("test") or {}
    with st.container(horizontal=True):
        _number("Test AP", measured.get("AP"), ".3f", "Average precision on the images it has not seen.")
        if proof is not None:
            _bounds(proof)


def _bounds(proof: dict[str, float]) -> None:
    _number("Primal", proof["primal"], ".4g", "The objective at these weights: an upper bound.")
    _number("Dual", proof["dual"], ".4g", "No weights can bring the objective below this.")
    _number("Gap / primal", proof["relative_gap"], ".3%", "(primal - dual) / primal, recomputed exactly.")
    _number("Iterations", proof["iterations"], ",", "Steps of the optimiser.")
    _number("Seconds", proof["seconds"], ".2f", "Time in training, without features and pictures.")


def _verdict(proof: dict[str, float], tolerance: float | None) -> None:
    gap = proof["relative_gap"]
    if proof["converged"]:
        bound = "" if tolerance is None else f", below the tolerance of {_percent(tolerance)}"
        st.success(
            f"**Converged.** The gap is {_percent(gap)} of the objective{bound}: "
            "this is proof that no weights do better by more than that.",
            icon=":material/check_circle:",
        )
    else:
        known = "not known yet" if gap is None else f"{_percent(gap)} of the objective"
        asked = "" if tolerance is None else f"; {_percent(tolerance)} was asked for"
        st.warning(
            f"**Not converged.** The gap is {known}{asked}. Better weights may exist.",
            icon=":material/warning:",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _number(label: str, value: float | None, form: str, help: str) -> None:
    st.metric(label, "–" if value is None else format(value, form), help=help, width="content")
