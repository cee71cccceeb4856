"""A small PASCAL VOC folder: red discs and blue squares on grain, a hostile name and a broken file."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from example_pascal_voc import VocTree, voc_object
from PIL import Image, ImageDraw

HOSTILE = "<img src=http://evil.example/z onerror=alert(1)> [y](http://evil.example) $q$"
KINDS = {"disc": "#c03020", "square": "#2040b0", HOSTILE: "#30a040"}


def write_shapes(root: Path, images: int = 24) -> Path:
    """Write the folder and return it; the last annotation has no image."""
    tree, random = VocTree(root), np.random.default_rng(0)
    names = [f"photo_{number:02d}" for number in range(images)]
    for number, name in enumerate(names):
        grain = np.random.default_rng(number + 1).integers(120, 152, (15, 20, 1), np.uint8).repeat(3, axis=2)
        # without it they would be near copies of each other
        picture = Image.fromarray(grain).resize((200, 150))
        draw = ImageDraw.Draw(picture)
        objects = []
        for place in range(2):
            kind = list(KINDS)[(number + place * int(random.integers(0, 2))) % 3]
            left, top = 15 + 95 * place + int(random.integers(0, 10)), int(random.integers(20, 60))
            box = (left, top, left + 70, top + 70)
            (draw.ellipse if kind == "disc" else draw.rectangle)(box, fill=KINDS[kind])
            objects.append(voc_object(escape(kind), box))
        picture.save(root / "JPEGImages" / f"{name}.jpg")
        tree.annotation(name, *objects, size=picture.size)
    tree.annotation("missing", voc_object("disc"))
    tree.list("trainval", *names[0::2], "missing")
    tree.list("test", *names[1::2])
    return root
