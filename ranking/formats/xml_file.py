"""Untrusted XML, with a clear error for any content.

A document type declaration is refused, and with it every entity, internal or external: no annotation needs one.
"""

from __future__ import annotations

import contextlib
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ranking.files import Unusable

DECLARED = re.compile(rb"[\xef\xbb\xbf\s]*<\?xml\b[^>]*?encoding\s*=\s*[\"']([\w.:-]+)[\"']")
DECLARATIONS = ("<!DOCTYPE", "<!ENTITY")


def xml_root(data: bytes, tag: str, encoding: str = "") -> Element:
    """Return the root of a document, a `tag` in any case; Unusable if it has declarations or cannot be read.

    encoding: of the text; "" for the one that the document declares.
    """
    try:
        text = _text(data, encoding).lstrip("\ufeff \t\r\n")
        if any(declaration in text for declaration in DECLARATIONS):
            raise Unusable("XML without declarations", "a document type declaration (DOCTYPE, ENTITY)")
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise Unusable("XML that can be read", str(error) if data else "an empty file") from error
    for element in root.iter():
        # without its namespace
        element.tag = element.tag.rpartition("}")[2]
    if root.tag.lower() != tag:
        raise Unusable(f"an <{tag}> element at the top", f"<{root.tag}>")
    return root


def _text(data: bytes, encoding: str) -> str:
    """Return the text of a document. Python knows more encodings than the parser.

    Bytes that are valid UTF-8 are UTF-8 where an encoding of single bytes, which has no invalid text, is declared; of
    other encodings the declared one goes first, then UTF-8. A byte that neither knows becomes a replacement character.
    """
    declared = DECLARED.match(data)
    name = encoding or (declared[1].decode() if declared else "utf-8")
    if b"\0" in data[:4]:
        name = "utf-16"
    elif name.lower().startswith("utf-16"):
        # what was read as ASCII up to here is not of 16 bits
        name = "utf-8"
    is_single = len(str(b"\xc3\xa9", name, "replace")) == 2
    for candidate in ("utf-8", name) if is_single and not encoding else (name, "utf-8"):
        with contextlib.suppress(UnicodeDecodeError):
            return str(data, candidate)
    return str(data, name, "replace")


def child(element: Element, tag: str) -> Element | None:
    """Return the first child of that name, in any case."""
    return next((inner for inner in element if inner.tag.lower() == tag), None)


def text_of(element: Element, tag: str) -> str:
    """Return the text of the first child of that name, "" if there is none."""
    inner = child(element, tag)
    return (inner.text or "").strip() if inner is not None else ""
