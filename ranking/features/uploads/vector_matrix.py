"""From the numbers of an uploaded file to a stored matrix: one row per sample, matched by ids or by order.

Rows are finite and without constant columns; they are not scaled before they are used. The matrix is computed and
written some rows at a time, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np

from ranking.core import LARGEST, Bools, Features, ImageSet, Ints, Problem
from ranking.core.arrays import AnyArray
from ranking.core.spreadsheets import guarded
from ranking.core.text import counted, listed, readable
from ranking.features.uploaded_vectors import MAX_COLUMNS, vectors_name
from ranking.files.files import image_name
from ranking.files.limits import Limits, variable
from ranking.formats.file_names import bare, is_image

# that are listed
MAX_PROBLEMS = 200
# rows that a column has to number to be no feature
FEWEST = 5
BY_ORDER = "by order"
NOT_CHECKED = "row 1 belongs to the first sample: this cannot be checked"
LIST = "the list of samples (CSV) contains ids and order"
# numbers that are in memory at a time
BLOCK = 2**24

OnRows = Callable[[str, int, int], None]
IDS = "ids of samples, or names of images with one sample"


class InvalidVectors(Exception):
    """Why vectors do not fit the samples: a sentence, the first rows of a table, and its number of rows."""

    def __init__(self, sentence: str, problems: Sequence[Problem] = (), count: int = 0) -> None:
        super().__init__(sentence)
        self.sentence, self.problems, self.count = sentence, list(problems), max(count, len(problems))


@dataclass(frozen=True, eq=False)
class Match:
    """How the rows of a file belong to samples."""

    # (n,) the row of each sample; None if rows are in the order of the samples
    rows: Ints | None
    # a description
    words: str
    # table rows about ignored rows
    problems: Sequence[Problem] = ()


def by_order(images: ImageSet, count: int) -> Match:
    """Return the match in which row i is sample i; InvalidVectors if the numbers differ."""
    if count != len(images):
        which = f"{counted(len(images), 'sample')} in {counted(len(images.image_names), 'image')}"
        of_images = (
            ". Samples are boxes, so one row per image is not enough"
            if count == len(images.image_names)
            else ""
        )
        raise InvalidVectors(
            f"expected one row per sample, {len(images):,}, got {count:,}: {images.title} has {which}{of_images}. Add "
            f"ids to the vectors, or put all rows in the order of the samples; {LIST}"
        )
    came = f"{counted(count, 'row')} and {counted(len(images), 'sample')}, matched {BY_ORDER}"
    return Match(None, BY_ORDER, [Problem("ids", "a column that names the samples", came, NOT_CHECKED)])


def by_ids(images: ImageSet, ids: Sequence[str], column: str) -> Match:
    """Return the match by `ids` (m,) of samples, or of images with one sample each.

    InvalidVectors if a sample has no row, or two rows.
    """
    names = names_of_samples(images)
    named = [_row_of(text, names) for text in ids]
    if not any(row is not None for row in named):
        expected = ", ".join(map(readable, map(str, images.ids[:2])))
        came = ", ".join(readable(text, 40) for text in ids[:2])
        raise InvalidVectors(
            f"none of the {len(ids):,} ids in “{column}” matches a sample of {images.title}. Expected ids like "
            f"{expected}, got {came}; {LIST}"
        )
    rows = np.full(len(images), -1, np.int64)
    unknown: list[tuple[int, str]] = []
    twice: list[Problem] = []
    for row, (text, sample) in enumerate(zip(ids, named, strict=True)):
        if sample is None:
            unknown.append((row, text))
        elif rows[sample] >= 0:
            came = f"{readable(text)} in rows {rows[sample] + 1:,} and {row + 1:,}"
            twice.append(Problem(f"row {row + 1}", "each id once", came, "nothing is stored"))
        else:
            rows[sample] = row
    if twice:
        raise InvalidVectors(
            f"{counted(len(twice), 'id')} in “{column}” repeated", twice[:MAX_PROBLEMS], len(twice)
        )
    _check_all_there(images, rows)
    return Match(rows, f"by “{column}”: {IDS}", _left_out(unknown))


def named_samples(names: dict[str, int], ids: Sequence[str]) -> int:
    """Return how many samples the ids name. names: from `names_of_samples`."""
    return len({_row_of(text, names) for text in ids} - {None})


def _row_of(text: str, names: dict[str, int]) -> int | None:
    """Return the sample that an id names: by the id, or by the longest end of the path of its image."""
    plain = text.strip()
    path = urlsplit(plain).path if "://" in plain else plain
    for name in (plain, *_ends(path), *_ends(unquote(path))):
        if name in names:
            return names[name]
    return None


def _ends(path: str) -> list[str]:
    """Return the ends of a path, the longest first, each with the suffix of an image and without. Only these suffixes
    are ignored: "a.1" and "a.2" are different.

    >>> _ends("a\\\\b.jpg"), _ends("b.1")
    (['a/b.jpg', 'a/b', 'b.jpg', 'b'], ['b.1'])
    """
    parts = path.replace("\\", "/").split("/")
    paths = ["/".join(map(image_name, parts[start:])) for start in range(len(parts))]
    stem = image_name(bare(parts[-1])) if is_image(parts[-1]) else None
    return [
        name
        for whole in paths
        for name in (
            [whole] if stem is None else [whole, whole[: len(whole) - len(image_name(parts[-1]))] + stem]
        )
    ]


def names_of_samples(images: ImageSet) -> dict[str, int]:
    """Return samples by their ids, and by all ends of the paths of images with one sample, if no other image has the
    end."""
    ids = {str(name): row for row, name in enumerate(images.ids)}
    alone = np.bincount(images.image_of, minlength=len(images.image_names))[images.image_of] == 1
    rows_of: dict[str, set[int]] = {}
    for row in np.flatnonzero(alone).tolist():
        for text in _ends(str(images.image_names[images.image_of[row]])):
            rows_of.setdefault(text, set()).add(row)
    of_images = {name: min(rows) for name, rows in rows_of.items() if len(rows) == 1}
    return of_images | {guarded(name): row for name, row in ids.items()} | ids


def _check_all_there(images: ImageSet, rows: Ints) -> None:
    missing = np.flatnonzero(rows < 0)
    if not len(missing):
        return
    samples = [str(images.ids[row]) for row in missing[:MAX_PROBLEMS]]
    raise InvalidVectors(
        f"{len(missing):,} of {counted(len(rows), 'sample')} of {images.title} have no row, matched by {IDS}: "
        f"expected one row per sample. Upload a file with all samples; {LIST}",
        [
            Problem(readable(name, 255), "one row per sample", "no row", "nothing is stored")
            for name in samples
        ],
        len(missing),
    )


def _left_out(unknown: Sequence[tuple[int, str]]) -> list[Problem]:
    """Return table rows about ids that name no sample: one for each of the first, one for all others."""
    problems = [
        Problem(f"row {row + 1}", "the id of a sample of the set", readable(text) or "nothing", "ignored")
        for row, text in unknown[:MAX_PROBLEMS]
    ]
    if len(unknown) > MAX_PROBLEMS:
        rest = f"{len(unknown) - MAX_PROBLEMS:,} more such rows"
        problems.append(Problem(rest, "the id of a sample of the set", "other ids", "ignored"))
    return problems


# ------------------------------------------------------------------------------------------------ The matrix


@dataclass(frozen=True, eq=False)
class VectorMatrix:
    """The matrix of the vectors of all samples."""

    name: str
    # (n, d) float32, in its file
    matrix: Features
    # of the uploaded numbers
    columns: int
    # table rows about changes
    problems: list[Problem]


def write_matrix(
    numbers: AnyArray, match: Match, images: ImageSet, target: Path, limits: Limits, on_rows: OnRows
) -> VectorMatrix:
    """Write the matrix of the samples to `target`; InvalidVectors, with nothing written, if it is invalid."""
    # It is invalid if a number is not finite, no column differs between samples, or it would exceed the
    # limits.
    if numbers.shape[1] > MAX_COLUMNS:
        raise InvalidVectors(
            f"expected at most {MAX_COLUMNS:,} columns, got {numbers.shape[1]:,}; reduce them, for example by PCA"
        )
    constant, counting = _useless_columns(numbers, match, images, on_rows)
    if (constant | counting).all():
        raise InvalidVectors(
            f"all {counted(len(constant), 'column')} are the same for every sample, or number the rows, so samples "
            "cannot be distinguished; upload other vectors"
        )
    kept = ~(constant | counting)
    shape = (len(images), int(kept.sum()))
    if 4 * shape[0] * shape[1] > limits.vector_bytes:
        raise InvalidVectors(
            f"{shape[0]:,} rows of {shape[1]:,} columns would be stored as {4 * shape[0] * shape[1]:,} bytes, expected "
            f"at most {limits.vector_bytes:,}; reduce them, for example by PCA, or set {variable('vector_bytes')}"
        )
    matrix = np.lib.format.open_memmap(target, "w+", np.float32, shape)
    empty = _fill(matrix, _blocks(numbers, match, len(images)), kept, on_rows)
    matrix.flush()
    dropped = [
        *_dropped_rows(constant, "numbers that differ between samples", "the same for all", "it is constant"),
        *_dropped_rows(counting, "features", "1, 2, 3 ... in the order of the rows", "it numbers the rows"),
    ]
    problems = [*match.problems, *dropped, *_empty_rows(images, empty)]
    return VectorMatrix(vectors_name(matrix), matrix, numbers.shape[1], problems)


def _blocks(numbers: AnyArray, match: Match, count: int) -> Iterator[tuple[slice, Features]]:
    """Yield the rows of the samples as float32, some at a time, in the order of the samples."""
    rows = max(1, BLOCK // max(1, numbers.shape[1]))
    for start in range(0, count, rows):
        here = slice(start, min(start + rows, count))
        chosen = here if match.rows is None else match.rows[here]
        # a number too large for float32 becomes infinite
        with np.errstate(over="ignore"):
            yield here, np.asarray(numbers[chosen], np.float32)


def _useless_columns(
    numbers: AnyArray, match: Match, images: ImageSet, on_rows: OnRows
) -> tuple[Bools, Bools]:
    """Return (d,) which columns are the same for all samples, and which number at least FEWEST rows of the file, as ids
    do; InvalidVectors if a number is not finite."""
    wrong: list[int] = []
    first: Features | None = None
    differs, counting = np.zeros(numbers.shape[1], np.bool_), np.ones(numbers.shape[1], np.bool_)
    places = np.arange(len(images)) if match.rows is None else match.rows
    for here, block in _blocks(numbers, match, len(images)):
        usable = (np.abs(block) <= LARGEST).all(axis=1)
        wrong += (np.flatnonzero(~usable) + here.start).tolist()
        first = block[0] if first is None else first
        differs |= (block != first).any(axis=0)
        with np.errstate(invalid="ignore"):
            counting &= (block - first == (places[here] - places[0])[:, None]).all(axis=0)
        on_rows("Checking for gaps and constant columns", here.stop, len(images))
    if wrong:
        have = "has" if len(wrong) == 1 else "have"
        raise InvalidVectors(
            f"{counted(len(wrong), 'sample')} of {len(images):,} {have} numbers that are not finite: expected numbers "
            f"of at most {LARGEST:g}, got NaN, infinity or larger numbers; replace them, or omit such columns",
            [_gap(numbers, match, images, row) for row in wrong[:MAX_PROBLEMS]],
            len(wrong),
        )
    return ~differs, counting & (len(images) >= FEWEST)


def _gap(numbers: AnyArray, match: Match, images: ImageSet, sample: int) -> Problem:
    row = sample if match.rows is None else int(match.rows[sample])
    with np.errstate(over="ignore"):
        columns = np.flatnonzero(~(np.abs(np.asarray(numbers[row], np.float32)) <= LARGEST))
    came = f"{numbers[row, columns[0]]} in column {columns[0] + 1}"
    came += f" and {len(columns) - 1} more" if len(columns) > 1 else ""
    file = readable(f"{images.ids[sample]} (row {row + 1})", 255)
    return Problem(file, "finite numbers", came, "nothing is stored")


def _fill(
    matrix: Features, blocks: Iterator[tuple[slice, Features]], kept: Bools, on_rows: OnRows
) -> Sequence[int]:
    """Write rows into `matrix`; return which rows are all 0."""
    empty: list[int] = []
    for here, block in blocks:
        rows = block[:, kept]
        empty += (np.flatnonzero(~rows.any(axis=1)) + here.start).tolist()
        # -0 is 0: equal numbers have one name
        matrix[here] = rows + 0.0
        on_rows("Writing rows", here.stop, len(matrix))
    return empty


def _dropped_rows(dropped: Bools, expected: str, came: str, why: str) -> list[Problem]:
    if not dropped.any():
        return []
    numbers = [str(column + 1) for column in np.flatnonzero(dropped)]
    name = f"{'column' if len(numbers) == 1 else 'columns'} {listed(numbers, 8)}"
    return [Problem(name, expected, came, f"dropped, because {why}")]


def _empty_rows(images: ImageSet, empty: Sequence[int]) -> list[Problem]:
    if not empty:
        return []
    came = f"all 0: {listed([readable(str(images.ids[row])) for row in empty])}"
    return [Problem(counted(len(empty), "row"), "a vector with a direction", came, "kept: it stays 0")]
