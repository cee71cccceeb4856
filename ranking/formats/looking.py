"""The first stage of an import: what a person brought, which source reads it and why, and a few crops of it."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from ranking.core import Problem, Source
from ranking.core.errors import InputError
from ranking.core.text import listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Recognised, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.tree import suffix
from ranking.formats.detection import Detected, ReadsTable, detect, tree_sources
from ranking.formats.preview import Crop, Preview, preview
from ranking.formats.table_file import is_table, read_table
from ranking.formats.tally import Tally
from ranking.formats.tree_source import beginning

PLAIN = ("files", "source", "refused", "problems", "columns", "read_as")
MOST_PROBLEMS = 200  # that are told of; an import tells of all
EXPORTS = "Label Studio and CVAT export COCO, YOLO and VOC: export it again in one of these"
UNKNOWN = "no source knows what is in it"
ENDINGS = 4  # of files of what nobody knows, the most frequent ones, are told
SENTENCE = 600  # letters at most of what is told of an entry: parsers quote what they could not read
OWN_HEAD = 8192  # bytes that tell whether a file is in an annotation tool's own format
OWN_FORMATS = (  # tool, ending, and what such files have near their beginning
    (
        "Label Studio",
        ".json",
        re.compile(
            rb'\s*\[\s*\{.*?"(?:annotations|completions|annotation_id|annotator|file_upload)"\s*:', re.DOTALL
        ),
    ),
    ("Label Studio", ".csv", re.compile(rb"(?=[^\r\n]*\bannotation_id\b)(?=[^\r\n]*\blead_time\b)")),
    ("CVAT", ".xml", re.compile(rb"(?s:.*?)<annotations[\s>]")),
)
TABLES = 3  # of what nobody knows are looked into once more, for why they say nothing


@dataclass(frozen=True)
class Look:
    """What was found. files: how many. detected: the sources that know it, the surest first.

    source, source_settings: as what it was read; None where no source knows it. seen: a preview of that; None where it
    cannot be read so, and `refused` says why. problems: how many it met, of which it has the first MOST_PROBLEMS.
    columns: of the table that it reads, where a person may say what each is; `source_settings` name those of each role
    as they were read, and `read_as` tells it in words.
    """

    files: int
    detected: list[Detected]
    source: str | None = None
    source_settings: dict[str, Any] = field(default_factory=dict)
    seen: Preview | None = None
    refused: str = ""
    problems: int = 0
    columns: list[str] = field(default_factory=list)
    read_as: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        told = {name: getattr(self, name) for name in (*PLAIN, "source_settings")}
        told["detected"] = [[name, asdict(recognised)] for name, recognised in self.detected]
        told["seen"] = None if self.seen is None else _preview_to_json(self.seen)
        return told

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Look:
        """What `to_json` told; ValueError, TypeError or KeyError where it is something else.

        A format that was read then and is no more counts as not recognised, and what it read as refused.
        """
        source, known = told["source"], tree_sources()
        if source is not None and source not in known:
            read: dict[str, Any] = {
                "source": None,
                "source_settings": {},
                "seen": None,
                "problems": 0,
                "columns": [],
                "read_as": "",
            }
            told = {**told, **read, "refused": f"{source} is not read any more. {EXPORTS}"}
        seen = told["seen"]
        return cls(
            **{
                **told,
                "detected": [
                    Detected(name, Recognised(**recognised))
                    for name, recognised in told["detected"]
                    if name in known
                ],
                "seen": None if seen is None else _preview_from_json(seen),
            }
        )


def look_at(
    place: str, source: str | None, settings: Mapping[str, Any], on_step: Callable[[str], None] | None = None
) -> Look:
    """What lies at `place`, read by `source`, else by the source that knows it best. Nothing is written.

    settings: of the source, over those that fit what was found. ValueError where nothing lies there that can be read.
    """
    say = on_step or (lambda _: None)
    say("Looking at what is in it")
    tree: FileTree = open_tree(place)
    detected = detect(tree)
    fitting = {name: recognised.settings for name, recognised in detected}
    chosen = source or next(iter(fitting), None)
    if chosen is None:
        return Look(len(tree.names), [], refused=unknown(tree.names) + left_out(tree))
    if chosen not in tree_sources():
        names = ", ".join(tree_sources())
        raise InputError("format", f"one that reads folders and ZIP files: {names}", f"{chosen!r:.80}")
    say(f"Reading it as {chosen}")
    read_by = {**fitting.get(chosen, {}), **settings}
    found = Look(len(tree.names), detected, chosen, read_by)
    try:
        read: Source = SOURCES.make(chosen, **{**read_by, "folder": place})
        if isinstance(read, ReadsTable):
            found = replace(found, columns=read.columns())
            named, in_words = read.as_read()
            found = replace(found, source_settings={**read_by, **named}, read_as=in_words)
        seen = preview(read)
        if not isinstance(read, ReadsTable):  # which may read a table of Label Studio
            seen = replace(seen, problems=[*own_formats(tree), *seen.problems])
    except ValueError as error:
        return replace(found, refused=" ".join(str(error).split()))
    problems = len(seen.problems)
    return replace(found, seen=replace(seen, problems=seen.problems[:MOST_PROBLEMS]), problems=problems)


def unknown(names: Collection[str]) -> str:
    """What is said of files that no source knows: what there is, and what is missing.

    >>> unknown(["a/1.jpg", "a/2.JPG", "a/notes"]).partition(". ")[0]
    'no source knows what is in it: 2 .jpg, 1 without an ending, and no labels that it could read'
    """
    if not names:
        return f"{UNKNOWN}: it is empty. Bring images with their labels"
    endings = Counter(suffix(name) for name in names).most_common()
    told = [f"{count:,} {readable(ending, 20) or 'without an ending'}" for ending, count in endings]
    if not any(ending in IMAGE_SUFFIXES for ending, _ in endings):
        images = ", ".join(IMAGE_SUFFIXES)
        return f"{UNKNOWN}: {listed(told, ENDINGS)}, and no images ({images}). Bring images with their labels"
    return (
        f"{UNKNOWN}: {listed(told, ENDINGS)}, and no labels that it could read. Put images of a class into a folder of "
        "its name, or the file of labels beside them, and import it again; or choose its format. From Label Studio and "
        "CVAT export COCO, YOLO or PASCAL VOC"
    )


def left_out(tree: FileTree) -> str:
    """Sentences about what could not be used of a tree that nobody knows, "" where there is nothing to say: entries of
    unusual names, and tables."""
    rows = [*tree.problems, *own_formats(tree)]
    told = [f"{row.file}: expected {row.expected}, got {row.came}" for row in rows]
    limits = Limits.from_environment()
    for name in list(filter(is_table, tree.names))[:TABLES]:
        try:
            header = read_table(tree, name, limits).header
            expected, came = "columns that name images and tell of them", listed(list(header))
        except Unusable as error:
            expected, came = error.expected, error.came
        told.append(f"{readable(name, 255)}: expected {expected}, got {came}")
    return "".join(f". {readable(one, SENTENCE)}" for one in told)


def own_formats(tree: FileTree) -> Iterator[Problem]:
    """A row for each annotation tool of whose own format there are files, which are not read."""
    for tool, ending, pattern in OWN_FORMATS:
        names = beginning(tree, ending, OWN_HEAD, partial(_matches, pattern))
        if names:
            shown = listed([readable(name, 255) for name in names])
            yield Problem(shown, "COCO, YOLO or VOC", f"{tool}'s own format. {EXPORTS}", "left out")


def _matches(pattern: re.Pattern[bytes], head: bytes) -> bool:
    return pattern.match(head) is not None


def _preview_to_json(seen: Preview) -> dict[str, Any]:
    crops = [{**asdict(crop), "webp": base64.b64encode(crop.webp).decode()} for crop in seen.crops]
    return {**asdict(seen), "crops": crops}


def _preview_from_json(told: Mapping[str, Any]) -> Preview:
    crops = [
        Crop(**{**crop, "webp": base64.b64decode(crop["webp"]), "classes": tuple(crop["classes"])})
        for crop in told["crops"]
    ]
    problems = [Problem(**row) for row in told["problems"]]
    return Preview(**{**told, "crops": crops, "problems": problems, "tally": Tally(**told["tally"])})
