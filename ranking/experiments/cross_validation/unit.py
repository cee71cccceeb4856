"""The unit of an experiment: the trials of one path of rising C on one fold, trained one after the other.

A unit is a function of its samples and of the states that it begins from, and of nothing else: wherever and whenever it
is trained, its numbers are the same.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, StopTraining
from ranking.core.errors import InputError
from ranking.experiments.cross_validation.material import Material
from ranking.experiments.cross_validation.protocol import BEGINS, uses_graph
from ranking.experiments.cross_validation.trial import Outcome, Trial
from ranking.methods import make_method
from ranking.methods.linear import LinearMethod, Start
from ranking.methods.training_set import TrainingSet
from ranking.metrics import evaluate_or_count
from ranking.solvers import Cut, Solution, WorkingSet

UNPROVEN = Certificate(np.inf, -np.inf, np.inf, 0, 0.0, False)  # a packed solution proves nothing


@dataclass(frozen=True, eq=False)
class Unit:
    """The trials to train, each after those that it begins from.

    states: by key, of the trials before the first that some begin from. ends: the keys of the trials whose states are
    to be returned, because a grid that is widened continues from them.
    """

    trials: tuple[Trial, ...]
    states: Mapping[str, bytes]
    ends: Collection[str]


class Trained(NamedTuple):
    """The result of a trial. scores: (h,) of the held-out samples. state: its packed solution, where it is needed."""

    trial: Trial
    outcome: Outcome
    scores: Floats
    state: bytes | None


def unit_of(
    path: tuple[Trial, ...], missing: Collection[str], state_of: Callable[[str], bytes | None], widen: bool
) -> Unit:
    """Return what is to be trained of a path: the trials with the keys `missing`, and those that they begin from as far
    as their state is not kept. widen: whether grids may be widened, so that the states at the ends are needed."""
    wanted, states, trials = set(missing), dict[str, bytes](), list[Trial]()
    for trial in reversed(path):
        if trial.key not in wanted:
            continue
        trials.append(trial)
        for key in {cause.key for cause in trial.causes} - wanted - states.keys():
            state = state_of(key)
            if state is None:
                wanted.add(key)
            else:
                states[key] = state
    passed = {trial.previous.key for trial in trials if trial.previous is not None}
    ends = {trial.key for trial in trials if widen and trial.fold is not None and trial.key not in passed}
    return Unit(tuple(trials[::-1]), states, ends)


def train_unit(material: Material, unit: Unit, on_progress: OnProgress | None = None) -> list[Trained]:
    """Train the trials of a unit in their order. on_progress may raise StopTraining, which is raised again."""
    states, results = dict(unit.states), list[Trained]()
    for trial in unit.trials:
        trained = train_trial(material, trial, states, on_progress)
        assert trained.state is not None
        states[trial.key] = trained.state
        results.append(trained if trial.key in unit.ends else trained._replace(state=None))
    return results


def train_trial(
    material: Material, trial: Trial, states: Mapping[str, bytes], on_progress: OnProgress | None = None
) -> Trained:
    """Train a trial from the states of the trials that it begins from, by key, and measure it on the held-out samples.

    on_progress may raise StopTraining, which is raised again: half a training is no trial.
    """
    graph = uses_graph(trial.method)
    samples = material.training_set(trial.query, trial.fold, graph)
    method: Any = make_method(trial.method, **trial.settings)
    if not isinstance(method, LinearMethod):
        raise InputError("method", "a linear method, such as those of the SVM family", trial.method)
    method.fit_samples(samples, on_progress, _start(trial, method, samples, states))
    assert method.solution is not None
    if method.solution.stopped:
        raise StopTraining
    held = material.held_out(trial.query, trial.fold, graph)
    assert held.relevance is not None
    scores, certificate = method.score(held), method.solution.certificate
    outcome = Outcome(evaluate_or_count(held.relevance, scores), certificate.seconds, certificate)
    return Trained(trial, outcome, scores, packed(method.solution))


def _start(trial: Trial, method: LinearMethod, samples: TrainingSet, states: Mapping[str, bytes]) -> Start:
    """Return the start of a trial: the weights of its beginning or of the previous trial, and the planes of that one.

    HOAP-SVM without a beginning begins as its settings say, because its start decides where it ends.
    """
    weights = None if trial.beginning is None else unpacked(states[trial.beginning.key]).weights
    if trial.previous is None:
        return Start(weights)
    solution = unpacked(states[trial.previous.key])
    if weights is None and trial.method != BEGINS:
        weights = solution.weights
    cost = method.cost(samples.by_query) * trial.previous.settings["C"] / method.C
    return Start(weights, solution, cost)


def packed(solution: Solution) -> bytes:
    """A solution as bytes, for `unpacked`; without its certificate, which proves nothing of the next trial."""
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
