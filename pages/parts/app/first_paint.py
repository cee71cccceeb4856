"""Adds the style of all pages and two scripts to Streamlit's HTML.

One script hides a page until it is complete, the other handles keys.

Elements of a page arrive one by one, and each would move the elements below it. Therefore the page is painted only when
all of them have arrived.
"""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = Path(__file__).parent
# below Streamlit's own styles, so that ours take precedence
END = "</body>"
# Request headers that are removed, so that the response is the complete HTML as text.
UNWANTED = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}


class FirstPaint:
    """Middleware that adds a style and two scripts to Streamlit's HTML."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        style, *scripts = (
            (FOLDER / name).read_text() for name in ("frame.css", "first_paint.js", "shortcuts.js")
        )
        added = "".join(f"<script>{script}</script>" for script in scripts)
        self._added = f"<style>{style}</style>{added}{END}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def added(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_html(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    whole = bytes(body).replace(END.encode(), self._added, 1)
                    headers = MutableHeaders(raw=start["headers"])
                    headers["content-length"] = str(len(whole))
                    # these describe the original HTML
                    for name in ("etag", "last-modified"):
                        del headers[name]
                    await send(start)
                    await send({**message, "body": whole})

        headers = [pair for pair in scope["headers"] if pair[0] not in UNWANTED]
        await self._app({**scope, "headers": headers}, receive, added)


def _is_html(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")
