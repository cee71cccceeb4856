"""A real browser on a real server: what the browser tests share."""

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
from filled_home import copy_home

ROOT = Path(__file__).parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-component-update", "--disable-background-networking"]
# Streamlit's page asks for these below the page's own path first, then at the root.
EXPECTED_404 = re.compile(r"/\w+/_stcore/(health|host-config)$")
# two cores may be busy with something else, and the first training computes features
MILLISECONDS = 240_000

Page = Any
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
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
        self.log = home.with_name(f"{home.name}.log")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Return when it answers."""
        options = [f"--server.port={self.port}", "--server.address=127.0.0.1", "--server.headless=true"]
        command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
        environment = {**os.environ, "RANKING_HOME": str(self.home)}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the server did not answer within 120 s")

    def last_log(self) -> str:
        """The end of its output: a page does not say what an exception was."""
        return self.log.read_text(errors="replace")[-3000:]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture(scope="module")
def server(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("browser") / "home")
    copy_home(furnished, server.home)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def visit(browser: Any, server: Server) -> Iterator[Visit]:
    """Open an address in a browser of its own; what must not happen in it fails the test at the end."""
    mishaps: list[str] = []
    contexts = []

    def open_it(path: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: mishaps.append(message.text) if is_mishap(message) else None)
        page.on("pageerror", lambda error: mishaps.append(str(error)))
        page.on("request", lambda sent: mishaps.append(sent.url) if is_outside(sent.url, server) else None)
        page.goto(server.url + path)
        return page

    yield open_it
    for context in contexts:
        for page in context.pages:
            if page.get_by_test_id("stException").count():
                mishaps.append(f"an exception on {page.url}: {server.last_log()}")
        context.close()
    assert not mishaps, mishaps


def is_mishap(message: Any) -> bool:
    return message.type == "error" and not EXPECTED_404.search(message.location.get("url", ""))


def is_outside(url: str, server: Server) -> bool:
    return urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).port != server.port


def choose(page: Page, key: str, option: str, milliseconds: int = MILLISECONDS) -> None:
    """Choose the option that begins so in a selectbox; a page that runs again closes its list."""
    # A bundled image set is an option once it is made: at a first start, on a busy machine, after minutes.
    # Playwright reads it between slashes
    begins = re.compile("^" + re.escape(option).replace("/", r"\/"))
    last = time.monotonic() + milliseconds / 1000
    while time.monotonic() < last:
        page.locator(f".st-key-widget-{key} input").click()
        try:
            page.get_by_role("option", name=begins).click(timeout=3000)
            return
        except Exception as error:
            # playwright's own, which can be imported only where it is installed
            if type(error).__name__ != "TimeoutError":
                raise
            page.keyboard.press("Escape")
    raise AssertionError(f"no option {option!r} of {key} could be chosen")


def import_folder(page: Page, folder: Path) -> None:
    page.get_by_text("Import your own images").click()
    settle(page)
    page.get_by_label("Folder or archive").fill(str(folder))
    page.get_by_label("Folder or archive").press("Tab")
    settle(page)
    page.get_by_role("button", name="Read", exact=True).click()
    page.get_by_text("One sample from each").wait_for()
    page.locator(".st-key-add-set button").click()
    page.get_by_role("button", name="Undo").wait_for()


def train(page: Page, query: str, method: str = "AP-SVM") -> None:
    page.locator(".st-key-train button").wait_for()
    choose(page, "query", query)
    choose(page, "method", method)
    page.get_by_text(f"More settings of {method}").wait_for()
    settle(page)
    page.locator(".st-key-train button").click()
    page.get_by_text("Converged.").wait_for()


def settle(page: Page) -> None:
    """Wait until the page's script is not running: what is pressed or typed while it runs may be lost."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def metric(page: Page, label: str) -> float:
    shown = page.get_by_test_id("stMetric").filter(has_text=label).first
    return float(shown.get_by_test_id("stMetricValue").inner_text())
