"""What the paper prints about the time of loss-augmented inference, and what is said of one's own measurements."""

from __future__ import annotations

from typing import NamedTuple

from ranking.timing_studies import BINARY, NEGATIVE, POSITIVE, SAMPLES, Point, Timed


class Printed(NamedTuple):
    """total: seconds of a training, Tables 2 and 5. call: milliseconds and deviation, Tables 3 and 6."""

    total: float
    call: float
    deviation: float


TABLES = {"ap": "Tables 2 and 3", "ndcg": "Tables 5 and 6"}
FIGURES = {"ap": "Fig. 1", "ndcg": "Fig. 2"}
LOSS = {"ap": "AP", "ndcg": "NDCG"}
VIEWS = {
    "tables ap": "Tables 2, 3 · AP",
    "tables ndcg": "Tables 5, 6 · NDCG",
    "figure ap": "Fig. 1 · AP",
    "figure ndcg": "Fig. 2 · NDCG",
}
PAPER = {
    "ap": {
        BINARY: Printed(0.1434, 1.872, 0.057),
        "greedy": Printed(0.7154, 16.294, 0.180),
        "search": Printed(0.0985, 2.323, 0.200),
        "select": Printed(0.0625, 1.482, 0.385),
    },
    "ndcg": {
        BINARY: Printed(0.1687, 2.447, 0.259),
        "greedy": Printed(6.8019, 71.066, 1.569),
        "select": Printed(0.0473, 0.548, 0.111),
    },
}
ENOUGH = 2000  # irrelevant samples, above which the algorithms differ by more than their fixed costs
CALLED = {
    BINARY: BINARY,
    "greedy": "greedy, as before the paper",
    "search": "SEARCH",
    "select": "SELECT",
    "buckets": "buckets (not in the paper)",
    "auto": "auto (not in the paper)",
}
SHORT = {name: called.partition(",")[0].partition(" (")[0] for name, called in CALLED.items()}
AXES = {
    SAMPLES: "all samples, 1 relevant to 10",
    NEGATIVE: "irrelevant samples, relevant ones fixed",
    POSITIVE: "relevant samples, irrelevant ones fixed",
}


def named(point: Point) -> dict[str, Timed]:
    return {one.name: one for one in point.timed}


def table(point: Point) -> str:
    """Here and in the paper: seconds of a training, milliseconds of a call, and how many times faster than greedy."""
    here, paper = named(point), PAPER[point.loss]
    rows = []
    for name, one in here.items():
        told = paper.get(name)
        printed = (
            ("–", "–", "–")
            if told is None
            else (
                f"{told.total:.4f}",
                f"{told.call:.3f} ± {told.deviation:.3f}",
                times(paper["greedy"].call / told.call),
            )
        )
        rows.append(
            f"| {CALLED[name]} | {one.calls:,} | {one.total:.4f} | {1000 * one.mean:.3f} ± "
            f"{1000 * one.deviation:.3f} | **{times(here['greedy'].mean / one.mean)}** | {' | '.join(printed)} |"
        )
    return (
        "| | calls | here: s a training | ms a call | greedy / this | paper: s a training | ms a call | greedy / "
        "this |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|\n" + "\n".join(rows)
    )


def times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 9.95 else f"{ratio:.1f}×" if ratio >= 0.095 else f"{ratio:.2f}×"


def headline(point: Point) -> str:
    here, paper = named(point), PAPER[point.loss]
    ratio = here["greedy"].mean / here["select"].mean
    theirs = paper["greedy"].call / paper["select"].call
    return (
        f"{LOSS[point.loss]}: SELECT is {times(ratio)} as fast as greedy here, {times(theirs)} in the paper"
    )


def notice(point: Point) -> str:
    """What to notice in a table."""
    here = named(point)
    fastest = min((one for one in point.timed if one.name != BINARY), key=lambda one: one.mean)
    against = here[BINARY].mean / here["select"].mean
    simple = (
        f"a call of SELECT takes {times(against)} less than one of the 0-1 loss"
        if against > 1
        else f"a call of SELECT takes {times(1 / against)} as long as one of the 0-1 loss"
    )
    few = (
        ""
        if point.negatives >= ENOUGH
        else " So few samples tell little: most of each time is the fixed cost of a call, such as checking the scores."
    )
    return (
        f"the ratio to greedy: times are of a machine, it is of the algorithms. The fastest here is "
        f"{CALLED[fastest.name]}, {1e6 * fastest.mean:.0f} µs a call. The paper says that AP and NDCG are optimised as "
        f"fast as the simple loss: here {simple}. Greedy is compiled here, too.{few}"
    )


def notice_figure(points: list[Point]) -> str:
    """How greedy and SELECT grow along the axis on which all samples are varied."""
    first, last = (named(one) for one in (points[0], points[-1]))
    more = (points[-1].positives + points[-1].negatives) / (points[0].positives + points[0].negatives)
    grown = {name: last[name].mean / first[name].mean for name in ("greedy", "select")}
    return (
        f"the slopes on the left: with {more:.1f} times the samples a call of greedy takes {grown['greedy']:.0f} "
        f"times as long, one of SELECT {grown['select']:.1f} times. The paper draws these figures and prints no "
        "numbers of them."
    )
