"""Captions and charts of the effect of neighbours on a ranking; the captions are computed from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, VERMILLION
from pages.parts.charts.measures import ends
from pages.parts.charts.plots import line, show
from ranking.core import Bools, Floats, Ints
from ranking.metrics.intervals import Interval, resample
from ranking.reports.prose import change

# importing this would load compiled code before the page is shown
if TYPE_CHECKING:
    from ranking.explain.edge_strength import EdgeStrengthCurve

# without neighbours, with them
PAIRS = (("SVM", "HOB-SVM"), ("AP-SVM", "HOAP-SVM"))
# edge strengths
OFF, LEARNED = 0.0, 1.0


def compared(precisions: Mapping[str, float], gains: Mapping[tuple[str, str], Interval]) -> str:
    """Return the AP of each pair of methods and whether it differs significantly."""
    # Without and with neighbours. precisions: by method. gains: by pair.
    each = []
    for alone, with_graph in PAIRS:
        unsure = "" if gains[alone, with_graph].without_zero else ", not significant"
        each.append(f"{precisions[alone]:.3f} → {precisions[with_graph]:.3f} ({with_graph}{unsure})")
    return " and ".join(each)


def shared(image_of: Ints) -> list[str]:
    """Return a letter per scene for each sample that shares its scene with another one, and "" for others.

    >>> shared(np.array([7, 3, 5, 3, 7, 7]))
    ['A', 'B', '', 'B', 'A', 'A']
    """
    numbers = image_of.tolist()
    scenes = [number for number in dict.fromkeys(numbers) if numbers.count(number) > 1]
    return [chr(ord("A") + scenes.index(number)) if number in scenes else "" for number in numbers]


def moving(strength_curve: EdgeStrengthCurve, people: Ints, person: int, names: Sequence[str]) -> str:
    """Say how neighbours move one person of a scene, and how many of the others are relevant."""
    off, learned = (strength_curve.ranks[strength_curve.at(strength), person] for strength in (OFF, LEARNED))
    others = strength_curve.relevance[people[people != person]] > 0
    kind = "relevant" if strength_curve.relevance[person] > 0 else "irrelevant"
    name = names[int(np.flatnonzero(people == person)[0])]
    return (
        f"{name} ({kind}) goes from rank {off} to {learned}: {np.count_nonzero(others)} of the {len(others)} people "
        "beside it are relevant."
    )


def misleading(strength_curve: EdgeStrengthCurve, people: Ints, query: str) -> str:
    """Say how neighbours move the people of a scene without relevant people, all of whom they move up."""
    before, after = (strength_curve.ranks[strength_curve.at(strength), people] for strength in (OFF, LEARNED))
    return (
        f"None shows “{query}”, yet all {len(people)} rise: ranks {before.min()}–{before.max()} → "
        f"{after.min()}–{after.max()}."
    )


def by_strength(strength_curve: EdgeStrengthCurve) -> Interval:
    """Return the gain in AP from edges off to the learned penalties, with its interval over scenes."""
    ranks = strength_curve.ranks[[strength_curve.at(LEARNED), strength_curve.at(OFF)]]
    return resample(strength_curve.relevance, -ranks, strength_curve.image_of).difference("AP", 0, 1)


def summed_up(strength_curve: EdgeStrengthCurve, gain: Interval) -> str:
    """Say how many relevant people edges move up and down, and how AP changes. gain: from `by_strength`."""
    relevant = strength_curve.relevance > 0
    up, down = (
        int(np.count_nonzero(relevant & moved))
        for moved in (strength_curve.rise > 0, strength_curve.rise < 0)
    )
    off, learned = strength_curve.precision_at(OFF), strength_curve.precision_at(LEARNED)
    return (
        f"In {PAIRS[-1][1]}, edges move {up} of {int(relevant.sum())} relevant people up, {down} down: AP {off:.3f} → "
        f"{learned:.3f} ({change(off, learned)}; {ends(gain)})."
    )


def places_by_strength(
    strengths: Floats, places: Ints, relevant: Bools, names: Sequence[str], now: int, key: str
) -> None:
    """Show the rank of each sample of a scene, places (s, people), by edge strength; `now` is marked."""
    figure = go.Figure()
    for person, name in enumerate(names):
        colour = GREEN if relevant[person] else VERMILLION
        line(
            figure,
            strengths,
            places[:, person],
            colour,
            3,
            "solid" if relevant[person] else "dash",
            mode="lines+markers+text",
            text=[name, *[""] * (len(strengths) - 1)],
            textposition="middle left",
            textfont={"size": 15, "color": colour},
            cliponaxis=False,
            marker={"size": [12 if at == now else 4 for at in range(len(strengths))]},
            hovertemplate=f"{name}: rank %{{y}} at strength %{{x:.1f}}<extra></extra>",
        )
    most = int(places.max())
    ticks = [place for place in (1, 3, 10, 30, 100, 300, 1000, 3000, 10000) if place <= 1.5 * most]
    top = float(np.log10(1.4 * most))
    words = [f"{place:,}" for place in ticks]
    figure.update_yaxes(title_text="rank", type="log", range=[top, -0.1], tickvals=ticks, ticktext=words)
    listed = ", ".join(f"{name} {places[now, person]}" for person, name in enumerate(names))
    alt = f"Rank of each person by strength; now: {listed}"
    _show(figure, strengths, float(strengths[now]), key, alt, "ranks-by-strength", 240, 8)


def precision_by_strength(strengths: Floats, values: Floats, key: str) -> None:
    """Show the average precision (s,) of the test samples by edge strength."""
    figure = go.Figure()
    hover, both = (
        "strength %{x:.1f}: AP %{y:.3f}<extra></extra>",
        {"mode": "lines+markers", "marker": {"size": 7}},
    )
    line(figure, strengths, values, BLUE, 4, hovertemplate=hover, **both)
    figure.update_yaxes(title_text="test AP", rangemode="tozero")
    listed = ", ".join(f"{value:.3f}" for value in values)
    alt = f"Test AP by strength from 0 to {strengths[-1]:g}: {listed}"
    _show(figure, strengths, 1.0, key, alt, "ap-by-strength", 300, 34)


def _show(
    figure: go.Figure, strengths: Floats, marked: float, key: str, alt: str, file: str, height: int, top: int
) -> None:
    """Show a figure with the axis of strengths, one of which is marked."""
    figure.add_vline(x=marked, line={"color": GREY, "dash": "dot", "width": 2})
    figure.update_xaxes(
        title_text="edge strength",
        range=[-0.09 * float(strengths[-1]), 1.02 * float(strengths[-1])],
        tickvals=[0, 0.5, 1, 1.5, 2],
        ticktext=["off", "0.5", "as learned", "1.5", "2"],
    )
    show(figure, key, alt, file, height, top=top)
