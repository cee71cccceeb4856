"""A solver that is fast at first, followed by cutting planes that end the training: both reported as one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ranking.optimise.cutting_plane import cutting_plane
from ranking.optimise.risk import LinearRisk, Solution, WorkingSet, certified
from ranking.types import OnProgress, ProgressEvent


def polished(
    risk: LinearRisk, first: Solution, tolerance: float, max_iterations: int, onward: Onward
) -> Solution:
    """`first`, unless it is unfinished: then cutting planes go on from its weights and from all that it has proven.

    Its combination of cuts is one plane of theirs. max_iterations counts those of both; `onward` reported the first.
    """
    left = max_iterations - first.certificate.iterations
    if first.certificate.converged or first.stopped or left <= 0:
        return first
    onward.next_solver()
    share = 1.0 / risk.C
    plane = WorkingSet(
        share * first.dual.coefficients[None],
        np.array([share * first.dual.loss]),
        share * risk.exact_normal(first.dual.coefficients)[None],
    )
    second = cutting_plane(risk, tolerance, left, onward, first.weights, plane)
    return joined(risk, first, second, tolerance)


class Onward:
    """Reports two solvers as one training: the counts go on, the bounds never step back."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._before = self._last = ProgressEvent(0, math.inf, -math.inf, 0.0, 0)

    def next_solver(self) -> None:
        self._before = self._last

    def __call__(self, event: ProgressEvent) -> None:
        before = self._before
        self._last = replace(
            event,
            iteration=before.iteration + event.iteration,
            primal=min(before.primal, event.primal),
            dual=max(before.dual, event.dual),
            seconds=before.seconds + event.seconds,
            passes=before.passes + event.passes,
        )
        if self._on_progress is not None:
            self._on_progress(self._last)


def joined(risk: LinearRisk, first: Solution, second: Solution, tolerance: float) -> Solution:
    """The later weights with the better of both lower bounds, certified together."""
    dual = max(first, second, key=lambda solution: solution.certificate.dual).dual
    certificates = first.certificate, second.certificate
    iterations = sum(certificate.iterations for certificate in certificates)
    seconds = sum(certificate.seconds for certificate in certificates)
    certificate = certified(risk, second.weights, dual, tolerance, iterations, seconds)
    return replace(second, dual=dual, certificate=certificate)
