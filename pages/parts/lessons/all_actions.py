"""Test AP of each action of the bundled scenes and their average, as measured by data/ten_actions.py.

The values of a lesson's query are those of the lesson's own training runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import streamlit as st

from pages.parts.app import home
from pages.parts.app.frame import escaped
from pages.parts.lessons import neighbour_captions
from pages.parts.lessons.lesson_settings import Lesson
from ranking.core import ImageSet
from ranking.metrics.intervals import Interval, Resampled
from ranking.reports.comparison_words import listed
from ranking.reports.prose import change, markdown_table

MEASURED = Path(__file__).parents[3] / "data" / "ten_actions.json"

# of methods, the second compared with the first
Pair = tuple[str, str]


class Action(NamedTuple):
    """The test AP of an action by each method, and the difference of each pair with its interval."""

    precisions: Mapping[str, float]
    gains: Mapping[Pair, Interval]


Measured = Mapping[str, Action]


def of_runs(methods: Sequence[str], resampled: Resampled, pairs: Iterable[Pair]) -> Action:
    """Return the AP of the runs of these methods, computed as on the page Compare rankings."""
    numbers = {method: number for number, method in enumerate(methods)}
    gains = {
        (first, second): resampled.difference("AP", numbers[second], numbers[first])
        for first, second in pairs
    }
    return Action(dict(zip(methods, resampled.values["AP"].tolist(), strict=True)), gains)


def measured(lesson: str, images: ImageSet, query: str, own: Action) -> Measured:
    """Return the stored values of a lesson, with those of its own runs for its query."""
    # Gone if they were measured on another image set.
    with home.missing_as_error():
        stored = json.loads(MEASURED.read_text())
    if stored["set"] != images.key:
        raise home.Gone(
            f"data/{MEASURED.name} was measured on other images than those of the lesson; "
            "measure it again with: python data/ten_actions.py"
        )
    return {name: read(action) for name, action in stored["lessons"][lesson].items()} | {query: own}


def read(stored: Mapping[str, object]) -> Action:
    """Return one action of the file."""
    precisions, gains = stored["AP"], stored["gains"]
    assert isinstance(precisions, dict)
    assert isinstance(gains, list)
    return Action(precisions, {(first, second): Interval(*values) for first, second, *values in gains})


def show(actions: Measured, lesson: Lesson) -> None:
    """Show a table of all actions, with the lesson's action in bold, and for how many of them neighbours help."""
    st.markdown(f"### {on_average(actions, neighbour_captions.PAIRS)}")
    st.markdown(table(actions, lesson.query))
    st.caption(
        f"Test AP with {listed(lesson.features)} and the default settings of every method; the average says nothing "
        "about other settings. ▲ and ▼: significant gains and losses with neighbours; the other differences may be due "
        "to chance."
    )


def mean_precisions(actions: Measured, pair: Pair) -> list[float]:
    return [fmean(action.precisions[method] for action in actions.values()) for method in pair]


def on_average(actions: Measured, pairs: Sequence[Pair]) -> str:
    """Say how much AP the second method of each pair gains on average, and for how many actions.

    >>> values = {"a": 0.3, "b": 0.4}, {"a": 0.5, "b": 0.3}
    >>> gains = {("a", "b"): Interval(0.1, 0.05, 0.15)}, {("a", "b"): Interval(-0.2, -0.25, 0.25)}
    >>> on_average({str(n): Action(*of) for n, of in enumerate(zip(values, gains))}, [("a", "b")])
    'Average AP of 2 actions at default settings: a → b **−0.050** (1 significantly better, 0 worse).'
    """
    # The last numbers: for how many actions it gains and loses significantly.
    texts = []
    for pair in pairs:
        gains = [action.gains[pair] for action in actions.values()]
        up, down = sum(gain.low > 0 for gain in gains), sum(gain.high < 0 for gain in gains)
        gain = f"**{change(*mean_precisions(actions, pair))}** ({up} significantly better, {down} worse)"
        texts.append(f"{' → '.join(pair)} {gain}")
    return f"Average AP of {len(actions)} actions at default settings: {', '.join(texts)}."


def table(actions: Measured, query: str) -> str:
    """Return the values and their average as Markdown, with `query` in bold."""
    heads = [head for pair in neighbour_captions.PAIRS for head in (*pair, "Change")]
    rows = []
    for name, action in actions.items():
        shown = escaped(name)
        rows.append([f"**{shown}**" if name == query else shown, *_cells(action)])
    averages = {
        method: fmean(action.precisions[method] for action in actions.values())
        for pair in neighbour_captions.PAIRS
        for method in pair
    }
    return markdown_table(["Action", *heads], [*rows, ["Average", *_cells(Action(averages, {}))]])


def _cells(action: Action) -> list[str]:
    """Return both values and their difference for each pair, with a mark where the difference is significant."""
    cells: list[str] = []
    for pair in neighbour_captions.PAIRS:
        before, after = (action.precisions[method] for method in pair)
        gain = action.gains.get(pair)
        mark = "" if gain is None or not gain.without_zero else " ▲" if gain.value > 0 else " ▼"
        cells += [f"{before:.3f}", f"{after:.3f}", f"{change(before, after)}{mark}"]
    return cells
