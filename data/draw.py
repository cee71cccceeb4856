"""The drawn image sets: ``python data/draw.py`` draws them into data/*.zip.

`ranking.datasets.drawn_sets` reads them. The same images always make the same files, byte for byte.
"""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from drawing.action_figures import ActionFigures
from drawing.drawn import Drawn, DrawnSource
from drawing.label_scenes import LabelScenes
from drawing.timeline_cars import TimelineCars

from ranking.datasets.drawn_sets import TABLE
from ranking.datasets.painting import Polygon

FOLDER = Path(__file__).parent
SETS: tuple[type[DrawnSource], ...] = (ActionFigures, LabelScenes, TimelineCars)


def packed(polygons: list[Polygon]) -> bytes:
    """The file that `ranking.datasets.drawn_sets.polygons_of` reads."""
    corners = np.array([len(polygon.points) // 2 for polygon in polygons])
    points = np.concatenate([np.reshape(polygon.points, (-1, 2)) for polygon in polygons])
    steps = np.diff(points, axis=0, prepend=0).T
    if max(len(corners), corners.max()) > 65_535 or np.abs(steps).max() > 32_767:
        raise ValueError("a drawing with more polygons, corners or farther ones than the file can hold")
    colours = np.array([polygon.colour for polygon in polygons])
    parts = (corners.astype("<u2"), colours.astype(np.uint8), np.ascontiguousarray(steps.astype("<i2")))
    return len(corners).to_bytes(2, "little") + b"".join(part.tobytes() for part in parts)


def row_of(image: Drawn) -> dict[str, object]:
    boxes = [
        {"box": box.box, "classes": box.classes, "group": box.group, "numbers": dict(box.numbers)}
        for box in image.boxes
    ]
    return {
        "name": image.name,
        "boxes": boxes,
        "number": image.number,
        "start": image.start,
        "steps": image.steps,
    }


def write(source: DrawnSource, file: Path) -> None:
    table = []
    with ZipFile(file, "w") as archive:

        def add(name: str, content: bytes) -> None:
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED, 9)

        for image in map(source.drawn, range(len(source))):
            table.append(row_of(image))
            add(image.name, packed(image.polygons))
        add(TABLE, json.dumps(table).encode())


def main() -> None:
    for make in SETS:
        source = make()
        file = FOLDER / f"{source.name.lower().replace(' ', '_')}.zip"
        write(source, file)
        print(f"{file.name}: {len(source):,} images, {file.stat().st_size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main()
