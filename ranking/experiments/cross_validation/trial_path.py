"""The unit of an experiment: the trials of one path of rising C on one fold, trained one after the other.

A unit is a pure function of its samples and settings: its results do not depend on where and when it is trained.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ranking.core import Floats, OnProgress, ProgressEvent, StopTraining
from ranking.core.errors import InputError
from ranking.experiments.cross_validation.protocol import BEGINS, uses_graph
from ranking.experiments.cross_validation.trial import Outcome, Trial
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.recording import Recorder
from ranking.explain.playback import Playback, Scored
from ranking.methods import make_method
from ranking.methods.linear import LinearMethod, Start
from ranking.methods.training_set import TrainingSet
from ranking.metrics import evaluate_or_count
from ranking.solvers import Solution

# iterations of a test trial, which reports show
RECORDED = 5

# the trials to train, each after its warm starts
TrialPath = tuple[Trial, ...]


class Trained(NamedTuple):
    """The result of a trial. scores: (h,) of the held-out samples. recording: their scores at iterations of a test
    trial; None for other trials, and for methods that cannot be recorded."""

    trial: Trial
    outcome: Outcome
    scores: Floats
    recording: Playback | None = None


def remaining_path(path: tuple[Trial, ...], missing: Collection[str]) -> TrialPath:
    """Return the unit of a path: the trials with the keys `missing`, and their warm starts."""
    wanted, trials = set(missing), list[Trial]()
    for trial in reversed(path):
        if trial.key in wanted:
            trials.append(trial)
            wanted |= {cause.key for cause in trial.causes}
    return tuple(trials[::-1])


def train_path(
    trial_data: TrialData, trial_path: TrialPath, on_progress: OnProgress | None = None
) -> list[Trained]:
    """Train the trials of a unit in their order. on_progress may raise StopTraining, which is raised again."""
    solutions, results = dict[str, Solution](), list[Trained]()
    for trial in trial_path:
        trained, solutions[trial.key] = train_trial(trial_data, trial, solutions, on_progress)
        results.append(trained)
    return results


def train_trial(
    trial_data: TrialData,
    trial: Trial,
    solutions: Mapping[str, Solution],
    on_progress: OnProgress | None = None,
) -> tuple[Trained, Solution]:
    """Train a trial from the solutions of its warm starts, by key, and evaluate it on the held-out samples.

    on_progress may raise StopTraining, which is raised again, because an interrupted run is not a trial.
    """
    graph = uses_graph(trial.method)
    samples = trial_data.training_set(trial.query, trial.fold, graph)
    method = make_method(trial.method, **trial.settings)
    if not isinstance(method, LinearMethod):
        raise InputError("method", "a linear method, such as those of the SVM family", trial.method)
    recordings: list[Playback] = []
    recorder = Recorder(recordings.append, RECORDED)
    if trial.fold is None:
        recorder.begin(
            len(trial_data.sides[None][1].rows),
            lambda weights, rounds: Scored(
                method.score_by(trial_data.held_out(trial.query, None, graph), np.stack(weights))
            ),
        )

    def listen(event: ProgressEvent) -> None:
        recorder.record(event)
        if on_progress is not None:
            on_progress(event)

    method.fit_samples(samples, listen, _start(trial, method, samples, solutions))
    assert method.solution is not None
    if method.solution.stopped:
        raise StopTraining
    held = trial_data.held_out(trial.query, trial.fold, graph)
    assert held.relevance is not None
    scores, certificate = method.score(held), method.solution.certificate
    recorder.end(certificate, Scored(scores))
    outcome = Outcome(evaluate_or_count(held.relevance, scores), certificate.seconds, certificate)
    return Trained(trial, outcome, scores, recordings[0] if recordings else None), method.solution


def _start(
    trial: Trial, method: LinearMethod, samples: TrainingSet, solutions: Mapping[str, Solution]
) -> Start:
    """Return the start of a trial: the weights of its beginning or of the previous trial, and the previous planes.

    A HOAP-SVM without a beginning starts as its settings say, because its result depends on its start.
    """
    weights = None if trial.beginning is None else solutions[trial.beginning.key].weights
    if trial.previous is None:
        return Start(weights)
    solution = solutions[trial.previous.key]
    if weights is None and trial.method != BEGINS:
        weights = solution.weights
    cost = method.cost(samples.by_query) * trial.previous.settings["C"] / method.C
    return Start(weights, solution, cost)
