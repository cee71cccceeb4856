"""The kinds of broken files: good files to start from, how a broken one is given to the app, and the outcome.

As a user would import them: in a ZIP file, which the worker previews and imports in the recognised format, or imports
in its true format; as a file whose path is entered; or on a page. `ValueError` is how the app refuses a file.
"""

from __future__ import annotations

import json
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from good_files import (
    IDS,
    PAIRS,
    PROTOCOL,
    ROOT,
    WAYS,
    Files,
    example_corel5k,
    example_files,
    laid,
    numbered_images,
    pictures,
    plain_image,
    some_vectors,
    unzipped,
    zipped,
)
from mutations import JPEG, PNG, TEXT, ZIP, Mutation

from ranking.core import ImageSet, Problem
from ranking.datasets import build_image_set, make_source
from ranking.features.graph.uploaded_pairs import checked_edges, read_pairs
from ranking.features.uploads.vectors_preview import preview_vectors
from ranking.formats.import_preview import preview_import
from ranking.storage.run_settings import ExperimentSettings, OwnImageSettings
from ranking.storage.store import Store
from ranking.storage.uploaded_image import describe

IMPORTED, WITH_PROBLEMS, REFUSED = "imported", "with problems", "refused"


class FuzzResult(NamedTuple):
    """The outcome for a file, and every text that a page would show about it."""

    what: str
    messages: list[str]


Bring = Callable[[int, bytes, Path], FuzzResult]
Pack = Callable[[int, bytes], bytes]


def looked_at_or_imported(path: Path, source: str, home: Path) -> FuzzResult:
    """Do the work of a worker: preview and import a file, or import it directly in its true format."""
    # Half of the files, by their checksum, are previewed and imported in the recognised format.
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


def is_ours(error: ValueError) -> bool:
    """Return whether `error` is a refusal by the app, not an error of a library."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = "" if trace is None else trace.tb_frame.f_code.co_filename
    ours = raised_in.startswith(str(ROOT / "ranking")) or raised_in == __file__
    return ours and (type(error) is ValueError or type(error).__module__.startswith("ranking"))


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
    except (ValueError, RecursionError) as error:
        # the page shows this message
        raise ValueError(str(error)) from error
    return [json.dumps(ExperimentSettings.from_json(record if isinstance(record, dict) else {}).to_json())]


# ---------------------------------------------------------------------------------------------------------
# Kinds
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """One kind of files."""

    # Its row of the table.
    name: str
    # Number of files, relative to the other kinds.
    share: float
    # The files to break.
    good: Sequence[bytes]
    # Receives the number of the good file, the broken file, and a data folder.
    bring: Bring
    # Further mutations for this kind of file.
    also: tuple[Mutation, ...] = ()
    # Makes the ZIP file that a user would upload, where the kind needs one.
    pack: Pack | None = None


def in_zip_files(
    name: str,
    share: float,
    good: Sequence[bytes],
    pack: Pack,
    sources: Sequence[str],
    also: tuple[Mutation, ...] = (),
) -> Kind:
    """Return a kind of files in ZIP files, which `pack` makes; `sources` are the true formats of the good files."""

    def bring(number: int, data: bytes, home: Path) -> FuzzResult:
        path = home / "upload.zip"
        path.write_bytes(pack(number, data))
        return looked_at_or_imported(path, sources[number], home)

    return Kind(name, share, good, bring, also, pack)


def text_in_a_tree(name: str, share: float, some: Callable[[Path], Any], ending: str, source: str) -> Kind:
    files = laid(some)
    aimed = [name for name in files if name.endswith(ending)]
    good = [files[name] for name in aimed]
    return in_zip_files(name, share, good, among(files, aimed), [source] * len(good), TEXT)


def images_in_folders(name: str, share: float, kind: str, also: tuple[Mutation, ...]) -> Kind:
    files = {"train/cat/1.jpg": plain_image("JPEG"), "test/cat/1.jpg": plain_image("PNG")}
    good = pictures(kind)
    pack = among(files, [f"train/dog/broken.{kind.lower()}"] * len(good))
    return in_zip_files(name, share, good, pack, ["Class folders"] * len(good), also)


def tables() -> Kind:
    files = laid(example_files.FOLDERS["Table of images"])
    commas = files.pop("boxes.csv")
    good = {"t.csv": commas, "u.tsv": commas.replace(b",", b"\t"), "v.csv": commas.replace(b",", b";")}
    pack = among(files, list(good))
    return in_zip_files(
        "CSV and TSV, a box a row", 8, list(good.values()), pack, ["Table of images"] * 3, TEXT
    )


def zip_files() -> Kind:
    some = ("PASCAL VOC", "COCO", "YOLO", "Class folders")
    ways = [(name, how) for name in some for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    good = [zipped(laid(example_files.FOLDERS[name]), how) for name, how in ways]
    good += [
        zipped({"inner.zip": good[0], "deep/a.tar": good[1], **laid(example_files.FOLDERS["PASCAL VOC"])})
    ]
    sources = [*(name for name, _ in ways), "PASCAL VOC"]
    return in_zip_files("ZIP files", 22, good, lambda _, data: data, sources, ZIP)


def names() -> Kind:
    files = laid(example_files.FOLDERS["Class folders"])
    good = [name.encode() for name in files] * 2
    pack = as_a_name(files)
    return in_zip_files("names of files and folders", 4, good, pack, ["Class folders"] * len(good), TEXT)


def typed_files(
    name: str, share: float, some: Callable[[Path], Any], endings: tuple[str, ...], source: str
) -> Kind:
    files = laid(some)
    aimed = sorted(
        (name for name in files if name.endswith(endings)), key=lambda name: not name.endswith(endings[0])
    )
    ordered = {name: files[name] for name in [*aimed, *(name for name in files if name not in aimed)]}
    return Kind(name, share, [files[name] for name in aimed], typed(ordered, aimed, source), TEXT)


def corel() -> Kind:
    inner = unzipped(example_corel5k.corel5k())
    return packed_again(
        "npz of Corel5k, and npy in it", 2, inner, typed({"x.npz": b""}, ["x.npz"], "Corel5k")
    )


def packed_again(name: str, share: float, inner: Files, bring: Bring) -> Kind:
    """Break the whole file, or a file in it, which is then packed again."""
    entries = list(inner)

    def bring_packed(number: int, data: bytes, home: Path) -> FuzzResult:
        return bring(0, data if number == 0 else zipped(inner | {entries[number - 1]: data}), home)

    return Kind(name, share, [zipped(inner), *inner.values()], bring_packed, ZIP)


def own_vectors(suffix: str, share: float, also: tuple[Mutation, ...] = ()) -> Kind:
    images = numbered_images()
    return Kind(f"vectors as {suffix}", share, some_vectors(images)[suffix], vectors(suffix, images), also)


def texts(some: Callable[[Path], Any]) -> list[str]:
    """Return the suffixes of the text files among those that `some` writes."""
    return sorted({Path(name).suffix for name, data in laid(some).items() if data and b"\0" not in data})


NAMED = {
    "Class folders",
    "COCO",
    "Corel5k",
    "PASCAL VOC",
    "Public figures",
    "SVMlight",
    "Table of images",
    "YOLO",
}


def of_further_formats() -> Iterator[Callable[[], Kind]]:
    """Yield a kind for each text file of the example of a format that has no kind below."""
    for name, some in example_files.FOLDERS.items():
        for end in texts(some) if name not in NAMED else ():
            yield partial(text_in_a_tree, f"{end} of {name}", 5, some, end, name)
    for name, some in example_files.FILES.items():
        if name not in NAMED and (ends := texts(some)):
            yield partial(typed_files, name, 0.5, some, tuple(ends), name)


KINDS: tuple[Callable[[], Kind], ...] = (
    *of_further_formats(),
    zip_files,
    names,
    lambda: text_in_a_tree(
        "XML of PASCAL VOC", 11, example_files.FOLDERS["PASCAL VOC"], ".xml", "PASCAL VOC"
    ),
    lambda: text_in_a_tree("JSON of COCO", 7.8, example_files.FOLDERS["COCO"], ".json", "COCO"),
    tables,
    lambda: text_in_a_tree("YAML of YOLO", 4, example_files.FOLDERS["YOLO"], ".yaml", "YOLO"),
    lambda: text_in_a_tree("rows of YOLO", 3, example_files.FOLDERS["YOLO"], ".txt", "YOLO"),
    lambda: images_in_folders("JPEG", 4, "JPEG", JPEG),
    lambda: images_in_folders("PNG", 4, "PNG", PNG),
    lambda: images_in_folders("WebP", 4, "WEBP", ()),
    corel,
    lambda: typed_files("SVMlight", 0.5, example_files.FILES["SVMlight"], (".train",), "SVMlight"),
    lambda: own_vectors(".npy", 2),
    lambda: own_vectors(".npz", 1, ZIP),
    lambda: Kind(
        "an image of one's own", 1, [one for kind in WAYS for one in pictures(kind)], into_a_page(own_image)
    ),
    lambda: Kind("CSV of pairs", 0.5, [b"i,j\n" + PAIRS], into_a_page(pairs), TEXT),
    lambda: Kind("JSON of a protocol", 1, [json.dumps(PROTOCOL).encode()], into_a_page(protocol), TEXT),
)
