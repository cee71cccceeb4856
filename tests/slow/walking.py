"""Common parts of browser tests beside `browsing`: servers, phones, the focus, dropped files."""

from __future__ import annotations

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


# WCAG 2.2, 1.4.3: contrast of text
READABLE = 4.5
# Every visible text with its contrast to what it stands on, in and outside of components.
CONTRASTS = """() => {
    const rgba = (colour) => {
        const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], ground) => [r, g, b].map((level, i) => a * level + (1 - a) * ground[i]);
    const up = (one) => one.parentElement ?? one.getRootNode().host ?? null;
    const ground = (one) => {
        if (!one) return [255, 255, 255];
        const colour = rgba(getComputedStyle(one).backgroundColor);
        return colour[3] === 1 ? colour.slice(0, 3) : over(colour, ground(up(one)));
    };
    const opacity = (one) => (one ? Number(getComputedStyle(one).opacity) * opacity(up(one)) : 1);
    const light = (colour) => {
        const [r, g, b] = colour.map((level) => {
            const share = level / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = [];
    const visit = (root) => {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) visit(one.shadowRoot);
            const words = [...one.childNodes].filter((node) => node.nodeType === 3);
            const text = words.map((node) => node.data.trim()).join("");
            if (!text || !one.checkVisibility() || one.closest("svg, style, script, .katex")) continue;
            if (one.closest(":disabled, [aria-disabled=true]") || text === "…") continue;
            const box = one.getBoundingClientRect();
            if (box.width < 2 || box.height < 2) continue;
            const thumb = one.closest("[data-testid=stSliderThumbValue]"); // stands above, not on, the thumb
            const behind = ground(thumb?.closest(".stSlider") ?? one), colour = rgba(getComputedStyle(one).color);
            colour[3] *= opacity(one);
            if (!colour[3]) continue; // waits for the pointer
            const [a, b] = [light(over(colour, behind)), light(behind)].sort((x, y) => y - x);
            found.push([text.slice(0, 40), (a + 0.05) / (b + 0.05)]);
        }
    };
    visit(document.querySelector("[data-testid=stMain]"));
    return found;
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
