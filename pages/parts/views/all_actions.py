"""Test AP of each action of the bundled scenes and of their average, as data/ten_actions.py has measured it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import streamlit as st

from pages.parts.app import cache
from pages.parts.app.frame import escaped
from pages.parts.views import leanings
from ranking.core import ImageSet

MEASURED = Path(__file__).parents[3] / "data" / "ten_actions.json"

Measured = Mapping[str, Mapping[str, float]]  # of each action the test AP by each method


def show(images: ImageSet, query: str) -> None:
    """A table of all actions, that of the lesson marked, and for how many of them neighbours help."""
    precisions = measured(images)
    st.markdown(f"### {summed_up(precisions)}")
    st.markdown(table(precisions, query))
    st.caption(
        "Test AP of all actions of the same scenes, every method with its own settings, none chosen; ▲ and ▼: what it "
        "gains and loses with neighbours. **Notice** how far they differ: a single action proves little. HOAP-SVM's "
        "rounds may end elsewhere on another machine, for its objective is not convex."
    )


def measured(images: ImageSet) -> Measured:
    """The stored figures; Gone where they are of another set."""
    with cache.or_gone():
        stored = json.loads(MEASURED.read_text())
    if stored["set"] != images.key:
        raise cache.Gone(
            f"data/{MEASURED.name} was measured on other images than data/examples holds; "
            "measure it again with: python data/ten_actions.py"
        )
    precisions: Measured = stored["average_precision"]
    return precisions


def summed_up(precisions: Measured) -> str:
    """For how many actions AP rises with neighbours, as far as the numbers are shown.

    >>> summed_up({"a": {"SVM": 0.1, "HOB-SVM": 0.2, "AP-SVM": 0.3, "HOAP-SVM": 0.3}})
    'With neighbours AP rises for 1 of 1 actions where labels are counted, and for 0 where AP is optimised.'
    """
    counted, optimised = (
        sum(by[leaning] > by[alone] for by in precisions.values()) for alone, leaning in leanings.PAIRS
    )
    return (
        f"With neighbours AP rises for {counted} of {len(precisions)} actions where labels are counted, and for "
        f"{optimised} where AP is optimised."
    )


def average(precisions: Measured) -> dict[str, float]:
    """The mean AP over all actions of each method.

    >>> average({"a": {"SVM": 0.25}, "b": {"SVM": 0.75}})
    {'SVM': 0.5}
    """
    methods = next(iter(precisions.values()))
    return {method: fmean(by[method] for by in precisions.values()) for method in methods}


def beside_average(
    precisions: Measured, query: str, shown: Mapping[str, float], pairs: Sequence[tuple[str, str]]
) -> str:
    """How much the second method of each pair gains on the query and on average over all actions, in one sentence.

    shown: the AP of each method on the query, as the page shows it.

    >>> measured = {"a": {"SVM": 0.1, "AP-SVM": 0.2}, "b": {"SVM": 0.3, "AP-SVM": 0.26}}
    >>> beside_average(measured, "a", measured["a"], [("SVM", "AP-SVM")])
    'AP-SVM minus SVM in AP: **+0.100** on “a”, **+0.030** on average over all 2 actions.'
    """
    mean = average(precisions)
    differences = [
        f"{second} minus {first} in AP: **{round(shown[second], 3) - round(shown[first], 3):+.3f}** on "
        f"“{escaped(query)}”, **{mean[second] - mean[first]:+.3f}** on average over all {len(precisions)} actions"
        for first, second in pairs
    ]
    return f"{'; '.join(differences)}."


def table(precisions: Measured, query: str) -> str:
    """The figures and their average as markdown, `query` in bold."""
    heads = [head for alone, leaning in leanings.PAIRS for head in (alone, leaning, "Change")]
    lines = [["Action", *heads], ["---", *(["---:"] * len(heads))]]
    for action, by in precisions.items():
        name = escaped(action)
        lines.append([f"**{name}**" if action == query else name, *_cells(by)])
    lines.append(["Average", *_cells(average(precisions))])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(by: Mapping[str, float]) -> list[str]:
    return [cell for alone, leaning in leanings.PAIRS for cell in _compared(by[alone], by[leaning])]


def _compared(before: float, after: float) -> tuple[str, str, str]:
    """The two as they are shown, and their difference.

    >>> _compared(0.25, 0.2), _compared(0.25, 0.25)
    (('0.250', '0.200', '▼ 0.050'), ('0.250', '0.250', '='))
    """
    change = after - before
    sign = f"{'▲' if change > 0 else '▼'} {abs(change):.3f}" if change else "="
    return f"{before:.3f}", f"{after:.3f}", sign
