"""A report on paper: no heading alone at the foot, no chart cut in two, says a real browser."""

from __future__ import annotations

from ranking.reports.figures import chart_svg
from ranking.reports.markup import Markup, element
from ranking.reports.page import figure, note, page, section, wide_table

LINE = {
    "type": "scatter",
    "mode": "lines",
    "x": [1, 2],
    "y": [0.0, 1.0],
    "name": "line",
    "line": {"color": "red", "width": 2},
}


def rows(count: int) -> list[list[Markup]]:
    return [[element("th", f"row {i}", scope="row"), element("td", "0.5")] for i in range(count)]


# What the print style says of each of what stands first here: whether it may end a page, and may be cut.
KEPT = """() => {
    const of = (selector) => {
        const style = getComputedStyle(document.querySelector(selector));
        return [style.breakAfter, style.breakInside];
    };
    return { heading: of("h2"), chart: of("figure"), table: of("table"), lead: of("section > h2 + p"),
             screen: getComputedStyle(document.querySelector(".screen")).display,
             folded: getComputedStyle(document.querySelector("details")).display };
}"""


def test_the_print_style_keeps_together_what_belongs_together(browser):
    chart = figure(
        chart_svg({"data": [LINE], "layout": {"xaxis": {}, "yaxis": {}}}, "a line"), note("a caption")
    )
    paragraph = element("p", "a lead", element("span", "what only a screen can do", class_="screen"))
    folded = element("details", element("summary", "fold 1"), element("p", "pictures"))
    sheet = browser.new_page()
    sheet.set_content(
        page("A", [section("Measures", paragraph, wide_table("t", ["AP"], rows(4)), chart, folded)])
    )
    sheet.emulate_media(media="print")
    kept = sheet.evaluate(KEPT)
    assert kept == {
        "heading": ["avoid", "avoid"],
        "chart": ["auto", "avoid"],
        "table": ["auto", "avoid"],
        "lead": ["avoid", "auto"],
        "screen": "none",
        "folded": "none",
    }
    sheet.emulate_media(media="screen")
    assert sheet.evaluate(KEPT)["folded"] == "block"
    sheet.close()
