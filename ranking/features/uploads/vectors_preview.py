"""A preview of uploaded vectors: which arrays the file has, how they fit the samples, and what is wrong.

If they fit, the matrix is written; the user decides whether it is kept.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ranking.core import ImageSet, OnStep, Problem
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, Json
from ranking.core.text import counted, readable
from ranking.features.uploads.array_files import (
    ALL_NUMBERS,
    INDEX,
    ArrayFile,
    ArrayInfo,
    NpyFile,
    NpzFile,
    ParquetFile,
    Safetensors,
    TextTable,
    names_ids,
)
from ranking.features.uploads.vector_matrix import (
    BY_ORDER,
    MAX_PROBLEMS,
    InvalidVectors,
    Match,
    by_ids,
    by_order,
    named_samples,
    names_of_samples,
    write_matrix,
)
from ranking.features.uploads.vector_plot import VectorPlot, vector_plot
from ranking.files import Limits, Unusable
from ranking.files.tree import suffix
from ranking.formats.file_names import is_image

EXPECTED = (
    "an array of NumPy (.npy), several (.npz, .safetensors), a table (.parquet, .csv, .tsv) or, on your own computer, "
    "an ONNX model (.onnx)"
)
TEXTS = ("string", "large_string", "dictionary")
# arrays among which one without a usual name may be the ids
FEW = 100
VECTOR_NAMES = ("features", "vectors", "embeddings", "feats", "x", "feature", "vector", "embedding", "feat")


@dataclass(frozen=True)
class VectorsPreview:
    """What a page shows of an uploaded file of vectors."""

    # a description of the file
    kind: str
    # of the file
    arrays: list[ArrayInfo]
    # vectors, ids: the arrays that were read; ids is BY_ORDER if rows are in the order of the samples
    vectors: str | None = None
    ids: str = BY_ORDER
    # why nothing can be kept, or ""
    refused: str = ""
    # the first of `problem_count`
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    # of the matrix
    name: str = ""
    # samples, columns, size: the rows of the matrix, the columns of the file, and those of the matrix
    samples: int = 0
    columns: int = 0
    size: int = 0
    # how rows were matched
    matched: str = ""
    # of the matrix
    plot: VectorPlot | None = None

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @property
    def offers_others(self) -> bool:
        """Return whether other arrays of the file could be the vectors or the ids."""
        return self.vectors is not None and sum(i.may_be_vectors or i.may_be_ids for i in self.arrays) > 1

    @classmethod
    def from_json(cls, record: GivenJson) -> VectorsPreview:
        """Return the preview that `to_json` wrote; ValueError, TypeError or KeyError for any other record."""
        arrays = [ArrayInfo(**{**info, "shape": tuple(info["shape"])}) for info in record["arrays"]]
        plot = None if record["plot"] is None else VectorPlot(**record["plot"])
        problems = [Problem(**row) for row in record["problems"]]
        return cls(**{**record, "arrays": arrays, "plot": plot, "problems": problems})


def preview_vectors(
    path: Path,
    file_name: str,
    images: ImageSet,
    target: Path,
    vectors: str | None = None,
    ids: str | None = None,
    on_step: OnStep | None = None,
    limits: Limits | None = None,
) -> VectorsPreview:
    """Return a preview of the file `path` for the samples of an image set."""
    # file_name: the name that the user gave the file. The matrix is written to `target` if the vectors fit.
    # vectors, ids: the arrays to read; None: arrays with a usual name, and without such ids the order of the
    # samples. InputError if the file is none of EXPECTED, or damaged.
    report = on_step or (lambda *_: None)
    limits = Limits.from_environment() if limits is None else limits
    try:
        report("Listing its arrays", 0, 1)
        file = open_arrays(path, file_name, limits)
        return _preview(file, images, target, vectors, ids, limits, report)
    except Unusable as error:
        raise InputError(file_name, error.expected, readable(error.came)) from error


def open_arrays(path: Path, file_name: str, limits: Limits) -> ArrayFile:
    """Return the arrays of a file, whose type its first bytes show; InputError if it is none of EXPECTED."""
    with path.open("rb") as file:
        head = file.read(6)
    if head == b"\x93NUMPY":
        return NpyFile(path, limits)
    if head.startswith(b"PK"):
        return NpzFile(path, limits)
    if head.startswith(b"PAR1"):
        return ParquetFile(path, limits)
    if suffix(file_name) == ".safetensors":
        return Safetensors(path, limits)
    if head and suffix(file_name) in (".csv", ".tsv"):
        return TextTable(path, limits)
    if head[:1] == b"\x80":
        raise InputError(file_name, EXPECTED, "a pickle, which is never opened", "save it with numpy.save")
    raise InputError(file_name, EXPECTED, "a file of another kind" if head else "an empty file")


def _preview(
    file: ArrayFile,
    images: ImageSet,
    target: Path,
    vectors: str | None,
    ids: str | None,
    limits: Limits,
    report: OnStep,
) -> VectorsPreview:
    preview = VectorsPreview(file.kind, file.arrays)
    by_name = {info.name: info for info in file.arrays}
    if vectors is None:
        vectors = _likely_vectors(file.arrays)
    if vectors is None or vectors not in by_name or not by_name[vectors].may_be_vectors:
        return replace(preview, refused=_no_vectors(file.arrays, images))
    problems: list[Problem] = []
    why = ""
    if ids is None:
        ids, problems = _likely_ids(file, images, by_name[vectors])
        why = ": no column names images" if len(file.arrays) > 1 else ""
    preview = replace(preview, vectors=vectors, ids=ids)
    try:
        match = _match(file, images, by_name[vectors], ids)
        made = write_matrix(file.numbers(vectors, ids), match, images, target, limits, report)
    except InvalidVectors as error:
        target.unlink(missing_ok=True)
        return replace(preview, refused=error.sentence, problems=error.problems, problem_count=error.count)
    report("Plotting them", 0, 1)
    problems += [*(file.problems if vectors == ALL_NUMBERS else ()), *made.problems]
    return replace(
        preview,
        name=made.name,
        samples=len(made.matrix),
        columns=made.columns,
        size=made.matrix.shape[1],
        matched=match.words + (why if ids == BY_ORDER else ""),
        problems=problems[:MAX_PROBLEMS],
        problem_count=len(problems),
        plot=vector_plot(made.matrix, images),
    )


def _likely_ids(file: ArrayFile, images: ImageSet, vectors: ArrayInfo) -> tuple[str, list[Problem]]:
    """Return the array whose cells name the most samples, and rows about ids that cannot be read. An array of whole
    numbers without a usual name must name all samples. BY_ORDER if no array names samples, and none looks like it."""
    problems, best, most, names = [], BY_ORDER, 0, names_of_samples(images)
    few = len(file.arrays) <= FEW
    for info in file.arrays:
        usual = names_ids(info.name)
        if info.name == vectors.name or not (few or usual):
            continue
        if not (usual or info.holds == "text" or info.dtype.startswith(("int", "uint"))):
            continue
        if not info.may_be_ids:
            problems += [_unused(info)] if usual else []
        elif info.shape[0] == vectors.shape[0]:
            texts = file.texts(info.name)
            named = named_samples(names, texts)
            if (named > most and (info.holds == "text" or usual)) or (named == len(images) > most):
                best, most = info.name, named
            elif best == BY_ORDER and (
                any(map(is_image, texts[:1])) or (usual and not info.name.startswith(INDEX))
            ):
                # which is refused, because no cell names a sample
                best = info.name
    return best, [] if most else problems


def _unused(info: ArrayInfo) -> Problem:
    """Return a table row about an array with a usual name for ids that cannot be read as ids."""
    done = "not used: rows are matched in the order of the samples"
    return Problem(
        f"array {info.name}", "ids of samples or images of the set", info.why or _shape(info), done
    )


def _likely_vectors(arrays: list[ArrayInfo]) -> str | None:
    """Return a list or matrix rather than a column; of several one with a usual name, else the widest."""
    possible = [info for info in arrays if info.may_be_vectors]
    matrices = [info for info in possible if info.name != ALL_NUMBERS] or possible
    if all(info.dtype.startswith(TEXTS) for info in matrices):
        # a text may be a list of numbers that is no vector, such as a box
        matrices = possible

    def rank(info: ArrayInfo) -> tuple[bool, int]:
        return info.name.lower() in VECTOR_NAMES, info.shape[1]

    return max(matrices, key=rank).name if matrices else None


def _match(file: ArrayFile, images: ImageSet, vectors: ArrayInfo, ids: str) -> Match:
    if ids == BY_ORDER:
        return by_order(images, vectors.shape[0])
    texts = file.texts(ids)
    if len(texts) != vectors.shape[0]:
        raise InvalidVectors(
            f"expected the same number of ids and vectors: “{ids}” has {len(texts):,} rows, “{vectors.name}” has "
            f"{vectors.shape[0]:,}; choose other arrays"
        )
    return by_ids(images, texts, ids)


def _no_vectors(arrays: list[ArrayInfo], images: ImageSet) -> str:
    """Return why none of the arrays can be vectors."""
    first = sorted(arrays, key=lambda info: info.name.lower() not in VECTOR_NAMES)[:3]
    came = "; ".join(f"“{info.name}”: {info.why or _shape(info)}" for info in first)
    more = f"; and {len(arrays) - 3:,} more" if len(arrays) > 3 else ""
    needed = f"numbers in rows and columns, one row per sample, for {counted(len(images), 'sample')}"
    return f"expected {needed}; got {came}{more}"


def _shape(info: ArrayInfo) -> str:
    sides = " × ".join(f"{length:,}" for length in info.shape) or "one number"
    return f"{info.holds} of {sides} ({info.dtype})"
