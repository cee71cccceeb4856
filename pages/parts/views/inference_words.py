"""Captions of loss-augmented inference: the ranking, a step, the operations."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, log10

import numpy as np

from ranking.core import Ints
from ranking.explain.inference_steps import Bins, InferenceProblem, Step, Trace, Value

NAMES = {"greedy": "Greedy", "search": "SEARCH", "select": "SELECT", "buckets": "Buckets"}
MOST_LINES = 120  # largest number of irrelevant samples that are joined by lines between two rankings
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
    hinge, loss = worth[VIOLATED].objective - worth[RIGHT].score, problem.loss.measure
    if np.isclose(hinge, 0.0, atol=1e-12):
        return "No ranking violates its constraint: there is nothing to learn from these scores"
    return f"The most violated ranking: {loss} loss {worth[VIOLATED].loss:.3f}, violated by {hinge:.3f}"


def worth_table(worth: Mapping[str, Value]) -> str:
    """Return score, loss and sum of each ranking as Markdown; the greatest value of each column is bold."""
    columns = {name: (value.score, value.loss, value.objective) for name, value in worth.items()}
    best = np.max(list(columns.values()), axis=0)
    rows = [
        f"| {name} | {' | '.join(_bold(value, top) for value, top in zip(values, best, strict=True))} |"
        for name, values in columns.items()
    ]
    return "| ranking | score | + loss | = sum |\n|---|--:|--:|--:|\n" + "\n".join(rows)


def _bold(value: float, best: float) -> str:
    text = f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return f"**{text}**" if np.isclose(value, best, rtol=1e-9, atol=1e-12) else text


def notice_ranking(problem: InferenceProblem, ranks: Ints, worth: Mapping[str, Value]) -> str:
    """Say how much lower the score and how much higher the loss of the most violated ranking is."""
    p, n = len(problem.positives), len(problem.negatives)
    up = int(np.count_nonzero(ranks < problem.ranks_by_score))
    paid = worth[PREDICTED].score - worth[VIOLATED].score
    gained = worth[VIOLATED].loss - worth[PREDICTED].loss
    count = comb(p + n, p)
    patterns = f"{count:,}" if count < 10**7 else f"$10^{{{log10(count):.0f}}}$"
    thick = " (thick lines)" if up and n <= MOST_LINES else ""
    moved = f"{up} of {n} irrelevant samples move up{thick}" if up else "no irrelevant sample moves up"
    return (
        f"Each column is a sample: + relevant, − irrelevant. **Notice** that {moved}: from the prediction to the "
        f"most violated ranking, the score falls by {paid:.3f} and the loss rises by {gained:.3f}. Of {p + n}! orders "
        f"only the ± pattern matters, which leaves {patterns}; each irrelevant sample is placed independently."
    )


def patterns_alt(problem: InferenceProblem, rankings: Mapping[str, Ints]) -> str:
    """Return the patterns as text from the top, the first 60 ranks at most."""
    texts = []
    for name, ranks in rankings.items():
        signs = ["+" if relevant else "−" for relevant in problem.is_relevant[problem.order_of(ranks)]]
        rest = f" and {len(signs) - 60} more" if len(signs) > 60 else ""
        texts.append(f"{name}: {''.join(signs[:60])}{rest}")
    return f"Patterns of rankings from the top. {'; '.join(texts)}"


# ---------------------------------------------------------------------------------------------------------
# A step
# ---------------------------------------------------------------------------------------------------------


def ranks_of(low: int, high: int) -> str:
    return f"rank {low}" if low == high else f"ranks {low} to {high}"


def samples_of(start: int, end: int) -> str:
    """Name the samples start ... end - 1, counted from 0, by their numbers from 1."""
    return f"sample {start + 1}" if end - start == 1 else f"samples {start + 1} to {end}"


def of_step(problem: InferenceProblem, step: Step) -> str:
    """Say what a step evaluated, and which bounds follow."""
    block, tried = step.block, len(set(step.probes))
    if step.what == "sample":
        return (
            f"Irrelevant sample {step.position + 1}, score {step.score:.3g}: {tried} of {problem.highest - 1} steps of "
            f"the rank evaluated; the best rank is {step.rank}."
        )
    known = [
        bound
        for bound in step.bounds
        if not (bound.start == step.position and bound.end == step.position + 1)
    ]
    left = "; ".join(
        f"{samples_of(each.start, each.end)}: {ranks_of(each.low, each.high)}"
        for each in known
        if each.start < each.end
    )
    if step.what == "median":
        return (
            f"The median of {samples_of(block.start, block.end)} is sample {step.position + 1}, score "
            f"{step.score:.3g}. Of {ranks_of(block.low, block.high)} the best is {step.rank}. {_so(left)}"
        )
    if step.what == "edge":
        return (
            f"The boundary of two bins at score {step.score:.3g}, with {step.position} irrelevant samples above it. A "
            f"sample there would have rank {step.rank} (possible: {ranks_of(block.low, block.high)}). {_so(left)}"
        )
    return (
        f"A bin with {samples_of(block.start, block.end)} and two possible ranks, {block.low} and {block.high}: the "
        f"sign of one difference decides. {_so(left)}"
    )


def _so(left: str) -> str:
    return f"So {left}." if left else "No other sample of that block is unsettled."


def notice_step(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    settled = int(np.count_nonzero(low == high))
    return (
        f"Each column is an irrelevant sample; stripes cover its possible ranks (rank 1: above all relevant samples). "
        f"**Notice** that {settled:,} of {len(low):,} are settled after {done:,} steps, and that ranks never decrease "
        f"from left to right, so the rank of one sample bounds all others.{_shape(problem, trace, done)}"
    )


def _shape(problem: InferenceProblem, trace: Trace, done: int) -> str:
    """Describe the shape of the function that the last step evaluated; "" if there is no step, or nothing is known."""
    last = problem.unimodal_to(trace.steps[done - 1].position + 1) if done else None
    if last is None:
        return ""
    if last == problem.highest:
        return " In the small chart $f_j$ rises, then falls (Proposition 5)."
    return (
        f" In the small chart $f_j$ rises, then falls up to rank {last} (Proposition 5), but not always in the grey "
        "range."
    )


def possible_alt(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    both = zip(low[:60], high[:60], strict=True)
    ranks = ", ".join(f"{least}" if least == most else f"{least} to {most}" for least, most in both)
    return f"Ranks that irrelevant samples may have after {done} steps of {NAMES[trace.algorithm]}: {ranks}"


def tree_alt(trace: Trace, done: int) -> str:
    return f"The recursion of SELECT: {len(trace.steps)} medians, {done} evaluated, {max(trace.depths()) + 1} deep"


def notice_tree(trace: Trace) -> str:
    n, evaluated = len(trace.ranks), trace.evaluated
    why = ", because their bounds coincide. Sorting them would be wasted work" if evaluated < n else ""
    return (
        "A bar is a block of samples with its possible ranks. Evaluating its median gives the rank of the median and "
        "two bars below. **Notice** how many samples are settled without evaluation: "
        f"{n - evaluated:,} of {n:,}{why}."
    )


def notice_bins(problem: InferenceProblem, partition: Bins, trace: Trace) -> str:
    from ranking.inference.most_violated_ranking import FEW  # compiled

    edges = sum(step.what == "edge" for step in trace.steps)
    low, high = trace.bounds_after(edges, problem.highest)
    met = int(np.count_nonzero(low == high))
    return (
        f"{partition.grid.bins} bins of equal width; {edges} bin boundaries were evaluated. **Notice** that the bounds "
        f"of bins with {met:,} of {len(low):,} samples coincide, so those samples need no evaluation. The algorithm "
        f"“auto” uses bins from {FEW:,} irrelevant samples on; with fewer it sorts and bisects, which is faster there."
    )


# ---------------------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------------------

ORDERS = {  # for |N| > |P|; without |, which would end the cell of a table
    "greedy": r"$O(\lvert N\rvert\lvert P\rvert+\lvert N\rvert\log\lvert N\rvert)$",
    # For each of the first |P| samples, all ranks above its own are searched one by one (quicksort, Algorithm 3).
    "search": r"$O(\lvert N\rvert\log\lvert P\rvert+\lvert P\rvert^2+\lvert N\rvert\log\lvert N\rvert)$",
    "select": r"$O(\lvert N\rvert\log\lvert P\rvert)$",
    "buckets": r"$O(\lvert N\rvert)$ on ordinary scores",
}


def counts_table(problem: InferenceProblem, traces: Mapping[str, Trace]) -> str:
    rows = []
    for name, trace in traces.items():
        total = trace.comparisons + trace.derivatives + trace.counted
        objective = problem.value_of(trace.ranks).objective
        rows.append(
            f"| {NAMES[name]} | {trace.comparisons:,} | {trace.counted or '–'} | {trace.derivatives:,} | "
            f"**{total:,}** | {trace.evaluated:,} of {len(trace.ranks):,} | {objective:.6f} | {ORDERS[name]} |"
        )
    return (
        "| | comparisons of scores | scores counted | differences of $f_j$ | total | samples evaluated "
        "| score + loss | where $\\lvert N\\rvert>\\lvert P\\rvert$ |\n|---|--:|--:|--:|--:|--:|--:|---|\n"
        + "\n".join(rows)
    )


def notice_counts(traces: Mapping[str, Trace]) -> str:
    greedy, select = traces["greedy"], traces["select"]
    ratio = greedy.derivatives / max(1, select.derivatives)
    search = (
        "SEARCH needs the unimodality of the AP loss, so it is not available for the NDCG loss. "
        if "search" not in traces
        else ""
    )
    return (
        "Counted in readable implementations. There SELECT uses exact medians; the compiled code estimates them. "
        f"**Notice** that all find the same sum, and that SELECT computes {ratio:.0f} times fewer differences than "
        rf"greedy. {search}Its bound has $\log|P|$, not $\log|N|$; no comparison-based algorithm can do better "
        "(quicksort, Proposition 4). Counting is not comparison-based."
    )
