"""Does every folder of real photographs come in alike as a folder and as a ZIP file?

    python benchmarks/real_imports.py [FOLDER] [--deepest 6]

Every folder below FOLDER ($RANKING_REAL_DATA, else ../shared/data) that has images in it, at any depth, is looked at
and imported as it is, and once more packed as a ZIP file of its name: both must be taken for the same format, tell the
same problems, and make sets that are the same but for their titles, by a hash of all content. Of PASCAL VOC a table of
the boxes is written as well, a row each, which must make the same set. What no source knows is told as that. Folders
with fewer than two images are left out; the seconds are those of both stages of an import, in this process.
"""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from good_files import examples
from timing import machine, options_of, parser, table

from ranking.core import Problem, SourceImage
from ranking.datasets import build_image_set, make_source
from ranking.datasets.folder import content_key
from ranking.files import FileInTree
from ranking.formats.import_preview import preview_import
from ranking.formats.tree_source import is_image

ROOT = Path(__file__).parents[1]
HEADER = ("folder", "read as", "images", "samples", "problems", "folder, s", "ZIP, s", "same")


@dataclass(frozen=True)
class Brought:
    """What came of one place. key: a hash of all of the set but its title, which is what a person calls the place; ""
    where it was refused."""

    source: str | None
    why: str
    key: str
    images: int
    samples: int
    problems: tuple[Problem, ...]
    seconds: float

    def like(self, other: Brought) -> bool:
        """Whether the two differ in nothing but time. What is said of a refusal names the place, which differs."""
        return (self.source, self.key, self.problems) == (other.source, other.key, other.problems)


def folders_with_images(top: Path, deepest: int) -> Iterator[Path]:
    """Every folder from `top` down that holds images, however deep below it these lie."""
    for folder in sorted([top, *(path for path in top.rglob("*") if path.is_dir())]):
        if len(folder.relative_to(top).parts) <= deepest:
            images = (path for path in folder.rglob("*") if is_image(path.name))
            if next(images, None) is not None and next(images, None) is not None:
                yield folder


def bring(place: Path, scratch: Path) -> Brought:
    """Both stages of an import, and the draft discarded."""
    begun, draft = time.perf_counter(), scratch / "draft"
    preview = preview_import(str(place), None, {})
    if preview.source is None or preview.content is None:
        return Brought(preview.source, preview.refused, "", 0, 0, (), time.perf_counter() - begun)
    source = make_source(preview.source, **{**preview.source_settings, "folder": str(place)})
    try:
        images, problems = build_image_set(source, draft, lambda done, total: None)
        with np.load(draft / "columns.npz", allow_pickle=False) as columns:
            key = content_key("", list(images.classes), dict(columns))
    except ValueError as error:
        return Brought(preview.source, str(error), "", 0, 0, (), time.perf_counter() - begun)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    why = dict(preview.detected)[preview.source].why
    told = (len(images.image_names), len(images), tuple(problems))
    return Brought(preview.source, why, key, *told, time.perf_counter() - begun)


def packed(folder: Path, scratch: Path) -> Path:
    """`folder` as a ZIP file of its name."""
    place = scratch / f"{folder.name}.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder))
    return place


def both(folder: Path) -> tuple[Brought, Brought]:
    with tempfile.TemporaryDirectory() as scratch:
        return bring(folder, Path(scratch)), bring(packed(folder, Path(scratch)), Path(scratch))


def manifest_of(folder: Path, target: Path) -> Path:
    """The images of a VOC folder beside a table of their boxes, as a folder of the same name in `target`."""
    made = target / folder.name
    made.mkdir(parents=True)
    with open(made / "boxes.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ("image", "width", "height", "left", "top", "right", "bottom", "label", "split", "group")
        )
        for image in make_source("PASCAL VOC", folder=str(folder)).records():
            if isinstance(image, SourceImage) and image.boxes:
                assert isinstance(image.data, FileInTree)
                name = Path(image.data.name).name
                (made / name).write_bytes(image.data.read(2**30))
                part = "test" if image.test else "train"
                for box in image.boxes:
                    label = "; ".join(box.classes)
                    table.writerow(
                        (name, *(image.size or ("", "")), *(box.box or ()), label, part, image.name)
                    )
    return made


def row(name: str, one: Brought, other: Brought) -> list[str]:
    counts = [f"{count:,}" for count in (one.images, one.samples, len(one.problems))]
    same = "yes" if one.like(other) else "no"
    return [name, one.source or "nothing", *counts, f"{one.seconds:.1f}", f"{other.seconds:.1f}", same]


def main() -> None:
    arguments = parser(__doc__)
    beside = os.environ.get("RANKING_REAL_DATA", str(ROOT.parent / "shared" / "data"))
    arguments.add_argument("folder", type=Path, nargs="?", default=Path(beside))
    arguments.add_argument("--deepest", type=int, default=6, help="levels of folders below it")
    options = options_of(arguments)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as scratch:
        if options.smoke:
            examples.FOLDERS["PASCAL VOC"](Path(scratch))
            alike = compare(Path(scratch), options.deepest)
        elif options.folder.is_dir():
            alike = compare(options.folder, options.deepest)
        else:
            print(f"All is left out: there is no folder {options.folder}.")
            alike = True
    if not alike:
        raise SystemExit("a ZIP file came in otherwise than its folder")


def compare(top: Path, deepest: int) -> bool:
    """Print the table of all folders below `top`; whether each came in alike."""
    rows, notes, alike = [], [], True
    for folder in folders_with_images(top, deepest):
        name = folder.relative_to(top.parent).as_posix()
        one, other = both(folder)
        alike &= one.like(other)
        rows.append(row(name, one, other))
        if one.source == "PASCAL VOC":
            with tempfile.TemporaryDirectory() as scratch:
                again = bring(manifest_of(folder, Path(scratch) / "manifest"), Path(scratch))
            alike &= again.key == one.key
            notes.append(f"{name} as a table of boxes: {'the same set' if again.key == one.key else again}")
        kinds = Counter(f"{problem.expected} -> {problem.done}" for problem in one.problems)
        notes += [
            f"{name}: {one.why}",
            *(f"  {count:,} times: {kind}" for kind, count in kinds.most_common()),
        ]
    print(table(HEADER, rows))
    print("", *notes, sep="\n")
    return alike


if __name__ == "__main__":
    main()
