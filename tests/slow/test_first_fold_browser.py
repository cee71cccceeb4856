"""Each page of a new data folder on a projector: few words on the first fold, and a stable layout.

In a lecture, one image with its control fills the screen.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import Page, Server, settle
from walking import served

from pages.parts.app.menu import PAGES, PLACES

SCREEN = {"width": 1280, "height": 720}
MAX_WORDS = 90
WHOLE = "document.documentElement.dataset.whole"
WITH_PICTURES = [page for place, pages in PLACES.items() if place != "Lessons" for page in pages]
# of the height of the screen, down to the foot of the picture
LEAST_FILLED = 0.8
# A word has two letters that stand together; what a person cannot see has none.
WORDS = """() => {
    const hidden = (element) => {
        for (; element; element = element.parentElement) {
            const style = getComputedStyle(element);
            if (style.visibility === "hidden" || style.display === "none" || style.opacity === "0") return true;
            if (element.matches("style, script, .katex-mathml")) return true;
        }
        return false;
    };
    const roots = [document.body];
    for (const element of document.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
    const words = [];
    for (const root of roots) {
        const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const text = texts.currentNode, range = document.createRange();
            range.selectNodeContents(text);
            const box = range.getBoundingClientRect();
            const drawn = text.parentElement.checkVisibility();
            const seen = drawn && box.width >= 2 && box.height >= 2 && box.bottom >= 0 && box.top <= innerHeight - 5;
            if (seen && !hidden(text.parentElement))
                words.push(...text.textContent.split(/\\s+/).filter((word) => /[A-Za-z]{2,}/.test(word)));
        }
    }
    return words;
}"""
# What moved after the first paint, but for what a person's input moved: how far, what, and where it stood before.
SHIFTS = """() => new Promise((done) => {
    const shifts = [];
    const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    observer.observe({type: "layout-shift", buffered: true});
    const name = ({ node, previousRect: { top }, currentRect }) =>
        `${node?.className || node?.parentElement?.className || node?.nodeName}: ${top} → ${currentRect.top}`;
    const words = ({ value, startTime, sources }) =>
        `${value.toFixed(4)} at ${startTime | 0} ms: ${sources.map(name).join("; ")}`;
    setTimeout(() => done(shifts.filter(({ hadRecentInput }) => !hadRecentInput).map(words)), 500);
})"""
PICTURES = """() => {
    const parts = [...document.querySelectorAll("[class*=st-key-picture-]")];
    const boxes = parts.map((part) => part.getBoundingClientRect());
    const main = document.querySelector("[data-testid=stMain]");
    return {
        foot: Math.max(...boxes.map((box) => box.bottom)) / innerHeight,
        right: Math.max(...boxes.map((box) => box.right)),
        scrolls: main.scrollHeight - main.clientHeight,
    };
}"""
# On a busy machine a component may be a grey bar or empty for seconds: what is below it stands higher meanwhile.
PAINTED = """() => !document.querySelector("[data-testid=stSkeleton]")
    && [...document.querySelectorAll(".stBidiComponent *")].every(
        (element) => !element.shadowRoot?.querySelector("[class]")?.matches(":empty"))"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose home is new."""
    with served(tmp_path_factory.mktemp("first fold")) as server:
        yield server


@pytest.fixture
def painted(visit):
    """Opens a page on the projector and waits until its words stay."""

    def open_it(address: str) -> Page:
        # where the start page stands
        page = visit(address.replace("/start", "/", 1), viewport=SCREEN)
        stand(page)
        return page

    return open_it


def stand(page: Page) -> None:
    """Wait until the words and the pictures of a page stay."""
    page.locator("h1").first.wait_for()
    page.wait_for_function(PAINTED)
    seen = None
    while seen != (seen := (page.evaluate(WORDS), page.evaluate(PICTURES))):
        page.wait_for_timeout(1500)
        settle(page)


@pytest.mark.parametrize("name", PAGES)
def test_a_first_fold_has_few_words_and_stands_still(painted, name):
    page = painted(f"/{name}")
    words = page.evaluate(WORDS)
    assert len(words) <= MAX_WORDS, f"{len(words)}: {' '.join(words)}"
    # on a busy machine a page is shown before, after two seconds
    if page.evaluate(WHOLE) == "still":
        assert page.evaluate(SHIFTS) == []


@pytest.mark.parametrize("name", WITH_PICTURES)
def test_a_lecture_shows_one_picture_that_fills_the_screen(painted, name):
    page = painted(f"/{name}?lecture=on")
    pictures = page.evaluate(PICTURES)
    assert pictures["scrolls"] == 0
    assert LEAST_FILLED <= pictures["foot"] <= 1
    assert pictures["right"] <= SCREEN["width"]
    assert not page.get_by_test_id("stCaptionContainer").locator("visible=true").count()
    page.locator("a:visible", has_text="Show notes").click()
    page.get_by_test_id("stCaptionContainer").locator("visible=true").first.wait_for()
    # so that a reload and the next step stay in the lecture
    page.wait_for_url("**lecture=notes*")
