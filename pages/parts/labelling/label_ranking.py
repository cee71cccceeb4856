"""The rankings of an image's labels during interactive labelling, as HTML, which a browser draws quickly."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.parts.app.colours import GREY, IRRELEVANT_LABEL, RELEVANT_LABEL
from ranking.core import Bools, Floats, Ints
from ranking.explain.labelling_model import Position

STYLE = Path(__file__).with_suffix(".css")
# ranks below the top k that are shown, unless all are shown
BEYOND = 2
SIGNS = {"yes": "✓", "no": "✗", "skip": "?", "": ""}
COLOURS = {"grey": GREY, "yes": RELEVANT_LABEL, "no": IRRELEVANT_LABEL}


class Ranking(NamedTuple):
    """The ranking of one model after some answers."""

    title: str
    colour: str
    note: str
    k: int
    # (L,) the labels from the top.
    order: Ints
    # (L,) the same before the last answer.
    before: Ints
    # (L,) the signed length of each bar, as a share of the longest.
    shares: Floats
    position: Position
    # The break-even precision; None without ground truth.
    precision: float | None

    def ranks(self, asked: int, truth: Bools | None) -> list[int]:
        """Return the ranks, from 0, of the labels that matter: near the top k, answered, asked about, or true."""
        matters = (self.position.answers != 0) | self.position.skipped
        if truth is not None:
            matters = matters | truth
        return [
            rank
            for rank, label in enumerate(self.order.tolist())
            if rank < self.k + BEYOND or matters[label] or label == asked
        ]

    def answer(self, label: int) -> str:
        """Return the answer about a label, "" without one."""
        if self.position.skipped[label]:
            return "skip"
        return {1: "yes", -1: "no", 0: ""}[int(self.position.answers[label])]


def show(
    rankings: Sequence[Ranking], names: tuple[str, ...], asked: int, truth: Bools | None, everything: bool
) -> None:
    """Show one ranking in two columns, or two side by side."""
    # asked: the label of the question of the first, -1 without one. truth: (L,) labels to mark. everything:
    # show all ranks instead of those that matter.
    columns = 3 - len(rankings)
    variables = "".join(f"--{name}: {colour};" for name, colour in COLOURS.items())
    sections = []
    for ranking, question in zip(rankings, (asked, -1), strict=False):
        ranks = list(range(len(names))) if everything else ranking.ranks(question, truth)
        measure = "" if truth is None else f"break-even precision {ranking.precision:.2f} · "
        sections.append(
            f'<section style="--bar: {ranking.colour}"><p><b>{html.escape(ranking.title)}</b> '
            f"{measure}{html.escape(ranking.note)}</p>"
            f'<ol style="--rows: {_rows(len(ranks), columns)}; --columns: {columns}">'
            f"{''.join(_items(ranking, ranks, names, question, truth, columns))}</ol></section>"
        )
    st.html(f'<div class="label-rankings" style="{variables}">{"".join(sections)}</div>')


def style() -> None:
    """Add the styles of `show`, once a page: a browser computes all its styles again when a style sheet is replaced."""
    st.html(f"<style>{STYLE.read_text()}</style>")


def _rows(count: int, columns: int) -> int:
    return -(-count // columns)


def _items(
    ranking: Ranking,
    ranks: Sequence[int],
    names: Sequence[str],
    asked: int,
    truth: Bools | None,
    columns: int,
) -> list[str]:
    """Return a list item for each of `ranks`: rank, ground truth, answer, name, bar, and its move."""
    # It glides from its place before the last answer.
    old = {label: rank for rank, label in enumerate(ranking.before.tolist())}
    labels, rows = ranking.order[list(ranks)].tolist(), _rows(len(ranks), columns)
    places = {label: place for place, label in enumerate(sorted(labels, key=old.__getitem__))}
    items = []
    for place, (rank, label) in enumerate(zip(ranks, labels, strict=True)):
        was, moved, share = places[label], old[label] - rank, float(ranking.shares[label])
        arrow = f"{'▲' if moved > 0 else '▼'}{abs(moved)}" if moved else ""
        answer, true = ranking.answer(label), truth is not None and bool(truth[label])
        states = {"top": rank < ranking.k, "last": rank == ranking.k - 1, "asked": label == asked}
        names_of = [state for state, holds in states.items() if holds]
        items.append(
            f'<li class="{" ".join(names_of)}" data-answer="{answer}" '
            f'style="--across: {was // rows - place // rows}; --down: {was % rows - place % rows}">'
            f"<span>{rank + 1}</span><span>{'●' if true else ''}</span><span>{SIGNS[answer]}</span>"
            f"<span>{html.escape(names[label])}</span>"
            f'<i class="{"inside" if share >= 0 else "outside"}" style="--share: {abs(share):.3f}"></i>'
            f"<span>{arrow}</span></li>"
        )
    return items
