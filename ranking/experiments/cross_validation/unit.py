"""One cell trained and measured: a function of its material and of what it begins from, and of nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, StopTraining
from ranking.core.errors import InputError
from ranking.experiments.cross_validation.material import Bench
from ranking.experiments.cross_validation.protocol import BEGINS, uses_graph
from ranking.experiments.cross_validation.trial import Cell, Outcome
from ranking.methods import make_method
from ranking.methods.linear import LinearMethod, Start
from ranking.methods.training_set import TrainingSet
from ranking.metrics import evaluate_or_count
from ranking.solvers import Cut, Solution, WorkingSet

UNPROVEN = Certificate(
    np.inf, -np.inf, np.inf, 0, 0.0, False
)  # of a solution that was only packed to begin from


class Trained(NamedTuple):
    """What came of a cell. scores: (h,) of the held-out samples. state: what the next cells begin from, packed."""

    outcome: Outcome
    scores: Floats
    state: bytes


def train_cell(
    bench: Bench, cell: Cell, states: Mapping[str, bytes], on_progress: OnProgress | None = None
) -> Trained:
    """Train `cell` from the states of its causes, by key, and measure it on what is held out.

    Equal cells and states give equal numbers, but for seconds. on_progress may raise StopTraining, which is raised
    again: half a training is no cell.
    """
    leaning = uses_graph(cell.method)
    samples = bench.training_set(cell.query, cell.fold, leaning)
    method: Any = make_method(cell.method, **cell.settings)
    if not isinstance(method, LinearMethod):
        raise InputError("method", "a linear method, such as those of the SVM family", cell.method)
    method.fit_samples(samples, on_progress, _start(cell, method, samples, states))
    assert method.solution is not None
    if method.solution.stopped:
        raise StopTraining
    held = bench.held_out(cell.query, cell.fold, leaning)
    assert held.relevance is not None
    scores, certificate = method.score(held), method.solution.certificate
    measures = evaluate_or_count(held.relevance, scores)
    return Trained(Outcome(measures, certificate.seconds, certificate), scores, packed(method.solution))


def _start(cell: Cell, method: LinearMethod, samples: TrainingSet, states: Mapping[str, bytes]) -> Start:
    """Where a cell begins: at the weights of its beginning, else of the previous cell, with the planes of that.

    HOAP-SVM without a beginning begins as its settings say, because its start decides where it ends.
    """
    weights = None if cell.beginning is None else unpacked(states[cell.beginning.key]).weights
    if cell.previous is None:
        return Start(weights)
    solution = unpacked(states[cell.previous.key])
    if weights is None and cell.method != BEGINS:
        weights = solution.weights
    cost = method.cost(samples.by_query) * cell.previous.settings["C"] / method.C
    return Start(weights, solution, cost)


def packed(solution: Solution) -> bytes:
    """A solution as bytes, for `unpacked`; without its certificate, which proves nothing of the next cell."""
    arrays = {
        "weights": solution.weights,
        "dual": solution.dual.coefficients,
        "loss": np.array(solution.dual.loss),
    }
    if solution.working_set is not None:
        arrays |= {f"cut_{name}": array for name, array in vars(solution.working_set).items()}
    written = io.BytesIO()
    np.savez(written, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle
    return written.getvalue()


def unpacked(state: bytes) -> Solution:
    """The solution that `packed` was given, to the last bit."""
    with np.load(io.BytesIO(state), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    planes = None
    if "cut_losses" in arrays:
        planes = WorkingSet(arrays["cut_coefficients"], arrays["cut_losses"], arrays["cut_normals"])
    return Solution(arrays["weights"], Cut(arrays["dual"], float(arrays["loss"])), UNPROVEN, planes)
