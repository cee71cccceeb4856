"""Inference timing: Tables 2, 3, 5, 6 and Figs. 1, 2 of quicksort, measured on this machine.

As in the paper, the timed calls are those of complete training runs. A method is trained once, and the scores at each
call of loss-augmented inference are stored. Then all algorithms process the same calls, in turn, round after round, so
that slow moments of the machine affect all of them. A time is the median over the rounds. Samples are synthetic: as
many as in the paper, with normal features, and with the relevant samples shifted along one direction.

    result = TimingStudy().run(TimingSettings(share=0.1), Context())
    TimingOutcome.from_json(result).points[0].timed
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranking.core import Bools, Floats, ProgressEvent, Query
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, Json
from ranking.experiments.study import Context, Result, Study
from ranking.inference import algorithms_for, most_violated_ranking
from ranking.losses import RankingLoss
from ranking.methods import make_method, methods_by_loss
from ranking.methods.linear import UnaryMethod
from ranking.storage.run_settings import TIMED, TimingSettings

# of "phoning" among the 3,347 training samples
POSITIVES, NEGATIVES = 227, 3120
# while the number of positives varies
FEW_NEGATIVES = 200
# of the largest number on the axis of a figure
SHARES = (0.15, 0.3, 0.5, 0.75, 1.0)
# irrelevant samples per relevant sample, while the number of all samples varies
RATIO = 10
# standard deviations from relevant to irrelevant samples
DISTANCE = 2.0
# most timed calls per run; longer runs are thinned out evenly
MAX_CALLS = 60
TRAINING = {"tolerance": 1e-2, "max_iterations": 200}
TABLE, SAMPLES, NEGATIVE, POSITIVE = "table", "samples", "irrelevant samples", "relevant samples"
BINARY = "SVM, 0-1 loss"


class Timed(NamedTuple):
    """One algorithm in one run: its number of calls, total seconds, and mean and standard deviation per call."""

    name: str
    calls: int
    total: float
    mean: float
    deviation: float


class Point(NamedTuple):
    """The algorithms for one loss at one size. varied: the axis of a figure, or TABLE."""

    loss: str
    varied: str
    positives: int
    negatives: int
    timed: tuple[Timed, ...]


@dataclass(frozen=True)
class TimingOutcome:
    """The times, and the machine on which they were measured."""

    machine: str
    points: tuple[Point, ...]

    def to_json(self) -> Json:
        points = [
            {**point._asdict(), "timed": [timed._asdict() for timed in point.timed]} for point in self.points
        ]
        return {"machine": self.machine, "points": points}

    @classmethod
    def from_json(cls, payload: GivenJson) -> TimingOutcome:
        """Return the outcome that `to_json` wrote; ValueError for anything else."""
        try:
            points = [
                Point(**{**point, "timed": tuple(Timed(**each) for each in point["timed"])})
                for point in payload["points"]
            ]
            return cls(str(payload["machine"]), tuple(points))
        except (KeyError, TypeError) as error:
            raise InputError("outcome of the timing", "points", repr(error), "measure it again") from error


def competitors(loss: str | RankingLoss) -> list[str]:
    """Return the timed algorithms for a loss, in the order of the tables.

    >>> competitors("ap")
    ['greedy', 'search', 'select', 'buckets', 'auto']
    """
    return sorted(algorithms_for(loss), key=lambda name: name == "auto")


def machine() -> str:
    """Describe the machine in one line, for a table of times."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def sizes(share: float, parts: str = TIMED[-1]) -> list[tuple[str, int, int]]:
    """Return (what varies, |P|, |N|) for every training run: the tables' first, then each axis of the figures."""
    p, n = max(2, round(share * POSITIVES)), max(2, round(share * NEGATIVES))
    few, total = max(2, round(share * FEW_NEGATIVES)), p + n
    shapes = [(TABLE, p, n)]
    if parts == "tables":
        return shapes
    for part in SHARES:
        relevant = max(1, round(part * total / (RATIO + 1)))
        shapes.append((SAMPLES, relevant, RATIO * relevant))
    shapes += [(NEGATIVE, p, max(1, round(part * n))) for part in SHARES]
    shapes += [(POSITIVE, max(1, round(part * p)), few) for part in SHARES]
    return shapes


class TimingStudy(Study[TimingSettings]):
    """Trains methods and times their calls, at every size and for every loss. The result is a `TimingOutcome`; there
    are no partial results.

    The objectives of all algorithms are compared: ArithmeticError if an algorithm does not reach the maximum.
    """

    settings = TimingSettings

    def run(self, settings: TimingSettings, context: Context) -> Result:
        methods = methods_by_loss()
        training_runs = [(loss, *size) for loss in methods for size in sizes(settings.share, settings.parts)]
        points = []
        for number, (loss, varied, positives, negatives) in enumerate(training_runs):
            what = f"{methods[loss]}, {positives:,} relevant and {negatives:,} irrelevant samples"

            def listen(done: float, what: str = what, number: int = number) -> None:
                context.on_step(what, number + done, len(training_runs))

            query = synthetic(positives, negatives, settings.dimensions, settings.seed)
            timed = _time_training(query, loss, methods[loss], settings.rounds, listen)
            points.append(Point(loss.key, varied, positives, negatives, timed))
        context.on_step("Timed", len(training_runs), len(training_runs))
        return TimingOutcome(machine(), tuple(points)).to_json()


def synthetic(positives: int, negatives: int, dimensions: int, seed: int) -> Query:
    """Return samples with normal features; the relevant ones are shifted by DISTANCE along one direction."""
    random = np.random.default_rng([seed, positives, negatives])
    relevant = random.permutation(np.arange(positives + negatives) < positives)
    features = random.standard_normal((len(relevant), dimensions), dtype=np.float32)
    direction = random.standard_normal(dimensions, dtype=np.float32)
    direction *= DISTANCE / np.linalg.norm(direction)
    features[relevant] += direction
    return Query(features, relevant.astype(np.int64))


def _time_training(
    query: Query, loss: RankingLoss, method: str, rounds: int, listen: Callable[[float], None]
) -> tuple[Timed, ...]:
    """Time every competitor on the calls of its training run. listen receives the finished share, from 0 to 1."""
    assert query.relevance is not None
    relevant: Bools = np.asarray(query.relevance > 0)
    binary, binary_calls = recorded("SVM", query, listen, 0.1, solver="cutting plane")
    _, calls = recorded(method, query, listen, 0.3)
    _check_agreement(calls, relevant, loss)

    def label(scores: Floats) -> object:
        return binary.cut(scores, relevant)

    def answering(algorithm: str) -> Callable[[Floats], object]:
        return lambda scores: most_violated_ranking(scores, relevant, loss, algorithm)

    tasks: dict[str, tuple[Callable[[Floats], object], list[Floats]]] = {BINARY: (label, binary_calls)}
    tasks |= {name: (answering(name), calls) for name in competitors(loss)}
    taken: dict[str, list[list[float]]] = {name: [] for name in tasks}
    # the first round is dropped, because it may include compilation
    for number in range(rounds + 1):
        for place, (name, (answer, given)) in enumerate(tasks.items()):
            times = []
            for scores in thinned(given):
                start = time.perf_counter()
                answer(scores)
                times.append(time.perf_counter() - start)
            if number:
                taken[name].append(times)
            listen(0.4 + 0.6 * (number + (place + 1) / len(tasks)) / (rounds + 1))
    return tuple(_summed(name, len(tasks[name][1]), np.array(times)) for name, times in taken.items())


def recorded(
    name: str, query: Query, listen: Callable[[float], None], done: float, **settings: object
) -> tuple[UnaryMethod, list[Floats]]:
    """Return a trained method, and the scores of every call of its loss-augmented inference."""
    calls = list[Floats]()
    method: Any = make_method(name, **TRAINING, **settings)
    plain = method.cut

    def cut(scores: Floats, relevant: Bools) -> object:
        calls.append(np.array(scores))
        return plain(scores, relevant)

    def on_progress(event: ProgressEvent) -> None:
        listen(done)

    method.cut = cut
    method.fit([query], on_progress=on_progress)
    method.cut = plain
    return method, calls


def thinned(calls: Sequence[Floats]) -> Iterable[Floats]:
    """Return at most MAX_CALLS of the calls, evenly spread over the run."""
    places = np.linspace(0, len(calls) - 1, min(len(calls), MAX_CALLS)).round().astype(int)
    return [calls[place] for place in places]


def _check_agreement(calls: Sequence[Floats], relevant: Bools, loss: RankingLoss) -> None:
    for scores in (calls[0], calls[len(calls) // 2], calls[-1]):
        names = competitors(loss)
        objectives = [most_violated_ranking(scores, relevant, loss, name).objective for name in names]
        if not np.allclose(objectives, objectives[0], rtol=1e-9, atol=1e-12):
            listed = ", ".join(f"{name} {value!r}" for name, value in zip(names, objectives, strict=True))
            raise ArithmeticError(f"the algorithms disagree, so their times mean nothing: {listed}")


def _summed(name: str, calls: int, times: Floats) -> Timed:
    """times: (rounds, calls that were timed) seconds."""
    medians = np.median(times, axis=0)
    mean = float(medians.mean())
    return Timed(name, calls, calls * mean, mean, float(medians.std()))
