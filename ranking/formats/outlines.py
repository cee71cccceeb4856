"""Bounding boxes of outlines in JSON: polygons in any nesting, and masks as runs of pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ranking.formats.json_file import as_number

Box = tuple[float, float, float, float]
# polygons of points of two numbers, in a list
DEEPEST = 3
# groups of five bits of a compressed run: more than any image needs
MAX_GROUPS = 12


def box_of_outline(outline: object) -> Box | None:
    """Return the edges of an outline in the forms of COCO; None if it encloses nothing or cannot be read.

    >>> box_of_outline([[1, 2, 5, 2, 5, 9]]), box_of_outline([[1, 2], [5, 9]]), box_of_outline([])
    ((1.0, 2.0, 5.0, 9.0), (1.0, 2.0, 5.0, 9.0), None)
    >>> box_of_outline({"size": [4, 5], "counts": [5, 2, 13]}), box_of_outline({"size": [4, 5], "counts": "52="})
    ((1.0, 1.0, 2.0, 3.0), (1.0, 1.0, 2.0, 3.0))
    """
    if isinstance(outline, dict):
        return _box_of_runs(outline.get("counts"), outline.get("size"))
    numbers = numbers_of(outline)
    if len(numbers) < 4 or len(numbers) % 2:
        return None
    across, down = numbers[::2], numbers[1::2]
    return min(across), min(down), max(across), max(down)


def corner_and_size(value: object) -> Box | None:
    """Return the edges of a list of left, top, width and height; None unless there are four numbers."""
    numbers = numbers_of(value)
    if len(numbers) != 4:
        return None
    left, top, width, height = numbers
    return left, top, left + width, top + height


def around(*values: object) -> Box | None:
    """Return the edges of a circle, an ellipse or a box by its centre and half its width and height."""
    numbers = numbers_of(list(values))
    if len(numbers) != 4:
        return None
    x, y, to_side, to_top = numbers
    return x - to_side, y - to_top, x + to_side, y + to_top


def numbers_of(value: object) -> list[float]:
    """Return all numbers in nested lists; [] if there is anything else."""
    numbers = list(_numbers(value))
    return [] if None in numbers else numbers  # type: ignore[return-value]


def _numbers(value: object, depth: int = 0) -> Iterator[float | None]:
    if isinstance(value, list) and depth <= DEEPEST:
        for item in value:
            yield from _numbers(item, depth + 1)
    else:
        yield as_number(value)


def _box_of_runs(counts: object, size: object) -> Box | None:
    """Return the edges of a mask. counts: lengths of runs of 0 and 1 in turn, down each column; a list, or the text
    into which pycocotools compresses it. size: height and width."""
    runs = _decompressed(counts) if isinstance(counts, str) else counts
    if not isinstance(runs, list) or not isinstance(size, list) or len(size) != 2:
        return None
    height, width = size
    whole = all(isinstance(number, int) and number >= 0 for number in (*runs, *size))
    if not whole or not 0 < sum(runs) <= height * width:
        return None
    columns, rows, start = [], [], 0
    for place, run in enumerate(runs):
        if place % 2 and run:
            first, last = start // height, (start + run - 1) // height
            columns += [first, last + 1]
            # a run over several columns touches the top and the bottom
            rows += [start % height, (start + run - 1) % height + 1] if first == last else [0, height]
        start += run
    return (float(min(columns)), float(min(rows)), float(max(columns)), float(max(rows))) if rows else None


def _decompressed(text: str) -> Sequence[int] | None:
    """Return the lengths in the text of pycocotools: groups of five bits, and from the fourth number on differences to
    the number before the last one."""
    runs: list[int] = []
    number = place = 0
    for letter in text:
        bits = ord(letter) - 48
        if not 0 <= bits < 64 or place > MAX_GROUPS:
            return None
        number |= (bits & 31) << 5 * place
        place += 1
        if not bits & 32:
            number -= (1 << 5 * place) if bits & 16 else 0
            runs.append(number + (runs[-2] if len(runs) > 2 else 0))
            number = place = 0
    return runs
