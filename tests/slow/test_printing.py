"""A printed report in a real browser: black on white, no heading alone at the foot, no chart cut in two."""

from __future__ import annotations

import plotly.graph_objects as go

from ranking.reports.figures import chart
from ranking.reports.markup import Markup, element
from ranking.reports.page import figure, note, page, section, wide_table


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


INK = "() => getComputedStyle(document.querySelector('.xtick text')).fill"


def test_the_print_style_keeps_together_what_belongs_together(browser):
    plotted = figure(
        chart(go.Figure().add_scatter(x=[1, 2], y=[0.0, 1.0], name="line"), "a line", 300), note("a caption")
    )
    paragraph = element("p", "a lead", element("span", "what only a screen can do", class_="screen"))
    folded = element("details", element("summary", "fold 1"), element("p", "pictures"))
    sheet = browser.new_page(color_scheme="dark")
    sheet.set_content(
        page("A", [section("Measures", paragraph, wide_table("t", ["AP"], rows(4)), plotted, folded)])
    )
    sheet.locator(".xtick text").first.wait_for()
    assert sheet.evaluate(INK) == "rgb(240, 240, 240)"
    sheet.emulate_media(media="print")
    assert sheet.evaluate(INK) == "rgb(0, 0, 0)"
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
