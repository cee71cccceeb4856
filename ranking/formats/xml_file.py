"""Untrusted XML, read up to a limit, with a clear error for any content.

A document type declaration is refused, and with it every entity, internal or external: no annotation needs one.
"""

from __future__ import annotations

import codecs
import re
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ranking.files import Unusable

# of an annotation file for one image
MAX_XML_BYTES = 4 * 2**20
DECLARED = re.compile(rb"[\xef\xbb\xbf\s]*<\?xml\b[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# text encodings of Python for other purposes, some of them slow
NO_CHARACTER_SETS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
MAX_DEPTH = 32
EXPECTED = "XML without declarations"
# up to the end of the first element's tag
MAX_PROLOG_BYTES = 64 * 2**10
MAX_PROLOG_PIECES = 1_000
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def xml_root(data: bytes, tag: str, encoding: str = "") -> Element:
    """Return the root of a document, a `tag` in any case; Unusable if it has declarations or cannot be read."""
    try:
        root = parse_xml(_text(data, encoding).encode())
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise Unusable("XML that can be read", str(error) if data else "an empty file") from error
    if root.tag.lower() != tag:
        raise Unusable(f"an <{tag}> element at the top", f"<{root.tag}>")
    return root


def _text(data: bytes, encoding: str) -> str:
    """Return the text of a document without its declaration. encoding: "" for the one that it declares.

    Python knows more encodings than expat. Bytes that are valid UTF-8 are UTF-8 where an encoding of single bytes,
    which has no invalid text, is declared; of other encodings the declared one goes first, then UTF-8. A byte that
    neither knows becomes a replacement character.
    """
    declared = DECLARED.match(data)
    name = encoding or (declared[1].decode() if declared else "utf-8")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
    elif b"\0" in data[:2]:
        name = "utf-16-be" if data[0] == 0 else "utf-16-le"
    elif re.fullmatch("(utf|ucs)[-_]?(16|32|2|4).*", name.lower()):
        # what was read as ASCII up to here is not of 16 bits
        name = "utf-8"
    if codecs.lookup(name).name in NO_CHARACTER_SETS:
        raise LookupError(f"unknown encoding: {name}")
    single = len(str(b"\xc3\xa9", name, "replace")) == 2
    for candidate in ("utf-8-sig", name) if single and not encoding else (name, "utf-8-sig"):
        try:
            return _without_declaration(str(data, candidate))
        except UnicodeDecodeError:
            continue
    return _without_declaration(str(data, name, "replace"))


def _without_declaration(text: str) -> str:
    return re.sub(r"^[\ufeff\s]*<\?xml\b[^>]{0,200}\?>", "", text)


def child(element: Element, tag: str) -> Element | None:
    """Return the first child of that name, in any case."""
    return next((inner for inner in element if inner.tag.lower() == tag), None)


def text_of(element: Element, tag: str) -> str:
    """Return the text of the first child of that name, "" if there is none."""
    inner = child(element, tag)
    return (inner.text or "").strip() if inner is not None else ""


def parse_xml(data: bytes) -> Element:
    """Return the root element, in linear time. ExpatError, LookupError or ValueError for invalid XML, Unusable for
    hostile XML."""
    builder, depth, started = TreeBuilder(), 0, False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, started
        depth, started = depth + 1, True
        if depth > MAX_DEPTH:
            raise Unusable(EXPECTED, f"elements nested more than {MAX_DEPTH} deep")
        builder.start(tag.rpartition(":")[2], attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag.rpartition(":")[2])

    def refuse(*_: object) -> None:
        raise Unusable(EXPECTED, "a document type declaration (DOCTYPE, ENTITY)")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    # Expat continues to the end of a piece after a handler raises. Before the first element, pieces end at every ">",
    # so that a piece with a DOCTYPE cannot also use an entity: no version of expat expands one. After the first element
    # no DOCTYPE is possible, and the rest is one piece, read in time linear in its length.
    fed = 0
    for number, mark in enumerate(re.finditer(rb">", data)):
        if started:
            break
        if number >= MAX_PROLOG_PIECES or mark.end() > MAX_PROLOG_BYTES:
            raise Unusable(
                EXPECTED,
                f"no element within the first {MAX_PROLOG_BYTES // 2**10} kB and {MAX_PROLOG_PIECES:,} '>'",
            )
        parser.Parse(data[fed : mark.end()], False)
        fed = mark.end()
    parser.Parse(data[fed:], False)
    parser.Parse(b"", True)
    root: Element = builder.close()
    return root
