"""Training of methods that rank sequences, and their measures (midrank, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ranking.core import Features, Floats, ImageSet, Ints, OnProgress, OnStep, SequenceSet
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, settings_of
from ranking.core.text import readable
from ranking.datasets.sequences import GROUPS, Drawing, SampledSequences, dense_ranks, draw_sequences
from ranking.experiments.recording import Recorder
from ranking.experiments.task import Measured, Task
from ranking.explain.playback import Scored
from ranking.features import load_features
from ranking.features.projection import Projection, fit_projection, projected
from ranking.methods.order_method import OrderMethod
from ranking.metrics import kendall_tau, ndcg, ranking_order
from ranking.storage.run_settings import AblationSettings, OrderTrainSettings

# test sequences
RECORDED = 5
# total number of their members
RECORDED_MEMBERS = 40

T = TypeVar("T")


class OrderMeasures(NamedTuple, Generic[T]):
    """Measures of ranked sequences, as arrays (m,) with a number per sequence, or as those of one."""

    # NDCG is of the whole sequence, with linear gain and with the exponential gain of the paper's text (its
    # Table 1 uses linear gain).
    ndcg_linear: T
    ndcg_exponential: T
    tau: T
    # pair accuracy; tau = 2 pairs - 1
    pairs: T


NAMES = OrderMeasures("NDCG, linear gain", "NDCG, exponential gain", "Kendall tau", "pair accuracy")


class OrderData(NamedTuple):
    """The sequences of both parts, "train" and "test", and how they were sampled."""

    sampled: dict[str, SampledSequences]
    drawing: Drawing


class OrderTask(Task[OrderTrainSettings, OrderData, OrderMethod]):
    """Ranking sequences. Stores the scores (N,) of the members of the test sequences, sequence after sequence."""

    settings = OrderTrainSettings
    method = OrderMethod

    def check(self, images: ImageSet, settings: OrderTrainSettings) -> None:
        make_drawing(settings.drawing)
        images.numbers_of(settings.criterion)

    def data(
        self,
        images: ImageSet,
        settings: OrderTrainSettings,
        cache: Path,
        on_step: OnStep | None,
        edges: Ints | None,
    ) -> tuple[OrderData, Projection | None]:
        drawing = make_drawing(settings.drawing)
        seen, projection = features_to_order(images, settings, cache, on_step)
        sampled = draw_sequences(images, seen, settings.criterion, drawing)
        return OrderData(dict(zip(("train", "test"), sampled, strict=True)), drawing), projection

    def fit(
        self, method: OrderMethod, data: OrderData, on_progress: OnProgress, warm_start: OrderMethod | None
    ) -> None:
        method.fit(data.sampled["train"].sequences, on_progress=on_progress)

    def record(self, recorder: Recorder, method: OrderMethod, data: OrderData) -> None:
        sequences = recorded_sequences(data.sampled["test"].sequences)
        if len(sequences):
            rows, members = np.unique(sequences.members, return_inverse=True)
            features, grades = sequences.features[rows], sequences.grades[rows]
            few = SequenceSet(features, grades, members, sequences.starts)
            recorder.begin(
                len(members), lambda weights, rounds: Scored(method.score_by(few, weights, rounds))
            )

    def measure(self, method: OrderMethod, data: OrderData) -> Measured:
        scores = {part: method.score_sequences(sampled.sequences) for part, sampled in data.sampled.items()}
        metrics = {
            part: mean_measures(sampled, scores[part], data.drawing) for part, sampled in data.sampled.items()
        }
        return Measured(metrics, scores["test"])


def recorded_sequences(sequences: SequenceSet) -> SequenceSet:
    """Return the first test sequences, whose scores are recorded: few, with few members."""
    # They are few because the time of searching for the best order grows with the cube of the length.
    ends = sequences.starts[1 : RECORDED + 1]
    return sequences.part(np.arange(np.count_nonzero(ends <= RECORDED_MEMBERS)))


def features_to_order(
    image_set: ImageSet,
    settings: OrderTrainSettings | AblationSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
) -> tuple[Features, Projection | None]:
    """Return the features (n, d) of the samples, and their projection."""
    features = load_features(image_set, settings.features, feature_cache, on_step)
    # fitted on all training samples, including those without a value of the criterion
    projection = fit_projection(settings.projection, features, ~image_set.test, on_step)
    return projected(projection, features), projection


def make_drawing(settings: GivenSettings) -> Drawing:
    """Return how sequences are sampled; ValueError for an unknown setting."""
    known = [item.name for item in settings_of(Drawing)]
    unknown = [name for name in settings if name not in known]
    if unknown:
        expected = f"settings of sequences, which are {', '.join(known)}"
        raise InputError("drawing", expected, readable(unknown[0]))
    return Drawing(**settings)


def training_grades(image_set: ImageSet, criterion: str) -> int:
    """Return how many different known values of a criterion the training images have."""
    numbers = image_set.numbers_of(criterion)[~image_set.test]
    return len(np.unique(numbers[~np.isnan(numbers)]))


def held_out_sequences(
    image_set: ImageSet, settings: OrderTrainSettings, features: Features | None = None
) -> SampledSequences:
    """Return the test sequences of a training run."""
    # Their samples do not depend on the features; without features, the feature matrix is 0.
    if features is None:
        features = np.zeros((len(image_set), 1), np.float32)
    return draw_sequences(image_set, features, settings.criterion, make_drawing(settings.drawing))[1]


@dataclass(frozen=True, eq=False)
class Ordered:
    """The test sequences of a run with the ranking by its method."""

    sampled: SampledSequences
    # (N,) of the members of the sequences
    scores: Floats
    # (n,) of each sequence
    relevance: tuple[Ints, ...]
    # (m,) of each
    measures: OrderMeasures[Floats]

    @classmethod
    def of(cls, sampled: SampledSequences, scores: Floats, drawing: Drawing) -> Ordered:
        """ValueError unless there is one score per member."""
        if scores.shape != sampled.sequences.members.shape:
            expected = f"{len(sampled.sequences.members):,}, one per member of the test sequences"
            raise InputError("scores", expected, f"shape {scores.shape}")
        return cls(sampled, scores, tuple(relevances(sampled, drawing)), measures(sampled, scores, drawing))

    def __len__(self) -> int:
        return len(self.sampled.sequences)

    def samples(self, number: int) -> Ints:
        """(n,) samples of the image set in sequence `number`, in the order in which they were sampled."""
        rows: Ints = self.sampled.samples[self.sampled.sequences.sequence(number)]
        return rows

    def order(self, number: int) -> Ints:
        """(n,) members of sequence `number` by descending score; ties by ascending number."""
        span = slice(*self.sampled.sequences.starts[number : number + 2])
        return ranking_order(self.relevance[number], self.scores[span])

    def true_order(self, number: int) -> Ints:
        """(n,) members of sequence `number` in the true order; ties in the order in which they were sampled."""
        return np.argsort(-self.relevance[number], kind="stable")


# ---------------------------------------------------------------------------------------------------------
# Measures
# ---------------------------------------------------------------------------------------------------------


def mean_measures(sampled: SampledSequences, scores: Floats, drawing: Drawing) -> dict[str, float]:
    """Return the means of `measures` by name, and the number of sequences."""
    means = [float(values.mean()) for values in measures(sampled, scores, drawing)]
    return {**dict(zip(NAMES, means, strict=True)), "sequences": float(len(sampled.sequences))}


def measures(sampled: SampledSequences, scores: Floats, drawing: Drawing) -> OrderMeasures[Floats]:
    """Return the measures of scores (N,) of all members, a number per sequence."""
    starts = sampled.sequences.starts
    values = [
        measure(relevance, scores[starts[number] : starts[number + 1]])
        for number, relevance in enumerate(relevances(sampled, drawing))
    ]
    return OrderMeasures(*np.array(values).T)


def measure(relevance: Ints, scores: Floats) -> OrderMeasures[float]:
    """Return the measures of scores (n,) of one sequence; ValueError where all have one relevance.

    >>> measure(np.array([2, 1, 0]), np.array([3.0, 1.0, 2.0])).tau
    0.3333333333333333
    """
    tau = kendall_tau(relevance, scores)
    return OrderMeasures(
        ndcg(relevance, scores), ndcg(relevance, scores, gain="exponential"), tau, (1 + tau) / 2
    )


def measure_order(relevance: Ints, order: Ints | Sequence[int]) -> OrderMeasures[float]:
    """Return the measures of an order (n,) of samples from the top.

    >>> measure_order(np.array([2, 1, 0]), [0, 2, 1]).pairs
    0.6666666666666666
    """
    scores = np.empty(len(relevance))
    scores[np.asarray(order)] = np.arange(len(relevance))[::-1]
    return measure(relevance, scores)


def relevances(sampled: SampledSequences, drawing: Drawing) -> Iterator[Ints]:
    """Yield the relevance (n,) of the members of each sequence."""
    # A whole group keeps its grades, because these are the grades of a query. In a sampled sequence the last
    # one has 0, such as 0 to 7 in the paper's sequences of eight public figures; otherwise eight cars of a
    # century would have gains up to 2^99.
    sequences = sampled.sequences
    for number in range(len(sequences)):
        grades = sequences.grades[sequences.sequence(number)]
        yield grades if drawing.of == GROUPS else dense_ranks(grades)
