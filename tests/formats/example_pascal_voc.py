"""Small folders of PASCAL VOC, with photographs of one colour."""

from __future__ import annotations

from pathlib import Path

from import_folders import CLASSES
from import_folders import build as build_folder
from PIL import Image

from ranking.datasets import make_source


def voc_object(name="cat", box=(1, 1, 20, 15), extra=""):
    edges = "<xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax>".format(*box)
    return f"<object><name>{name}</name><bndbox>{edges}</bndbox>{extra}</object>"


def person(box=(1, 1, 20, 15), **actions):
    marks = "".join(f"<{action}>{value}</{action}>" for action, value in actions.items())
    return voc_object("person", box, f"<actions>{marks}</actions>")


def xml_of(*objects, more="<size><width>40</width><height>30</height></size>"):
    return f"<annotation><filename>other.jpg</filename>{more}{''.join(objects)}</annotation>"


class VocTree:
    """Writes the files of one VOC folder; every photograph is 40 x 30."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("Annotations", "JPEGImages"):
            (root / folder).mkdir(parents=True)

    def image(self, name, suffix=".jpg"):
        path = self.root / "JPEGImages" / (name + suffix)
        Image.new("RGB", (40, 30), "teal").save(path)
        return path

    def annotation(self, name, *objects, size=(40, 30)):
        path = self.root / "Annotations" / f"{name}.xml"
        width, height = size
        path.write_text(
            xml_of(*objects, more=f"<size><width>{width}</width><height>{height}</height></size>")
        )
        return path

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
        return build_folder("PASCAL VOC", self.root, **settings)


def some_voc(root, classes=CLASSES):
    tree = VocTree(root)
    one, two = classes
    tree.add("1", voc_object(one), voc_object(two, (11, 6, 20, 15)))
    tree.add("2", voc_object(two, (2, 3, 4, 6)))
    tree.add("3", voc_object(one, (1, 1, 40, 30)))
    tree.list("trainval", "1", "2")
    tree.list("test", "3")
    return root


FOLDERS = {"PASCAL VOC": some_voc}
