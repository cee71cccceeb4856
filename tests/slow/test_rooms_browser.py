"""Two visitors of one server in real browsers, each in a room of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import Page, Server
from ranking.storage.rooms import Rooms
from walking import shown

from ranking.storage.store import Store


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that has rooms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKING_ROOMS", "on")
        server = Server(tmp_path_factory.mktemp("rooms") / "home")
        server.start()
    yield server
    server.stop()


def room_of(page: Page) -> str:
    [named] = parse_qs(urlsplit(page.url).query)["room"]
    return named


def test_two_visitors_have_rooms_and_links_copies_and_bookmarks_lead_back(visit, server):
    anna, bert = visit("/"), visit("/", permissions=["clipboard-read", "clipboard-write"])
    for page in (anna, bert):
        page.get_by_role("heading", name=re.compile("^Your workspace: ")).wait_for()
    assert room_of(anna) != room_of(bert)

    bert.get_by_role("button", name="Copy the link").click()
    bert.get_by_role("button", name="Copied").wait_for()
    copied = bert.evaluate("navigator.clipboard.readText()")
    assert copied == f"{server.url}/?room={room_of(bert)}"

    anna.get_by_role("link", name="Train", exact=True).click()
    anna.wait_for_url(re.compile("run="))  # of an example, which the page opens on
    example = anna.url
    shown(anna, ".st-key-train button").locator(".st-key-train button").click()
    anna.wait_for_url(lambda url: "run=" in url and url != example)
    anna.get_by_text("Converged.").first.wait_for()
    room = room_of(anna)
    [run] = Store(Path(server.home) / "rooms" / room).runs.all_own("train")
    assert f"run={run.id}" in anna.url

    address = urlsplit(anna.url)
    anna.reload()
    anna.get_by_text("Converged.").first.wait_for()
    stolen = visit(f"{address.path}?{address.query}".replace(room, room_of(bert)))
    stolen.get_by_text(f"'{run.id}'").first.wait_for()
    again = visit(f"/?room={room}")
    again.get_by_role("heading", name=f"Your workspace: {room[:4]}…").wait_for()
    again.get_by_role("link", name="Train", exact=True).click()
    again.get_by_text("Training runs", exact=True).wait_for()
    assert room_of(again) == room

    assert {row.name for row in Rooms(server.home).all()} == {room, room_of(bert)}
