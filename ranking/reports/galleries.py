"""Image galleries of a report: the top of each method's ranking, row by row (high-order, Fig. 1).

The file holds each image once, as data, however often it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ranking.core import ImageSet
from ranking.explain.playback import Frame
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.comparison_words import first_wrong
from ranking.reports.findings import Findings, split_words
from ranking.reports.line_styles import LineStyle, of_compared
from ranking.reports.markup import Markup, data_url, element

# of the square that a thumbnail is fitted into, in units of the drawing
SIDE = 100
# samples per row, as in Fig. 1
TOP = 8
# samples per iteration
FEW = 6
# most thumbnails next to each other
ACROSS = 10


class Crops(Protocol):
    """A source of thumbnails: that of a sample by its row (`ranking.datasets.Thumbnails`)."""

    def crop(self, i: int) -> bytes: ...


class Album:
    """Collects the thumbnails that a report uses, for one sheet at the foot of the file."""

    def __init__(self, crops: Crops) -> None:
        self._crops, self._used = crops, dict[int, None]()

    def picture(self, row: int, alt: str) -> Markup:
        """Return a reference to the thumbnail of a sample, which the file holds once."""
        self._used[row] = None
        shown = element("use", href=f"#p{row}")
        return element("svg", shown, viewBox=f"0 0 {SIDE} {SIDE}", role="img", aria_label=alt)

    def sheet(self) -> Markup:
        """Return all thumbnails that were used, as a hidden element."""
        symbols = [self._symbol(row) for row in sorted(self._used)]
        hidden = element("svg", *symbols, width=0, height=0, aria_hidden="true", class_="sheet")
        return hidden

    def _symbol(self, row: int) -> Markup:
        picture = element("image", href=data_url(self._crops.crop(row)), width=SIDE, height=SIDE)
        return element("symbol", picture, id=f"p{row}", viewBox=f"0 0 {SIDE} {SIDE}")


def tiles_of(tiles: Sequence[Markup], columns: int) -> Markup:
    """Arrange thumbnails in rows of `columns`, or of fewer on a phone."""
    return element("div", *tiles, class_="tiles", style=f"--columns:{columns}")


def gallery(findings: Findings, query: str, fold: int | None, album: Album) -> Markup | None:
    """Return a row per method with the top held-out samples of its ranking; None without any ranking."""
    rankings, styles = findings.rankings(query, fold), of_compared(findings.results.compared_methods)
    if not rankings:
        return None
    rows = [
        ranked_row(findings.images, name, ranking, styles[name], album) for name, ranking in rankings.items()
    ]
    what = f"{query}, {split_words(fold)}: top {TOP} samples of each method"
    return element("div", *rows, class_="gallery", role="group", aria_label=what)


def iterations(findings: Findings, query: str, album: Album) -> Markup | None:
    """Return a row per method with the top test samples at some iterations; None if none was recorded."""
    # The iterations are those of the method's final model.
    styles = of_compared(findings.results.compared_methods)
    rows = [
        recorded_row(findings.images, method.name, frames, styles[method.name], album)
        for method in findings.results.compared_methods
        if (frames := findings.frames(query, method.name))
    ]
    label = f"{query}: top samples at some iterations of each method"
    return element("div", *rows, class_="gallery", role="group", aria_label=label) if rows else None


def value_words(ranked: Ranking) -> str:
    """Format the AP of a ranking, or say that no sample is relevant."""
    return f"AP {ranked.average_precision:.3f}" if ranked.positives else "nothing relevant"


def ranked_row(
    images: ImageSet, name: str, ranked: Ranking, style: LineStyle, album: Album, top: int = TOP
) -> Markup:
    """Return the `top` samples of one ranking, with a marked border around the first error."""
    summary = f"{value_words(ranked)}, {first_wrong(ranked)}" if ranked.positives else value_words(ranked)
    head = element(
        "div", element("b", name), element("br"), summary, class_="head", style=f"border-color:{style.colour}"
    )
    first = first_mistake(ranked.relevance)
    tiles = [
        _tile(images, ranked, place, album, place + 1 == first) for place in range(min(top, len(ranked)))
    ]
    return element("div", head, tiles_of(tiles, min(top, ACROSS)), class_="row")


def recorded_row(
    images: ImageSet, name: str, frames: Sequence[Frame], style: LineStyle, album: Album
) -> Markup:
    """Return small multiples of one run: the FEW top samples at each iteration."""
    head = element("div", element("b", name), class_="head", style=f"border-color:{style.colour}")
    columns = [_recorded(images, frame, album) for frame in frames]
    return element("div", head, element("div", *columns, class_="multiples"), class_="row")


def _recorded(images: ImageSet, frame: Frame, album: Album) -> Markup:
    first = zip(frame.top[:FEW], frame.relevant[:FEW], strict=True)
    tiles = [
        _marked(images, int(row), relevant, place, album, False)
        for place, (row, relevant) in enumerate(first)
    ]
    ap = frame.measures["AP"]
    value = "" if ap is None else f", AP {ap:.3f}"
    title = element("div", f"Iteration {frame.iteration:,}{value}", class_="iteration")
    return element("div", title, tiles_of(tiles, 3), class_="multiple")


def _tile(images: ImageSet, ranked: Ranking, place: int, album: Album, first: bool) -> Markup:
    return _marked(images, int(ranked.samples[place]), bool(ranked.relevance[place]), place, album, first)


def _marked(images: ImageSet, row: int, relevant: bool, place: int, album: Album, first: bool) -> Markup:
    judged, sign = ("relevant", "✓") if relevant else ("wrong", "✗")
    name = str(images.image_names[images.image_of[row]])
    alt = f"rank {place + 1}, {'' if relevant else 'ir'}relevant{', the first error' if first else ''}, image {name}"
    foot = element("span", f"{place + 1} {sign}", class_="place", aria_hidden="true")
    kind = f"tile {judged}{' first' if first else ''}"
    return element("div", album.picture(row, alt), foot, class_=kind, title=alt)
