"""What walks in a real browser share beside `browsing`: servers of their own, phones, the focus, what is dropped."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browsing import Page, Server, settle
from filled_home import copy_home

FOCUS = """() => {
    let focus = document.activeElement;
    while (focus.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
    return %s;
}"""
DROP = """(zone, [data, name]) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const dragged = new DataTransfer();
    dragged.items.add(new File([bytes], name, {type: "application/zip"}));
    for (const kind of ["dragenter", "dragover", "drop"])
        zone.dispatchEvent(new DragEvent(kind, {dataTransfer: dragged, bubbles: true, cancelable: true}));
}"""


@contextmanager
def served(folder: Path, home: Path | None = None) -> Iterator[Server]:
    """A server that runs; its home is a copy of `home`, or empty."""
    server = Server(folder / "home")
    if home is not None:
        copy_home(home, server.home)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def shown(page: Page, what: str = ".tile") -> Page:
    """The page once this is on it and its script has ended."""
    page.locator(what).first.wait_for()
    settle(page)
    return page


def narrow(page: Page) -> None:
    """Have the page be that of a phone."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)


def of_focus(page: Page, what: str) -> Any:
    """What JavaScript says of the element `focus` that has it, also in a component's own tree."""
    return page.evaluate(FOCUS % what)


def tab_until(page: Page, what: str) -> None:
    """Press Tab until this is true of the element `focus`."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if of_focus(page, what):
            return
    raise AssertionError(f"Tab reaches nothing of which this is true: {what}")


def bring(page: Page, data: bytes, name: str) -> None:
    """Drop a ZIP file on the page of image sets."""
    page.get_by_text("Import images of your own").click()
    zone = page.get_by_test_id("stFileUploaderDropzone").first
    zone.wait_for()
    settle(page)
    zone.evaluate(DROP, [base64.b64encode(data).decode(), name])
