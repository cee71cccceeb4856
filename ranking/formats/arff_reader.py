"""Attribute-relation files as Mulan has them: numbers and {0,1}, each row dense or sparse.

scipy.io.arff reads no sparse rows, and scikit-learn's own reader is private. This one takes what Mulan's collection
is made of and refuses the rest (text, dates, other nominal values, missing ones) in words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ranking.core import Floats, Problem
from ranking.core.errors import InputError
from ranking.core.text import readable

MAX_ATTRIBUTES = 100_000
MAX_CELLS = 100_000_000
MAX_BAD_ROWS = 1_000
NAME = re.compile(
    r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{},%'\"]+)\s*(.*)", re.IGNORECASE
)
BINARY = re.compile(r"\{\s*(['\"]?)([01])\1\s*,\s*(['\"]?)([01])\3\s*\}")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column. absent: what a sparse row means that does not speak of it: 0, or the first of {1,0}."""

    name: str
    binary: bool
    absent: float


@dataclass(frozen=True, eq=False)
class Relation:
    """rows: (n, attributes), finite, 0 or 1 where an attribute is binary. problems: what was left out."""

    name: str
    attributes: tuple[Attribute, ...]
    rows: Floats
    problems: list[Problem]


def read_arff(data: bytes, file: str) -> Relation:
    """The relation in `data`; ValueError, with the number of the line, where the header is not as expected."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(file, "text in UTF-8", f"byte {error.start} of another kind") from error
    name, attributes, start = _header(lines, file)
    if not attributes:
        raise InputError(file, "@attribute lines before @data", "none")
    base = np.array([one.absent for one in attributes])
    binary = np.array([one.binary for one in attributes])
    rows, problems = [], []
    for number, line in enumerate(lines[start:], start + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        try:
            rows.append(_row(text, base, binary))
        except ValueError as error:
            problems.append(
                Problem(f"{file}, line {number}", f"{len(base)} numbers", str(error), "row left out")
            )
            if len(problems) > MAX_BAD_ROWS:
                expected = f"at most {MAX_BAD_ROWS:,} rows that cannot be read"
                raise InputError(file, expected, f"more, the last with {error}") from error
        if len(rows) * len(base) > MAX_CELLS:
            expected = f"at most {MAX_CELLS:,} rows times attributes"
            raise InputError(file, expected, f"more by line {number}")
    if not rows:
        came = f"none that can be read; the first: {problems[0].came}" if problems else "none"
        raise InputError(file, "rows after @data", came)
    return Relation(name, tuple(attributes), np.stack(rows), problems)


def _header(lines: list[str], file: str) -> tuple[str, list[Attribute], int]:
    """The relation's name, its attributes and the number of the line after @data."""
    name, attributes = "", list[Attribute]()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        word = text.split(maxsplit=1)[0].lower() if text else "%"
        if word == "@data":
            return name, attributes, number
        if word == "@relation":
            name = readable(_unquoted(text[len(word) :].strip()))
        elif word == "@attribute":
            attributes.append(_attribute(text, f"{file}, line {number}"))
            if len(attributes) > MAX_ATTRIBUTES:
                raise InputError(file, f"at most {MAX_ATTRIBUTES:,} attributes", "more")
        elif not word.startswith("%"):
            raise InputError(f"{file}, line {number}", "@relation, @attribute or @data", readable(text))
    raise InputError(file, "a line @data", "none")


def _attribute(text: str, where: str) -> Attribute:
    found = NAME.fullmatch(text)
    if found is None:
        raise InputError(where, "@attribute name type", readable(text))
    name, kind = readable(_unquoted(found[1]), 200), found[2].strip()
    if kind.lower() in NUMERIC:
        return Attribute(name, False, 0.0)
    values = BINARY.fullmatch(kind)
    if values is None or values[2] == values[4]:
        expected, came = f"attribute {name} to be numeric or {{0,1}}", readable(kind)
        raise InputError(where, expected, came, "convert it to numbers")
    return Attribute(name, True, float(values[2]))


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _row(text: str, base: Floats, binary: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """One row; ValueError that says what came instead."""
    if text.startswith("{"):
        row = _sparse(text, base)
    else:
        row = np.array([_number(cell) for cell in text.split(",")])
        if len(row) != len(base):
            raise ValueError(f"{len(row)} of them")
    if not np.isfinite(row).all():
        raise ValueError("one that is not finite")
    if not np.isin(row[binary], (0, 1)).all():
        raise ValueError("another value of an attribute {0,1}")
    return row


def _sparse(text: str, base: Floats) -> Floats:
    if not text.endswith("}"):
        raise ValueError("a sparse row without its end")
    row, seen = base.copy(), set[int]()
    for pair in filter(None, (part.strip() for part in text[1:-1].split(","))):
        place, _, value = pair.partition(" ")
        if not (place.isascii() and place.isdigit() and len(place) < 10 and int(place) < len(base)):
            raise ValueError(f"attribute number {readable(place, 20)} of {len(base)}, counted from 0")
        if int(place) in seen:
            raise ValueError(f"attribute number {place} twice")
        seen.add(int(place))
        row[int(place)] = _number(value)
    return row


def _number(text: str) -> float:
    bare = _unquoted(text.strip())
    try:
        return float(bare)
    except ValueError as error:
        raise ValueError("a missing value (?)" if bare == "?" else f"{readable(bare, 20)!r}") from error
