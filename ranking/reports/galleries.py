"""The samples that each method ranks first, row by row, with the wrong ones marked (high-order, Fig. 1)."""

from __future__ import annotations

from ranking.core import ImageSet
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.comparison_words import first_wrong
from ranking.reports.findings import Findings, split_words
from ranking.reports.looks import Look, looks_of
from ranking.reports.markup import Markup, element
from ranking.reports.pictures import Album, tiles_of

TOP = 8  # samples a row, as in Fig. 1
ACROSS = 10  # pictures beside each other at most


def gallery(findings: Findings, query: str, fold: int | None, album: Album) -> Markup | None:
    """A row a method of what it ranks first among the held-out samples; None where none is there."""
    ranked, looks = findings.rankings(query, fold), looks_of(findings.results.contenders)
    if not ranked:
        return None
    rows = [ranked_row(findings.images, name, one, looks[name], album) for name, one in ranked.items()]
    what = f"{query}, {split_words(fold)}: first {TOP} samples by each method"
    return element("div", *rows, class_="gallery", role="group", aria_label=what)


def value_words(ranked: Ranking) -> str:
    """The AP of a ranking, in words; that there is none where nothing is relevant."""
    return f"AP {ranked.average_precision:.3f}" if ranked.positives else "nothing relevant"


def ranked_row(
    images: ImageSet, name: str, ranked: Ranking, look: Look, album: Album, top: int = TOP
) -> Markup:
    """The `top` samples of one ranking, the first mistake with a border of its own."""
    told = f"{value_words(ranked)}, {first_wrong(ranked)}" if ranked.positives else value_words(ranked)
    head = element(
        "div", element("b", name), element("br"), told, class_="head", style=f"border-color:{look.colour}"
    )
    first = first_mistake(ranked.relevance)
    tiles = [
        _tile(images, ranked, place, album, place + 1 == first) for place in range(min(top, len(ranked)))
    ]
    return element("div", head, tiles_of(tiles, min(top, ACROSS)), class_="row")


def _tile(images: ImageSet, ranked: Ranking, place: int, album: Album, first: bool) -> Markup:
    row, relevant = int(ranked.samples[place]), bool(ranked.relevance[place])
    judged, sign = ("relevant", "✓") if relevant else ("wrong", "✗")
    name = str(images.image_names[images.image_of[row]])
    alt = f"place {place + 1}, {judged}{', the first mistake' if first else ''}, image {name}"
    foot = element("span", f"{place + 1} {sign}", class_="place", aria_hidden="true")
    kind = f"tile {judged}{' first' if first else ''}"
    return element("div", album.picture(row, alt), foot, class_=kind, title=alt)
