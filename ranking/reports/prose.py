"""Captions as HTML, texts made safe for markdown, tables as markdown, and numbers with a sign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ranking.reports.markup import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def escaped(text: str) -> str:
    """Escape `text` for markdown, so that it shows as written: labels and file names are untrusted.

    >>> escaped("a_b <img> [x](http://y)")
    'a\\\\_b \\\\<img\\\\> \\\\[x\\\\]\\\\(http\\\\:\\\\/\\\\/y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text.replace("\n", " "))


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as markdown, the first column left-aligned, all others right-aligned.

    >>> markdown_table(["", "AP"], [["SVM", "0.5"]])
    '|  | AP |\\n| --- | --: |\\n| SVM | 0.5 |'
    """
    # Cells are markdown.
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def signed(value: float, digits: int = 3, form: str = "f") -> str:
    """Return a number with its sign and a typographic minus.

    >>> signed(0.0447), signed(-0.0002), signed(-1.25, 1), signed(0.4123, 2, "g")
    ('+0.045', '−0.000', '−1.2', '+0.41')
    """
    # form: "f", or "g" for significant digits.
    return f"{value:+.{digits}{form}}".replace("-", "−")


def change(before: float, after: float, digits: int = 3) -> str:
    """Return `after` minus `before` with its sign, where both are shown beside it with the same digits.

    >>> change(0.5, 0.544), change(0.5, 0.25), change(0.6266, 0.8034)
    ('+0.044', '−0.250', '≈ +0.177')
    """
    # "≈" stands before it where the difference of the shown values is another one.
    first, last, difference = (float(f"{value:.{digits}f}") for value in (before, after, after - before))
    text = signed(after - before, digits)
    return text if round(last - first - difference, digits) == 0 else f"≈ {text}"


def signed_end(value: float) -> str:
    """Return an end of an interval with as many digits, 3 to 5, as show on which side of 0 it is.

    >>> signed_end(-0.01), signed_end(-0.0002), signed_end(0.0)
    ('−0.010', '−0.0002', '+0.000')
    """
    return signed(value, next((digits for digits in (3, 4, 5) if round(value, digits)), 3))


def inline(markdown: str) -> Markup:
    """Convert a caption from markdown to HTML: bold, italic, and backslash escapes.

    >>> inline(r"**a\\_b** <img>")
    '<strong>a_b</strong> &lt;img&gt;'
    """
    # Links, images and HTML are not supported and show as written.
    return Markup(_markdown().renderInline(markdown))


@cache
def _markdown() -> MarkdownIt:
    # only reports need it, and every page loads `escaped`
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["emphasis", "escape"])
