"""Untrusted JSON, read up to a limit, with a clear error for any content."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ranking.core.settings import Json
from ranking.core.text import listed
from ranking.files import FileTree, Limits, Unusable

Hook = Callable[[Json], Any]


def read_json(tree: FileTree, name: str, limits: Limits, hook: Hook | None = None) -> Any:
    """Return the content of a JSON file. hook: called with each object when it is read; returns its replacement.

    Unusable if the file is too large or cannot be read. NaN and Infinity are numbers, because many tools write them.
    """
    data = tree.read(name, limits.json_bytes, "JSON", "json_bytes")
    try:
        return json.loads(data.decode("utf-8-sig"), object_hook=hook)
    except RecursionError as error:
        raise Unusable("JSON of a few levels", "one nested too deep") from error
    except ValueError as error:
        # also of bytes that are not in UTF-8
        raise Unusable("JSON in UTF-8 that can be read", str(error) if data else "an empty file") from error


def list_of(root: object, key: str, what: str) -> list[Any]:
    """Return the list at a key of the object at the top; Unusable if there is none. what: the format."""
    value = root.get(key) if isinstance(root, dict) else None
    if not isinstance(value, list):
        raise Unusable(f"{what} with a list of {key}", "none" if value is None else type(value).__name__)
    return value


def object_of(root: object, key: str | None = None) -> Json:
    """Return an object, or the object at a key of it; an empty one for anything else."""
    value = root if key is None else root.get(key) if isinstance(root, dict) else None
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    """Return the items of a list, or the values of an object that numbers them; none of anything else."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def size_of(width: object = None, height: object = None) -> tuple[int, int] | None:
    """Return a size in pixels; None unless both are positive whole numbers."""
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return width, height
    return None


def as_number(value: object) -> float | None:
    """Return a JSON number as a float, which may be infinite or NaN; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def brief(value: object) -> str:
    """Return a short text for a JSON value of any size or depth.

    >>> brief([1, "a"]), brief([[1]]), brief({"a": 1}), brief(None)
    ("[1, 'a']", 'a list of 1', 'an object of a', 'None')
    """
    if isinstance(value, dict):
        return f"an object of {listed([key[:40] for key in value], 12) or 'nothing'}"
    if isinstance(value, list):
        plain = len(value) <= 8 and not any(isinstance(item, dict | list) for item in value)
        return "[" + ", ".join(map(brief, value)) + "]" if plain else f"a list of {len(value)}"
    return repr(value[:40]) if isinstance(value, str) else repr(value)
