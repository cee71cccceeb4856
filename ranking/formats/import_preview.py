"""The first stage of an import: what a folder or ZIP file contains, which source reads it and why, and a preview."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field, replace

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, GivenSettings, Json, Settings
from ranking.core.text import listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.tree import suffix
from ranking.formats.preview import SourcePreview, preview_source
from ranking.formats.table_file import is_table, read_table
from ranking.formats.tree_source import Recognised, TreeSource, beginning, detect, tree_sources

EXPORTS = "Label Studio and CVAT export COCO, YOLO and VOC: export it again in one of these"
UNKNOWN = "the format was not recognised"
# the most frequent suffixes that are listed for an unknown format
MAX_ENDINGS = 4
# characters of a sentence about an entry: parsers quote what they could not read
MAX_SENTENCE = 600
# of an unknown tree that are read to find out why they cannot be used
MAX_TABLES = 3
# bytes by which the native format of an annotation tool is recognised
TOOL_HEAD = 8192
# tool, suffix, and a pattern near the beginning of such files
TOOL_FORMATS = (
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
    """files: how many there are. detected: the sources that recognise them, the best first.

    source, source_settings: how they are read; None if no source recognises them. content: a preview; None if they
    cannot be read, and `refused` gives the reason. columns: of the table that the source reads, if the user can choose
    their roles; `source_settings` then contains the columns of each role, and `read_as` describes them.
    """

    files: int
    detected: dict[str, Recognised]
    source: str | None = None
    source_settings: Settings = field(default_factory=dict)
    content: SourcePreview | None = None
    refused: str = ""
    columns: list[str] = field(default_factory=list)
    read_as: str = ""

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        detected = {name: asdict(recognised) for name, recognised in self.detected.items()}
        content = None if self.content is None else self.content.to_json()
        return {**vars(self), "detected": detected, "content": content}

    @classmethod
    def from_json(cls, record: GivenJson) -> ImportPreview:
        """Return the preview that `to_json` wrote. ValueError, TypeError or KeyError for any other record, such as that
        of an earlier version, or if its source no longer exists."""
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
    place: str, source: str | None, settings: GivenSettings, on_step: Callable[[str], None] | None = None
) -> ImportPreview:
    """Return a preview of `place`, read by `source` or by the source that recognises it best. Nothing is written.

    settings: of the source; they override the settings that fit the files. ValueError if nothing can be read.
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
    # a table of Label Studio may be read
    unread = [] if preview.columns else list(tool_formats(tree))
    return replace(preview, content=content.with_problems(unread))


def unknown(names: Collection[str]) -> str:
    """Return a text about files that no source recognises: what there is, and what is missing.

    >>> unknown(["a/1.jpg", "a/2.JPG", "a/notes"]).partition(". ")[0]
    'the format was not recognised: 2 .jpg, 1 without a suffix, and no readable labels'
    """
    if not names:
        return f"{UNKNOWN}: there are no files. Import images with their labels"
    endings = Counter(suffix(name) for name in names).most_common()
    texts = [f"{count:,} {readable(ending, 20) or 'without a suffix'}" for ending, count in endings]
    if not any(ending in IMAGE_SUFFIXES for ending, _ in endings):
        images = ", ".join(IMAGE_SUFFIXES)
        return f"{UNKNOWN}: {listed(texts, MAX_ENDINGS)}, and no images ({images}). Import images with their labels"
    return (
        f"{UNKNOWN}: {listed(texts, MAX_ENDINGS)}, and no readable labels. Put the images of each class into a folder "
        "with the name of the class, or add the label file, and import again; or choose the format. From Label Studio "
        "and CVAT, export COCO, YOLO or PASCAL VOC"
    )


def _reasons(tree: FileTree) -> str:
    """Return sentences about unusable entries of an unknown tree: unusual names, native formats of tools, tables."""
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
    """Yield a report row for each annotation tool whose native format some files have; these are not read."""
    for tool, ending, pattern in TOOL_FORMATS:
        if names := beginning(tree, ending, TOOL_HEAD, pattern.match):
            shown = listed([readable(name, 255) for name in names])
            yield Problem(shown, "COCO, YOLO or VOC", f"the native format of {tool}. {EXPORTS}", "ignored")
