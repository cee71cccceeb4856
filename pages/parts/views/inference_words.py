"""Loss-augmented inference in words: the ranking, a step, the operations."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, log10

import numpy as np

from ranking.core import Ints
from ranking.explain.inference_steps import Bins, InferenceProblem, Step, Trace, Value

NAMES = {"greedy": "Greedy", "search": "SEARCH", "select": "SELECT", "buckets": "Buckets"}
MOST_LINES = 120  # irrelevant samples whose way from one ranking to the other is drawn
RIGHT, PREDICTED, VIOLATED = "right", "by score", "most violated"

BEFORE = {
    "greedy": "**Greedy** sorts the irrelevant samples, then tries every rank of each. Press *Next step*.",
    "search": "**SEARCH** sorts them too, but climbs: $f_j$ rises, then falls, so bisection finds its top "
    "(Algorithm 3). Press *Next step*.",
    "select": "**SELECT** sorts nothing. It finds the best rank of the *median*, which bounds the ranks of all above "
    "it from below, and of all below it from above (Algorithm 2). Press *Next step*.",
    "buckets": "**Buckets** compares no two samples: it counts scores into bins, bounds each bin by the best ranks at "
    "its edges, and looks only into bins whose bounds do not meet. Press *Next step*.",
}


def three(problem: InferenceProblem, ranks: Ints) -> dict[str, Ints]:
    """The interleaving ranks of the right ranking, of the prediction, and of the most violated one."""
    right = np.full(len(ranks), problem.highest, np.int64)
    return {RIGHT: right, PREDICTED: problem.ranks_by_score, VIOLATED: ranks}


# ---------------------------------------------------------------------------------------------------------
# The ranking
# ---------------------------------------------------------------------------------------------------------


def headline(problem: InferenceProblem, worth: Mapping[str, Value]) -> str:
    hinge, loss = worth[VIOLATED].objective - worth[RIGHT].score, problem.loss.measure
    if np.isclose(hinge, 0.0, atol=1e-12):
        return "No ranking violates its constraint: training has nothing to learn here"
    return f"The most violated ranking: {loss} loss {worth[VIOLATED].loss:.3f}, violated by {hinge:.3f}"


def worth_table(worth: Mapping[str, Value]) -> str:
    """What each ranking is worth; the greatest value of each column is bold."""
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
    """What the most violated ranking gives up in score, and gains in loss."""
    p, n = len(problem.positives), len(problem.negatives)
    up = int(np.count_nonzero(ranks < problem.ranks_by_score))
    paid = worth[PREDICTED].score - worth[VIOLATED].score
    gained = worth[VIOLATED].loss - worth[PREDICTED].loss
    count = comb(p + n, p)
    patterns = f"{count:,}" if count < 10**7 else f"$10^{{{log10(count):.0f}}}$"
    thick = ", drawn thick" if up and n <= MOST_LINES else ""
    lifted = f"{up} of {n} irrelevant samples rise{thick}" if up else "no irrelevant sample rises"
    return (
        f"Each column is a sample: + relevant, − not. **Notice** that {lifted}: going from the prediction to the "
        f"most violated ranking gives up {paid:.3f} of score for {gained:.3f} of loss. Of {p + n}! orders only "
        f"the ± pattern counts, {patterns} of them; each irrelevant sample is placed independently."
    )


def patterns_alt(problem: InferenceProblem, rankings: Mapping[str, Ints]) -> str:
    """The patterns themselves, from the top; of long ones the first places."""
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
    """The samples start ... end - 1, which count from 0, in words that count from 1."""
    return f"sample {start + 1}" if end - start == 1 else f"samples {start + 1} to {end}"


def of_step(problem: InferenceProblem, step: Step) -> str:
    """What a step looked at, what it tried, and what that settled."""
    run, tried = step.run, len(set(step.probes))
    if step.what == "sample":
        return (
            f"Sample {step.position + 1} of the irrelevant ones, score {step.score:.3g}: {tried} of "
            f"{problem.highest - 1} steps of the rank tried, the best is rank {step.rank}."
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
            f"The median of {samples_of(run.start, run.end)} is sample {step.position + 1}, score {step.score:.3g}. "
            f"Of {ranks_of(run.low, run.high)} the best is {step.rank}. {_so(left)}"
        )
    if step.what == "edge":
        return (
            f"The edge of two bins at score {step.score:.3g}, {step.position} irrelevant samples above it. A sample "
            f"there would have rank {step.rank}, of {ranks_of(run.low, run.high)}. {_so(left)}"
        )
    return (
        f"A bin with {samples_of(run.start, run.end)} and two possible ranks, {run.low} and {run.high}: the sign "
        f"of one difference decides. {_so(left)}"
    )


def _so(left: str) -> str:
    return f"So {left}." if left else "Nothing else is left of that run."


def notice_step(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    settled = int(np.count_nonzero(low == high))
    return (
        f"Each column is an irrelevant sample, striped over the ranks that it may still have (rank 1: above all "
        f"relevant ones). **Notice** {settled:,} of {len(low):,} are settled after {done:,} steps, and that the ranks "
        f"never fall from left to right: so one sample's rank bounds those of all others.{_shape(problem, trace, done)}"
    )


def _shape(problem: InferenceProblem, trace: Trace, done: int) -> str:
    """What is known of the shape of the function that the last step looked at; "" where there is none, or nothing."""
    last = problem.unimodal_to(trace.steps[done - 1].position + 1) if done else None
    if last is None:
        return ""
    if last == problem.highest:
        return " In the small chart $f_j$ rises, then falls (Proposition 5)."
    return f" In the small chart $f_j$ rises, then falls up to rank {last} (Proposition 5); in the grey it need not."


def possible_alt(problem: InferenceProblem, trace: Trace, done: int) -> str:
    low, high = trace.bounds_after(done, problem.highest)
    both = zip(low[:60], high[:60], strict=True)
    ranks = ", ".join(f"{least}" if least == most else f"{least} to {most}" for least, most in both)
    return f"Ranks that irrelevant samples may have after {done} steps of {NAMES[trace.algorithm]}: {ranks}"


def tree_alt(trace: Trace, done: int) -> str:
    return f"The recursion of SELECT: {len(trace.steps)} medians, {done} evaluated, {max(trace.depths()) + 1} deep"


def notice_tree(trace: Trace) -> str:
    n, evaluated = len(trace.ranks), trace.looked_at
    why = (
        ", because their bounds coincide. Sorting would have put them in order for nothing"
        if evaluated < n
        else ""
    )
    return (
        "A bar is a run of samples with the ranks that are possible in it; after its median was evaluated, that "
        "sample's rank, and two bars below. **Notice** how many samples are settled without evaluation: "
        f"{n - evaluated:,} of {n:,}{why}."
    )


def notice_bins(problem: InferenceProblem, partition: Bins, trace: Trace) -> str:
    edges = sum(step.what == "edge" for step in trace.steps)
    low, high = trace.bounds_after(edges, problem.highest)
    met = int(np.count_nonzero(low == high))
    return (
        f"{partition.grid.bins} bins of equal width; {edges} edges were evaluated. Notice that the bounds of bins "
        f"with {met:,} of {len(low):,} samples meet: those samples need no evaluation. From 6,000 irrelevant samples "
        "on the algorithm “auto” counts like this; with fewer it sorts and halves, which is as fast there."
    )


# ---------------------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------------------

ORDERS = {  # for |N| > |P|; without |, which would end the cell of a table
    "greedy": r"$O(\lvert N\rvert\lvert P\rvert+\lvert N\rvert\log\lvert N\rvert)$",
    # The first |P| samples are searched one rank after the other above their own place (quicksort, Algorithm 3).
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
            f"**{total:,}** | {trace.looked_at:,} of {len(trace.ranks):,} | {objective:.6f} | {ORDERS[name]} |"
        )
    return (
        "| | comparisons of scores | scores counted | differences of $f_j$ | together | samples looked at "
        "| score + loss | where $\\lvert N\\rvert>\\lvert P\\rvert$ |\n|---|--:|--:|--:|--:|--:|--:|---|\n"
        + "\n".join(rows)
    )


def notice_counts(traces: Mapping[str, Trace]) -> str:
    greedy, select = traces["greedy"], traces["select"]
    ratio = greedy.derivatives / max(1, select.derivatives)
    search = (
        "SEARCH needs the unimodality of the AP, so the NDCG loss is without it. "
        if "search" not in traces
        else ""
    )
    return (
        "Counted in readable forms of the algorithms, of which SELECT takes exact medians; the compiled ones "
        f"estimate them. **Notice** that all find the same sum, and that SELECT computes {ratio:.0f} times fewer "
        f"differences than greedy. {search}The logarithm in its bound is of $|P|$, not of $|N|$: no algorithm "
        "that compares can do better (Proposition 4). Counting is none that compares."
    )
