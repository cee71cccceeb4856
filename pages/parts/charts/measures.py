"""The metrics of a ranking as numbers, each with its formula."""

from __future__ import annotations

import streamlit as st

from ranking.metrics.intervals import Interval
from ranking.metrics.ranked import Ranking
from ranking.reports.prose import signed_end

AP = r"$\displaystyle\text{AP}=\frac1{|P|}\sum_{i\in P}\text{precision at the rank of }i$"
PRECISION = r"$\displaystyle\text{P@}k=\frac{\#\text{relevant among the first }k}{k}$"
NDCG = (
    r"$\displaystyle\text{NDCG}=\frac{\sum_{i\in P}D(\text{rank of }i)}{\sum_{r\le|P|}D(r)},"
    r"\;D(r)=\frac1{\log_2(1+r)}$"
)


def show(ranked: Ranking, k: int) -> None:
    """Show AP, P@k, NDCG and the counts; or a message if no sample is relevant, because then they are undefined."""
    if not ranked.positives:
        st.info(
            "No sample of this split is relevant to the query, so there is nothing to measure.",
            icon=":material/info:",
        )
        return
    precision, _ = ranked.curve
    with st.container(horizontal=True, gap="small"):
        st.metric("AP", f"{ranked.average_precision:.3f}", help=AP, width="content")
        st.metric(f"P@{k}", f"{precision[k - 1]:.3f}", help=PRECISION, width="content")
        st.metric("NDCG", f"{ranked.ndcg:.3f}", help=NDCG, width="content")
        st.metric("Relevant", f"{ranked.positives:,}", width="content")
        st.metric("Samples", f"{len(ranked):,}", width="content")


def ends(interval: Interval) -> str:
    """Return the ends of an interval as text.

    >>> ends(Interval(0.05, -0.01, 0.11))
    '95% confidence interval −0.010 to +0.110'
    """
    return f"95% confidence interval {signed_end(interval.low)} to {signed_end(interval.high)}"
