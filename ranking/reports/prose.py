"""Captions as HTML, and texts made safe for markdown."""

from __future__ import annotations

import re
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


def inline(markdown: str) -> Markup:
    """Convert a caption from markdown to HTML: bold, italic, and backslash escapes. Links, images and HTML are not
    supported and show as written.

    >>> inline(r"**a\\_b** <img>")
    '<strong>a_b</strong> &lt;img&gt;'
    """
    return Markup(_markdown().renderInline(markdown))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only reports need it, and every page loads `escaped`

    return MarkdownIt("zero").enable(["emphasis", "escape"])
