"""One JSON file of Label Studio: a stranger's tasks in, images, boxes and the rows of a report out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

from ranking.core import SourceBox
from ranking.core.text import readable, told_apart
from ranking.files import Unusable
from ranking.formats.json_file import as_number, brief
from ranking.formats.outlines import Box, around, turned
from ranking.formats.tree_source import Grouped, is_image

TASK_LEFT_OUT, LEFT_OUT = "task left out", "annotation left out"
UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # what an upload puts before the name of a file
LOCAL = re.compile(r"[?&]d=([^&#]*)")  # where /data/local-files/ names its file
LONGEST = 2_000  # characters of a text that may be the name of an image
BESIDE = ("id", "original_width", "original_height", "image_rotation")  # what a result says beside its value
EDGES = ("x", "y", "width", "height")
NO_REGION = ("labels", "choices")  # what may stand in a value besides its place


class Task(NamedTuple):
    """names: what its image may be called, the likeliest first. size: as claimed, or None."""

    file: str
    shown: str
    names: tuple[str, ...]
    boxes: tuple[SourceBox, ...]
    size: tuple[int, int] | None


@dataclass
class Tasks:
    """What the files tell, and what is wrong with the rest."""

    tasks: list[Task] = field(default_factory=list)
    problems: Grouped = field(default_factory=Grouped)


def without_drafts(told: dict[str, Any]) -> dict[str, Any]:
    """An object of JSON without what models and unfinished work say, and without masks of pixels."""
    for key in ("predictions", "drafts", "rle"):
        told.pop(key, None)
    return told


def read_tasks(file: str, root: object, told: Tasks) -> None:
    """Add what the JSON file of that name says to `told`; Unusable where it is no list of tasks."""
    if not isinstance(root, list):
        raise Unusable("a list of tasks", brief(root))
    for place, task in enumerate(root, 1):
        add_task(file, f"task {place}", task, told)


def add_task(file: str, shown: str, task: object, told: Tasks) -> None:
    """Add a task, which rows of the report call `shown`, or a row about what is wrong with it."""
    try:
        told.tasks.append(_task(file, shown, task, told.problems))
    except Unusable as error:
        told.problems.add(readable(file, 255), error.expected, f"{shown}: {error.came}", TASK_LEFT_OUT)


def _task(file: str, shown: str, task: object, problems: Grouped) -> Task:
    if not isinstance(task, dict):
        raise Unusable("tasks that are objects", brief(task))
    data = task["data"] if isinstance(task.get("data"), dict) else task
    told = sorted(data.items(), key=lambda item: item[0] != "image")
    texts = [
        text
        for key, text in (*told, ("image", task.get("file_upload")))
        if isinstance(text, str) and 0 < len(text) <= LONGEST and (key == "image" or _is_image(text))
    ]
    names = tuple(dict.fromkeys(name for text in texts for name in names_in(text)))
    if not names:
        raise Unusable("the name of an image", "none")
    items = list(_items(task, shown, file, problems))
    return Task(file, shown, names, tuple(_boxes(items, shown, file, problems)), _size(items))


def _is_image(text: str) -> bool:
    return any(map(is_image, names_in(text)))


def names_in(text: str) -> Iterator[str]:
    """What an image may be called that an address or a path tells, the likeliest first.

    >>> list(names_in("/data/upload/1/0a1b2c3d-my%20cat.jpg?x=1"))
    ['/data/upload/1/0a1b2c3d-my cat.jpg', 'my cat.jpg', '/data/upload/1/0a1b2c3d-my%20cat.jpg?x=1']
    """
    local = LOCAL.search(text)
    path = unquote(local[1] if local is not None else re.split(r"[?#]", text, maxsplit=1)[0])
    last = path.replace("\\", "/").rpartition("/")[2]
    yield path
    if UPLOADED.match(last):
        yield UPLOADED.sub("", last, count=1)
    if path != text:
        yield text


def _items(task: dict[str, Any], shown: str, file: str, problems: Grouped) -> Iterator[dict[str, Any]]:
    """The results of the one annotation that counts, or of JSON-MIN, where they are values of the task itself."""
    annotations = task.get("annotations", task.get("completions"))
    if annotations is None:
        yield from _least_items(task)
        return
    if not isinstance(annotations, list):
        raise Unusable("a list of annotations", brief(annotations))
    done = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
    if len(done) > 1:
        expected, came = "one annotation of every task", f"{shown}: {len(done)}"
        problems.add(
            readable(file, 255), expected, came, "the first is used, or the one that is the ground truth"
        )
    chosen = next((one for one in done if one.get("ground_truth") is True), done[0] if done else {})
    results = chosen.get("result", [])
    if not isinstance(results, list):
        raise Unusable("a list of results", brief(results))
    for one in results:
        if isinstance(one, dict) and isinstance(one.get("value"), dict):
            kept = {
                key: one[key]
                for key in ("id", "original_width", "original_height", "image_rotation")
                if key in one
            }
            yield {**one["value"], **kept}
        else:
            problems.add(readable(file, 255), "results with a value", f"{shown}: {brief(one)}", LEFT_OUT)


def _least_items(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """JSON-MIN: lists of regions, and choices as a text, or as an object where there are several.

    What the annotator said stands between the task's id and who that was.
    """
    keys = list(task)
    first = keys.index("id") + 1 if "id" in task else len(keys)
    said = keys[first : keys.index("annotator") if "annotator" in task else len(keys)]
    for key, value in task.items():
        if isinstance(value, list):
            yield from (one for one in value if isinstance(one, dict))
        elif isinstance(value, dict) and "choices" in value:
            yield value
        elif isinstance(value, str) and (key == "choice" or key in said):
            yield {"choices": [value]}


def _boxes(items: list[dict[str, Any]], shown: str, file: str, problems: Grouped) -> list[SourceBox]:
    """A box for each region, of what all say of it, and one for all that is said of the whole image."""
    found: dict[object, tuple[Box | None, int, dict[str, None]]] = {}
    for place, one in enumerate(items, 1):
        try:
            box, labels = _place(one), _labels(one)
        except Unusable as error:
            came = f"{shown}, result {place}: {error.came}"
            problems.add(readable(file, 255), error.expected, came, LEFT_OUT)
            continue
        region = one["id"] if isinstance(one.get("id"), str) else place
        key = "the whole image" if box is None else (region, box)
        found.setdefault(key, (box, place, {}))[2].update(dict.fromkeys(labels))
    return [
        SourceBox(box, tuple(labels), number=place, relative=box is not None)
        for box, place, labels in found.values()
    ]


def _labels(one: dict[str, Any]) -> tuple[str, ...]:
    told = [value for key, value in one.items() if key.endswith(NO_REGION)]
    names = [name for value in told if isinstance(value, list) for name in value if isinstance(name, str)]
    labels = tuple(filter(None, map(told_apart, names)))
    if not labels:
        raise Unusable("rectangles or outlines with labels, or choices", brief(one))
    return labels


def _place(one: dict[str, Any]) -> Box | None:
    """The box in shares of the image; None for all of it. Numbers that make no box inside it are the builder's."""
    if as_number(one.get("image_rotation", 0)) != 0:
        raise Unusable(
            "an image that was not turned to be labelled", f"image_rotation {brief(one['image_rotation'])}"
        )
    if "points" in one:
        return _outline(one["points"])
    if not one.keys() & set(EDGES):
        if "choices" in one:
            return None
        raise Unusable("rectangles or outlines with labels, or choices", brief(one))
    x, y, width, height = (as_number(one.get(key)) for key in EDGES)
    if x is None or y is None or width is None or height is None:
        raise Unusable(
            "x, y, width and height in percent",
            brief([one.get(key) for key in EDGES]),
        )
    left, top, right, bottom = x / 100, y / 100, (x + width) / 100, (y + height) / 100
    degrees, size = as_number(one.get("rotation", 0)), _size([one])
    if degrees == 0:
        return left, top, right, bottom
    if degrees is None or size is None:
        raise Unusable(
            "a turned rectangle with original_width and original_height", brief(one.get("rotation"))
        )
    across, down = size  # it is turned about its corner, where pixels are square
    edges = turned(
        (left * across, top * down, right * across, bottom * down), degrees, (left * across, top * down)
    )
    return edges[0] / across, edges[1] / down, edges[2] / across, edges[3] / down


def _outline(points: object) -> Box:
    corners = []
    for point in points if isinstance(points, list) else []:
        x, y = map(as_number, point) if isinstance(point, list) and len(point) == 2 else (None, None)
        if x is None or y is None:
            raise Unusable("points of x and y in percent", brief(point))
        corners.append((x / 100, y / 100))
    if not corners:
        raise Unusable("points of x and y in percent", brief(points))
    return around(corners)


def _size(items: list[dict[str, Any]]) -> tuple[int, int] | None:
    for one in items:
        width, height = one.get("original_width"), one.get("original_height")
        if type(width) is int and type(height) is int and 0 < width < 10**9 and 0 < height < 10**9:
            return width, height
    return None
