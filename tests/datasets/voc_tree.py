"""Writes small PASCAL VOC folders with photographs of noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from ranking.datasets import build_image_set, make_source


def voc_object(name="cat", box=(1, 1, 20, 15), extra=""):
    edges = "<xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax>".format(*box)
    return f"<object><name>{name}</name><bndbox>{edges}</bndbox>{extra}</object>"


def person(box=(1, 1, 20, 15), **actions):
    marks = "".join(f"<{action}>{value}</{action}>" for action, value in actions.items())
    return voc_object("person", box, f"<actions>{marks}</actions>")


class VocTree:
    """Writes the files of one VOC folder; every photograph is 40 x 30 unless told otherwise."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("Annotations", "JPEGImages"):
            (root / folder).mkdir(parents=True)

    def image(self, name, size=(40, 30), suffix=".jpg"):
        path = self.root / "JPEGImages" / (name + suffix)
        pixels = np.random.default_rng(len(name)).integers(0, 256, (size[1], size[0], 3), np.uint8)
        Image.fromarray(pixels).save(path)
        return path

    def xml(self, name, text):
        path = self.root / "Annotations" / f"{name}.xml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def annotation(self, name, *objects, size=(40, 30)):
        told = "<size><width>{}</width><height>{}</height></size>".format(*size) if size else ""
        content = f"<filename>{name}.jpg</filename>{told}{''.join(objects)}"
        return self.xml(name, f"<annotation>{content}</annotation>")

    def add(self, name, *objects):
        self.image(name)
        self.annotation(name, *(objects or (voc_object(),)))

    def list(self, name, *lines, task="Main"):
        folder = self.root / "ImageSets" / task
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")

    def source(self, **settings):
        return make_source("PASCAL VOC", folder=str(self.root), **settings)

    def build(self, **settings):
        """The set and its report; each build in a folder of its own."""
        number = len(list(self.root.parent.glob("built-*")))
        return build_image_set(self.source(**settings), self.root.parent / f"built-{number}")


def two_images(root):
    """Two good images, one for training and one for the test."""
    tree = VocTree(root)
    tree.add("a")
    tree.add("b", voc_object("dog"), voc_object("cat", (21, 16, 40, 30)))
    tree.list("trainval", "a")
    tree.list("test", "b")
    return tree
