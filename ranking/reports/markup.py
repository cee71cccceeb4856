"""HTML and SVG that cannot carry untrusted markup: every text that is not `Markup` is escaped."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable


class Markup(str):
    """A text that is HTML already; only `element`, `joined` and constants of this package create it."""


def element(tag: str, *content: str, **attributes: str | float | None) -> Markup:
    """Return an element of HTML or SVG, its texts escaped, without attributes that are None.

    >>> element("p", "a < b", element("b", "c"), class_="note", data_x='"')
    '<p class="note" data-x="&quot;">a &lt; b<b>c</b></p>'
    >>> element("img", alt="x")
    '<img alt="x">'
    """
    # `class_` stands for class and `_` for a hyphen, because Python has no such names.
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(_written(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in ("img", "meta", "br", "link"):
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(content)}</{tag}>")


def joined(parts: Iterable[str]) -> Markup:
    """Join the parts; texts are escaped.

    >>> joined(["<", Markup("<br>")])
    '&lt;<br>'
    """
    return Markup("".join(part if isinstance(part, Markup) else html.escape(part) for part in parts))


def data_url(data: bytes, kind: str = "") -> str:
    """A file as an address that holds it all. kind: of the file; "" for a thumbnail, which is WebP or JPEG.

    >>> data_url(b"a", "text/plain"), data_url(b"RIFF"), data_url(bytes([255, 216]))
    ('data:text/plain;base64,YQ==', 'data:image/webp;base64,UklGRg==', 'data:image/jpeg;base64,/9g=')
    """
    kind = kind or ("image/webp" if data.startswith(b"RIFF") else "image/jpeg")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
