"""Untrusted XML, read up to a limit, with a clear error for any content.

A document type declaration is refused, and with it every entity, internal or external: no annotation needs one.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ranking.files import Unusable

# of an annotation file for one image
MAX_XML_BYTES = 4 * 2**20
MAX_DEPTH = 32
EXPECTED = "XML without declarations"
# up to the end of the first element's tag
MAX_PROLOG_BYTES = 64 * 2**10
MAX_PROLOG_PIECES = 1_000
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def xml_root(data: bytes, tag: str) -> Element:
    """Return the root of a document, a `tag`; Unusable if it has declarations or cannot be read."""
    try:
        root = parse_xml(data)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise Unusable("XML that can be read", str(error) if data else "an empty file") from error
    if root.tag != tag:
        raise Unusable(f"an <{tag}> element at the top", f"<{root.tag}>")
    return root


def parse_xml(data: bytes) -> Element:
    """Return the root element, in linear time. ExpatError, LookupError or ValueError for invalid XML, Unusable for
    hostile XML."""
    builder, depth, started = TreeBuilder(), 0, False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, started
        depth, started = depth + 1, True
        if depth > MAX_DEPTH:
            raise Unusable(EXPECTED, f"elements nested more than {MAX_DEPTH} deep")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

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
