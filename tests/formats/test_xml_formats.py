"""XML with declarations, broken and merely wrong: annotations of PASCAL VOC."""

from __future__ import annotations

import time

import pytest
from example_pascal_voc import VocTree, person, voc_object, xml_of
from import_folders import read

from ranking.files import Unusable
from ranking.formats import pascal_voc
from ranking.formats.voc_annotation import read_objects, size_in
from ranking.formats.xml_file import xml_root

LAUGHS = "".join(f'<!ENTITY lol{level} "{f"&lol{level - 1};" * 10}">' for level in range(1, 10))
BILLION_LAUGHS = (
    f'<?xml version="1.0"?><!DOCTYPE annotation [<!ENTITY lol0 "lol">{LAUGHS}]>'
    "<annotation><object><name>&lol9;</name></object></annotation>"
)
HOSTILE = [
    BILLION_LAUGHS.encode(),
    BILLION_LAUGHS.replace('"1.0"', '"1.0" encoding="UTF-16"').encode("utf-16"),
    b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>',
    b'<!DOCTYPE annotation SYSTEM "http://127.0.0.1:9/x.dtd"><annotation/>',
    b"<!DOCTYPE a [<!ENTITY % p \"<!ENTITY q 'r'>\"> %p;]><annotation>&q;</annotation>",
]


def annotation_of(*objects, more=""):
    """The annotation of these objects, and what came of each problem."""
    return read_bytes(xml_of(*objects, more=more).encode())


def read_bytes(data, encoding=""):
    """The boxes in an annotation, and what came of each problem; None for one that cannot be read."""
    problems = []
    try:
        root = xml_root(data, "annotation", encoding)
    except Unusable as error:
        return None, [error.came]
    return read_objects(root, lambda expected, came, done: problems.append(came)), problems


def test_declarations_are_refused_before_anything_is_expanded():
    start = time.process_time()
    for data in HOSTILE:
        with pytest.raises(Unusable):
            xml_root(data, "annotation")
        annotated, (came,) = read_bytes(data)
        assert annotated is None, data
        assert "DOCTYPE" in came
    assert time.process_time() - start < 2
    annotated, _ = annotation_of(voc_object("&lt;!DOCTYPE&gt; &#65;&amp;"))
    assert annotated[0].classes == ("<!DOCTYPE> A&",), "in text it is no declaration"


def test_malformed_xml_is_refused():
    for data in (
        b"",
        b"\xff\xd8\xff\xe0 a photograph",
        b"<annotation><object>",
        b"<annotation/><annotation/>",
        b"<annotation>&unknown;</annotation>",
        b'<?xml version="1.0" encoding="klingon"?><annotation/>',
        b"<annotation>\0</annotation>",
    ):
        annotated, problems = read_bytes(data)
        assert (annotated, len(problems)) == (None, 1), data
    assert read_bytes(b"<svg/>") == (None, ["<svg>"])


def test_too_large_xml_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(pascal_voc, "MAX_XML_BYTES", 2**20)
    voc = VocTree(tmp_path / "voc")
    voc.add("good")
    voc.add("large", " " * 2**20)
    images, [problem, _] = read("PASCAL VOC", voc.root)
    assert list(images) == ["good"]
    assert (problem.file, "1 MB" in problem.expected) == ("Annotations/large.xml", True)


def test_encodings_that_work():
    for encoding, name in (
        *((encoding, "été") for encoding in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252")),
        *(("gb2312", name) for name in ("猫", "联通")),
        ("Shift-JIS", "ネコ"),
        ("utf-16-le", "猫"),
    ):
        text = f'<?xml version="1.0" encoding="{encoding.replace("-sig", "")}"?>' + xml_of(voc_object(name))
        assert read_bytes(text.encode(encoding))[0][0].classes[0] == name, encoding


def test_another_encoding_than_declared():
    for declared in ("gb2312", "iso-8859-1", "utf-16"):
        text = f'<?xml version="1.0" encoding="{declared}"?>' + xml_of(voc_object("猫"))
        assert read_bytes(text.encode())[0][0].classes[0] == "猫", declared
    data = xml_of(voc_object("苹果"), voc_object("dog")).encode("gb2312")
    annotated, (came,) = read_bytes(data)
    assert [item.classes for item in annotated] == [("dog",)]
    assert came.startswith("object 1: ")
    assert [item.classes for item in read_bytes(data, "gb2312")[0]] == [("苹果",), ("dog",)]


def test_roots_of_any_case_and_namespaces():
    text = '<v:Annotation xmlns:v="x"><v:Object><Name>cat</Name><BndBox><xmin>1</xmin><YMIN>1</YMIN><xmax>20</xmax>'
    text += "<ymax>15</ymax></BndBox><difficult>True</difficult></v:Object></v:Annotation>"
    annotated, problems = read_bytes(text.encode())
    assert problems == []
    assert [(item.classes[0], item.box, item.difficult) for item in annotated] == [
        ("cat", (0, 0, 20, 15), True)
    ]


def test_boxes_count_from_0_and_end_open():
    annotated, problems = annotation_of(
        voc_object("cat", (1, 2, 1, 30)), voc_object("\n dog ", (" 4.5 ", "1e1", 9, 10))
    )
    assert problems == []
    assert [(item.classes[0], item.box) for item in annotated] == [
        ("cat", (0, 1, 1, 30)),
        ("dog", (3.5, 9, 9, 10)),
    ]


BAD_OBJECTS = [
    (voc_object("cat", ("left", 1, 2, 3)), "xmin left, ymin 1, xmax 2, ymax 3"),
    (voc_object("cat", (1, 1, "inf", 3)), "xmin 1, ymin 1, xmax inf, ymax 3"),
    (voc_object("cat", (5, 1, 3, 3)), "xmin 5, ymin 1, xmax 3, ymax 3"),
    (voc_object("cat", (1, 9, 3, 8)), "xmin 1, ymin 9, xmax 3, ymax 8"),
    ("<object><name>cat</name><part><bndbox/></part></object>", "no bndbox"),
    ("<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>", "xmin 1, ymin missing"),
    (voc_object("  \n "), "has none"),
    ("<object/>", "has none"),
]


def test_a_bad_object_is_omitted_and_the_others_have_the_same_numbers():
    for bad, came in BAD_OBJECTS:
        annotated, (problem,) = annotation_of(voc_object("dog"), bad, voc_object("emu"))
        assert [(item.number, item.classes[0]) for item in annotated] == [(1, "dog"), (3, "emu")]
        assert problem.startswith("object 2")
        assert came in problem


def test_difficult_and_action_marks_of_objects_are_read_or_reported():
    extras = ["<difficult>1</difficult>", "<difficult>0</difficult>", "", "<difficult>very</difficult>"]
    people = [person(running="1", phoning="0"), person(running="maybe", phoning="1")]
    annotated, problems = annotation_of(*(voc_object(extra=extra) for extra in extras), *people)
    assert [item.difficult for item in annotated] == [True, *[False] * 5]
    assert [item.actions for item in annotated[3:]] == [
        {},
        {"running": True, "phoning": False},
        {"phoning": True},
    ]
    assert problems == ["object 6: running maybe"]


def test_the_annotated_image_size_is_read_if_it_is_valid():
    for size, claimed in (
        ("", None),
        ("<size><width>40</width><height>30</height></size>", (40, 30)),
        ("<size><width>0</width><height>30</height></size>", None),
        ("<size><width>wide</width></size>", None),
    ):
        assert size_in(xml_root(xml_of(voc_object(), more=size).encode(), "annotation")) == claimed
