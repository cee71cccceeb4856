"""How long does a label ranking take to appear after a key press?

    python benchmarks/label_questions.py [--rounds 25] [--images 200]

A set of label scenes, with C-star p@k and a baseline trained on it, is generated in a temporary data folder. A server
is started, and a headless Chromium measures inside the page: from the press of a key until the ranking with that answer
is painted (the browser has it in advance), and until the server has confirmed that the answer is on disk. With a
baseline, both rankings have to be painted. Then keys are pressed at intervals of 30 ms, and the answers on disk are
counted. Figures are medians, with the least next to them, because a busy machine makes all of them longer.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from timing import generated_source, machine, options_of, parser, table

from pages import browsing, row, serving
from ranking.core.run_settings import LabelTrainSettings
from ranking.datasets import build_image_set
from ranking.jobs import worker
from ranking.jobs.events import Report
from ranking.storage.answers import fold
from ranking.storage.store import Store

FEATURES = (("HOG", {}), ("Colour", {}))
METHODS = ("C-star p@k", "Independent p@k")
AT_ONCE = 30  # keys, at intervals of INTERVAL
INTERVAL = 30  # milliseconds
MUST = "<= 0.25 s"

WATCH = """(() => {
    const root = () => [...document.querySelectorAll("*")]
        .find((one) => one.shadowRoot?.querySelector(".questions"))?.shadowRoot.querySelector(".questions");
    const until = (holds, from) => new Promise((resolve, reject) => {
        const begun = performance.now();
        const look = () => {
            if (holds()) setTimeout(() => resolve(performance.now() - from));
            else if (performance.now() - begun > 60000) reject(new Error("nothing happened for 60 s"));
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });
    const down = (key) => {
        const event = { key, bubbles: true, composed: true, cancelable: true };
        document.body.dispatchEvent(new KeyboardEvent("keydown", event));
    };
    const pinned = (list, label) => root().querySelector(`${list} .row[data-label="${label}"]`)?.dataset.answer;
    const idle = () => root()?.querySelector(".ask b") && !root().state.log.length && root().state.painted.label >= 0;
    window.questions = {
        ready: () => until(idle, 0),
        press: async (key) => {
            const label = root().state.painted.label;
            const from = performance.now();
            down(key);
            const own = root().querySelector(".own");
            const alone = root().querySelector(".baseline").hidden;
            const ranked = () => pinned(".own", label) && (alone || pinned(".baseline", label));
            const painted = await until(() => ranked() && own.dataset.stale === "false", from);
            return { painted, kept: await until(idle, from) };
        },
        burst: async (keys, interval) => {
            for (const key of keys) {
                down(key);
                await new Promise((resolve) => setTimeout(resolve, interval));
            }
            return until(idle, performance.now());
        },
    };
})()"""


def fill(store: Store, images: int, iterations: int) -> tuple[str, str]:
    """Generate the scenes and train both methods; return the key of the set and the id of the first run."""
    with tempfile.TemporaryDirectory() as folder:
        build_image_set(generated_source("Label scenes", images=images), Path(folder) / "set")
        key = store.sets.add(Path(folder) / "set", "Label scenes")
    runs = []
    for method in METHODS:
        settings = LabelTrainSettings(
            key, FEATURES, method, {"C": 10.0, "max_iterations": iterations}, min_images=5
        )
        run = store.runs.create("train", settings.to_json())
        report = Report(run.folder / "events.jsonl")
        store.runs.end(run.id, "finished", result=worker.train(store, run, report))
        report.flush()
        runs.append(run.id)
    return key, runs[0]


def visit(page: Page, url: str, run: str, more: str) -> None:
    page.goto(f"{url}/label_questions?label_run={run}&{more}", wait_until="commit")
    page.evaluate("questions.ready()")
    page.wait_for_timeout(1500)


def presses(page: Page, rounds: int) -> list[dict[str, Any]]:
    times = []
    for number in range(rounds):
        times.append(page.evaluate("key => questions.press(key)", "10"[number % 2]))
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
            visit(page, server.url, run, f"rival={beside}&image={ids[number]}")
            times_of = presses(page, rounds)
            for what, text, must in (("painted", "new ranking painted", MUST), ("kept", "all on disk", "")):
                times = [timing[what] / 1000 for timing in times_of]
                rows.append(row(f"key to {text}, {words}", must, times))
        visit(page, server.url, run, f"image={ids[2]}")
        late = page.evaluate(
            "([keys, ms]) => questions.burst(keys, ms)", [list("10" * (AT_ONCE // 2)), INTERVAL]
        )
        events = Store(home).answers.events(key, ids[2])
        text = f"{len(events)} of {AT_ONCE}, on {len(fold(events).answers)} labels"
        rows.append([f"{AT_ONCE} keys at {INTERVAL} ms: events on disk", f"{AT_ONCE}", text, ""])
        rows.append(row("the same: from the last key to all on disk", "", [late / 1000]))
    return rows


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=25, help="number of measured keys (default: 25)")
    arguments.add_argument(
        "--images", type=int, default=200, help="number of generated scenes (default: 200)"
    )
    arguments.add_argument(
        "--iterations", type=int, default=60, help="most training iterations (default: 60)"
    )
    options = options_of(arguments, rounds=2, images=50, iterations=3)
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
