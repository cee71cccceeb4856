"""How long does the first view of each page take in a new data folder?

    python benchmarks/new_home.py

runs every page once in a new data folder, so that everything is imported and compiled, and then in another one, which
is measured: from the click to the end of the page's script, without the browser, by wall clock and by processor time.
The first page that needs features of images computes them.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import time
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from timing import machine, options_of, table

ROOT = Path(__file__).parents[1]
MUST = "<= 2 s"

# Each AppTest searches all installed distributions for components when it opens; a server does this once.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def seconds_of(page: str, home: str) -> tuple[float, float]:
    """Return the wall-clock and processor seconds of one visit in a new session."""
    os.environ["RANKING_HOME"] = home
    app = AppTest.from_file(str(ROOT / "laboratory.py"), default_timeout=600).switch_page(f"pages/{page}.py")
    clock, processor = time.perf_counter(), time.process_time()
    app.run()
    took = time.perf_counter() - clock, time.process_time() - processor
    if app.error or app.exception:
        raise RuntimeError(f"{page}: {[error.value for error in (*app.error, *app.exception)]}")
    return took


def main() -> None:
    options = options_of(__doc__)
    # this folder has another pages.py
    sys.path[0] = str(ROOT)
    from pages.parts.app import menu

    names = list(menu.PAGES)[: 3 if options.smoke else None]
    print(machine() + "\n")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            seconds_of(name, f"{folder}/warm")
        lines = []
        for name in names:
            clock, processor = seconds_of(name, f"{folder}/new")
            lines.append([name, MUST, f"{clock:.2f} s", f"{processor:.2f} s"])
    print(table(["page", "must", "clock", "processor"], lines))


if __name__ == "__main__":
    main()
