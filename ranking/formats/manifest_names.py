"""How columns of tables of images are called, in small letters and without anything between them."""

from __future__ import annotations

import re

CORNERS, EXTENT, MIDDLE = "left, top, right, bottom", "left, top, width, height", "middle, width, height"
FORMS = (CORNERS, EXTENT, MIDDLE)
PIXELS, SHARES = "pixels", "shares of the image"

IMAGE = frozenset(
    [
        "image",
        "imagename",
        "imageid",
        "imagepath",
        "imagefile",
        "img",
        "imgname",
        "imgpath",
        "file",
        "filename",
        "filepath",
        "fname",
        "name",
        "path",
        "photo",
        "picture",
        "id",
    ]
)
LABELS = tuple(
    [
        "labels",
        "tags",
        "label",
        "classes",
        "class",
        "concepts",
        "classname",
        "category",
        "categories",
        "categoryname",
        "labelname",
        "target",
        "species",
        "name",
    ]
)
GROUP = tuple(
    [
        "group",
        "groupid",
        "video",
        "videoid",
        "track",
        "trackid",
        "patient",
        "patientid",
        "subject",
        "subjectid",
        "sequence",
        "clip",
        "session",
        "scene",
    ]
)
SPLIT = ("split", "subset", "part", "set", "partition", "usage")
SIZE = (("imagewidth", "imageheight"), ("imgwidth", "imgheight"), ("width", "height"))
EXTENTS = (("w", "h"), ("width", "height"))  # where there are both, width and height are those of the image
BOXES = {
    CORNERS: (
        ("left", "top", "right", "bottom"),
        ("xmin", "ymin", "xmax", "ymax"),
        ("x1", "y1", "x2", "y2"),
        ("x0", "y0", "x1", "y1"),
        ("xtl", "ytl", "xbr", "ybr"),
        ("minx", "miny", "maxx", "maxy"),
    ),
    EXTENT: tuple(
        (*place, *extent)
        for place in (("left", "top"), ("x", "y"), ("xmin", "ymin"), ("x1", "y1"))
        for extent in EXTENTS
    ),
    MIDDLE: tuple(
        (*place, *extent)
        for place in (("xcenter", "ycenter"), ("xcentre", "ycentre"), ("centerx", "centery"), ("cx", "cy"))
        for extent in EXTENTS
    ),
}
PREFIXES = ("", "bbox", "box", "boundingbox", "bb")
NO_NUMBERS = frozenset(
    [
        "id",
        "index",
        "idx",
        "unnamed0",
        "iscrowd",
        "difficult",
        "occluded",
        "truncated",
        "segmented",
        "depth",
        "isoccluded",
        "istruncated",
        "isgroupof",
        "isdepiction",
        "isinside",
    ]
)
ENDS_AS_ID = re.compile(r"(?:^|[\W_])[iI][dD]$|[a-z]I[dD]$")


def plain_name(column: str) -> str:
    """
    >>> plain_name("X_min"), plain_name("BBox Left")
    ('xmin', 'bboxleft')
    """
    return "".join(letter for letter in column.casefold() if letter.isalnum())


def may_order(column: str) -> bool:
    """Whether numbers of a column of that name may be something to order by: no identifier and no flag.

    >>> may_order("year"), may_order("annotation_id"), may_order("grid")
    (True, False, True)
    """
    return plain_name(column) not in NO_NUMBERS and not ENDS_AS_ID.search(column)
