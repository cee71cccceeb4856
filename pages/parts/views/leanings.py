"""What neighbours do to a ranking, in words that follow from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, VERMILLION
from pages.parts.views.charts import line, show
from ranking.core import Bools, Floats, Ints

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.explain.edge_strength import EdgeStrengthCurve

PAIRS = (("SVM", "HOB-SVM"), ("AP-SVM", "HOAP-SVM"))  # without neighbours, with them
OFF, LEARNT = 0.0, 1.0  # strengths of the neighbours
RISES, FALLS, STAYS = "rises", "falls", "stays"  # what AP does
VERDICTS = {RISES: "helped", FALLS: "misled", STAYS: "neither helped nor misled"}


def compared(precisions: Mapping[str, float]) -> str:
    """What neighbours do to the AP of each pair, in one sentence, as far as the numbers are shown."""
    labels, ranking = (
        f"{_change(precisions[alone], precisions[leaning])} ({alone} {precisions[alone]:.3f}, "
        f"{leaning} {precisions[leaning]:.3f})"
        for alone, leaning in PAIRS
    )
    return f"With neighbours AP {labels} where labels are counted, and {ranking} where AP is optimised."


def _change(before: float, after: float) -> str:
    before, after = round(before, 3), round(after, 3)
    return RISES if after > before else FALLS if after < before else STAYS


def shared(image_of: Ints) -> list[str]:
    """A letter for each of the samples that others beside it share their scene with, else nothing.

    >>> shared(np.array([7, 3, 5, 3, 7, 7]))
    ['A', 'B', '', 'B', 'A', 'A']
    """
    numbers = image_of.tolist()
    scenes = [number for number in dict.fromkeys(numbers) if numbers.count(number) > 1]
    return [chr(ord("A") + scenes.index(number)) if number in scenes else "" for number in numbers]


def with_whom(scenes: Sequence[str], place: int) -> str:
    """The ranks of the other samples of the scene of the one at a place from 0.

    >>> with_whom(["A", "B", "", "B", "A", "A"], 4)
    'of one scene with ranks 1 and 6'
    """
    same = (number == place or scene != scenes[place] for number, scene in enumerate(scenes))
    others = [str(rank) for rank, skipped in enumerate(same, start=1) if not skipped]
    return f"of one scene with rank{'s' if len(others) > 1 else ''} {' and '.join(others)}"


def along(leaning: EdgeStrengthCurve, people: Ints, names: Sequence[str]) -> str:
    """Who of a scene that shows something relevant rises without being so."""
    relevant = leaning.relevance[people] > 0
    rising = zip(names, ~relevant & (leaning.rise[people] > 0), strict=True)
    wrongly = [name for name, wrong in rising if wrong]
    if not relevant.any() or not wrongly:
        return ""
    rest = "who is not relevant, rises" if len(wrongly) == 1 else "who are not relevant, rise"
    return f": {' and '.join(wrongly)}, {rest} along"


def lifting(leaning: EdgeStrengthCurve, people: Ints, lifted: int, names: Sequence[str]) -> str:
    """What neighbours do for one person, in one sentence."""
    before, after = leaning.ranks[leaning.at(OFF), lifted], leaning.ranks[leaning.at(LEARNT), lifted]
    name = names[int(np.flatnonzero(people == lifted)[0])]
    higher = leaning.ranks[leaning.at(OFF), people] < before
    ahead, right = np.count_nonzero(higher), np.count_nonzero(higher & (leaning.relevance[people] > 0))
    pulls = (
        f"1 neighbour stood higher, {'relevant' if right else 'not relevant'}"
        if ahead == 1
        else f"{ahead} neighbours stood higher, {right} of them relevant"
    )
    return f"By itself {name} stands at rank {before}, with neighbours at {after}: {pulls}."


def misleading(leaning: EdgeStrengthCurve, people: Ints, query: str) -> str:
    """What neighbours do to a scene that shows nothing relevant, in one sentence."""
    before, after = leaning.ranks[leaning.at(OFF), people], leaning.ranks[leaning.at(LEARNT), people]
    return (
        f"Nobody here is {query}, yet all {len(people)} rise: from ranks {before.min()} to {before.max()} "
        f"without neighbours to {after.min()} to {after.max()} with them."
    )


def summed_up(leaning: EdgeStrengthCurve) -> str:
    """Whom neighbours moved which way, and what that did to AP, in one sentence."""
    relevant = leaning.relevance > 0
    up, down = (int(np.count_nonzero(relevant & moved)) for moved in (leaning.rise > 0, leaning.rise < 0))
    before, after = leaning.precision_at(OFF), leaning.precision_at(LEARNT)
    word = VERDICTS[_change(before, after)]
    return (
        f"Of {int(relevant.sum())} relevant people neighbours lift {up} and lower {down}; AP goes from {before:.3f} to "
        f"{after:.3f}: here they {word} on the whole."
    )


def places_by_strength(
    strengths: Floats, places: Ints, relevant: Bools, names: Sequence[str], now: int, key: str
) -> None:
    """The rank of each sample of a scene, places (s, people), by the strength of its edges; `now` is marked."""
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
    """The average precision (s,) of the test samples by the strength of their edges."""
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
    """With the axis of strengths, and one of them marked."""
    figure.add_vline(x=marked, line={"color": GREY, "dash": "dot", "width": 2})
    figure.update_xaxes(
        title_text="edge strength",
        range=[-0.09 * float(strengths[-1]), 1.02 * float(strengths[-1])],
        tickvals=[0, 0.5, 1, 1.5, 2],
        ticktext=["off", "0.5", "as learned", "1.5", "2"],
    )
    show(figure, key, alt, file, height, top=top)
