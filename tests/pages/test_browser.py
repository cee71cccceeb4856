"""One walk through the laboratory in a real browser, on a real server with real workers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from shapes import HOSTILE, write_shapes

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync"]
# Streamlit's page asks for these below the page's own path first, then at the root.
EXPECTED_404 = re.compile(r"/(image_sets|train|ranked_images)/_stcore/(health|host-config)$")
MILLISECONDS = 120_000  # two cores may be busy with something else

Page = Any
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on this machine; install it (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Server:
    """`streamlit run app.py` on a free port with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        options = {"server.port": self.port, "server.address": "127.0.0.1", "server.headless": "true"}
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "streamlit",
                "run",
                "app.py",
                *(f"--{name}={x}" for name, x in options.items()),
            ],
            cwd=ROOT,
            env={**os.environ, "RANKING_HOME": str(self.home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the server did not answer within 30 s")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("browser") / "home")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def visit(browser: Any, server: Server) -> Iterator[Visit]:
    """Open an address in a browser of its own; what must not happen in it fails the test at the end."""
    mishaps: list[str] = []
    contexts = []

    def open_it(path: str, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: mishaps.append(message.text) if is_mishap(message) else None)
        page.on("pageerror", lambda error: mishaps.append(str(error)))
        page.on(
            "request",
            lambda request: mishaps.append(request.url) if is_outside(request.url, server) else None,
        )
        page.goto(server.url + path)
        return page

    yield open_it
    for context in contexts:
        for page in context.pages:
            if page.get_by_test_id("stException").count():
                mishaps.append(f"an exception on {page.url}")
        context.close()
    assert not mishaps


def is_mishap(message: Any) -> bool:
    return message.type == "error" and not EXPECTED_404.search(message.location.get("url", ""))


def is_outside(url: str, server: Server) -> bool:
    return urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).port != server.port


def choose(page: Page, key: str, option: str) -> None:
    """Choose an option of the selectbox that edits `key` of the address; a page that runs again closes its list."""
    for _ in range(20):
        page.locator(f".st-key-widget-{key} input").click()
        try:
            page.get_by_role("option", name=option).click(timeout=3000)
            return
        except sync_api.TimeoutError:
            page.keyboard.press("Escape")
    raise AssertionError(f"no option {option!r} of {key} could be chosen")


def train(page: Page, query: str, method: str = "AP-SVM") -> None:
    page.locator(".st-key-train button").wait_for()
    choose(page, "query", query)
    choose(page, "method", method)
    page.get_by_text(f"More settings of {method}").wait_for()
    page.locator(".st-key-train button").click()
    page.get_by_text("Converged.").wait_for()


def metric(page: Page, label: str) -> float:
    shown = page.get_by_test_id("stMetric").filter(has_text=label).first
    return float(shown.get_by_test_id("stMetricValue").inner_text())


def test_from_an_empty_home_to_a_ranking(visit: Visit) -> None:
    page = visit("/")
    page.get_by_text("Preparing Digits").wait_for()
    page.locator(".tile").first.wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    train(page, "3 — ")
    page.get_by_role("button", name="Look at the ranked images").click()
    page.locator(".tile[data-mark=relevant]").first.wait_for()
    assert page.locator(".tile").count() == 200
    assert metric(page, "AP") > 0.9

    keyboard(page)
    run = re.search(r"run=(\w+)", page.url)
    assert run is not None
    elsewhere = visit(f"/ranked_images?run={run[1]}", color_scheme="dark")
    elsewhere.locator(".tile").first.wait_for()
    assert metric(elsewhere, "AP") == metric(page, "AP")
    elsewhere.goto(elsewhere.url.split("/ranked_images")[0] + f"/train?run={run[1]}")
    elsewhere.get_by_text("Converged.").wait_for()


def keyboard(page: Page) -> None:
    """Arrows move, one tile is in the tab order, Enter selects and shows the sample large."""
    page.locator(".tile").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) == "3"
    page.keyboard.press("ArrowDown")
    below = page.evaluate(FOCUSED)
    assert int(below) > 3
    page.keyboard.press("Enter")
    page.get_by_text(f"Rank {below} ·").wait_for()
    assert page.evaluate(FOCUSED) == below, "the focus stays where it was"
    assert page.locator(".tile[tabindex='0']").count() == 1
    assert page.locator(".tile[aria-selected=true] .left").inner_text() == below
    page.keyboard.press("End")
    assert page.evaluate(FOCUSED) == "200"


FOCUSED = """() => {
    let element = document.activeElement;
    while (element.shadowRoot) element = element.shadowRoot.activeElement;
    return element.querySelector(".left").textContent;
}"""


def test_a_folder_is_imported_looked_at_and_kept(visit: Visit, tmp_path: Path) -> None:
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    bring_in(page, write_shapes(tmp_path / "shapes"))
    page.get_by_text("What was not as expected").wait_for()
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("heading", name="Image photo_00").wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    train(page, HOSTILE[:20])
    page.get_by_role("button", name="Look at the ranked images").click()
    page.locator(".tile").first.wait_for()
    assert metric(page, "AP") == 1.0
    assert page.get_by_text("<img src=http://evil.example").count(), "shown as it is written"


def bring_in(page: Page, folder: Path) -> None:
    page.get_by_text("Import images of your own").click()
    page.get_by_label("Folder").fill(str(folder))
    page.get_by_label("Folder").press("Tab")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("keep it?").wait_for()


@pytest.mark.parametrize("path", ["/image_sets", "/train", "/ranked_images"])
def test_a_deep_link_may_be_the_first_request_of_a_server(visit: Visit, server: Server, path: str) -> None:
    server.stop()
    server.start()
    page = visit(path)
    page.locator(".tile, .st-key-train button").first.wait_for()
    assert urlsplit(page.url).path == path
    page.get_by_role("link", name="Ranked images").wait_for()


def test_back_undoes_one_step_at_a_time(visit: Visit) -> None:
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    choose(page, "set", "Digits — ")
    page.get_by_role("heading", name="Image 0000").wait_for()
    page.get_by_role("link", name="Train").click()
    page.locator(".st-key-train button").wait_for()
    choose(page, "query", "5 — ")
    page.wait_for_url(re.compile("query=5"))
    page.go_back()
    page.wait_for_function("document.querySelector('.st-key-widget-query input').value.startsWith('8 — ')")
    page.go_back()
    page.locator(".tile").first.wait_for()
    assert urlsplit(page.url).path == "/image_sets"


def test_a_wrong_address_is_said(visit: Visit) -> None:
    page = visit("/image_sets?set=nothing&sheet=x")
    page.locator(".tile").first.wait_for()
    assert page.get_by_text("The address asks for sheet").is_visible()
    assert "sheet=x" not in page.url


@pytest.mark.parametrize("width", [390])
def test_nothing_is_wider_than_a_phone(visit: Visit, width: int) -> None:
    for path in ("/image_sets", "/train", "/ranked_images"):
        page = visit(path)
        page.set_viewport_size({"width": width, "height": 844})
        page.locator(".tile, .st-key-train button").first.wait_for()
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 0


def test_the_helmets_photographs_from_folder_to_ranking(visit: Visit, real_data: Path) -> None:
    folder = real_data / "helmets" / "VOCdevkit"
    if not folder.is_dir():
        pytest.skip(f"no photographs at {folder}")
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    bring_in(page, folder)
    page.get_by_role("button", name="Keep").click()
    page.wait_for_function("document.querySelector('.st-key-widget-set input').value.includes('549 images')")
    page.get_by_role("button", name="Train on this image set").click()
    train(page, "helmet — ")
    page.get_by_role("button", name="Look at the ranked images").click()
    page.locator(".tile[data-mark=relevant]").first.wait_for()
    assert metric(page, "AP") > 0.8
