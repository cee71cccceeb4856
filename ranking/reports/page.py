"""Building blocks of self-contained HTML files: reports on experiments and comparisons.

Names of sets, classes and images are untrusted, so every text is escaped (`markup`). The files' content security policy
forbids all scripts except those that draw the figures, and requests to any host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ranking.experiments.cross_validation.tables import Table
from ranking.reports.exports import shown
from ranking.reports.figures import script_hashes, scripts
from ranking.reports.markup import Markup, data_url, element, joined

# columns of a table that fits a printed page in normal type
MAX_READABLE = 6
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src"


def page(title: str, sections: Sequence[Markup], foot: Markup | None = None) -> str:
    """Return the file as text."""
    # foot: hidden content after the sections, such as the images that they use.
    body = element(
        "body",
        element("main", element("h1", title), *sections),
        foot or Markup(""),
        *(element("script", script) for script in scripts()),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=f"{POLICY} {script_hashes()}"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _style()),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


@cache
def _style() -> Markup:
    return Markup(Path(__file__).with_name("report.css").read_text("utf-8"))


def section(heading: str, *content: str) -> Markup:
    """Return a section with a heading."""
    return element("section", element("h2", heading), *content)


def note(*text: str) -> Markup:
    """Return the text below a table or a chart."""
    return element("p", *text, class_="note")


def facts(texts: Mapping[str, str]) -> Markup:
    """Return a table of two columns, name and description."""
    rows = [
        element("tr", element("th", name, scope="row"), element("td", text, class_="fact"))
        for name, text in texts.items()
    ]
    return element("table", element("tbody", *rows))


def wide_table(label: str, heads: Sequence[str], rows: Sequence[Sequence[Markup]]) -> Markup:
    """Return a table that scrolls horizontally on narrow screens."""
    # rows: of cells, the first of each is its head.
    columns = [element("th", head, scope="col") for head in heads]
    lines = [element("tr", *cells) for cells in rows]
    scrolled = element(
        "table", element("thead", element("tr", element("td"), *columns)), element("tbody", *lines)
    )
    style = "wide many" if len(heads) > MAX_READABLE else "wide"
    return element("div", scrolled, class_=style, tabindex="0", role="region", aria_label=label)


def value_table(table: Table) -> Markup:
    """Return a table of values, the best ones highlighted."""
    rows = []
    for row in table.rows:
        cells = [
            element("td", f"{shown(value)} {sign}".rstrip(), class_="best" if best else None)
            for value, best, sign in row.cells
        ]
        rows.append([element("th", row.name, scope="row"), *cells])
    return wide_table(table.title, table.columns, rows)


def files(contents: Mapping[str, str]) -> Markup:
    """Return links that save the given texts, which are embedded in the file, by name."""
    links = [_saved(name, content) for name, content in contents.items()]
    return element("p", *[part for link in links for part in (" · ", link)][1:], class_="files")


KINDS = {".json": "application/json", ".csv": "text/csv", ".tex": "text/plain"}


def _saved(name: str, content: str) -> Markup:
    href = data_url(content.encode(), KINDS[Path(name).suffix])
    return element("a", f"Save {name}", href=href, download=name)


def figure(chart: Markup, *notes: str) -> Markup:
    """Return a chart with its notes, which stay on one printed page."""
    return element("figure", chart, joined(notes))
