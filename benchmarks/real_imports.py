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
from good_files import voc_tree
from timing import machine, options_of, parser, table

from ranking.core import Problem, SourceImage
from ranking.datasets import build_image_set, make_source
from ranking.datasets.folder import content_key
from ranking.files import FileInTree
from ranking.formats.looking import look_at
from ranking.formats.tree_source import is_image

ROOT = Path(__file__).parents[1]
HEADER = ("folder", "read as", "images", "samples", "problems", "folder, s", "ZIP, s", "same")


@dataclass(frozen=True)
class ImportResult:
    """What came of one place. key: a hash of all of the set but its title, which is what a person calls the place; ""
    where it was refused."""

    source: str | None
    why: str
    key: str
    images: int
    samples: int
    problems: tuple[Problem, ...]
    seconds: float

    def like(self, rival: ImportResult) -> bool:
        """Whether the two differ in nothing but time. What is said of a refusal names the place, which differs."""
        return (self.source, self.key, self.problems) == (rival.source, rival.key, rival.problems)


def folders_with_images(top: Path, deepest: int) -> Iterator[Path]:
    """Every folder from `top` down that holds images, however deep below it these lie."""
    for folder in sorted([top, *(path for path in top.rglob("*") if path.is_dir())]):
        if len(folder.relative_to(top).parts) <= deepest:
            images = (path for path in folder.rglob("*") if is_image(path.name))
            if next(images, None) is not None and next(images, None) is not None:
                yield folder


def bring(path: Path, scratch: Path) -> ImportResult:
    """Both stages of an import, and the draft discarded."""
    begun, draft = time.perf_counter(), scratch / "draft"
    look = look_at(str(path), None, {})
    if look.source is None or look.seen is None:
        return ImportResult(look.source, look.refused, "", 0, 0, (), time.perf_counter() - begun)
    source = make_source(look.source, **{**look.source_settings, "folder": str(path)})
    try:
        images, problems = build_image_set(source, draft, lambda done, total: None)
        with np.load(draft / "columns.npz", allow_pickle=False) as columns:
            key = content_key("", list(images.classes), dict(columns))
    except ValueError as error:
        return ImportResult(look.source, str(error), "", 0, 0, (), time.perf_counter() - begun)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    why = dict(look.detected)[look.source].why
    summary = (len(images.image_names), len(images), tuple(problems))
    return ImportResult(look.source, why, key, *summary, time.perf_counter() - begun)


def packed(folder: Path, scratch: Path) -> Path:
    """`folder` as a ZIP file of its name."""
    zip_file = scratch / f"{folder.name}.zip"
    with zipfile.ZipFile(zip_file, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder))
    return zip_file


def both(folder: Path) -> tuple[ImportResult, ImportResult]:
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


def row(name: str, first: ImportResult, second: ImportResult) -> list[str]:
    counts = [f"{count:,}" for count in (first.images, first.samples, len(first.problems))]
    same = "yes" if first.like(second) else "no"
    return [name, first.source or "nothing", *counts, f"{first.seconds:.1f}", f"{second.seconds:.1f}", same]


def main() -> None:
    arguments = parser(__doc__)
    beside = os.environ.get("RANKING_REAL_DATA", str(ROOT.parent / "shared" / "data"))
    arguments.add_argument("folder", type=Path, nargs="?", default=Path(beside))
    arguments.add_argument("--deepest", type=int, default=6, help="levels of folders below it")
    options = options_of(arguments)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as scratch:
        if options.smoke:
            voc_tree.some_voc(Path(scratch))
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
        first, second = both(folder)
        alike &= first.like(second)
        rows.append(row(name, first, second))
        if first.source == "PASCAL VOC":
            with tempfile.TemporaryDirectory() as scratch:
                again = bring(manifest_of(folder, Path(scratch) / "manifest"), Path(scratch))
            alike &= again.key == first.key
            notes.append(f"{name} as a table of boxes: {'the same set' if again.key == first.key else again}")
        kinds = Counter(f"{problem.expected} -> {problem.done}" for problem in first.problems)
        notes += [
            f"{name}: {first.why}",
            *(f"  {count:,} times: {kind}" for kind, count in kinds.most_common()),
        ]
    print(table(HEADER, rows))
    print("", *notes, sep="\n")
    return alike


if __name__ == "__main__":
    main()
