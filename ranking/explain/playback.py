"""The recording of a training run, and the frames that pages show.

It holds, at some iterations, the bounds and the scores of all samples, of the members of a few test
sequences, or of all images with their best windows.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.losses import RankingLoss
from ranking.methods.saved import UNREADABLE
from ranking.metrics import kendall_tau, ranking_order
from ranking.metrics.detection import correct_localisation
from ranking.metrics.ranked import Ranking

# iterations of a recording
MAX_ITERATIONS = 60
# of its file
MAX_BYTES = 2_000_000
# bytes of the file besides the scores
OVERHEAD = 5_000
# samples of a ranking that are shown
TOP = 12
# irrelevant samples that the most violated ranking moves up, as shown
LIFTED = 6

T = TypeVar("T")


class Scored(NamedTuple):
    """What is recorded of one iteration, or of t iterations."""

    # (n,), or (t, n)
    scores: Floats
    # (n, 4), or (t, n, 4): the best window of each image, for images with candidate windows
    boxes: Ints | None = None


@dataclass(frozen=True, eq=False)
class Playback:
    """The recorded iterations of a training run."""

    # (t,), strictly increasing, t at most MOST
    iterations: Ints
    # (t,), 0 for methods without rounds; files of early versions have no rounds, which are read as 0
    rounds: Ints
    # primal, dual: (t,); a dual may be -inf
    primal: Floats
    dual: Floats
    # (t, n) float32
    scores: npt.NDArray[np.float32]
    # (t, n, 4) int32, the best window of each image, where images with candidate windows are ranked
    boxes: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.iterations)

    def save(self, path: Path) -> None:
        path.write_bytes(self.content())

    def content(self) -> bytes:
        """Return the bytes of the file."""
        stream = io.BytesIO()
        np.savez(stream, **{name: array for name, array in vars(self).items() if array is not None})
        return stream.getvalue()


def most_iterations(samples: int, boxes: bool = False) -> int:
    """Return how many iterations with `samples` scores, and as many boxes, fit in a recording.

    >>> most_iterations(578), most_iterations(20_000), most_iterations(1_000_000)
    (60, 24, 0)
    """
    # If fewer than 2 fit, none is recorded.
    each = samples * np.dtype(np.float32).itemsize * (5 if boxes else 1)
    fitting = (MAX_BYTES - OVERHEAD) // max(each, 1)
    return min(MAX_ITERATIONS, fitting)


def read_playback(file: Path, samples: int) -> Playback | None:
    """Return the recording in `file`, None without a file; InputError unless it has `samples` scores."""
    if not file.exists():
        return None
    arrays = read_arrays(file)
    read = Playback(**{"rounds": np.zeros(arrays["iterations"].shape, np.int64), **arrays})
    expected = (len(read), samples)
    if read.scores.shape != expected:
        raise InputError(
            file.name, f"scores of shape {expected}", f"shape {read.scores.shape}", "train again"
        )
    return read


def read_arrays(file: Path) -> Json:
    """Return the arrays by name in a file of a run."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, *UNREADABLE, TypeError, AttributeError) as error:
        # without the path
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(file.name, "an intact file", f"a damaged file ({why})", "train again") from error


# ---------------------------------------------------------------------------------------------------------
# Frames
# ---------------------------------------------------------------------------------------------------------


class Lift(NamedTuple):
    """An irrelevant training sample that the most violated ranking moves above `passed` relevant ones."""

    sample: int
    passed: int


class Frame(NamedTuple):
    """A recorded iteration."""

    iteration: int
    round: int
    primal: float
    dual: float
    # the top samples, from rank 1; for a ranking of images the top ones of the end
    top: Ints
    # by name; None if undefined
    measures: Mapping[str, float | None]
    # for a ranking of samples, of the samples of `top`
    relevant: tuple[bool, ...] = ()
    # for a ranking of samples, at most LIFTED samples that the most violated ranking moves up, the largest
    # move first
    lifted: tuple[Lift, ...] = ()
    # for a ranking of images, (k, 4) the best windows of `top`
    boxes: Ints | None = None
    # for a ranking of images, of the images of `top` in the iteration
    ranks: tuple[int, ...] = ()
    # for a ranking of images, the start from which the round came, if there were several
    start: str = ""


def frames_of(
    playback: Playback, relevance: Ints, test: npt.NDArray[np.bool_], loss: RankingLoss | None
) -> list[Frame]:
    """Return a frame per recorded iteration: the TOP highest-ranked test samples, AP, and P@TOP."""
    # relevance, test: (n,). loss: of the method's most violated ranking; None: `lifted` is empty. For an
    # image set without test samples, the frames show its training samples.
    shown, learn = np.flatnonzero(test if test.any() else ~test), np.flatnonzero(~test)
    both = 0 < np.count_nonzero(relevance[learn]) < len(learn)
    frames = []
    for i in range(len(playback)):
        scores = playback.scores[i].astype(np.float64)
        ranked = Ranking.of(shown, relevance[shown], scores[shown])
        relevant = tuple(bool(each) for each in ranked.relevance[:TOP] > 0)
        lifted = lifts(scores[learn], relevance[learn] > 0, loss) if loss is not None and both else ()
        frames.append(
            Frame(
                *_reported(playback, i),
                ranked.samples[:TOP],
                {
                    "AP": ranked.average_precision if ranked.positives else None,
                    f"P@{len(relevant)}": sum(relevant) / len(relevant),
                },
                relevant,
                tuple(Lift(int(learn[row]), passed) for row, passed in lifted),
            )
        )
    return frames


def frames_of_sequence(playback: Playback, part: slice, samples: Ints, relevance: Ints) -> list[Frame]:
    """Return a frame per recorded iteration, of one sequence: all of its samples, and Kendall's tau."""
    # part: of the scores, which are those of the sequence. samples, relevance: (n,) of its members.
    frames = []
    for i in range(len(playback)):
        scores = playback.scores[i, part].astype(np.float64)
        order = ranking_order(relevance, scores)
        tau = kendall_tau(relevance, scores)
        frames.append(Frame(*_reported(playback, i), samples[order], {"Kendall tau": tau}))
    return frames


def frames_of_images(
    playback: Playback,
    relevance: Ints,
    parts: Mapping[str, Ints],
    objects: Sequence[Ints] | None,
    ends: Mapping[str, float] | None = None,
) -> list[Frame]:
    """Return a frame per recorded round, whose number is its iteration."""
    # A frame has the best windows and ranks of those images of the first part that are the TOP highest-ranked
    # ones in the end, its AP, and the CorLoc of each part. relevance: (n,). parts: images by their name in
    # measures. objects: the boxes (k, 4) of the class in each image; None where they are not known, then
    # there is no CorLoc. ends: the objective where training from each start ended, in their order; None
    # before the end of training. InputError for a recording without boxes.
    if playback.boxes is None:
        raise InputError("recording", "boxes.npy", "none")
    (part, shown), last = next(iter(parts.items())), len(playback) - 1
    top = Ranking.of(shown, relevance[shown], playback.scores[last, shown].astype(np.float64)).samples[:TOP]
    frames = list[Frame]()
    for i in range(len(playback)):
        scores, boxes, primal = playback.scores[i].astype(np.float64), playback.boxes[i], playback.primal[i]
        same = (
            frames and math.isclose(primal, playback.primal[i - 1]) and (boxes == playback.boxes[i - 1]).all()
        )
        if same and i == last:
            # the end is where the last recorded round begins
            break
        step = max(int(playback.rounds[i]), frames[-1].iteration + 1 if frames else 0)
        ranked = Ranking.of(shown, relevance[shown], scores[shown])
        located = dict[str, float | None]()
        if objects is not None:
            for name, images in parts.items():
                located[f"CorLoc, {name}"] = part_localisation(boxes, objects, images)
        frames.append(
            Frame(
                step,
                step,
                float(primal),
                float(playback.dual[i]),
                top,
                {**located, f"AP, {part}": ranked.average_precision if ranked.positives else None},
                tuple(bool(each) for each in relevance[top] > 0),
                boxes=boxes[top],
                ranks=tuple(int(np.flatnonzero(ranked.samples == image)[0]) + 1 for image in top),
                start=_start_of(float(primal), ends or {}),
            )
        )
    return frames


def _start_of(primal: float, ends: Mapping[str, float]) -> str:
    """Return the start from which a recorded round came; "" if there is no more than one."""
    # Only objectives below all earlier ones are recorded, so it is the first start that ended at least as
    # low.
    reached = (name for name, end in ends.items() if end <= primal or math.isclose(end, primal))
    return next(reached, "") if len(ends) > 1 else ""


def part_localisation(boxes: Ints, objects: Sequence[Ints], images: Ints) -> float | None:
    """Return the CorLoc of boxes (n, 4) over those of `images` that have objects; None if none has."""
    rows = [int(image) for image in images if len(objects[image])]
    return correct_localisation(boxes[rows], [objects[row] for row in rows]) if rows else None


def _reported(playback: Playback, i: int) -> tuple[int, int, float, float]:
    """Return the iteration, the round and the bounds of a recorded iteration."""
    return (
        int(playback.iterations[i]),
        int(playback.rounds[i]),
        float(playback.primal[i]),
        float(playback.dual[i]),
    )


def lifts(
    scores: Floats, relevant: npt.NDArray[np.bool_], loss: str | RankingLoss
) -> tuple[tuple[int, int], ...]:
    """Return the irrelevant rows that the most violated ranking moves up most, and how many each passes.

    >>> lifts(np.array([3.0, 2.0, 1.0, 2.9]), np.array([True, True, False, False]), "ap")
    ((3, 1),)
    """
    # scores: (n,). At most LIFTED rows, each with the number of relevant rows that it passes. Without the
    # loss, equal scores rank the irrelevant first.

    # Compiled: pages import this file before they show anything.
    from ranking.inference import most_violated_ranking

    rows = np.flatnonzero(~relevant)
    rising = np.sort(scores[relevant])
    above = len(rising) - np.searchsorted(rising, scores[rows], side="right")
    violated = most_violated_ranking(scores, relevant, loss).interleaving_ranks - 1
    passed = above - violated
    first = np.lexsort((-scores[rows], -passed))[:LIFTED]
    return tuple((int(rows[i]), int(passed[i])) for i in first if passed[i] > 0)


def spread_geometrically(iterations: Sequence[T], count: int) -> list[T]:
    """Return at most `count` of the iterations, spread geometrically.

    >>> spread_geometrically(list(range(60)), 5)
    [0, 2, 7, 21, 59]
    """
    # They are the first, the last, and those between at ratios of their position.
    last = len(iterations) - 1
    places = np.geomspace(1, last + 1, count).round().astype(int) - 1 if last > 0 else [last]
    return [iterations[place] for place in sorted({int(place) for place in places if place >= 0})]
