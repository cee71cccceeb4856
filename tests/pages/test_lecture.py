"""The lecture switch, and what a browser has before a page's script has begun."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs

from shown import charts_of
from starlette.responses import FileResponse
from starlette.types import Message, Scope

from pages.parts.app import first_paint
from pages.parts.app.first_paint import FirstPaint

LINKS = ("Lecture", "Show notes", "Hide notes", "End lecture")


def ways(app):
    """The link labels of a lecture and their targets; None for no lecture."""
    links = {link.proto.label: parse_qs(link.proto.query_string) for link in app.get("page_link")}
    return {label: links[label].get("lecture", [None])[0] for label in LINKS if label in links}


def test_a_lecture_begins_unfolds_its_notes_and_ends_by_links(laboratory, open_page):
    for lecture, expected in (
        (None, {"Lecture": "on"}),
        ("on", {"Show notes": "notes", "End lecture": None}),
        ("notes", {"Hide notes": "on", "End lecture": None}),
    ):
        app = open_page("start", **({} if lecture is None else {"lecture": lecture}))
        assert ways(app) == expected
        assert not app.warning


def test_charts_of_a_lecture_are_higher_with_larger_numbers(laboratory, open_page):
    plain, shown = (charts_of(open_page("assignment", **address)) for address in ({}, {"lecture": "on"}))
    for before, after in zip(plain, shown, strict=True):
        assert after["layout"]["height"] > before["layout"]["height"]
        assert after["layout"]["xaxis"]["tickfont"]["size"] > 12, "as Streamlit has it"


def get(path: Path, accept: str) -> tuple[dict[str, str], bytes]:
    """The response of FirstPaint, head and body, to a browser that has that file already and knows gzip."""
    answers: list[Message] = []
    sent = FileResponse(path)

    async def serve(scope: Scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        assert scope["headers"][1:] == (known if accept == "*/*" else [])
        await sent(scope, receive, send)

    async def send(message: Message) -> None:
        answers.append(message)

    known = [(b"if-none-match", b"known"), (b"accept-encoding", b"gzip")]
    headers = [(b"accept", accept.encode()), *known]
    asgi = {"spec_version": "2.4"}
    scope = {"type": "http", "asgi": asgi, "method": "GET", "path": "/train", "headers": headers}
    asyncio.run(FirstPaint(serve)(scope, lambda: None, send))  # type: ignore[arg-type, return-value]
    start, *bodies = answers
    head = {name.decode(): value.decode() for name, value in start["headers"]}
    return head, b"".join(message["body"] for message in bodies)


def test_the_style_of_all_pages_comes_with_the_html_and_with_nothing_else(tmp_path):
    page, script = tmp_path / "index.html", tmp_path / "index.js"
    page.write_text("<html><head></head><body><div>é</div></body></html>")
    script.write_text("'</body>'")
    head, body = get(page, "text/html,*/*")
    assert first_paint.FOLDER.joinpath("frame.css").read_text() in body.decode()
    assert first_paint.FOLDER.joinpath("first_paint.js").read_text() in body.decode()
    assert body.decode().startswith("<html><head></head><body><div>é</div><style>")
    assert body.endswith(b"</script></body></html>")
    assert int(head["content-length"]) == len(body)
    assert not {"etag", "last-modified"} & set(head), "the browser would keep it when the style is another"
    _, body = get(script, "*/*")
    assert body == script.read_bytes()
