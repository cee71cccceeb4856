"""The first stage of an import: what is at a path or in an upload, which source reads it and why, and a preview."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace

from ranking.core import Decision, Problem, Source
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, GivenSettings, Json, Settings
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable, Upload, open_tree
from ranking.files.archive_tree import ArchiveTree
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.opening import TABLES
from ranking.files.tree import base, parent, suffix
from ranking.files.typed_path import typed_path
from ranking.formats.file_beginnings import beginning, tool_formats
from ranking.formats.file_names import is_image, part_folders
from ranking.formats.image_names import ImageNames
from ranking.formats.source_preview import Crop, SourcePreview, preview_source
from ranking.formats.split_lists import lines_of
from ranking.formats.svmlight import EXTRACT, HEAD, MAX_LISTED, SvmLight, begins_graded, graded_files
from ranking.formats.table_file import plain_number, read_table
from ranking.formats.tree_source import Recognised, detect, has_no_data, tree_sources
from ranking.formats.yolo import label_files

UNKNOWN = "the format was not recognised"
CONVERT = "Convert these text files to COCO, Pascal VOC or YOLO, or to a table, and import again"
# how rows that name objects are described; the certainty of a format that is recognised by its layout only
NAMED, BY_LAYOUT = "a name and ", 0.4
# the most frequent suffixes that are listed for an unknown format
MAX_ENDINGS = 4
# keys of a JSON file that are shown, and lines in which they are looked for
KEY = re.compile(r'"([^"\\]+)"\s*:')
MAX_KEYS, MAX_KEY_LINES = 5, 100
# crops of each alternative of an open decision
OF_ALTERNATIVE = 4
# characters of a sentence about an entry: parsers quote what they could not read
MAX_SENTENCE = 600
# of an unknown tree that are read to find out why they cannot be used
MAX_TABLES = 3


@dataclass(frozen=True)
class ImportPreview:
    """files: how many there are. detected: the sources that recognise them, the best first.

    source, source_settings: how they are read; None if no source recognises them. content: a preview; None if they
    cannot be read, and `refused` gives the reason. alternatives: for an open decision, a few crops as its alternatives
    read them, by "setting=alternative".
    """

    files: int
    detected: dict[str, Recognised]
    source: str | None = None
    source_settings: Settings = field(default_factory=dict)
    content: SourcePreview | None = None
    refused: str = ""
    alternatives: dict[str, list[Crop]] = field(default_factory=dict)

    @property
    def open_decisions(self) -> list[Decision]:
        """The decisions that a person has to take."""
        return (
            [row for row in self.content.reading.decisions if row.is_open] if self.content is not None else []
        )

    def to_json(self) -> Json:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: GivenJson) -> ImportPreview:
        """Return the preview that `to_json` wrote. ValueError, TypeError or KeyError for any other record, such as that
        of an earlier version, or if its source no longer exists."""
        detected = {name: Recognised(**recognised) for name, recognised in record["detected"].items()}
        content = None if record["content"] is None else SourcePreview.from_json(record["content"])
        alternatives = {
            value: [Crop.from_json(crop) for crop in crops] for value, crops in record["alternatives"].items()
        }
        given = {"detected": detected, "content": content, "alternatives": alternatives}
        preview = cls(**{**record, **given})
        for name in filter(None, [preview.source, *detected]):
            SOURCES.get(name)
        return preview


def preview_import(
    place: str, source: str | None, settings: GivenSettings, on_step: Callable[[str], None] | None = None
) -> ImportPreview:
    """Return a preview of `place`, read by `source` or by the source that recognises it best. Nothing is written.

    settings: of the source, without the place; they override the settings that fit the files. ValueError if nothing can
    be read.
    """
    report = on_step or (lambda _: None)
    report("Listing the files")
    graded = _graded_at(place, source)
    detected = _features_at(place, source) if graded is None else {SvmLight.name: graded}
    if detected:
        names = tuple(next(iter(detected.values())).settings.values())
    else:
        tree = open_tree(place)
        names, detected = tree.names, detect(tree)
        is_graded = source == SvmLight.name and not isinstance(place, Upload)
        if source is None or is_graded:
            texts = _texts_of_images(tree)
            # folders are no classes where a text file of each image names its objects
            if not detected or (
                NAMED in texts and max(found.sure for found in detected.values()) <= BY_LAYOUT
            ):
                described = f"{texts or unknown(names)}{_reasons(tree)}{'' if texts else _other_texts(tree)}"
                refused = _graded(tree) or described
                return ImportPreview(len(names), {}, refused=refused)
    chosen = source or next(iter(detected))
    if chosen not in (*detected, *tree_sources()):
        expected = f"one that reads folders and ZIP files: {', '.join(tree_sources())}"
        raise InputError("format", expected, f"{chosen!r:.80}")
    report(f"Reading it as {chosen}")
    read_by = {**(detected[chosen].settings if chosen in detected else {}), **settings}
    preview = ImportPreview(len(names), detected, chosen, read_by)
    try:
        preview = replace(preview, content=preview_source(reader_of(chosen, read_by, place)))
    except ValueError as error:
        return replace(preview, refused=" ".join(str(error).split()))
    alternatives: dict[str, list[Crop]] = {}
    for decision in preview.open_decisions:
        for value in decision.alternatives:
            with contextlib.suppress(ValueError):
                reader = reader_of(chosen, {**read_by, decision.setting: value}, place)
                alternatives[f"{decision.setting}={value}"] = preview_source(reader, OF_ALTERNATIVE).crops
    return replace(preview, alternatives=alternatives)


def reader_of(source: str, settings: GivenSettings, place: str) -> Source:
    """Return the source that reads `place` with the settings of a preview."""
    return SOURCES.make(source, **settings, **({"folder": place} if source in tree_sources() else {}))


class Undecided(InputError):
    """Files that can be read in several ways. subject: what is open. came: the evidence. remedy: the choices."""

    def __str__(self) -> str:
        return f"{self.subject}: {self.expected}; {self.remedy} ({self.came})"


def fitting(row: Decision) -> str:
    """Return in words how many readings fit where a decision is open."""
    count = 1 + len(row.alternatives)
    return {1: "one reading may fit", 2: "two readings fit"}.get(count, "several readings fit")


def undecided(preview: ImportPreview, option: str) -> Undecided:
    """Return the error for files that can be read in several ways. option: what sets a decision."""
    row = preview.open_decisions[0]
    values = (row.value, *row.alternatives)
    choices = " or ".join(f"{option} {row.setting}={shlex.quote(value)}" for value in values)
    return Undecided(row.about, fitting(row), row.evidence, f"choose by {choices}")


def _graded_at(place: str, source: str | None) -> Recognised | None:
    """Return how graded samples at a typed place are read, or whatever is there by the choice of that source."""
    # never in an upload, because the settings of this source name files of the computer that runs the app
    if isinstance(place, Upload) or source not in (None, SvmLight.name):
        return None
    is_file = source is not None and not typed_path(place, "a file").is_dir()
    return graded_files(place) or (Recognised(0.0, "chosen by you", {"file": place}) if is_file else None)


def _features_at(place: str, source: str | None) -> dict[str, Recognised]:
    """Return the source that reads features without images from the typed file, or the only file of a typed folder."""
    # never in an upload, as above
    others = [name for name in SOURCES.names() if SOURCES.get(name).path_setting == "file"]
    if isinstance(place, Upload) or source not in (None, *others):
        return {}
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        path = typed_path(place, "a file")
        [file] = path.iterdir() if path.is_dir() else [path]
        for name in others if source is None else [source]:
            with contextlib.suppress(ValueError):
                count = len(SOURCES.make(name, file=str(file)))
                why = f"{readable(file.name)} has the features of {counted(count, 'sample')}"
                return {name: Recognised(0.9, why, {"file": str(file)})}
    return {}


def _graded(tree: FileTree) -> str:
    """Return a text about files of graded samples in a tree without images; "" if there are none."""
    names = [] if any(map(is_image, tree.names)) else tree.names[:MAX_LISTED]
    if not (graded := beginning(tree, names, HEAD, begins_graded)):
        return ""
    folders = list(dict.fromkeys(map(parent, graded)))
    if len(folders) > 1:
        shown = listed([readable(name, 255) or "." for name in folders], MAX_LISTED)
        first = "extract the archive, and " if isinstance(tree, ArchiveTree) else ""
        return f"{len(folders)} folders of graded samples: {shown}; {first}give the path of one of them"
    shown = listed([readable(name, 255) for name in graded])
    step = EXTRACT if isinstance(tree, ArchiveTree) else "choose the format SVMlight and one of these files"
    return f"{shown}: graded samples in svmlight format; {step}"


def _texts_of_images(tree: FileTree) -> str:
    """Return a text about text files that belong to images, and what is in their lines; "" if there are none."""
    files = label_files(tree, ImageNames(tree))[0].items()
    for image, file in sorted(files, key=lambda item: "label" not in parent(item[1]).lower()):
        if lines := lines_of(tree, file):
            came = (
                f"{readable(file, 255)}: {_described(lines)}, beside {readable(parent(image), 255) or image}"
            )
            return f"{UNKNOWN}: {came}. {CONVERT}"
    return ""


def _other_texts(tree: FileTree) -> str:
    """Return sentences about text files beside images that no source knows, and what is in them; "" if there are
    none."""
    rows, known = [], (*IMAGE_SUFFIXES, *TABLES)
    names = [name for name in tree.names if suffix(name) not in known and not has_no_data(name)]
    for name in [name for name in names if name not in tree.opened][:MAX_LISTED]:
        lines = lines_of(tree, name)
        if lines and not any("\0" in line for line in lines):
            rows.append(f"{readable(name, 255)}: {_described(lines)}")
    return f". Not readable as labels: {listed(rows)}. {CONVERT}" if rows else ""


def _described(lines: Sequence[str]) -> str:
    """
    >>> _described(['{"image": "1.jpg", "tag": {"name": "cat"}}'])
    'JSON with the keys image, tag, name'
    >>> _described(["Car 0.5 31 10", "Tram 1 2 -3"]), _described(["1, 2", "3, 4"])
    ('a name and 3 numbers in each line', '2 numbers in each line')
    >>> _described(["a cat", "on a mat"])
    'lines such as “a cat”'
    """
    if lines[0].lstrip("\ufeff \t")[:1] in ("{", "["):
        keys = list(dict.fromkeys(KEY.findall(" ".join(lines[:MAX_KEY_LINES]))))
        return f"JSON with the keys {listed([readable(key, 40) for key in keys], MAX_KEYS)}"
    rows = [re.split(r"[\s,;]+", line.strip(" \t,;")) for line in lines]
    forms = {(len(row), tuple(plain_number(cell) is not None for cell in row)) for row in rows}
    count, of_cells = forms.pop()
    names = of_cells.count(False)
    if forms or names > 1 or count == 1:
        return f"lines such as “{readable(lines[0], 80)}”"
    return f"{NAMED * names}{counted(count - names, 'number')} in each line"


def unknown(names: Collection[str]) -> str:
    """Return a text about files that no source recognises: what there is, and what is missing.

    >>> unknown(["a/1.jpg", "a/2.JPG", "a/notes"]).partition(". ")[0]
    'the format was not recognised: 2 .jpg, 1 without a suffix, and no readable labels'
    """
    endings = Counter(suffix(name) for name in names).most_common()
    texts = [f"{count:,} {readable(ending, 20) or 'without a suffix'}" for ending, count in endings]
    there = f"{UNKNOWN}: {listed(texts, MAX_ENDINGS) or 'no files'}"
    if not any(ending in IMAGE_SUFFIXES for ending, _ in endings):
        remedy = (
            "Import images together with their labels; if archives are among the files, extract them first"
        )
        return f"{there}, and no images. {remedy}"
    folders = sorted({readable(base(parent(name))) for name in names if is_image(name)})
    beside = f"; the folders {listed(folders)} are parts of a data set or beside parts, and name no classes"
    beside = beside if part_folders(names) else ""
    return (
        f"{there}, and no readable labels{beside}. Add the label file, or put the images of each class into a folder "
        "with the name of the class, or write a table of the names and labels if the names of images contain the "
        "labels, and import again; or choose the format. From Label Studio and CVAT, export COCO, YOLO or PASCAL VOC"
    )


def _reasons(tree: FileTree) -> str:
    """Return sentences about unusable entries of an unknown tree: unusual names, native formats of tools, tables."""
    rows = [*tree.problems, *tool_formats(tree, tree.names)]
    limits = Limits.from_environment()
    for name in [name for name in tree.names if suffix(name) in TABLES][:MAX_TABLES]:
        try:
            header = read_table(tree, name, limits).header
            expected, came = "columns that name images and describe them", listed(list(header))
        except Unusable as error:
            expected, came = error.expected, error.came
        rows.append(Problem(readable(name, 255), expected, came, ""))
    sentences = (f"{row.file}: expected {row.expected}, got {row.came}" for row in rows)
    return "".join(f". {readable(sentence, MAX_SENTENCE)}" for sentence in sentences)
