"""Captions of loss-augmented inference: the ranking, a step, the operations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranking.core import Ints
from ranking.explain.inference_steps import Bins, InferenceProblem, Step, Trace, Value
from ranking.reports.prose import markdown_table

NAMES = {"greedy": "Greedy", "search": "SEARCH", "select": "SELECT", "buckets": "Buckets"}
# largest number of irrelevant samples that are joined by lines between two rankings
MAX_LINES = 120
RIGHT, PREDICTED, VIOLATED = "correct", "by score", "most violated"

BEFORE = {
    "greedy": "**Greedy** sorts the irrelevant samples and evaluates every rank of each. Press *Next step*.",
    "search": "**SEARCH** sorts them too. $f_j$ first rises, then falls, so bisection finds its maximum "
    "(Algorithm 3). Press *Next step*.",
    "select": "**SELECT** does not sort. It finds the best rank of the *median*, which is an upper bound for all "
    "samples above it and a lower bound for all below it (quicksort, Algorithm 2). Press *Next step*.",
    "buckets": "**Buckets** compares no two samples. It counts scores into bins, bounds each bin by the best ranks at "
    "its edges, and examines only the bins whose bounds differ. Press *Next step*.",
}


def three(problem: InferenceProblem, ranks: Ints) -> dict[str, Ints]:
    """Return the interleaving ranks of the correct ranking, the prediction and the most violated ranking."""
    right = np.full(len(ranks), problem.highest, np.int64)
    return {RIGHT: right, PREDICTED: problem.ranks_by_score, VIOLATED: ranks}


# ---------------------------------------------------------------------------------------------------------
# The ranking
# ---------------------------------------------------------------------------------------------------------


def headline(problem: InferenceProblem, worth: Mapping[str, Value]) -> str:
    violation = max(0.0, worth[VIOLATED].objective - worth[RIGHT].score)
    return (
        f"The most violated ranking: {problem.loss.title} loss {worth[VIOLATED].loss:.3f}, violated by "
        f"{violation:.3f}"
    )


def worth_table(worth: Mapping[str, Value]) -> str:
    """Return score, loss and sum of each ranking as Markdown; the greatest value of each column is bold."""
    columns = {name: (value.score, value.loss, value.objective) for name, value in worth.items()}
    best = np.max(list(columns.values()), axis=0)
    rows = (
        [name, *(_bold(value, top) for value, top in zip(values, best, strict=True))]
        for name, values in columns.items()
    )
    return markdown_table(["ranking", "score", "+ loss", "= sum"], rows)


def _bold(value: float, best: float) -> str:
    text = f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return f"**{text}**" if np.isclose(value, best, rtol=1e-9, atol=1e-12) else text


def notice_ranking(problem: InferenceProblem, ranks: Ints, worth: Mapping[str, Value]) -> str:
    """Say how much lower the score and how much higher the loss of the most violated ranking is."""
    n = len(problem.negatives)
    up = int(np.count_nonzero(ranks < problem.ranks_by_score))
    paid = worth[PREDICTED].score - worth[VIOLATED].score
    gained = worth[VIOLATED].loss - worth[PREDICTED].loss
    return (
        f"Each column is a sample: + relevant, − irrelevant. **Notice** that {up} of {n} irrelevant samples move up "
        f"from the prediction to the most violated ranking: the score falls by {paid:.3f} and the loss rises by "
        f"{gained:.3f}. Only the ± pattern matters, and each irrelevant sample is placed independently."
    )


def patterns_alt(problem: InferenceProblem, rankings: Mapping[str, Ints]) -> str:
    """Return the first 60 signs of the patterns as text."""
    texts = []
    for name, ranks in rankings.items():
        relevant = problem.is_relevant[problem.order_of(ranks)][:60]
        texts.append(f"{name}: {''.join('+' if each else '−' for each in relevant)}")
    return f"Patterns of rankings from the top. {'; '.join(texts)}"


# ---------------------------------------------------------------------------------------------------------
# A step
# ---------------------------------------------------------------------------------------------------------

EVALUATED = {
    "sample": "Irrelevant sample {place}",
    "median": "The median of samples {block}, sample {place},",
    "edge": "The boundary of two bins, with {above} irrelevant samples above it,",
    "bin": "The bin of samples {block}",
}


def span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def of_step(step: Step) -> str:
    """Say what a step evaluated, and which bounds follow."""
    block = step.block
    what = EVALUATED[step.what].format(
        place=step.position + 1, above=step.position, block=span(block.start + 1, block.end)
    )
    so = "; ".join(
        f"samples {span(bound.start + 1, bound.end)}: ranks {span(bound.low, bound.high)}"
        for bound in step.bounds
        if bound.start < bound.end and (bound.start, bound.end) != (step.position, step.position + 1)
    )
    return (
        f"{what} has score {step.score:.3g}. Of ranks {span(block.low, block.high)} the best is {step.rank}."
        f"{f' So {so}.' if so else ''}"
    )


def notice_step(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    return (
        "Each column is an irrelevant sample; stripes cover its possible ranks (rank 1: above all relevant samples). "
        f"{np.count_nonzero(low == high):,} of {len(low):,} are settled after {done:,} steps. Ranks never decrease "
        "from left to right, so the rank of one sample bounds all others. If the loss is that of AP, $f_j$ in the "
        "small chart rises, then falls, except in a grey range (Proposition 5)."
    )


def possible_alt(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    both = zip(low[:60], high[:60], strict=True)
    ranks = ", ".join(f"{least}" if least == most else f"{least} to {most}" for least, most in both)
    return f"Ranks that irrelevant samples may have after {done} steps of {NAMES[trace.algorithm]}: {ranks}"


def tree_alt(trace: Trace, done: int) -> str:
    return f"The recursion of SELECT: {len(trace.steps)} medians, {done} evaluated, {max(trace.depths()) + 1} deep"


def notice_tree(trace: Trace) -> str:
    n = len(trace.ranks)
    return (
        "A bar is a block of samples with its possible ranks. Evaluating its median gives the rank of the median and "
        f"two bars below. {n - trace.evaluated:,} of {n:,} samples are settled without evaluation, because their "
        "bounds coincide."
    )


def notice_bins(problem: InferenceProblem, partition: Bins, trace: Trace) -> str:
    # compiled
    from ranking.inference.most_violated_ranking import FEW

    edges = sum(step.what == "edge" for step in trace.steps)
    low, high = trace.bounds_after(edges, problem.highest)
    return (
        f"{partition.grid.bins} bins of equal width; {edges} bin boundaries were evaluated. The bounds of bins with "
        f"{np.count_nonzero(low == high):,} of {len(low):,} samples coincide: they need no evaluation. The algorithm "
        f"“auto” uses bins from {FEW:,} irrelevant samples on."
    )


# ---------------------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------------------

# for |N| > |P|; without |, which would end the cell of a table
ORDERS = {
    "greedy": r"$O(\lvert N\rvert\lvert P\rvert+\lvert N\rvert\log\lvert N\rvert)$",
    # For each of the first |P| samples, all ranks above its own are searched one by one (quicksort, Algorithm 3).
    "search": r"$O(\lvert N\rvert\log\lvert P\rvert+\lvert P\rvert^2+\lvert N\rvert\log\lvert N\rvert)$",
    "select": r"$O(\lvert N\rvert\log\lvert P\rvert)$",
    "buckets": r"$O(\lvert N\rvert)$ on ordinary scores",
}


def counts_table(problem: InferenceProblem, traces: Mapping[str, Trace]) -> str:
    heads = [
        "",
        "comparisons of scores",
        "scores counted",
        "differences of $f_j$",
        "total",
        "samples evaluated",
    ]
    heads += ["score + loss", r"where $\lvert N\rvert>\lvert P\rvert$"]
    rows = []
    for name, trace in traces.items():
        total = trace.comparisons + trace.derivatives + trace.counted
        cells = [NAMES[name], f"{trace.comparisons:,}", f"{trace.counted:,}", f"{trace.derivatives:,}"]
        cells += [f"**{total:,}**", f"{trace.evaluated:,} of {len(trace.ranks):,}"]
        rows.append([*cells, f"{problem.value_of(trace.ranks).objective:.6f}", ORDERS[name]])
    return markdown_table(heads, rows)


def notice_counts(traces: Mapping[str, Trace]) -> str:
    return (
        "Counted in readable implementations. There SELECT uses exact medians; the compiled code estimates them. "
        f"All find the same sum, greedy with {traces['greedy'].derivatives:,} differences, SELECT with "
        f"{traces['select'].derivatives:,}. SEARCH needs the unimodality of the AP loss. "
        r"The bound of SELECT has $\log|P|$, not $\log|N|$; no comparison-based algorithm can do better (quicksort, "
        "Proposition 4). Counting is not comparison-based."
    )
