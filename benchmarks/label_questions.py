"""How long does a label ranking take to appear after a key press?

    python benchmarks/label_questions.py [--rounds 25] [--images 200]

A set of label scenes, with C-star p@k and a baseline trained on it, is generated in a temporary data folder. A server
is started, and a headless Chromium measures inside the page: from the press of a key until the next question is shown,
and until the ranking with that answer is shown. The answer is on disk by then. Then keys are pressed at intervals of
50 ms; a key before the next question is shown is not an answer. Figures are medians, with the least next to them,
because a busy machine makes all of them longer.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page
from timing import machine, options_of, table

from pages import add_generated, browsing, row, serving, train_here
from ranking.storage.run_settings import LabelTrainSettings
from ranking.storage.store import Store

FEATURES = (("HOG", {}), ("Colour", {}))
METHODS = ("C-star p@k", "Independent p@k")
# keys, at intervals of INTERVAL
AT_ONCE = 20
# milliseconds
INTERVAL = 50
MUST = "<= 0.1 s"

WATCH = """(() => {
    const asked = () => document.querySelector(".st-key-question h3 strong")?.textContent;
    const own = ".label-rankings section:first-child [data-answer]:not([data-answer=''])";
    const answered = () => document.querySelectorAll(own).length;
    addEventListener("keydown", () => {
        const from = performance.now(), question = asked(), count = answered();
        const times = window.times = {};
        const look = () => {
            if (asked() !== question) times.next ??= performance.now() - from;
            if (answered() !== count) times.ranked ??= performance.now() - from;
            if (!times.next || !times.ranked) requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }, true);
})()"""


def fill(store: Store, images: int, iterations: int) -> tuple[str, str]:
    """Generate the scenes and train both methods; return the key of the set and the id of the first run."""
    key, values = add_generated(store, "Label scenes", images), {"C": 10.0, "max_iterations": iterations}
    settings = [LabelTrainSettings(key, FEATURES, method, values, min_images=5) for method in METHODS]
    first, _ = (train_here(store, each.to_json()) for each in settings)
    return key, first


def visit(page: Page, url: str, run: str, more: str) -> None:
    page.goto(f"{url}/interactive_labelling?label_run={run}&{more}", wait_until="commit")
    page.locator(".label-rankings").wait_for()
    page.wait_for_timeout(1500)


def presses(page: Page, rounds: int) -> list[dict[str, float]]:
    times = []
    for number in range(rounds):
        page.keyboard.press("10"[number % 2])
        page.wait_for_function("times.next && times.ranked")
        times.append(page.evaluate("times"))
        page.wait_for_timeout(400)
    return times


def measured(
    page: Page, home: Path, store: Store, rounds: int, images: int, iterations: int
) -> list[list[str]]:
    key, run = fill(store, images, iterations)
    ids = [str(name) for name in store.sets.get(key).image_names[store.sets.get(key).image_test]]
    rows = []
    with serving(home) as server:
        for number, (beside, words) in enumerate((("no", "alone"), ("same", "with its baseline"))):
            visit(page, server.url, run, f"baseline={beside}&image={ids[number]}")
            times_of = presses(page, rounds)
            for what, text in (("next", "next question"), ("ranked", "new ranking")):
                rows.append(
                    row(f"key to {text}, {words}", MUST, [timing[what] / 1000 for timing in times_of])
                )
        visit(page, server.url, run, f"image={ids[2]}")
        for number in range(AT_ONCE):
            page.keyboard.press("10"[number % 2])
            page.wait_for_timeout(INTERVAL)
        page.wait_for_timeout(1500)
        events = Store(home).answers.events(key, ids[2])
        labels = {event.label for event in events}
        text = f"{len(events)} answers to {len(labels)} questions"
        rows.append([f"{AT_ONCE} keys at {INTERVAL} ms", "one each", text, ""])
    return rows


def main() -> None:
    options = options_of(__doc__, rounds=(25, 2), images=(200, 50), iterations=(60, 3))
    before, begun = os.getloadavg()[0], time.perf_counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, browsing() as page:
        page.add_init_script(WATCH)
        home = Path(folder) / "home"
        rows = measured(page, home, Store(home), options.rounds, options.images, options.iterations)
    print(
        f"{machine()}; load {before:.1f} before, {os.getloadavg()[0]:.1f} after; {time.perf_counter() - begun:.0f} s\n"
    )
    print(table(["what", "must reach", "median", "least"], rows))


if __name__ == "__main__":
    main()
