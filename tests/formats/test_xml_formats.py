"""XML from strangers, hostile, broken and merely wrong: annotations of PASCAL VOC."""

from __future__ import annotations

import time

import pytest
from example_pascal_voc import VocTree, person, voc_object, xml_of
from import_folders import read

from ranking.files import Unusable
from ranking.formats import pascal_voc
from ranking.formats.voc_annotation import read_annotation
from ranking.formats.xml_file import parse_xml

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


def read_bytes(data):
    annotated, problems = read_annotation(data, "x.xml")
    assert {problem.file for problem in problems} <= {"x.xml"}
    return annotated, [problem.came for problem in problems]


def test_declarations_are_refused_before_anything_is_expanded():
    start = time.process_time()
    for data in HOSTILE:
        with pytest.raises(Unusable):
            parse_xml(data)
        annotated, (came,) = read_bytes(data)
        assert annotated is None, data
        assert "DOCTYPE" in came
    assert time.process_time() - start < 2
    annotated, _ = annotation_of(
        "<!-- <!DOCTYPE x [<!ENTITY y 'z'>]> -->", voc_object("&lt;!DOCTYPE&gt; &#65;&amp;")
    )
    assert annotated.objects[0].name == "<!DOCTYPE> A&", "in a comment or text it is no declaration"


def test_malformed_xml_is_refused():
    for data in (
        b"",
        b"\xff\xd8\xff\xe0 a photograph",
        b"<annotation><object>",
        b"<annotation/><annotation/>",
        b"<annotation>&unknown;</annotation>",
        b'<?xml version="1.0" encoding="klingon"?><annotation/>',
        b'<?xml version="1.0" encoding="punycode"?><annotation/>',
        b"<annotation>\0</annotation>",
    ):
        annotated, problems = read_bytes(data)
        assert (annotated, len(problems)) == (None, 1), data
    assert read_bytes(b"<svg/>") == (None, ["<svg>"])


def test_too_large_and_too_deeply_nested_xml_is_refused(monkeypatch, tmp_path):
    for content in (b"<a>" * 32, b"<a>" * 100_000):
        annotated, (came,) = read_bytes(b"<annotation>" + content)
        assert annotated is None
        assert "32" in came
    assert annotation_of("<a>" * 31 + "</a>" * 31)[0] is not None
    monkeypatch.setattr(pascal_voc, "MAX_XML_BYTES", 2**20)
    voc = VocTree(tmp_path / "voc")
    voc.add("good")
    voc.add("large", " " * 2**20)
    images, [problem] = read("PASCAL VOC", voc.root)
    assert list(images) == ["good"]
    assert (problem.file, "1 MB" in problem.expected) == ("large.xml", True)


MANY = b">" * (4 * 2**20 - 100)


def test_xml_with_many_pieces_is_parsed_in_linear_time():
    start = time.process_time()
    for data in (
        b'<annotation><a b="' + MANY + b'"/></annotation>',
        b"<annotation><!--" + MANY + b"--></annotation>",
        b"<annotation>" + b"<a/>" * 200_000 + b"</annotation>",
        b"<annotation/><!--" + MANY + b"-->",
    ):
        assert parse_xml(data).tag == "annotation"
    assert time.process_time() - start < 30, (
        "elements take 0.2 s, 1 where coverage is counted; squared, hours"
    )


def test_a_long_prolog_is_refused_soon_and_one_of_a_few_comments_is_annotation_of():
    start = time.process_time()
    for prolog in (b"<!--" + MANY + b"-->", b"\n" * 70_000, b'<a b="' + MANY + b'"/>', b"<!---->" * 2000):
        annotated, (came,) = read_bytes(prolog + b"<annotation/>")
        assert annotated is None
        assert "64 kB" in came
    assert time.process_time() - start < 2
    prolog = '<?xml version="1.0"?>' + "<!-- drawn by hand -> checked -->\n" * 100
    assert read_bytes((prolog + xml_of(voc_object("cat"))).encode())[0].objects[0].name == "cat"


def test_encodings_that_work():
    for encoding, name in (
        *((encoding, "été") for encoding in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252")),
        *(("gb2312", name) for name in ("猫", "联通")),
        ("Shift-JIS", "ネコ"),
        ("utf-16-le", "猫"),
    ):
        text = f'<?xml version="1.0" encoding="{encoding.replace("-sig", "")}"?>' + xml_of(voc_object(name))
        assert read_bytes(text.encode(encoding))[0].objects[0].name == name, encoding


def test_another_encoding_than_declared():
    for declared in ("gb2312", "iso-8859-1", "utf-16"):
        text = f'<?xml version="1.0" encoding="{declared}"?>' + xml_of(voc_object("猫"))
        assert read_bytes(text.encode())[0].objects[0].name == "猫", declared
    data = xml_of(voc_object("苹果"), voc_object("dog")).encode("gb2312")
    annotated, (came,) = read_bytes(data)
    assert [item.name for item in annotated.objects] == ["dog"]
    assert came.startswith("object 1: ")
    assert [item.name for item in read_annotation(data, "x.xml", "gb2312")[0].objects] == ["苹果", "dog"]


def test_roots_of_any_case_and_namespaces():
    text = '<v:Annotation xmlns:v="x"><v:Object><Name>cat</Name><BndBox><xmin>1</xmin><YMIN>1</YMIN><xmax>20</xmax>'
    text += "<ymax>15</ymax></BndBox><difficult>True</difficult></v:Object></v:Annotation>"
    annotated, problems = read_bytes(text.encode())
    assert problems == []
    assert [(item.name, item.box, item.difficult) for item in annotated.objects] == [
        ("cat", (0, 0, 20, 15), True)
    ]


def test_boxes_count_from_0_and_end_open():
    annotated, problems = annotation_of(
        voc_object("cat", (1, 2, 1, 30)), voc_object("\n dog ", (" 4.5 ", "1e1", 9, 10))
    )
    assert problems == []
    assert [(item.name, item.box) for item in annotated.objects] == [
        ("cat", (0, 1, 1, 30)),
        ("dog", (3.5, 9, 9, 10)),
    ]


BAD_OBJECTS = [
    (voc_object("cat", ("left", 1, 2, 3)), "xmin left, ymin 1, xmax 2, ymax 3"),
    (voc_object("cat", (1, 1, "inf", 3)), "xmin 1, ymin 1, xmax inf, ymax 3"),
    (voc_object("cat", (1, "1_0", 2, 30)), "xmin 1, ymin 1_0, xmax 2, ymax 30"),
    (voc_object("cat", (1, "١", 2, 30)), "xmin 1, ymin ١, xmax 2, ymax 30"),
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
        assert [(item.number, item.name) for item in annotated.objects] == [(1, "dog"), (3, "emu")]
        assert annotated.count == 3
        assert problem.startswith("object 2")
        assert came in problem


def test_difficult_and_action_marks_of_objects_are_read_or_reported():
    extras = ["<difficult>1</difficult>", "<difficult>0</difficult>", "", "<difficult>very</difficult>"]
    people = [person(running="1", phoning="0"), person(running="maybe", phoning="1")]
    annotated, problems = annotation_of(*(voc_object(extra=extra) for extra in extras), *people)
    assert [item.difficult for item in annotated.objects] == [True, *[False] * 5]
    assert [item.actions for item in annotated.objects[3:]] == [
        None,
        {"running": True, "phoning": False},
        {"phoning": True},
    ]
    assert problems == ["object 4: very", "object 6: running maybe"]


def test_the_annotated_image_size_is_read_or_reported():
    for size, claimed, came in (
        ("", None, []),
        ("<size><width>40</width><height>30</height></size>", (40, 30), []),
        ("<size><width>0</width><height>30</height></size>", None, ["0 x 30"]),
        ("<size><width>wide</width></size>", None, ["wide x missing"]),
    ):
        annotated, problems = annotation_of(voc_object(), more=size)
        assert (annotated.size, problems) == (claimed, came)
