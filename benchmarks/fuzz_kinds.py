"""What is broken, kind by kind: good files to begin with, and how the product is given a broken one.

A kind is given its files as a person would bring them: in a ZIP file, which the worker looks at and imports as what it
takes it for, or imports as what it was; as a file whose path is typed; or into a page.
`ValueError` is how the product refuses a file.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mutations import JPEG, PNG, TEXT, ZIP, Mutation
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "datasets"), str(ROOT / "tests")]

import brought  # noqa: E402 (the small good files of the tests)
import hostile_set  # noqa: E402
import label_files  # noqa: E402
import voc_tree  # noqa: E402

from ranking import run_archive, worker  # noqa: E402
from ranking.datasets import build_image_set, make_source  # noqa: E402
from ranking.datasets.build import check  # noqa: E402
from ranking.datasets.looking import look_at  # noqa: E402
from ranking.edge_files import MOST_PAIRS, checked_edges  # noqa: E402
from ranking.events import Report  # noqa: E402
from ranking.run_settings import ExperimentSettings, TrainSettings  # noqa: E402
from ranking.similarity import edges_from_csv  # noqa: E402
from ranking.store import Store  # noqa: E402
from ranking.types import Problem, SourceBox, SourceImage  # noqa: E402

Files = dict[str, bytes]
IMPORTED, WITH_PROBLEMS, REFUSED = "imported", "with problems", "refused"


class Came(NamedTuple):
    """What became of a file, and every text that a page would show of it."""

    what: str
    said: list[str]


Bring = Callable[[int, bytes, Path], Came]
Pack = Callable[[int, bytes], bytes]


@dataclass(frozen=True)
class Kind:
    """One kind of files.

    name: its row of the table. share: of a hundred files. good: what is broken; `bring` is given the number of the one
    that was, what is left of it, and a folder of the home. also: mutations that fit what kind of file it is. pack: the
    ZIP file that a person would drop on the page, where they would.
    """

    name: str
    share: float
    good: Sequence[bytes]
    bring: Bring
    also: tuple[Mutation, ...] = ()
    pack: Pack | None = None


# ---------------------------------------------------------------------------------------------------------
# How the product is given a file
# ---------------------------------------------------------------------------------------------------------


def looked_at_or_imported(place: Path, source: str, home: Path) -> Came:
    """What a worker does: half of the files, by their checksum, are looked at, and imported as what they are taken
    for; the others are imported at once as what they were."""
    said, settings = list[str](), dict[str, Any]()
    if zlib.crc32(place.read_bytes()) % 2:
        look = look_at(str(place), None, {})
        said += [json.dumps(look.to_json()), look.refused]
        if look.source is None:
            return Came(REFUSED, said)
        source, settings = look.source, look.source_settings
    return Came(imported(make_source(source, **{**settings, "folder": str(place)}), home, said), said)


def imported(source: Any, home: Path, said: list[str]) -> str:
    """Import all of `source` into the home, as a worker does into its draft; and discard it."""
    draft = home / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _, problems = build_image_set(source, draft, lambda done, total: None)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    said.append(json.dumps([asdict(problem) for problem in problems]))
    said += texts_of(problems)
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


def zipped(files: Files, how: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as file:
        for name, content in files.items():
            file.writestr(zipfile.ZipInfo(name), content, how)  # of a name alone it takes no empty one
    return stream.getvalue()


def in_zip_files(
    name: str,
    share: float,
    good: Sequence[bytes],
    pack: Pack,
    sources: Sequence[str],
    also: tuple[Mutation, ...] = (),
) -> Kind:
    """A kind that comes in ZIP files, which `pack` makes; `sources` say as what each good file would be imported."""

    def bring(number: int, data: bytes, home: Path) -> Came:
        place = home / "brought.zip"
        place.write_bytes(pack(number, data))
        return looked_at_or_imported(place, sources[number], home)

    return Kind(name, share, good, bring, also, pack)


def among(files: Files, aimed: Sequence[str]) -> Pack:
    """The broken file takes the place of one of `aimed` among the others, which are good."""
    return lambda number, data: zipped(files | {aimed[number]: data})


def as_a_name(files: Files) -> Pack:
    """The broken bytes are the name of a file, or of the folder that it lies in."""

    def pack(number: int, data: bytes) -> bytes:
        told, names = data.decode("utf-8", errors="replace").replace("\0", "")[:60_000], list(files)
        aimed = names[number % len(names)]
        other = told if number < len(names) else f"{told}/{aimed}"
        return zipped({other if name == aimed else name: content for name, content in files.items()})

    return pack


def typed(files: Files, aimed: Sequence[str], source: str, **settings: Any) -> Bring:
    """The broken file lies beside others that are good, and the path of the first of all is typed."""

    def bring(number: int, data: bytes, home: Path) -> Came:
        folder, said = home / "typed", list[str]()
        folder.mkdir(exist_ok=True)
        for name, content in (files | {aimed[number]: data}).items():
            (folder / name).write_bytes(content)
        return Came(
            imported(make_source(source, file=str(folder / next(iter(files))), **settings), home, said), said
        )

    return bring


def into_a_page(read: Callable[[bytes, Path], list[str]]) -> Bring:
    """What the web process reads itself."""
    return lambda number, data, home: Came(IMPORTED, read(data, home))


def own_image(data: bytes, home: Path) -> list[str]:
    outcome = check(SourceImage("own", data, (SourceBox(None, ("?",)),), test=True))
    if outcome.image is None:
        raise ValueError(outcome.problems[0].came)
    return texts_of(outcome.problems)


def pairs(data: bytes, home: Path) -> list[str]:
    return [str(checked_edges(edges_from_csv(io.BytesIO(data), IDS, MOST_PAIRS))[:3].tolist())]


def protocol(data: bytes, home: Path) -> list[str]:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:  # which the page tells in these words
        raise ValueError(str(error)) from error
    return [json.dumps(ExperimentSettings.from_json(told if isinstance(told, dict) else {}).to_json())]


def training(data: bytes, home: Path) -> list[str]:
    return [json.dumps(run_archive.import_run(Store(home / "store"), data).result)]


# ---------------------------------------------------------------------------------------------------------
# Good files
# ---------------------------------------------------------------------------------------------------------

WAYS = ("JPEG", "PNG", "WEBP")
PAIRS = b"\n".join(b"%02d#1,%02d#1" % (number, number + 1) for number in range(19))
IDS = tuple(f"{number:02}#1" for number in range(20))
PROTOCOL = {
    "set": "0" * 64,
    "features": [["HOG", {}]],
    "methods": [["SVM", {}], ["AP-SVM", {"tolerance": 0.01}]],
    "queries": ["cat"],
    "grids": {"C": [1.0, 10.0]},
    "folds": 3,
}


def laid(some: Callable[[Path], Any]) -> Files:
    """The files that one of the tests' own builders writes, images of one colour in place of those of noise, which take
    several times as long to encode again."""
    with tempfile.TemporaryDirectory() as root:
        some(Path(root))
        paths = sorted(path for path in Path(root).rglob("*") if path.is_file())
        plain = {".jpg": plain_image("JPEG"), ".png": plain_image("PNG")}
        read = {path: plain.get(path.suffix) or path.read_bytes() for path in paths}
        return {path.relative_to(root).as_posix(): data for path, data in read.items()}


def plain_image(kind: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (40, 30), "#c08040").save(stream, kind)
    return stream.getvalue()


def voc(root: Path) -> None:
    voc_tree.two_images(root)


def as_parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    columns = {"filename": ["a.jpg", "b.jpg", "c.jpg"] * 20, "class": ["cat", "dog", None] * 20}
    columns |= {"xmin": list(range(60)), "ymin": [0] * 60, "xmax": [40.0] * 60, "ymax": [30.0] * 60}
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


def pictures(kind: str) -> list[bytes]:
    """One image in several ways to keep it."""
    ways: dict[str, list[dict[str, Any]]] = {
        "JPEG": [{}, {"progressive": True}, {"subsampling": 0, "quality": 30}, {"exif": turned()}],
        "PNG": [{}, {"optimize": True}, {"exif": turned()}],
        "WEBP": [{}, {"lossless": True}, {"quality": 10, "method": 0}, {"exif": turned()}],
    }
    return [brought.photograph(kind=kind, seed=seed, **way) for seed, way in enumerate(ways[kind])]


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a camera"
    return exif.tobytes()


def exported_training() -> Files:
    """What is in a training that the laboratory exported; the set that it was trained on is not here."""
    with tempfile.TemporaryDirectory() as folder:
        images = hostile_set.fill(Path(folder) / "home", Path(folder) / "set")
        store = Store(Path(folder) / "home")
        asked = TrainSettings(images.key, (("Colour", {}),), hostile_set.CLASSES[0], "AP-SVM", {"C": 1.0})
        run = store.create_run("train", asked.to_json())
        store.end_run(run.id, "finished", result=worker.train(store, run, Report(run.events_file)))
        return unzipped(run_archive.export_run(store, run.id))


def unzipped(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


# ---------------------------------------------------------------------------------------------------------
# The kinds
# ---------------------------------------------------------------------------------------------------------


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
    files = laid(brought.some_table)
    commas = files.pop("boxes.csv")
    good = {"t.csv": commas, "u.tsv": commas.replace(b",", b"\t"), "v.csv": commas.replace(b",", b";")}
    pack = among(files, list(good))
    return in_zip_files(
        "CSV and TSV, a box a row", 8, list(good.values()), pack, ["Table of images"] * 3, TEXT
    )


def parquet_files() -> Kind:
    files = laid(brought.some_table)
    del files["boxes.csv"]
    return in_zip_files(
        "Parquet, a box a row", 0.15, [as_parquet()], among(files, ["x.parquet"]), ["Table of images"]
    )


def zip_files() -> Kind:
    some = {
        "PASCAL VOC": voc, "COCO": brought.some_coco, "YOLO": brought.some_yolo, "CVAT": brought.some_cvat,
        "Class folders": brought.some_classes, "Label Studio": brought.some_label_studio,
    }  # fmt: skip
    ways = [(name, how) for name in some for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    good = [zipped(laid(some[name]), how) for name, how in ways]
    good += [zipped({"inner.zip": good[0], "deep/a.tar": good[1], **laid(voc)})]
    sources = [*(name for name, _ in ways), "PASCAL VOC"]
    return in_zip_files("ZIP files", 22, good, lambda _, data: data, sources, ZIP)


def names() -> Kind:
    files = laid(brought.some_classes)
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
    inner = unzipped(label_files.as_npz(label_files.corel5k_parts()))
    return packed_again(
        "npz of Corel5k, and npy in it", 2, inner, typed({"x.npz": b""}, ["x.npz"], "Corel5k")
    )


def trainings() -> Kind:
    return packed_again("exported trainings", 1, exported_training(), into_a_page(training))


def packed_again(name: str, share: float, inner: Files, bring: Bring) -> Kind:
    """The file is broken as a whole, or one of those in it, which is then packed as if nothing were."""
    entries = list(inner)

    def bring_packed(number: int, data: bytes, home: Path) -> Came:
        return bring(0, data if number == 0 else zipped(inner | {entries[number - 1]: data}), home)

    return Kind(name, share, [zipped(inner), *inner.values()], bring_packed, ZIP)


def mat_files() -> Kind:
    good = [label_files.as_mat(label_files.pubfig_parts(), compress) for compress in (False, False, True)]
    return Kind(".mat of public figures", 2, good, typed({"x.mat": b""}, ["x.mat"] * 3, "Public figures"))


KINDS: tuple[Callable[[], Kind], ...] = (
    zip_files,
    names,
    lambda: text_in_a_tree("XML of PASCAL VOC", 13, voc, ".xml", "PASCAL VOC"),
    lambda: text_in_a_tree("XML of CVAT", 8, brought.some_cvat, ".xml", "CVAT"),
    lambda: text_in_a_tree("JSON of COCO", 9, brought.some_coco, ".json", "COCO"),
    lambda: text_in_a_tree("JSON of Label Studio", 7.7, brought.some_label_studio, ".json", "Label Studio"),
    tables,
    parquet_files,
    lambda: text_in_a_tree("YAML of YOLO", 4, brought.some_yolo, ".yaml", "YOLO"),
    lambda: text_in_a_tree("rows of YOLO", 3, brought.some_yolo, ".txt", "YOLO"),
    lambda: images_in_folders("JPEG", 4, "JPEG", JPEG),
    lambda: images_in_folders("PNG", 4, "PNG", PNG),
    lambda: images_in_folders("WebP", 4, "WEBP", ()),
    corel,
    mat_files,
    lambda: typed_files("ARFF and its XML", 1, label_files.some_arff, (".arff", ".xml"), "ARFF"),
    lambda: typed_files("SVMlight", 0.5, label_files.some_svmlight, (".train",), "SVMlight"),
    lambda: typed_files("CSV of labels", 0.5, label_files.some_csv, (".csv",), "Multi-label CSV"),
    lambda: typed_files("CSV of numbers", 0.5, label_files.some_numbers_csv, (".csv",), "Numbers CSV"),
    # Vectors of one's own (.npy, .npz): Kind("vectors", 2, [...], typed({"x.npy": b""}, ["x.npy"], ...)), a line here.
    trainings,
    lambda: Kind(
        "an image of one's own", 1, [one for kind in WAYS for one in pictures(kind)], into_a_page(own_image)
    ),
    lambda: Kind("CSV of pairs", 0.5, [b"i,j\n" + PAIRS], into_a_page(pairs), TEXT),
    lambda: Kind("JSON of a protocol", 1, [json.dumps(PROTOCOL).encode()], into_a_page(protocol), TEXT),
)
