"""Draw docs/architecture.svg from the imports of today: python docs/architecture.py.

A line leads from a folder up to one that it imports. A line that follows from two others is left out: `methods` imports
`solvers`, which imports `inference`, so `methods` needs no line to `inference`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from test_imports import LINE_OF, folder_of, imported, module_name, our_files  # noqa: E402

SVG = ROOT / "docs" / "architecture.svg"
Needs = Mapping[str, set[str]]
BOX, GAP, ROW, MARGIN = (108, 26), 120, 52, 14
# Boxes have their own background and lines a medium grey, so that the picture is readable on light and dark pages.
FILLS = {"ranking": "#cfe3f7", "pages": "#fbe3b8"}
STYLE = "path{fill:none;stroke:#888;stroke-width:1.5}text{font:13px sans-serif;text-anchor:middle;fill:#111}"


def needs_of_folders() -> Needs:
    """Return which folders each folder imports."""
    needs: dict[str, set[str]] = {folder: set() for folder in LINE_OF}
    for file in our_files(ROOT):
        folder = folder_of(module_name(file, ROOT))
        targets = {folder_of(module) for module in imported(file, ROOT)}
        if folder in needs:
            needs[folder] |= targets & needs.keys() - {folder}
    return needs


def without_shortcuts(needs: Needs) -> Needs:
    """Return the imports that do not follow from others."""

    @cache
    def reached(folder: str) -> frozenset[str]:
        return frozenset(needs[folder]).union(*map(reached, needs[folder]))

    return {
        folder: direct - set().union(*(reached(between) for between in direct))
        for folder, direct in needs.items()
    }


def layers(needs: Needs) -> list[list[str]]:
    """Return the folders by the length of their longest chain of imports."""

    @cache
    def depth(folder: str) -> int:
        return max((depth(above) + 1 for above in needs[folder]), default=0)

    depths = {folder: depth(folder) for folder in needs}
    return [[name for name in needs if depths[name] == level] for level in range(max(depths.values()) + 1)]


def places(needs: Needs) -> dict[str, tuple[float, float]]:
    """Return x and y of each folder: below the middle of what it imports, and apart from its neighbours."""
    importers = {name: [below for below in needs if name in needs[below]] for name in needs}
    at: dict[str, tuple[float, float]] = {}
    for level, row in enumerate(layers(needs)):
        wish = {name: sum(at[above][0] for above in needs[name]) / max(len(needs[name]), 1) for name in row}
        # A folder with other importers than `pages` is at the end of its row, where no line passes behind them.
        row.sort(key=lambda name: (wish[name], importers[name] != ["pages"], name))
        xs: list[float] = []
        for name in row:
            xs.append(max([wish[name], *(x + GAP for x in xs[-1:])]))
        shift = sum(wish[name] - x for name, x in zip(row, xs, strict=True)) / len(row)
        at |= {name: (x + shift, level * ROW) for name, x in zip(row, xs, strict=True)}
    return at


def picture() -> str:
    """Return the SVG of today's imports."""
    needs = without_shortcuts(needs_of_folders())
    at, (width, height) = places(needs), BOX
    left = min(x for x, _ in at.values()) - width / 2 - MARGIN
    right = max(x for x, _ in at.values()) + width / 2 + MARGIN
    bottom = max(y for _, y in at.values()) + height + MARGIN
    size = f"{left:g} {-MARGIN} {right - left:g} {bottom + MARGIN:g}"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}"><style>{STYLE}</style>']
    for name, direct in needs.items():
        x, y = at[name]
        for above in sorted(direct):
            up, down = at[above][0], at[above][1] + height
            middle = (y + down) / 2
            lines.append(f'<path d="M{x:g} {y:g}C{x:g} {middle:g} {up:g} {middle:g} {up:g} {down:g}"/>')
    for name, (x, y) in at.items():
        top, _, label = name.rpartition(".")
        fill = FILLS["pages" if top or name == "pages" else "ranking"]
        lines.append(
            f'<rect x="{x - width / 2:g}" y="{y:g}" width="{width}" height="{height}" rx="5" fill="{fill}"/>'
        )
        lines.append(f'<text x="{x:g}" y="{y + 18:g}">{escape(label)}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    SVG.write_text(picture(), "utf-8")
