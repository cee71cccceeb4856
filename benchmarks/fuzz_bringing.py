"""How the product is given a file, and what becomes of it.

As a person would bring it: in a ZIP file, which the worker looks at and imports as what it takes it for, or imports as
what it was; as a file whose path is typed; or into a page. `ValueError` is how the product refuses a file.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from good_files import IDS, ROOT, Files, zipped

from ranking.core import ImageSet, Problem
from ranking.core.run_settings import ExperimentSettings
from ranking.datasets import build_image_set, make_source
from ranking.features.graph.uploaded_pairs import checked_edges
from ranking.features.uploads.vectors_preview import preview_vectors
from ranking.formats.import_preview import preview_import
from ranking.jobs import run_archive
from ranking.jobs.own_edges import read_pairs
from ranking.jobs.own_image import describe
from ranking.workspace.store import Store

IMPORTED, WITH_PROBLEMS, REFUSED = "imported", "with problems", "refused"


class FuzzResult(NamedTuple):
    """What became of a file, and every text that a page would show of it."""

    what: str
    messages: list[str]


Bring = Callable[[int, bytes, Path], FuzzResult]
Pack = Callable[[int, bytes], bytes]


def looked_at_or_imported(path: Path, source: str, home: Path) -> FuzzResult:
    """What a worker does: half of the files, by their checksum, are looked at, and imported as what they are taken
    for; the others are imported at once as what they were."""
    messages, settings = list[str](), dict[str, Any]()
    if zlib.crc32(path.read_bytes()) % 2:
        preview = preview_import(str(path), None, {})
        messages += [json.dumps(preview.to_json()), preview.refused]
        if preview.source is None:
            return FuzzResult(REFUSED, messages)
        source, settings = preview.source, preview.source_settings
    return FuzzResult(
        imported(make_source(source, **{**settings, "folder": str(path)}), home, messages), messages
    )


def imported(source: Any, home: Path, messages: list[str]) -> str:
    """Import all of `source` into the home, as a worker does into its draft; and discard it."""
    draft = home / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _, problems = build_image_set(source, draft, lambda done, total: None)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    messages.append(json.dumps([asdict(problem) for problem in problems]))
    messages += texts_of(problems)
    return WITH_PROBLEMS if problems else IMPORTED


def texts_of(problems: Iterable[Problem]) -> list[str]:
    return [
        text for problem in problems for text in (problem.file, problem.expected, problem.came, problem.done)
    ]


class Unworded(Exception):
    """A refusal that nobody wrote: of a library, in its words."""


def check_wording(error: ValueError) -> None:
    """Unworded where `error` is not the product's own refusal."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = "" if trace is None else trace.tb_frame.f_code.co_filename
    ours = raised_in.startswith(str(ROOT / "ranking")) or raised_in == __file__
    if not ours or not (type(error) is ValueError or type(error).__module__.startswith("ranking")):
        raise Unworded(f"{type(error).__name__} of {raised_in}: {error}"[:500]) from error


def among(files: Files, aimed: Sequence[str]) -> Pack:
    """The broken file takes the place of one of `aimed` among the others, which are good."""
    return lambda number, data: zipped(files | {aimed[number]: data})


def as_a_name(files: Files) -> Pack:
    """The broken bytes are the name of a file, or of the folder that it lies in."""

    def pack(number: int, data: bytes) -> bytes:
        entry, names = data.decode("utf-8", errors="replace").replace("\0", "")[:60_000], list(files)
        aimed = names[number % len(names)]
        folder_name = entry if number < len(names) else f"{entry}/{aimed}"
        return zipped({folder_name if name == aimed else name: content for name, content in files.items()})

    return pack


def typed(files: Files, aimed: Sequence[str], source: str, **settings: Any) -> Bring:
    """The broken file lies beside others that are good, and the path of the first of all is typed."""

    def bring(number: int, data: bytes, home: Path) -> FuzzResult:
        folder, messages = home / "typed", list[str]()
        folder.mkdir(exist_ok=True)
        for name, content in (files | {aimed[number]: data}).items():
            (folder / name).write_bytes(content)
        return FuzzResult(
            imported(make_source(source, file=str(folder / next(iter(files))), **settings), home, messages),
            messages,
        )

    return bring


def into_a_page(read: Callable[[bytes, Path], list[str]]) -> Bring:
    """What a page takes as it comes."""
    return lambda number, data, home: FuzzResult(IMPORTED, read(data, home))


def own_image(data: bytes, home: Path) -> list[str]:
    folder = home / "own"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    describe(Store(home / "store"), data, [("Colour", {})], folder)
    return []


def vectors(suffix: str, images: ImageSet) -> Bring:
    """Features of one's own for a set, whose path is typed."""

    def bring(number: int, data: bytes, home: Path) -> FuzzResult:
        folder = home / "vectors"
        folder.mkdir(exist_ok=True)
        path = folder / f"x{suffix}"
        path.write_bytes(data)
        preview = preview_vectors(path, path.name, images, folder / "draft.npy")
        what = REFUSED if preview.refused else WITH_PROBLEMS if preview.problem_count else IMPORTED
        return FuzzResult(what, [json.dumps(preview.to_json()), preview.refused, *texts_of(preview.problems)])

    return bring


def pairs(data: bytes, home: Path) -> list[str]:
    return [str(checked_edges(read_pairs(data, IDS))[:3].tolist())]


def protocol(data: bytes, home: Path) -> list[str]:
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:  # which the page tells in these words
        raise ValueError(str(error)) from error
    return [json.dumps(ExperimentSettings.from_json(record if isinstance(record, dict) else {}).to_json())]


def training(data: bytes, home: Path) -> list[str]:
    return [json.dumps(run_archive.import_run(Store(home / "store"), data).result)]
