"""Problems of loss-augmented inference, and the steps of the algorithms on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.app.cache.homes import EACH
from ranking.core import Bools, Floats

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.explain.inference_steps import InferenceProblem, Trace


def inference_problem(token: str, scores: Floats, relevant: Bools, loss: str) -> InferenceProblem:
    """The problem of loss-augmented inference on scores (n,); `token`: the content hash of scores and relevant."""
    return _inference_problem(token, scores, relevant, loss)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _inference_problem(token: str, _scores: Floats, _relevant: Bools, loss: str) -> InferenceProblem:
    from ranking.explain.inference_steps import InferenceProblem

    return InferenceProblem.of(_scores, _relevant, loss)


def inference_trace(token: str, problem: InferenceProblem, algorithm: str) -> Trace:
    """All steps of an algorithm on the problem of that token and its loss."""
    return _inference_trace(token, problem.loss.name, algorithm, problem)


@st.cache_resource(show_spinner="Looking for the most violated ranking …", max_entries=64)
def _inference_trace(token: str, loss: str, algorithm: str, _problem: InferenceProblem) -> Trace:
    from ranking.explain.inference_steps import trace_of

    return trace_of(_problem, algorithm)
