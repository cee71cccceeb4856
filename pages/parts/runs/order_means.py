"""How well trainings put all test sequences in order, beside each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from pages.parts.app.frame import escaped
from pages.parts.runs import jobs_panel, order_models
from ranking.experiments.order_training import NAMES, Ordered, OrderMeasures
from ranking.workspace.run import Run


def show(shown: Mapping[str, Run], found: Mapping[str, Ordered], number: int) -> None:
    """The measures of each training on all test sequences, and its pairs on sequence `number`, from 0."""
    count = len(next(iter(found.values())))
    st.markdown(f"### Over all {count:,} test sequences")
    means = {
        key: OrderMeasures(*(float(values.mean()) for values in one.measures)) for key, one in found.items()
    }
    best = OrderMeasures(*np.max(list(means.values()), axis=0))
    lines = ["| | " + " | ".join(NAMES) + " | this sequence: pairs |", "|---|" + "---:|" * 5]
    for key, run in shown.items():
        cells = [
            f"**{value:.3f}**" if value == top else f"{value:.3f}"
            for value, top in zip(means[key], best, strict=True)
        ]
        own = found[key].measures.pairs[number]
        lines.append(f"| {escaped(order_models.short_name(run))} | {' | '.join(cells)} | {own:.3f} |")
    st.markdown("\n".join(lines))
    st.caption(told(shown, means))
    for run in shown.values():
        jobs_panel.explain_end(run, order_models.short_name(run))


def told(shown: Mapping[str, Run], means: Mapping[str, OrderMeasures]) -> str:
    said = (
        "Means over sequences; in bold the best of those shown. The paper writes NDCG with the exponential gain "
        "2^rel − 1, but its Table 1 is reached with the linear one: both are named. Kendall tau is always twice the "
        "pair accuracy minus one; neither counts pairs of equal numbers."
    )
    if len(means) < 2:
        return said
    ranked = sorted(means, key=lambda key: -means[key].pairs)
    ahead, behind = ranked[0], ranked[-1]
    apart = 100 * (means[ahead].pairs - means[behind].pairs)
    names = [escaped(order_models.short_name(shown[key])) for key in (ahead, behind)]
    return f"{said} **Notice** that {names[0]} has {apart:.1f} points more pairs right than {names[1]}."
