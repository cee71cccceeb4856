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


def read(data):
    """The annotation, and what came of each problem."""
    annotated, problems = read_annotation(data, "x.xml")
    assert {problem.file for problem in problems} <= {"x.xml"}
    return annotated, [problem.came for problem in problems]


def test_declarations_are_refused_before_anything_is_expanded():
    start = time.process_time()
    for name, data in HOSTILE.items():
        with pytest.raises(Refused):
            parse_xml(data)
        annotated, (came,) = read(data)
        assert annotated is None, name
        assert "DOCTYPE" in came
    assert time.process_time() - start < 2


def test_the_word_doctype_in_a_comment_or_text_is_no_declaration():
    data = annotation("<!-- <!DOCTYPE x [<!ENTITY y 'z'>]> -->", voc_object("&lt;!DOCTYPE&gt; &#65;&amp;"))
    assert read(data)[0].objects[0].name == "<!DOCTYPE> A&"


def test_broken_xml():
    for data in (
        b"",
        b"\xff\xd8\xff\xe0 a photograph",
        b"<annotation><object></annotation>",
        b"<annotation><object>",
        annotation() + b"<annotation/>",
        b"<annotation>&unknown;</annotation>",
        b"<annotation>\xe9t\xe9</annotation>",
        b'<?xml version="1.0" encoding="klingon"?><annotation/>',
        b'<?xml version="1.0" encoding="shift_jis"?><annotation/>',
        b'<?xml version="1.0" encoding="UTF-16"?><annotation/>',
        b"<annotation>\0</annotation>",
    ):
        annotated, problems = read(data)
        assert annotated is None, data
        assert len(problems) == 1
    assert read(b"<svg/>") == (None, ["<svg>"])


def test_too_large_and_too_deep(monkeypatch):
    for content in (b"<a>" * 32, b"<a>" * 100_000):
        annotated, (came,) = read(b"<annotation>" + content)
        assert annotated is None
        assert "32" in came
    assert read(b"<annotation>" + b"<a>" * 31 + b"</a>" * 31 + b"</annotation>")[0] is not None
    monkeypatch.setattr(voc_annotation, "MAX_XML_BYTES", 2**20)
    annotated, [problem] = read_annotation(annotation(" " * 2**20), "x.xml")
    assert annotated is None
    assert "1 MB" in problem.expected


MANY = b">" * (4 * 2**20 - 100)


def test_pieces_do_not_add_up():
    start = time.process_time()
    for data in (
        b'<annotation><a b="' + MANY + b'"/></annotation>',
        b"<annotation><!--" + MANY + b"--></annotation>",
        b"<annotation><?x " + MANY + b"?></annotation>",
        b"<annotation>" + b"<a/>" * 200_000 + b"</annotation>",
        b"<annotation/><!--" + MANY + b"-->",
    ):
        assert parse_xml(data).tag == "annotation"
    assert time.process_time() - start < 30, (
        "elements take 0.2 s, 1 where coverage is counted; squared, hours"
    )


def test_a_long_prolog_is_refused_soon():
    start = time.process_time()
    for prolog in (
        b"<!--" + MANY + b"-->",
        b"<?x " + MANY + b"?>",
        b"\n" * 70_000,
        b'<a b="' + MANY + b'"/>',
        b"<!---->" * 2000,
    ):
        annotated, (came,) = read(prolog + b"<annotation/>")
        assert annotated is None
        assert "64 kB" in came
    assert time.process_time() - start < 2


def test_a_prolog_of_a_few_comments_is_read():
    prolog = b'<?xml version="1.0"?>' + b"<!-- drawn by hand -> checked -->\n" * 100
    assert read(prolog + annotation(voc_object("cat")))[0].objects[0].name == "cat"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_that_work(encoding):
    declared = encoding.replace("-sig", "")
    text = f'<?xml version="1.0" encoding="{declared}"?>' + annotation(voc_object("été")).decode()
    assert read(text.encode(encoding))[0].objects[0].name == "été"


def test_boxes_count_from_0_and_end_open():
    annotated, problems = read(
        annotation(voc_object("cat", (1, 2, 1, 30)), voc_object("dog", (" 4.5 ", "1e1", 9, 10)))
    )
    assert problems == []
    assert [item.box for item in annotated.objects] == [(0, 1, 1, 30), (3.5, 9, 9, 10)]


BAD_BOXES = [
    (voc_object("cat", ("left", 1, 2, 3)), "xmin left, ymin 1, xmax 2, ymax 3"),
    (voc_object("cat", ("nan", 1, 2, 3)), "xmin nan, ymin 1, xmax 2, ymax 3"),
    (voc_object("cat", (1, 1, "inf", 3)), "xmin 1, ymin 1, xmax inf, ymax 3"),
    (voc_object("cat", (1, "1_0", 2, 30)), "xmin 1, ymin 1_0, xmax 2, ymax 30"),
    (voc_object("cat", (1, "١", 2, 30)), "xmin 1, ymin ١, xmax 2, ymax 30"),
    (voc_object("cat", (5, 1, 3, 3)), "xmin 5, ymin 1, xmax 3, ymax 3"),
    (voc_object("cat", (1, 9, 3, 8)), "xmin 1, ymin 9, xmax 3, ymax 8"),
    (voc_object("cat", (1, "", 3, 8)), "xmin 1, ymin missing, xmax 3, ymax 8"),
    ("<object><name>cat</name></object>", "no bndbox"),
    ("<object><name>cat</name><part><bndbox/></part></object>", "no bndbox"),
    ("<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>", "xmin 1, ymin missing"),
]


def test_a_bad_box_is_left_out_and_the_others_keep_their_numbers():
    for bad, came in BAD_BOXES:
        annotated, problems = read(annotation(voc_object("dog"), bad, voc_object("emu")))
        assert [(item.number, item.name) for item in annotated.objects] == [(1, "dog"), (3, "emu")]
        assert annotated.count == 3
        assert len(problems) == 1
        assert problems[0].startswith(f"object 2: {came}")


def test_an_object_without_a_name():
    for name in ("", "  \n "):
        annotated, problems = read(annotation(voc_object(name), "<object/>"))
        assert annotated.objects == ()
        assert [came[:8] for came in problems] == ["object 1", "object 2"]


def test_names_are_made_fit_to_show():
    annotated, _ = read(annotation(voc_object(" e\u0301cole\n de\u202e "), voc_object("x" * 500)))
    [short, long] = [item.name for item in annotated.objects]
    assert short == "école de\ufffd"
    assert re.fullmatch(r"x{70}… [0-9a-f]{8}", long), (
        "as many letters as a name may have, told from others alike"
    )


def test_difficult():
    marks = ["<difficult>1</difficult>", "<difficult>0</difficult>", "", "<difficult>very</difficult>"]
    annotated, problems = read(annotation(*(voc_object(extra=mark) for mark in marks)))
    assert [item.difficult for item in annotated.objects] == [True, False, False, False]
    assert problems == ["object 4: very"]


def test_actions():
    good = "<actions><running>1</running><phoning>0</phoning></actions>"
    bad = "<actions><running>maybe</running><phoning>1</phoning></actions>"
    annotated, problems = read(annotation(voc_object(extra=good), voc_object(extra=bad), voc_object()))
    assert [item.actions for item in annotated.objects] == [
        {"running": True, "phoning": False},
        {"phoning": True},
        None,
    ]
    assert problems == ["object 2: running maybe"]


def test_size():
    for size, claimed, came in (
        ("", None, []),
        ("<size><width>40</width><height>30</height></size>", (40, 30), []),
        ("<size><width>0</width><height>30</height></size>", None, ["0 x 30"]),
        ("<size><width>wide</width></size>", None, ["wide x missing"]),
        ("<size><width>-40</width><height>1e1</height></size>", None, ["-40 x 1e1"]),
    ):
        annotated, problems = read(annotation(voc_object(), size=size))
        assert (annotated.size, problems) == (claimed, came)
