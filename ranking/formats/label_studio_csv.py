"""One CSV or TSV file of Label Studio: as JSON-MIN with a row for each task, where cells hold JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ranking.core.text import readable
from ranking.files import FileTree, Limits, Unusable
from ranking.formats.json_file import parsed
from ranking.formats.label_studio_file import LEFT_OUT, TASK_LEFT_OUT, Tasks, add_task, without_drafts
from ranking.formats.table_file import read_table
from ranking.formats.tree_source import Grouped

OWN = ("annotation_id", "annotator", "lead_time")  # the columns of every export
BESIDE = ("id", "created_at", "updated_at", *OWN)
# What an annotator says in words alone stands between "id" and "annotator"; where columns are in the order of the
# alphabet, as some versions write them, by these names.
SAID = ("choice", "choices", "label", "labels", "class")


def begins_so(head: bytes) -> bool:
    """Whether a file that begins so has the columns that Label Studio writes.

    >>> begins_so(b"image,id,label,annotator,annotation_id,lead_time\\n"), begins_so(b"image,label\\n")
    (True, False)
    """
    first = re.split(rb"[\r\n]", head, maxsplit=1)[0].decode("utf-8", errors="replace")
    return set(OWN) <= {name.strip(' "') for name in re.split("[,\t]", first)}


def read_table_of_tasks(tree: FileTree, name: str, limits: Limits, told: Tasks) -> None:
    """Add what the table of that name says to `told`; Unusable where it is none."""
    table, file = read_table(tree, name, limits), readable(name, 255)
    try:
        for line, cells in table.rows():
            shown = f"line {line}"
            if len(cells) == len(table.header):
                row = dict(zip(table.header, cells, strict=True))
                add_task(name, shown, dict(_as_least(row, shown, file, told.problems)), told)
            else:
                expected, came = f"{len(table.header)} cells in every row", f"{shown}: {len(cells)}"
                told.problems.add(file, expected, came, TASK_LEFT_OUT)
    except Unusable as error:  # the reader goes on from line to line: what came before it is read
        told.problems.add(file, error.expected, error.came, "the rest left out")


def _as_least(row: Mapping[str, str], shown: str, file: str, problems: Grouped) -> Iterator[tuple[str, Any]]:
    """What a row says in the order of JSON-MIN: of the task, by the annotator, of the annotation."""
    names = list(row)
    start, end = (names.index(name) if name in names else len(names) for name in ("id", "annotator"))
    said = [name for name in names[start + 1 : end] if name not in BESIDE] if start < end else []
    said = said or [name for name in names if name.lower() in SAID]
    task = [name for name in names if name not in (*said, *BESIDE)]
    for name in (*task, "id", *said, "annotator"):
        text = row.get(name, "").strip()
        try:
            value = parsed(text.encode(), without_drafts) if text.startswith(("[", "{")) else text
        except Unusable as error:
            came = f"{shown}, {name}: {error.came}"
            problems.add(file, error.expected, came, LEFT_OUT)
            value = ""
        if value or name in BESIDE:
            yield name, value
