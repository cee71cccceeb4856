"""How files are given to the app, and the outcome.

As a user would import them: in a ZIP file, which the worker previews and imports in the recognised format, or imports
in its true format; as a file whose path is entered; or on a page. `ValueError` is how the app refuses a file.
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
from ranking.core.run_settings import ExperimentSettings, OwnImageSettings
from ranking.datasets import build_image_set, make_source
from ranking.features.graph.uploaded_pairs import checked_edges, read_pairs
from ranking.features.uploads.vectors_preview import preview_vectors
from ranking.formats.import_preview import preview_import
from ranking.jobs.uploaded_image import describe
from ranking.storage.store import Store

IMPORTED, WITH_PROBLEMS, REFUSED = "imported", "with problems", "refused"


class FuzzResult(NamedTuple):
    """The outcome for a file, and every text that a page would show about it."""

    what: str
    messages: list[str]


Bring = Callable[[int, bytes, Path], FuzzResult]
Pack = Callable[[int, bytes], bytes]


def looked_at_or_imported(path: Path, source: str, home: Path) -> FuzzResult:
    """Do the work of a worker: half of the files, by their checksum, are previewed and imported in the recognised
    format; the others are imported directly in their true format."""
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
    """Import all of `source` into the data folder, as a worker does into its draft; and discard it."""
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
    """A refusal without a message of the app: an error of a library."""


def check_wording(error: ValueError) -> None:
    """Raise Unworded if `error` is not a refusal by the app."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = "" if trace is None else trace.tb_frame.f_code.co_filename
    ours = raised_in.startswith(str(ROOT / "ranking")) or raised_in == __file__
    if not ours or not (type(error) is ValueError or type(error).__module__.startswith("ranking")):
        raise Unworded(f"{type(error).__name__} of {raised_in}: {error}"[:500]) from error


def among(files: Files, aimed: Sequence[str]) -> Pack:
    """Put the broken file in place of one of `aimed` among the others, which are good."""
    return lambda number, data: zipped(files | {aimed[number]: data})


def as_a_name(files: Files) -> Pack:
    """Use the broken bytes as the name of a file, or of its folder."""

    def pack(number: int, data: bytes) -> bytes:
        entry, names = data.decode("utf-8", errors="replace").replace("\0", "")[:60_000], list(files)
        aimed = names[number % len(names)]
        folder_name = entry if number < len(names) else f"{entry}/{aimed}"
        return zipped({folder_name if name == aimed else name: content for name, content in files.items()})

    return pack


def typed(files: Files, aimed: Sequence[str], source: str, **settings: Any) -> Bring:
    """Put the broken file next to good ones, and enter the path of the first file."""

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
    """Give the file directly to a page."""
    return lambda number, data, home: FuzzResult(IMPORTED, read(data, home))


def own_image(data: bytes, home: Path) -> list[str]:
    store, settings = Store(home / "store"), OwnImageSettings((("Colour", {}),))
    run = store.runs.create("import", settings.to_json())
    run.uploaded_file.write_bytes(data)
    try:
        describe(store, run, settings)
    finally:
        store.runs.clear(run)
    return []


def vectors(suffix: str, images: ImageSet) -> Bring:
    """Preview custom features of a set, by path."""

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
    return [str(checked_edges(read_pairs("pairs.csv", data, IDS))[:3].tolist())]


def protocol(data: bytes, home: Path) -> list[str]:
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:  # the page shows this message
        raise ValueError(str(error)) from error
    return [json.dumps(ExperimentSettings.from_json(record if isinstance(record, dict) else {}).to_json())]
