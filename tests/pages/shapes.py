"""A small PASCAL VOC folder: red discs and blue squares on grey, one class with a hostile name, one broken file."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image, ImageDraw

HOSTILE = "<img src=http://evil.example/z onerror=alert(1)> [y](http://evil.example) $q$"
KINDS = {"disc": "#c03020", "square": "#2040b0", HOSTILE: "#30a040"}


def write_shapes(root: Path, images: int = 24) -> Path:
    """Write the folder and return it. The last annotation has no image."""
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    random = np.random.default_rng(0)
    names = [f"photo_{number:02d}" for number in range(images)]
    for number, name in enumerate(names):
        picture = Image.new("RGB", (200, 150), "#888880")
        draw = ImageDraw.Draw(picture)
        objects = []
        for place in range(2):
            kind = list(KINDS)[(number + place * int(random.integers(0, 2))) % 3]
            left, top = 15 + 95 * place + int(random.integers(0, 10)), int(random.integers(20, 60))
            box = (left, top, left + 70, top + 70)
            (draw.ellipse if kind == "disc" else draw.rectangle)(box, fill=KINDS[kind])
            objects.append(_object(kind, box))
        picture.save(root / "JPEGImages" / f"{name}.jpg")
        _annotate(root, name, objects)
    _annotate(root, "missing", [_object("disc", (1, 1, 20, 20))])
    for split, chosen in (("trainval", [*names[0::2], "missing"]), ("test", names[1::2])):
        (root / "ImageSets" / "Main" / f"{split}.txt").write_text("\n".join(chosen) + "\n")
    return root


def _object(kind: str, box: tuple[int, int, int, int]) -> str:
    edges = "<xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax>".format(*box)
    return f"<object><name>{escape(kind)}</name><bndbox>{edges}</bndbox></object>"


def _annotate(root: Path, name: str, objects: list[str]) -> None:
    size = "<size><width>200</width><height>150</height></size>"
    text = f"<annotation><filename>{name}.jpg</filename>{size}{''.join(objects)}</annotation>"
    (root / "Annotations" / f"{name}.xml").write_text(text)
