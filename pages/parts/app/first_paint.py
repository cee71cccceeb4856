"""What a browser has before a page's script has begun: the style of all pages, and what hides a page until it is whole.

A page comes piece by piece, and each piece would move those below it. So the first that is painted is all of it.
"""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = Path(__file__).parent
END = "</body>"  # below the styles that Streamlit makes, of which ours then come last
# Of a request: all of the HTML shall come, as text.
UNWANTED = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}


class FirstPaint:
    """Middleware that adds frame.css and first_paint.js to Streamlit's HTML."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        style, script = ((FOLDER / name).read_text() for name in ("frame.css", "first_paint.js"))
        self._added = f"<style>{style}</style><script>{script}</script>{END}".encode()

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
                    for name in ("etag", "last-modified"):  # of what nothing was added to
                        del headers[name]
                    await send(start)
                    await send({**message, "body": whole})

        headers = [pair for pair in scope["headers"] if pair[0] not in UNWANTED]
        await self._app({**scope, "headers": headers}, receive, added)


def _is_html(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")
