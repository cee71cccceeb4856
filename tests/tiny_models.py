"""Tiny models in ONNX, written byte by byte as protocol buffers: no exporter is needed."""

from __future__ import annotations

import struct
from collections.abc import Sequence

Dimension = int | str | None
FLOAT, INT64 = 1, 7


def number(value: int) -> bytes:
    encoded = b""
    while True:
        value, part = value >> 7, value & 127
        encoded += bytes([part | (128 if value else 0)])
        if not value:
            return encoded


def whole(place: int, value: int) -> bytes:
    return number(place << 3) + number(value)


def part(place: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return number(place << 3 | 2) + number(len(data)) + data


def port(name: str, sides: Sequence[Dimension], element: int = FLOAT) -> bytes:
    dims = b"".join(
        part(1, whole(1, side) if isinstance(side, int) else part(2, side or "n")) for side in sides
    )
    return part(1, name) + part(2, part(1, whole(1, element) + part(2, dims)))


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str], attributes: bytes = b"") -> bytes:
    encoded = b"".join(part(1, name) for name in inputs) + b"".join(part(2, name) for name in outputs)
    return encoded + part(4, operator) + attributes


def integer(name: str, value: int) -> bytes:
    """An attribute of a node."""
    return part(5, part(1, name) + whole(3, value) + whole(20, 2))


def tensor(name: str, shape: Sequence[int], values: Sequence[float]) -> bytes:
    dims = b"".join(whole(1, side) for side in shape)
    return dims + whole(2, FLOAT) + part(8, name) + part(9, struct.pack(f"<{len(values)}f", *values))


def external(name: str, shape: Sequence[int], path: str) -> bytes:
    """A tensor whose numbers lie in another file."""
    dims = b"".join(whole(1, side) for side in shape)
    where = part(1, "location") + part(2, path)
    return dims + whole(2, FLOAT) + part(8, name) + part(13, where) + whole(14, 1)


def model(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    tensors: Sequence[bytes] = (),
    metadata: dict[str, str] | None = None,
) -> bytes:
    graph = b"".join(part(1, one) for one in nodes) + part(2, "tiny")
    graph += b"".join(part(5, one) for one in tensors)
    graph += b"".join(part(11, one) for one in inputs) + b"".join(part(12, one) for one in outputs)
    entries = b"".join(part(14, part(1, key) + part(2, value)) for key, value in (metadata or {}).items())
    return whole(1, 8) + part(7, graph) + part(8, whole(2, 13)) + entries


def mean_colour(sides: Sequence[Dimension] = ("n", 3, 8, 6), metadata: dict[str, str] | None = None) -> bytes:
    """The mean of each channel of an image, `pooled` (1, 3, 1, 1) and `features` (1, 3)."""
    # The output `map` is the image itself.
    nodes = [
        node("GlobalAveragePool", ["image"], ["pooled"]),
        node("Flatten", ["pooled"], ["features"], integer("axis", 1)),
        node("Identity", ["image"], ["map"]),
    ]
    outputs = [port("pooled", ("n", 3, 1, 1)), port("features", ("n", 3)), port("map", sides)]
    return model(nodes, [port("image", sides)], outputs, metadata=metadata)
