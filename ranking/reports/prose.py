"""Captions as HTML: the part of markdown that pages speak, with formulas; and texts made safe for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ranking.reports.markup import Markup, element, joined
from ranking.reports.mathematics import formula

SIGN = re.compile(r"\\(?P<kept>[!-/:-@\[-`{-~])|\$(?P<tex>[^$\n]+)\$|`(?P<code>[^`]+)`|(?P<star>\*\*|\*)")
HEADING = re.compile(r"#{1,6} +(.*)")
RULE = re.compile(r"[|:\- ]+")  # the line below the heads of a table
TAGS = {"**": "b", "*": "i"}


def escaped(text: str) -> str:
    """`text` for what reads markdown, so that it shows as written: labels and file names are hostile.

    >>> escaped("a_b <img> [x](http://y)")
    'a\\\\_b \\\\<img\\\\> \\\\[x\\\\]\\\\(http\\\\:\\\\/\\\\/y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text.replace("\n", " "))


def prose(markdown: str, class_: str | None = None) -> Markup:
    """Headings, tables and paragraphs, a line each; headings stand at the third level, below those of the file. Links,
    pictures and HTML are no part of it: they show as written.

    >>> prose("## AP **up**")
    '<h3>AP <b>up</b></h3>'
    >>> prose("a < b", "note")
    '<p class="note">a &lt; b</p>'
    """
    made = []
    lines = (line.strip() for line in markdown.splitlines())
    for of_table, group in itertools.groupby(filter(None, lines), lambda line: line.startswith("|")):
        if of_table:
            made.append(_table(list(group)))
            continue
        for line in group:
            heading = HEADING.fullmatch(line)
            made.append(
                element("h3", inline(heading[1])) if heading else element("p", inline(line), class_=class_)
            )
    return joined(made)


def inline(text: str) -> Markup:
    """One line: **bold**, *italic*, `code`, $formulas$ and backslashes before signs that mean themselves.

    >>> inline(r"**a\\_b** $x$ <img>")
    '<b>a_b</b> <math><mi>x</mi></math> &lt;img&gt;'
    """
    open_: list[tuple[str, list[str]]] = [("", [])]
    end = 0
    for found in SIGN.finditer(text):
        open_[-1][1].append(text[end : found.start()])
        end = found.end()
        if (star := found["star"]) is None:
            open_[-1][1].append(_of_sign(found))
        elif open_[-1][0] == star:
            _, parts = open_.pop()
            open_[-1][1].append(element(TAGS[star], *parts))
        else:
            open_.append((star, []))
    open_[-1][1].append(text[end:])
    return joined(part for star, parts in open_ for part in (star, *parts))


def _of_sign(found: re.Match[str]) -> str:
    if found["kept"] is not None:
        return found["kept"]
    return element("code", found["code"]) if found["code"] is not None else formula(found["tex"])


def _table(lines: Sequence[str]) -> Markup:
    """Lines of cells between bars; the first are heads where a rule follows."""
    rows = [
        [inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for line in lines
        if not RULE.fullmatch(line)
    ]
    heads = element("thead", element("tr", *(element("th", cell, scope="col") for cell in rows[0])))
    body = [
        element(
            "tr", element("th", first, scope="row"), *(element("td", cell, class_="fact") for cell in rest)
        )
        for first, *rest in rows[1:]
    ]
    return element("div", element("table", heads, element("tbody", *body)), class_="wide")
