"""What an ONNX file says of itself, read without running any of it: protocol buffers, in the few parts that are needed.

Field numbers are those of onnx.proto3. Tensors that lie in other files are refused, for they name paths; so is what is
no such file. Whether the operators can be run only the runtime knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ranking.core.errors import InputError

MOST_PARTS = 2_000_000  # messages of a model that are walked
DEEPEST = 24  # messages in messages
ELEMENTS = {1: "float32", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 10: "float16", 11: "float64"}

# Which fields of a message are messages themselves: all that a tensor may lie in.
WITHIN: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 14: "entry", 20: "training", 25: "function"},
    "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
}
NAME, EXTERNAL, LOCATION = 8, 13, 14  # of a tensor


@dataclass(frozen=True)
class Port:
    """An input or output. shape: None for a side that is not fixed."""

    name: str
    element: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class ModelFile:
    """inputs: those that must be given, without the constants that have a name. told: the metadata of the model."""

    inputs: list[Port]
    outputs: list[Port]
    told: dict[str, str] = field(default_factory=dict)


def read_model(data: bytes) -> ModelFile:
    """What a model says of itself; ValueError where it is none, or has tensors in other files."""
    walk = _Walk()
    try:
        model = walk.message(memoryview(data), "model", 0)
    except (IndexError, ValueError, UnicodeDecodeError, RecursionError) as error:
        if isinstance(error, OutsideError):
            raise
        raise InputError("file", "an ONNX model", str(error)[:80] or "one that ends early") from error
    if not walk.graphs:
        raise InputError("file", "an ONNX model", "one without a graph")
    inputs, outputs, constants = walk.graphs[0]
    told = {key: value for key, value in model if len(key) <= 100 and len(value) <= 1_000}
    return ModelFile([port for port in inputs if port.name not in constants], outputs, told)


class OutsideError(InputError):
    """A model names other files."""


class _Walk:
    """The way through all messages of a model in which a tensor could lie. graphs: inputs, outputs and constants of the
    model's own graph, where it has one."""

    def __init__(self) -> None:
        self.graphs: list[tuple[list[Port], list[Port], set[str]]] = []
        self._parts = 0

    def message(self, data: memoryview, kind: str, depth: int) -> list[tuple[str, str]]:
        """Look into a message; the entries (key, value) that lie in it."""
        self._parts += 1
        if self._parts > MOST_PARTS or depth > DEEPEST:
            raise ValueError(f"one with more than {MOST_PARTS:,} parts, or deeper than {DEEPEST}")
        entries: list[tuple[str, str]] = []
        ports: dict[int, list[Port]] = {11: [], 12: []}
        constants: set[str] = set()
        for number, value in fields(data):
            inner = WITHIN[kind].get(number) if kind in WITHIN else None
            if kind == "tensor":
                _check_inside(number, value)
            if inner is None or not isinstance(value, memoryview):
                continue
            if inner == "entry":
                entries.append(_entry(value))
            elif inner == "value":
                ports[number].append(_port(value))
            else:
                self.message(value, inner, depth + 1)
                if kind == "graph" and inner == "tensor":
                    constants |= {_text(part) for place, part in fields(value) if place == NAME}
        if kind == "graph" and depth == 1 and not self.graphs:
            self.graphs.append((ports[11], ports[12], constants))
        return entries


def _check_inside(number: int, value: int | memoryview) -> None:
    if number == EXTERNAL or (number == LOCATION and value == 1):
        came = "numbers in other files (external data), which are never opened"
        raise OutsideError("file", "an ONNX model in one file", came, "save it as one file")


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: number and value, bytes where it is no number.

    >>> list(fields(memoryview(bytes([8, 7, 16, 129, 1]))))
    [(1, 7), (2, 129)]
    """
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        number, wire = key >> 3, key & 7
        if number < 1:
            raise ValueError("a field of no number")
        if wire == 0:
            value, at = _number(data, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire, -1)
        if wire == 2:
            size, at = _number(data, at)
        if size < 0 or at + size > len(data):
            raise ValueError("one that ends early" if size >= 0 else f"wire type {wire}")
        yield number, data[at : at + size]
        at += size


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next field begins."""
    value = 0
    for place in range(10):
        byte = data[at + place]
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, at + place + 1
    raise ValueError("a number of more than ten bytes")


def _text(value: int | memoryview) -> str:
    return bytes(value).decode() if isinstance(value, memoryview) else ""


def _entry(data: memoryview) -> tuple[str, str]:
    told = dict(fields(data))
    return _text(told.get(1, 0)), _text(told.get(2, 0))


def _port(data: memoryview) -> Port:
    """ValueInfoProto: a name, and the type and shape of a tensor where it is one."""
    told = dict(fields(data))
    tensor = _inner(_inner(told, 2), 1)
    element, shape = tensor.get(1, 0), tensor.get(2)
    sides = (
        []
        if not isinstance(shape, memoryview)
        else [_side(part) for number, part in fields(shape) if number == 1]
    )
    kind = ELEMENTS.get(element, "another type") if isinstance(element, int) else "another type"
    return Port(_text(told.get(1, 0)), kind, tuple(sides))


def _inner(told: Mapping[int, int | memoryview], number: int) -> dict[int, int | memoryview]:
    value = told.get(number)
    return dict(fields(value)) if isinstance(value, memoryview) else {}


def _side(data: int | memoryview) -> int | None:
    value = dict(fields(data)).get(1) if isinstance(data, memoryview) else None
    return value if isinstance(value, int) and 0 < value < 2**31 else None
