"""A look at vectors that a person brings: which arrays there are, how they fit the samples, and what is wrong.

What fits is left behind as the matrix that would be kept; the person decides whether it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ranking.core import ImageSet, OnStep, Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, readable
from ranking.features.own.array_files import ID_NAMES, ArrayFile, Listed, NpyFile, NpzFile
from ranking.features.own.drafting import Draft, draft_of
from ranking.features.own.matching import BY_ORDER, MOST_ROWS, Match, Refused, by_ids, by_order
from ranking.features.own.parquet_vectors import ALL_NUMBERS, ParquetFile
from ranking.features.own.picture import Picture, picture_of
from ranking.files import Limits, Unusable

EXPECTED = "an array of NumPy (.npy), several (.npz) or a Parquet table"
VECTOR_NAMES = ("features", "vectors", "embeddings", "feats", "x")
SCRATCH = "scratch"


@dataclass(frozen=True)
class VectorsLook:
    """What was found. kind: what the file is. listed: its arrays.

    vectors, ids: the arrays that were read; ids is BY_ORDER where rows are in the order of the samples. refused: why
    nothing of it can be kept, else "". problems: of `count`, the first. name, samples, columns, size, matched, picture:
    of the matrix that would be kept: its name, rows, columns of the file, columns kept, and how rows were matched.
    """

    kind: str
    listed: list[Listed]
    vectors: str | None = None
    ids: str = BY_ORDER
    refused: str = ""
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    name: str = ""
    samples: int = 0
    columns: int = 0
    size: int = 0
    matched: str = ""
    picture: Picture | None = None

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> VectorsLook:
        """What `to_json` told; ValueError, TypeError or KeyError where it is something else."""
        arrays = [Listed(**{**one, "shape": tuple(one["shape"])}) for one in told["listed"]]
        picture = None if told["picture"] is None else Picture(**told["picture"])
        problems = [Problem(**row) for row in told["problems"]]
        values = {
            name: value for name, value in told.items() if name != "known"
        }  # of looks of earlier versions
        return cls(**{**values, "listed": arrays, "picture": picture, "problems": problems})


def look_at_vectors(
    path: Path,
    called: str,
    images: ImageSet,
    target: Path,
    vectors: str | None = None,
    ids: str | None = None,
    on_step: OnStep | None = None,
    limits: Limits | None = None,
) -> VectorsLook:
    """What the file `path` holds, which the person calls `called`, for the samples of a set.

    The matrix that would be kept is written to `target`, where there is one. vectors, ids: the arrays to be read; None
    for those that are called so, and for the order of the samples where no array is called as ids are. ValueError where
    the file is none of EXPECTED, or damaged.
    """
    say = on_step or (lambda *_: None)
    limits = Limits.from_environment() if limits is None else limits
    scratch = target.with_name(SCRATCH)
    scratch.mkdir()
    try:
        say("Looking at what is in it", 0, 1)
        file = open_arrays(path, called, limits, scratch)
        return _look(file, images, target, vectors, ids, limits, say)
    except Unusable as error:
        raise InputError(called, error.expected, readable(error.came)) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def open_arrays(path: Path, called: str, limits: Limits, scratch: Path) -> ArrayFile:
    """The arrays of a file, by what it begins with; ValueError where it is none of EXPECTED."""
    with path.open("rb") as file:
        head = file.read(6)
    if head == b"\x93NUMPY":
        return NpyFile(path, limits)
    if head.startswith(b"PK"):
        return NpzFile(path, called, limits, scratch)
    if head.startswith(b"PAR1"):
        return ParquetFile(path, limits, scratch)
    if head[:1] == b"\x80":
        raise InputError(called, EXPECTED, "a pickle, which is never opened", "save it with numpy.save")
    raise InputError(called, EXPECTED, "something else" if head else "an empty file")


def _look(
    file: ArrayFile,
    images: ImageSet,
    target: Path,
    vectors: str | None,
    ids: str | None,
    limits: Limits,
    say: OnStep,
) -> VectorsLook:
    found = VectorsLook(file.kind, file.listed)
    by_name = {one.name: one for one in file.listed}
    if vectors is None:
        vectors = _likely_vectors(file.listed)
    if vectors is None or vectors not in by_name or not by_name[vectors].may_be_vectors:
        return replace(found, refused=_no_vectors(file.listed, images))
    unused: list[Problem] = []
    if ids is None:
        called = [one.name for one in file.listed if one.may_be_ids and _is_called_ids(one, vectors)]
        ids = next(iter(called), BY_ORDER)
        unused = [_unused(one) for one in file.listed if ids == BY_ORDER and _is_called_ids(one, vectors)]
    found = replace(found, vectors=vectors, ids=ids)
    try:
        match = _match(file, images, by_name[vectors], ids)
        draft = draft_of(file.numbers(vectors, ids), match, images, target, limits, say)
    except Refused as error:
        target.unlink(missing_ok=True)
        return replace(found, refused=error.sentence, problems=error.problems, count=error.count)
    say("Drawing them", 0, 1)
    of_file = file.problems if vectors == ALL_NUMBERS else ()
    return replace(found, **_told_of(draft, match, images, [*unused, *of_file, *draft.problems]))


def _is_called_ids(one: Listed, vectors: str) -> bool:
    """Whether an array is called as ids are, and is not that of the vectors."""
    return one.name.lower() in ID_NAMES and one.name != vectors


def _unused(one: Listed) -> Problem:
    """A row about an array that is called as ids are, and cannot be read."""
    done = "not used: rows are taken in the order of the samples"
    came = one.why or _shape(one)
    return Problem(f"array {one.name}", "ids of samples or images of the set", came, done)


def _told_of(draft: Draft, match: Match, images: ImageSet, problems: list[Problem]) -> dict[str, Any]:
    return {
        "name": draft.name,
        "samples": len(draft.matrix),
        "columns": draft.columns,
        "size": draft.matrix.shape[1],
        "matched": match.words,
        "problems": problems[:MOST_ROWS],
        "count": len(problems),
        "picture": picture_of(draft.matrix, images),
    }


def _likely_vectors(arrays: list[Listed]) -> str | None:
    """Lists and matrices before single columns; of several the one whose name says so, else the widest."""
    could = [one for one in arrays if one.may_be_vectors]
    matrices = [one for one in could if one.name != ALL_NUMBERS] or could

    def rank(one: Listed) -> tuple[bool, int]:
        return one.name.lower() in VECTOR_NAMES, one.shape[1]

    return max(matrices, key=rank).name if matrices else None


def _match(file: ArrayFile, images: ImageSet, vectors: Listed, ids: str) -> Match:
    if ids == BY_ORDER:
        return by_order(images, vectors.shape[0])
    texts = file.texts(ids)
    if len(texts) != vectors.shape[0]:
        raise Refused(
            f"expected as many ids as vectors: “{ids}” has {len(texts):,} rows, “{vectors.name}” has "
            f"{vectors.shape[0]:,}; choose other arrays"
        )
    return by_ids(images, texts, ids)


def _no_vectors(arrays: list[Listed], images: ImageSet) -> str:
    """Why none of the arrays can be vectors."""
    came = "; ".join(f"“{one.name}”: {one.why or _shape(one)}" for one in arrays[:3])
    more = f"; and {len(arrays) - 3:,} more" if len(arrays) > 3 else ""
    needed = f"numbers in rows and columns, one row a sample, for {counted(len(images), 'sample')}"
    return f"expected {needed}; got {came}{more}"


def _shape(one: Listed) -> str:
    told = " × ".join(f"{length:,}" for length in one.shape) or "one number"
    return f"{one.holds} of {told} ({one.dtype})"
