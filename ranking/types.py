"""The nouns of the package: what flows from an image set to a ranking. Imports nothing of ours.

Directions, once for all: a higher score ranks higher; relevance 1 is relevant, 0 is not (grades above 1
are more relevant); losses are minimised; boxes are ``(left, top, right, bottom)`` in pixels, half open.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

Floats = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

BLOCK = 1 << 20  # numbers of a matrix that are worked on at once where all of them would take much memory


# ---------------------------------------------------------------------------------------------------------
# What a method learns from
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Pairs of samples that tend to share their label (high-order, section 3).

    edges: (m, 2) int, each unordered pair once. affinity: (m, d2) >= 0, Phi of eq. 5, without eta; float32 and
    float64 stay as they are given.
    """

    edges: Ints
    affinity: Features

    def __post_init__(self) -> None:
        edges, affinity = np.asarray(self.edges), np.asarray(self.affinity)
        if not is_real(affinity):
            raise ValueError(f"affinity must be real numbers, got {affinity.dtype}")
        if affinity.dtype not in (np.float32, np.float64):
            affinity = affinity.astype(np.float64)
        if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
            raise ValueError(f"edges must be (m, 2) integers, got {edges.dtype} of shape {edges.shape}")
        if affinity.ndim != 2 or len(affinity) != len(edges):
            raise ValueError(f"affinity must be ({len(edges)}, d2), one row an edge, got {affinity.shape}")
        if len(edges) and (edges.min() < 0 or (edges[:, 0] == edges[:, 1]).any()):
            raise ValueError("edges must join two different samples, numbered from 0")
        lower, upper = edges.min(axis=1), edges.max(axis=1)
        order = np.lexsort((upper, lower))
        lower, upper = lower[order], upper[order]
        if ((lower[1:] == lower[:-1]) & (upper[1:] == upper[:-1])).any():
            raise ValueError("edges must hold each unordered pair once; remove the duplicates")
        # The least and the largest number tell without a copy: NaN, where there is one, is both of them.
        if affinity.size and not 0 <= affinity.min() <= affinity.max() < np.inf:
            raise ValueError("affinity must be finite and not negative")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "affinity", affinity)


@dataclass(frozen=True, eq=False)
class Query:
    """The samples that one query ranks.

    features: (n, d) float32 or float64, finite. relevance: (n,) grades >= 0, needed for training only.
    graph: optional neighbours. ids: (n,) stable names of the samples; the row numbers where none are given.
    """

    features: Features
    relevance: Ints | None = None
    graph: SimilarityGraph | None = None
    ids: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        if self.relevance is not None:
            object.__setattr__(self, "relevance", check_relevance(self.relevance, len(features)))
        object.__setattr__(self, "ids", check_ids(self.ids, len(features), "sample"))
        if self.graph is not None and len(self.graph.edges) and self.graph.edges.max() >= len(features):
            raise ValueError(f"edges name sample {self.graph.edges.max()}, there are {len(features)} samples")

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Images whose labels are to be ranked, one ranking of all labels an image (c-star, section 5).

    features: (M, d) float32 or float64, finite. labels: (M, L) bool, which labels each image has. names: the L
    labels, different. test: (M,) bool, the images kept for testing; none where not given. ids: (M,) stable names of
    the images; the row numbers where none are given.
    """

    features: Features
    labels: Bools
    names: tuple[str, ...]
    test: Bools = None  # type: ignore[assignment]  # arrays from __post_init__ on
    ids: npt.NDArray[Any] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        count, names = len(features), tuple(self.names)
        if not all(isinstance(name, str) for name in names):
            raise ValueError(f"names must be the labels as text, got {names!r:.60}")
        if len(set(names)) != len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise ValueError(
                f"names must be different labels, {twice!r} comes twice; give each label one column"
            )
        object.__setattr__(self, "names", names)
        shape = (count, len(names))
        object.__setattr__(self, "labels", check_marks(self.labels, shape, "labels", "image and name"))
        test = np.zeros(count, np.bool_) if self.test is None else self.test
        object.__setattr__(self, "test", check_marks(test, (count,), "test", "image"))
        object.__setattr__(self, "ids", check_ids(self.ids, count, "image"))

    def __len__(self) -> int:
        return len(self.features)

    def part(self, rows: npt.ArrayLike) -> LabelSet:
        """The images that `rows` names: row numbers in any order, or (M,) bool."""
        chosen = np.asarray(rows)
        if not chosen.size and chosen.dtype != np.bool_:
            chosen = chosen.astype(np.int64)  # an empty list has no integers in it
        test, ids = self.test[chosen], self.ids[chosen]
        return LabelSet(self.features[chosen], self.labels[chosen], self.names, test, ids)


@dataclass(frozen=True, eq=False)
class SequenceSet:
    """Sequences of samples that are to be put in order, drawn from one pool (midrank, section 3).

    features: (n, d) float32 or float64 of the pool, finite. grades: (n,) whole >= 0, of which the highest goes first;
    equal ones have no order among them. members: rows of the pool, sequence after sequence; sequence i is
    members[starts[i]:starts[i + 1]]. A row may be in many sequences, so that ten thousand of them weigh little.
    """

    features: Features
    grades: Ints
    members: Ints
    starts: Ints

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "grades", check_relevance(self.grades, len(features)))
        members, starts = np.asarray(self.members), np.asarray(self.starts)
        for name, array in {"members": members, "starts": starts}.items():
            if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or not array.size):
                raise ValueError(
                    f"{name} must be whole numbers in one row, got {array.dtype} of {array.shape}"
                )
        if not len(starts) or starts[0] != 0 or starts[-1] != len(members) or (np.diff(starts) < 1).any():
            raise ValueError(
                f"starts must rise from 0 to {len(members)}, the number of members, and no sequence be empty"
            )
        if len(members) and not 0 <= members.min() <= members.max() < len(features):
            raise ValueError(f"members must be rows of the pool, 0 to {len(features) - 1}")
        object.__setattr__(self, "members", members.astype(np.int64))
        object.__setattr__(self, "starts", starts.astype(np.int64))

    @classmethod
    def of(cls, queries: Sequence[Query] | SequenceSet) -> SequenceSet:
        """The samples of `queries` as one pool, each query a sequence; a SequenceSet as it is.

        >>> made = SequenceSet.of([Query(np.eye(2), np.array([0, 1])), Query(np.ones((3, 2)), np.array([2, 0, 1]))])
        >>> made.sequence(1), made.grades.tolist()
        (array([2, 3, 4]), [0, 1, 2, 0, 1])
        """
        if isinstance(queries, SequenceSet):
            return queries
        if not queries:
            raise ValueError("expected at least one query, got an empty list")
        sizes = {query.features.shape[1] for query in queries}
        if len(sizes) > 1:
            raise ValueError(f"all queries need as many features, got {sorted(sizes)}")
        grades = [query.relevance for query in queries if query.relevance is not None]
        if len(grades) < len(queries):
            raise ValueError("every query needs its relevance: training needs Query(features, relevance)")
        features = np.concatenate([query.features for query in queries])
        starts = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
        return cls(features, np.concatenate(grades), np.arange(len(features)), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sequence(self, number: int) -> Ints:
        """The rows of the pool that sequence `number` holds, in the order in which they were given."""
        return self.members[self.starts[number] : self.starts[number + 1]]

    def query(self, number: int) -> Query:
        """Sequence `number` by itself; its ids are rows of the pool."""
        rows = self.sequence(number)
        return Query(self.features[rows], self.grades[rows], ids=rows)

    def part(self, numbers: npt.ArrayLike) -> SequenceSet:
        """The sequences of those numbers, over the same pool."""
        chosen = np.asarray(numbers, np.int64)
        rows = [self.sequence(number) for number in chosen]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in rows], dtype=np.int64)])
        members = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        return SequenceSet(self.features, self.grades, members, starts)


def check_features(features: npt.ArrayLike) -> Features:
    """`features` as (n, d) finite float32 or float64, or a ValueError that says what is wrong with them."""
    given = np.asarray(features)
    if given.ndim != 2:
        raise ValueError(f"features must be (n, d), got shape {given.shape}")
    if not is_real(given):
        raise ValueError(f"features must be real numbers, got {given.dtype}")
    if given.dtype not in (np.float32, np.float64):
        given = given.astype(np.float64)
    if not all_finite(given):
        rows = np.flatnonzero(~np.isfinite(given).all(axis=1))
        raise ValueError(f"features must be finite; NaN or infinity in {len(rows)} rows, first {rows[0]}")
    return given


def all_finite(matrix: npt.NDArray[Any]) -> bool:
    """Whether (n, d) numbers are finite, told without marks for all of them at once.

    >>> all_finite(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    False
    """
    return all(np.isfinite(matrix[rows]).all() for rows in blocks_of_rows(matrix.shape))


def blocks_of_rows(shape: Sequence[int]) -> Iterator[slice]:
    """The rows of an (n, d) matrix in blocks of about BLOCK numbers, so that what is made of a block stays small.

    >>> list(blocks_of_rows((3, 2 * BLOCK)))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, BLOCK // max(1, shape[1]))
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))


def check_ids(ids: npt.ArrayLike | None, n: int, kind: str) -> npt.NDArray[Any]:
    """(n,) the names of what is of a `kind`, the row numbers where there are none; ValueError for another shape."""
    given = np.arange(n) if ids is None else np.asarray(ids)
    if given.shape != (n,):
        raise ValueError(f"ids must be ({n},), one for each {kind}, got shape {given.shape}")
    return given


def check_marks(marks: npt.ArrayLike, shape: tuple[int, ...], name: str, kind: str) -> Bools:
    """`marks`, called `name`, as bool of that shape; ValueError for another, or for more than 0 and 1."""
    given = np.asarray(marks)
    if given.shape != shape:
        raise ValueError(f"{name} must be {shape}, one mark for each {kind}, got shape {given.shape}")
    if not is_real(given) or not ((given == 0) | (given == 1)).all():
        raise ValueError(f"{name} must be true or false (1 or 0), got {given.dtype} with other values")
    return given.astype(np.bool_)


def check_relevance(relevance: npt.ArrayLike, n: int) -> npt.NDArray[np.int64]:
    """`relevance` as (n,) int64 grades, or a ValueError that says what is wrong with it."""
    grades = np.asarray(relevance)
    if grades.shape != (n,):
        raise ValueError(f"relevance must be ({n},), one grade a sample, got shape {grades.shape}")
    if not is_real(grades):
        raise ValueError(f"relevance must be real numbers, got {grades.dtype}")
    with np.errstate(invalid="ignore"):  # NaN, infinity and what int64 cannot hold differ from their cast
        whole = grades.astype(np.int64)
    if (whole != grades).any() or (whole < 0).any():
        raise ValueError("relevance must be whole grades >= 0 (0 not relevant, 1 relevant)")
    return whole


def is_real(array: npt.NDArray[Any]) -> bool:
    """Whether numbers come as bool, integer or float: not complex, text, dates or objects."""
    return array.dtype.kind in "biuf"


def is_number(value: object) -> bool:
    """Whether JSON gave a number that a float can hold: finite, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


# ---------------------------------------------------------------------------------------------------------
# What training says of itself
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgressEvent:
    """Where an optimiser stands: bounds on the optimum after `iteration` steps.

    primal: the paper's objective at the best weights so far (an upper bound); dual: a lower bound, or -inf
    before there is one; seconds: time in training, callbacks excluded; passes: products with the feature
    matrix so far; planes: constraints in the working set (0 where the solver has none); round: of those that a
    method that is not convex takes, from 1, each with a lower bound of its own (0 where there is one round).
    """

    iteration: int
    primal: float
    dual: float
    seconds: float
    passes: int
    planes: int = 0
    round: int = 0

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """gap / primal; 0 where both are 0."""
        return relative_gap(self.primal, self.dual)


class Bounds(NamedTuple):
    """How exact the max-marginals of `of` samples are.

    large: how many samples stand in components too large to enumerate, whose max-marginals are upper bounds. samples:
    of how many of those no labelling is known that attains them. excess: the most that one lies above the best
    labelling known. score: the largest difference of max-marginals, in size, to compare it with.
    """

    large: int
    samples: int
    of: int
    excess: float
    score: float


@dataclass(frozen=True)
class Certificate:
    """What a finished training proves: both bounds recomputed in float64 from the paper's definition."""

    primal: float
    dual: float
    gap: float
    iterations: int
    seconds: float
    converged: bool

    @property
    def relative_gap(self) -> float:
        """gap / primal; 0 where both are 0."""
        return relative_gap(self.primal, self.dual)


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / |primal|; 0 where the bounds meet, infinite where primal is 0 or a bound is infinite.

    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if primal == dual:
        return 0.0
    return (primal - dual) / abs(primal) if primal and math.isfinite(primal - dual) else math.inf


class StopTraining(Exception):
    """Raised by a progress callback: training ends with the best weights so far, not converged."""


OnProgress = Callable[[ProgressEvent], None]
OnStep = Callable[[str, int, int], None]  # (what, done, total): of work that is no iteration


class Method(Protocol):
    """What every registered method that ranks samples can do. Its dataclass fields are its settings.

    `ranks`: "samples" of a query, as relevant or not; "orders": samples by their grades, whose queries may be given as
    a SequenceSet too; methods that rank the "labels" of an image are given a LabelSet instead, and give `scores`
    (M, L). `certificate`: what training proved; None before `fit`, and always where the method proves nothing.
    """

    name: ClassVar[str]
    ranks: ClassVar[str] = "samples"

    @property
    def weights(self) -> Any: ...
    @property
    def certificate(self) -> Certificate | None: ...
    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self: ...
    def score(self, query: Query) -> Floats: ...
    def save(self, path: Path | str) -> None: ...
    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self: ...


# ---------------------------------------------------------------------------------------------------------
# Where samples come from
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceBox:
    """One annotated box as a source tells it: a box in pixels, None for the whole image, and the classes it shows.

    `relative` boxes are in shares of the image's width and height instead, 0 to 1.
    `number` is its place in the annotation, so that a sample keeps its id whichever other boxes are left out.
    `numbers` are what criteria such as "year" measure of it; NaN, or nothing said, where that is unknown.
    """

    box: tuple[float, float, float, float] | None
    classes: tuple[str, ...]
    group: str | None = None  # None: the image is the group
    number: int | None = None  # None: its place in SourceImage.boxes, counted from 1
    numbers: Mapping[str, float] = field(default_factory=dict)
    relative: bool = False


class LateFile(Protocol):
    """A file that is read when its image is decoded, such as `ranking.intake.FileInTree`; reports call it `shown`."""

    @property
    def shown(self) -> str: ...
    def read(self, limit: int, what: str = ...) -> bytes: ...


@dataclass(frozen=True)
class SourceImage:
    """One image as a source tells it. `data` is a file to read or the bytes of one, not yet trusted.

    `size` is the width and height that the annotation claims, where it claims any: boxes drawn on an image
    of another size cannot be trusted. `features` describe the image where the source has them, and then all its
    images, by as many numbers each. `upright`: where nothing else tells, boxes are on the picture as its EXIF
    orientation turns it, not as it is stored.
    """

    name: str
    data: Path | bytes | LateFile
    boxes: tuple[SourceBox, ...]
    test: bool = False
    size: tuple[int, int] | None = None
    features: tuple[float, ...] | None = None
    upright: bool = False


@dataclass(frozen=True)
class Problem:
    """A row of an import's report: what was expected of a file, what came, what was done about it."""

    file: str
    expected: str
    came: str
    done: str


class Source(Protocol):
    """An image-set source. Its dataclass fields are its settings; problems are yielded, not raised.

    A source that cannot be read at all (no such folder, no annotations) raises ValueError.
    `bundled`: its images come with the program; such sets are made at the first start unasked.
    """

    name: ClassVar[str]
    bundled: ClassVar[bool] = False

    def title(self) -> str:
        """A name for the image set that a person would choose."""
        ...

    def __len__(self) -> int:
        """How many images `records` will speak of (for the progress bar)."""
        ...

    def records(self) -> Iterator[SourceImage | Problem]: ...


OnCount = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images, boxes and labels; a sample is a box in an image. Columns, so that 100,000 samples stay light.

    m images: image_names, image_files (relative to `folder`), image_sizes (m, 2) width, height, image_test.
    n samples: boxes (n, 4), image_of (n,) row of its image, groups (n,), labels (n, c), ids (n,).
    image_features: (m, d) finite float32 where the features came with the set; its pictures are then cards.
    numbers: (n, c), what each of the c `criteria` such as "year" measures of a sample, by which samples can be put in
    order; NaN where it is unknown. float64 where float32 would make different ones equal. (n, 0) for a set without
    criteria. A set has classes, criteria or both.
    `key` is a hash of all content: equal keys are equal sets.
    """

    key: str
    title: str
    folder: Path
    classes: tuple[str, ...]
    image_names: npt.NDArray[np.str_]
    image_files: npt.NDArray[np.str_]
    image_sizes: npt.NDArray[np.int32]
    image_test: Bools
    boxes: npt.NDArray[np.int32]
    image_of: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    labels: Bools
    ids: npt.NDArray[np.str_]
    image_features: npt.NDArray[np.float32] | None = None
    criteria: tuple[str, ...] = ()
    numbers: Features = None  # type: ignore[assignment]  # an array from __post_init__ on
    test: Bools = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", self.image_test[self.image_of])
        none = np.zeros((len(self), 0), np.float32)
        object.__setattr__(self, "numbers", none if self.numbers is None else self.numbers)
        if self.numbers.shape != (len(self), len(self.criteria)):
            raise ValueError(
                f"numbers must be ({len(self)}, {len(self.criteria)}), one for each sample and criterion, got "
                f"{self.numbers.shape}"
            )

    def __len__(self) -> int:
        return len(self.boxes)

    def relevance(self, query: str) -> npt.NDArray[np.int64]:
        """(n,) 1 where a sample shows the class `query`, else 0."""
        if query not in self.classes:
            there = ", ".join(self.classes) or "none: its samples are to be put in order by a criterion"
            raise ValueError(f"no class {query!r} in {self.title}; its classes are {there}")
        return self.labels[:, self.classes.index(query)].astype(np.int64)

    def numbers_of(self, criterion: str) -> Features:
        """(n,) what `criterion` measures of each sample, NaN where that is unknown."""
        if criterion not in self.criteria:
            there = ", ".join(self.criteria) or "none: it was imported without numbers"
            raise ValueError(f"no criterion {criterion!r} in {self.title}; its criteria are {there}")
        return self.numbers[:, self.criteria.index(criterion)]

    def open_image(self, image: int) -> Image.Image:
        """Image number `image`, decoded as RGB; ValueError where its file is gone or damaged."""
        file = self.folder / str(self.image_files[image])
        try:
            with Image.open(file) as picture:
                return picture.convert("RGB")
        except (OSError, SyntaxError) as error:  # what Pillow says of a damaged file
            name = self.image_names[image]
            came = "is gone" if isinstance(error, FileNotFoundError) else f"cannot be read ({error})"
            raise ValueError(
                f"image {name} of {self.title} {came}: expected it in {file}; import the image set again"
            ) from error


class Feature(Protocol):
    """A registered feature: pixels of one box in, one vector out. Its dataclass fields are its settings.

    `version` goes up whenever the same settings give other numbers, so that no stale cache is read.
    `whole_image`: `describe` is given the whole image instead of the box, and all its boxes share the vector.
    `default`: a training uses the feature unless a person chooses others.
    """

    name: ClassVar[str]
    default: ClassVar[bool] = False
    version: ClassVar[int]
    whole_image: ClassVar[bool]

    @property
    def size(self) -> int:
        """Length of the vector."""
        ...

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        """The vector of an RGB crop, finite and L2-normalised (all zeros where the crop has no structure).

        Several threads call it at once: it changes nothing that they share.
        """
        ...
