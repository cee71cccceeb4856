"""A small folder of images with a table of boxes."""

from __future__ import annotations

from import_folders import CLASSES, lay


def some_table(root, classes=CLASSES):
    """A box a row: two images to train on, of which one has two boxes, and one to test on."""
    text = (
        "filename,width,height,class,xmin,ymin,xmax,ymax,split,clip\n"
        "a.jpg,40,30,{0},0,0,20,15,train,film 1\n"
        "a.jpg,40,30,{1},10.4,5,20,15,train,film 1\n"
        "b.jpg,40,30,{1},1,2,4,6,train,film 1\n"
        "c.jpg,40,30,{0},0,0,40,30,test,film 2\n"
    )
    return lay(root, {"boxes.csv": text.format(*classes), **{f"images/{name}.jpg": None for name in "abc"}})


FOLDERS = {"Table of images": some_table}
