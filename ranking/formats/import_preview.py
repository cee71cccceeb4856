"""The first stage of an import: what a folder or ZIP file holds, which source reads it and why, and a preview."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.tree import suffix
from ranking.formats.preview import SourcePreview, preview_source
from ranking.formats.table_file import is_table, read_table
from ranking.formats.tree_source import Recognised, TreeSource, beginning, detect, tree_sources

EXPORTS = "Label Studio and CVAT export COCO, YOLO and VOC: export it again in one of these"
UNKNOWN = "no source knows what is in it"
MAX_ENDINGS = 4  # of files that nobody knows, the most frequent ones
MAX_SENTENCE = 600  # letters of a sentence about an entry: parsers quote what they could not read
MAX_TABLES = 3  # of an unknown tree are read for the reason why they say nothing
TOOL_HEAD = 8192  # bytes by which the own format of an annotation tool is recognised
TOOL_FORMATS = (  # tool, ending, and what such files have near their beginning
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


@dataclass(frozen=True)
class ImportPreview:
    """files: how many there are. detected: the sources that recognise them, the surest first.

    source, source_settings: what they are read by; None where no source recognises them. content: a preview; None where
    they cannot be read so, and `refused` says why. columns: of the table that the source reads, where a person may
    choose what each holds; `source_settings` then name those of each role, and `read_as` is the same in words.
    """

    files: int
    detected: dict[str, Recognised]
    source: str | None = None
    source_settings: dict[str, Any] = field(default_factory=dict)
    content: SourcePreview | None = None
    refused: str = ""
    columns: list[str] = field(default_factory=list)
    read_as: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        detected = {name: asdict(recognised) for name, recognised in self.detected.items()}
        content = None if self.content is None else self.content.to_json()
        return {**vars(self), "detected": detected, "content": content}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ImportPreview:
        """What `to_json` gave; ValueError, TypeError or KeyError where it is something else, as of earlier versions,
        or where its source exists no longer."""
        detected = {name: Recognised(**recognised) for name, recognised in record["detected"].items()}
        content = None if record["content"] is None else SourcePreview.from_json(record["content"])
        preview = cls(**{**record, "detected": detected, "content": content})
        for name in filter(None, [preview.source, *detected]):
            _check_source(name)
        return preview


def _check_source(name: str) -> None:
    if name not in tree_sources():
        names = ", ".join(tree_sources())
        raise InputError("format", f"one that reads folders and ZIP files: {names}", f"{name!r:.80}")


def preview_import(
    place: str, source: str | None, settings: Mapping[str, Any], on_step: Callable[[str], None] | None = None
) -> ImportPreview:
    """What lies at `place`, read by `source`, else by the source that recognises it best. Nothing is written.

    settings: of the source, over those that fit the files. ValueError where nothing lies there that can be read.
    """
    report = on_step or (lambda _: None)
    report("Listing the files")
    tree: FileTree = open_tree(place)
    detected = detect(tree)
    chosen = source or next(iter(detected), None)
    if chosen is None:
        return ImportPreview(len(tree.names), {}, refused=unknown(tree.names) + _reasons(tree))
    _check_source(chosen)
    report(f"Reading it as {chosen}")
    read_by = {**(detected[chosen].settings if chosen in detected else {}), **settings}
    preview = ImportPreview(len(tree.names), detected, chosen, read_by)
    try:
        reader: TreeSource = SOURCES.make(chosen, **{**read_by, "folder": place})  # type: ignore[assignment]
        preview = replace(preview, columns=reader.columns())
        columns, in_words = reader.as_read()
        preview = replace(preview, source_settings={**read_by, **columns}, read_as=in_words)
        content = preview_source(reader)
    except ValueError as error:
        return replace(preview, refused=" ".join(str(error).split()))
    unread = [] if preview.columns else list(tool_formats(tree))  # a table of Label Studio may be read
    return replace(preview, content=content.with_problems(unread))


def unknown(names: Collection[str]) -> str:
    """A sentence about files that no source recognises: what there is, and what is missing.

    >>> unknown(["a/1.jpg", "a/2.JPG", "a/notes"]).partition(". ")[0]
    'no source knows what is in it: 2 .jpg, 1 without an ending, and no labels that it could read'
    """
    if not names:
        return f"{UNKNOWN}: it is empty. Import images with their labels"
    endings = Counter(suffix(name) for name in names).most_common()
    texts = [f"{count:,} {readable(ending, 20) or 'without an ending'}" for ending, count in endings]
    if not any(ending in IMAGE_SUFFIXES for ending, _ in endings):
        images = ", ".join(IMAGE_SUFFIXES)
        return f"{UNKNOWN}: {listed(texts, MAX_ENDINGS)}, and no images ({images}). Import images with their labels"
    return (
        f"{UNKNOWN}: {listed(texts, MAX_ENDINGS)}, and no labels that it could read. Put images of a class into a "
        "folder of its name, or the file of labels beside them, and import it again; or choose its format. From Label "
        "Studio and CVAT export COCO, YOLO or PASCAL VOC"
    )


def _reasons(tree: FileTree) -> str:
    """Sentences about entries of an unknown tree that cannot be used: unusual names, formats of tools, and tables."""
    rows = [*tree.problems, *tool_formats(tree)]
    limits = Limits.from_environment()
    for name in list(filter(is_table, tree.names))[:MAX_TABLES]:
        try:
            header = read_table(tree, name, limits).header
            expected, came = "columns that name images and describe them", listed(list(header))
        except Unusable as error:
            expected, came = error.expected, error.came
        rows.append(Problem(readable(name, 255), expected, came, ""))
    sentences = (f"{row.file}: expected {row.expected}, got {row.came}" for row in rows)
    return "".join(f". {readable(sentence, MAX_SENTENCE)}" for sentence in sentences)


def tool_formats(tree: FileTree) -> Iterator[Problem]:
    """A row for each annotation tool whose own format some files have; these are not read."""
    for tool, ending, pattern in TOOL_FORMATS:
        if names := beginning(tree, ending, TOOL_HEAD, pattern.match):
            shown = listed([readable(name, 255) for name in names])
            yield Problem(shown, "COCO, YOLO or VOC", f"{tool}'s own format. {EXPORTS}", "left out")
