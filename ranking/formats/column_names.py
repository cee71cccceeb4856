"""Usual names of columns in tables of images, in lower case without separators, and what they say."""

from __future__ import annotations

import itertools
import re

from ranking.formats.table_file import EXTENT

CORNERS, MIDDLE = "left, top, right, bottom", "middle, width, height"
FORMS = (CORNERS, EXTENT, MIDDLE)
PIXELS, SHARES = "pixels", "shares of the image"

IMAGE = (
    "image", "imagename", "imageid", "imagepath", "imagefile", "img", "imgname", "imgpath", "file", "filename",
    "filepath", "fname", "name", "path", "photo", "picture", "id",
)  # fmt: skip
LABELS = (
    "labels", "tags", "label", "classes", "class", "concepts", "classname", "category", "categories",
    "categoryname", "labelname", "target", "species", "name", "classid", "categoryid", "labelid",
)  # fmt: skip
# the words of a name that say so, in several languages
LABEL_WORDS = {
    "label", "labels", "class", "classes", "category", "categories", "finding", "findings", "tag", "tags", "species",
    "breed", "breeds", "diagnosis", "diagnoses", "klasse", "klassen", "kategorie", "kategorien", "rasse", "diagnose",
    "etiquette", "étiquette", "étiquettes", "classe", "catégorie", "espèce", "etiqueta", "etiquetas", "clase",
    "categoría", "especie", "raza", "diagnóstico", "etichetta", "specie", "razza", "класс", "метка", "категория",
    "порода", "标签", "类别", "ラベル", "クラス",
}  # fmt: skip
GROUP = (
    "group", "groupid", "video", "videoid", "track", "trackid", "patient", "patientid", "subject", "subjectid",
    "sequence", "clip", "session", "scene",
)  # fmt: skip
# words of a split column for rows without a part
NO_PART = ("", "unassigned", "none", "unused")
SPLIT = ("split", "subset", "part", "set", "partition", "usage")
# words in names of columns and files whose whole numbers may stand for parts
NUMBERED_SPLIT = {"partition", "partitions", "split", "splits", "subset", "subsets", "fold", "folds", "kfold"}
# columns of 0 and 1, and the part that 1 stands for
FLAGS = {name: "test" for name in ("istest", "test", "testset")} | {
    name: "train" for name in ("istrain", "istraining", "istrainingimage")
}
FLAGS |= {name: "val" for name in ("isval", "isvalidation")}
# columns of points, of which the bounding box is read
OUTLINES = ("polygon", "polygons", "points", "segmentation", "outline", "contour", "vertices", "coordinates")
SIZE = (("imagewidth", "imageheight"), ("imgwidth", "imgheight"), ("width", "height"))
# if there are both, width and height are those of the image
EXTENTS = ("w h", "width height")
# words for the two corners of a box beside x and y, or column and row
CORNER_WORDS = (
    "min max", "1 2", "0 1", "start end", "begin end", "from to", "low high", "tl br", "lt rb", "ul lr",
    "topleft bottomright", "lefttop rightbottom", "upperleft lowerright", "leftupper rightlower",
    "topleftcorner bottomrightcorner", "upperleftcorner lowerrightcorner",
)  # fmt: skip
AXES = ("x y", "col row", "column row")
CORNER_NAMES = [
    *("left top right bottom", "left upper right lower", "leftx topy rightx bottomy", "xleft ytop xright ybottom"),
    *("xtl ytl xbr ybr", "x1 y1 x2 y2"),
    *(
        " ".join(form.format(axis=axis, word=word) for word in words.split() for axis in axes.split())
        for words, axes, form in itertools.product(CORNER_WORDS, AXES, ("{axis}{word}", "{word}{axis}"))
    ),
]  # fmt: skip
BOXES = {
    CORNERS: CORNER_NAMES,
    EXTENT: ["x y", *dict.fromkeys(" ".join(names.split()[:2]) for names in CORNER_NAMES)],
    MIDDLE: ["xcenter ycenter", "xcentre ycentre", "centerx centery", "centrex centrey", "cx cy", "xc yc"],
}
# words that a name of the middle has before x
NO_PREFIX = ("c", "center", "centre", "mid")
NO_NUMBERS = (
    "id", "index", "idx", "unnamed0", "iscrowd", "difficult", "occluded", "truncated", "segmented", "depth",
    "isoccluded", "istruncated", "isgroupof", "isdepiction", "isinside",
)  # fmt: skip
# words in names of columns that tell rows apart or group them
ID_WORDS = {
    "id", "ids", "uid", "uuid", "guid", "patient", "lesion", "subject", "person", "case", "study", "series", "session",
    "group", "hash", "md", "url", "date", "time",
}  # fmt: skip
# words in names of columns that say where a row comes from
ORIGIN_WORDS = {
    "source", "origin", "dataset", "camera", "site", "location", "station", "country", "annotator",
    "labeller", "user", "worker", "author",
}  # fmt: skip
ENDS_AS_ID = re.compile(r"(?:^|[\W_])[iI][dD]$|[a-z]I[dD]$")


def plain_name(column: str) -> str:
    """
    >>> plain_name("X_min"), plain_name("BBox Left")
    ('xmin', 'bboxleft')
    """
    return "".join(letter for letter in column.casefold() if letter.isalnum())


def may_order(column: str) -> bool:
    """Return whether a column of that name may be a criterion: it is neither an identifier nor a flag.

    >>> may_order("year"), may_order("annotation_id"), may_order("grid")
    (True, False, True)
    """
    return plain_name(column) not in NO_NUMBERS and not ENDS_AS_ID.search(column)


def words_of(name: str) -> list[str]:
    """
    >>> words_of("Finding Labels"), words_of("subCategory"), words_of("train_test_split2")
    (['finding', 'labels'], ['sub', 'category'], ['train', 'test', 'split'])
    """
    return [word.casefold() for word in re.findall(r"[^\W\d_][^\W\d_A-Z]*|[A-Z]+", name)]


def is_numbered_split(name: str) -> bool:
    """Return whether the name of a column or file says that it states parts or folds."""
    return not NUMBERED_SPLIT.isdisjoint(words_of(name))


def is_label(column: str) -> bool:
    """Return whether the name of a column says that it contains labels."""
    return plain_name(column) in LABELS or not LABEL_WORDS.isdisjoint(words_of(column))
