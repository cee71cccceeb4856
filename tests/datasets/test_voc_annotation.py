"""Annotations from strangers: hostile, broken and merely wrong XML."""

from __future__ import annotations

import re
import time

import pytest
from voc_tree import voc_object

from ranking.datasets import voc_annotation
from ranking.datasets.voc_annotation import read_annotation
from ranking.datasets.xml_file import Refused, parse_xml

LAUGHS = "".join(f'<!ENTITY lol{level} "{f"&lol{level - 1};" * 10}">' for level in range(1, 10))
BILLION_LAUGHS = (
    f'<?xml version="1.0"?><!DOCTYPE annotation [<!ENTITY lol0 "lol">{LAUGHS}]>'
    "<annotation><object><name>&lol9;</name></object></annotation>"
)
HOSTILE = {
    "billion laughs": BILLION_LAUGHS.encode(),
    "billion laughs in UTF-16": BILLION_LAUGHS.replace('"1.0"', '"1.0" encoding="UTF-16"').encode("utf-16"),
    "external entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>',
    "external DTD": b'<!DOCTYPE annotation SYSTEM "http://127.0.0.1:9/x.dtd"><annotation/>',
    "parameter entity": b"<!DOCTYPE a [<!ENTITY % p \"<!ENTITY q 'r'>\"> %p;]><annotation>&q;</annotation>",
    "harmless DOCTYPE": b"<!DOCTYPE annotation><annotation/>",
}


def annotation(*objects, size=""):
    return f"<annotation>{size}{''.join(objects)}</annotation>".encode()


def rows(data):
    """The annotation and (expected, came, done) of each row."""
    read, problems = read_annotation(data, "x.xml")
    assert {problem.file for problem in problems} <= {"x.xml"}
    return read, [(problem.expected, problem.came, problem.done) for problem in problems]


@pytest.mark.parametrize("name", HOSTILE)
def test_declarations_are_refused_before_anything_is_expanded(name):
    start = time.process_time()
    with pytest.raises(Refused):
        parse_xml(HOSTILE[name])
    read, told = rows(HOSTILE[name])
    assert time.process_time() - start < 0.5
    assert read is None
    assert told == [
        (
            "XML without declarations of its own",
            "a document type declaration (DOCTYPE, ENTITY)",
            "annotation left out",
        )
    ]


def test_the_word_doctype_in_a_comment_or_text_is_no_declaration():
    data = annotation("<!-- <!DOCTYPE x [<!ENTITY y 'z'>]> -->", voc_object("&lt;!DOCTYPE&gt; &#65;&amp;"))
    assert rows(data)[0].objects[0].name == "<!DOCTYPE> A&"


@pytest.mark.parametrize(
    ("data", "came"),
    [
        (b"", "an empty file"),
        (b"\xff\xd8\xff\xe0 a photograph", "not well-formed"),
        (b"<annotation><object></annotation>", "mismatched tag"),
        (b"<annotation><object>", "no element found"),
        (annotation() + b"<annotation/>", "junk after document element"),
        (b"<annotation>&unknown;</annotation>", "undefined entity"),
        (b"<annotation>\xe9t\xe9</annotation>", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><annotation/>', "unknown encoding"),
        (
            b'<?xml version="1.0" encoding="shift_jis"?><annotation/>',
            "multi-byte encodings are not supported",
        ),
        (b'<?xml version="1.0" encoding="UTF-16"?><annotation/>', "encoding"),
        (b"<annotation>\0</annotation>", "not well-formed"),
    ],
)
def test_broken_xml(data, came):
    read, ((expected, told, done),) = rows(data)
    assert read is None
    assert (expected, done) == ("XML that can be read", "annotation left out")
    assert came in told


def test_too_large_and_too_deep(monkeypatch):
    deep = b"<annotation>" + b"<a>" * 100_000
    assert rows(deep)[1][0][1] == "elements nested more than 32 deep"
    monkeypatch.setattr(voc_annotation, "MAX_XML_BYTES", 2**20)
    read, told = rows(annotation(" " * 2**20))
    assert read is None
    assert told == [("XML of at most 1 MB", "a larger file", "annotation left out")]


MANY = b">" * (4 * 2**20 - 100)


@pytest.mark.parametrize(
    "data",
    [
        b'<annotation><a b="' + MANY + b'"/></annotation>',
        b"<annotation><!--" + MANY + b"--></annotation>",
        b"<annotation><?x " + MANY + b"?></annotation>",
        b"<annotation>" + MANY.replace(b">", b"<a/>", 10**6)[: 4 * 10**6] + b"</annotation>",
        b"<annotation/><!--" + MANY + b"-->",
    ],
)
def test_pieces_do_not_add_up(data):
    start = time.process_time()
    assert parse_xml(data).tag == "annotation"
    assert (
        time.process_time() - start < 30
    )  # a million elements take 1 s, 5 where coverage is counted; squared, days


@pytest.mark.parametrize(
    "prolog",
    [
        b"<!--" + MANY + b"-->",
        b"<?x " + MANY + b"?>",
        b"\n" * 70_000,
        b'<a b="' + MANY + b'"/>',
        b"<!---->" * 2000,
    ],
)
def test_a_long_prolog_is_refused_soon(prolog):
    start = time.process_time()
    read, told = rows(prolog + b"<annotation/>")
    assert time.process_time() - start < 0.5
    assert read is None
    assert told[0][1:] == ("no element within the first 64 kB and 1,000 '>'", "annotation left out")


def test_a_prolog_of_a_few_comments_is_read():
    prolog = b'<?xml version="1.0"?>' + b"<!-- drawn by hand -> checked -->\n" * 100
    assert rows(prolog + annotation(voc_object("cat")))[0].objects[0].name == "cat"


def test_another_root():
    assert rows(b"<svg/>")[1] == [("an <annotation> element at the top", "<svg>", "annotation left out")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_that_work(encoding):
    declared = encoding.replace("-sig", "")
    text = f'<?xml version="1.0" encoding="{declared}"?>' + annotation(voc_object("été")).decode()
    assert rows(text.encode(encoding))[0].objects[0].name == "été"


def test_boxes_count_from_0_and_end_open():
    read, told = rows(
        annotation(voc_object("cat", (1, 2, 1, 30)), voc_object("dog", (" 4.5 ", "1e1", 9, 10)))
    )
    assert told == []
    assert [item.box for item in read.objects] == [(0, 1, 1, 30), (3.5, 9, 9, 10)]


@pytest.mark.parametrize(
    ("bad", "came"),
    [
        (voc_object("cat", ("left", 1, 2, 3)), "object 2: xmin left, ymin 1, xmax 2, ymax 3"),
        (voc_object("cat", ("nan", 1, 2, 3)), "object 2: xmin nan, ymin 1, xmax 2, ymax 3"),
        (voc_object("cat", (1, 1, "inf", 3)), "object 2: xmin 1, ymin 1, xmax inf, ymax 3"),
        (voc_object("cat", (1, "1_0", 2, 30)), "object 2: xmin 1, ymin 1_0, xmax 2, ymax 30"),
        (voc_object("cat", (1, "١", 2, 30)), "object 2: xmin 1, ymin ١, xmax 2, ymax 30"),
        (voc_object("cat", (5, 1, 3, 3)), "object 2: xmin 5, ymin 1, xmax 3, ymax 3"),
        (voc_object("cat", (1, 9, 3, 8)), "object 2: xmin 1, ymin 9, xmax 3, ymax 8"),
        (voc_object("cat", (1, "", 3, 8)), "object 2: xmin 1, ymin missing, xmax 3, ymax 8"),
        ("<object><name>cat</name></object>", "object 2: no bndbox"),
        ("<object><name>cat</name><part><bndbox/></part></object>", "object 2: no bndbox"),
        (
            "<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>",
            "object 2: xmin 1, ymin missing, xmax missing, ymax missing",
        ),
    ],
)
def test_a_bad_box_is_left_out_and_the_others_keep_their_numbers(bad, came):
    read, told = rows(annotation(voc_object("dog"), bad, voc_object("emu")))
    assert [(item.number, item.name) for item in read.objects] == [(1, "dog"), (3, "emu")]
    assert read.count == 3
    assert told == [("a box of four numbers, xmin <= xmax and ymin <= ymax", came, "object left out")]


@pytest.mark.parametrize("name", ["", "  \n "])
def test_an_object_without_a_name(name):
    read, told = rows(annotation(voc_object(name), "<object/>"))
    assert read.objects == ()
    assert told == [
        ("a name for every object", f"object {number} has none", "object left out") for number in (1, 2)
    ]


def test_names_are_made_fit_to_show():
    read, _ = rows(annotation(voc_object(" e\u0301cole\n de\u202e "), voc_object("x" * 500)))
    [short, long] = [item.name for item in read.objects]
    assert short == "école de\ufffd"
    assert re.fullmatch(r"x{70}… [0-9a-f]{8}", long), (
        "as many letters as a name may have, told from others alike"
    )


def test_difficult():
    marks = ["<difficult>1</difficult>", "<difficult>0</difficult>", "", "<difficult>very</difficult>"]
    read, told = rows(annotation(*(voc_object(extra=mark) for mark in marks)))
    assert [item.difficult for item in read.objects] == [True, False, False, False]
    assert told == [("difficult 0 or 1", "object 4: very", "read as 0")]


def test_actions():
    good = "<actions><running>1</running><phoning>0</phoning></actions>"
    bad = "<actions><running>maybe</running><phoning>1</phoning></actions>"
    read, told = rows(annotation(voc_object(extra=good), voc_object(extra=bad), voc_object()))
    assert [item.actions for item in read.objects] == [
        {"running": True, "phoning": False},
        {"phoning": True},
        None,
    ]
    assert told == [("actions marked 0 or 1", "object 2: running maybe", "action ignored")]


@pytest.mark.parametrize(
    ("size", "claimed", "came"),
    [
        ("", None, None),
        ("<size><width>40</width><height>30</height></size>", (40, 30), None),
        ("<size><width>0</width><height>30</height></size>", None, "0 x 30"),
        ("<size><width>wide</width></size>", None, "wide x missing"),
        ("<size><width>-40</width><height>1e1</height></size>", None, "-40 x 1e1"),
    ],
)
def test_size(size, claimed, came):
    read, told = rows(annotation(voc_object(), size=size))
    assert read.size == claimed
    expected = ("the image's width and height in pixels", came, "kept; the image's own size is used")
    assert told == ([] if came is None else [expected])
