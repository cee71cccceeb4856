"""The times of loss-augmented inference in the paper, and captions for the times measured on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ranking.experiments.timing_studies import BINARY, NEGATIVE, POSITIVE, SAMPLES, TABLE, Point, Timed
from ranking.losses import make_loss
from ranking.methods import methods_by_loss


class Printed(NamedTuple):
    """total: seconds per training run (Tables 2 and 5). call, deviation: milliseconds per call (Tables 3 and 6)."""

    total: float
    call: float
    deviation: float


PRINTED_IN = "Mohapatra, Rolínek, Jawahar, Kolmogorov and Kumar, CVPR 2018"
PAPER_S, HERE = "the paper's machine, 2018", "measured"
TABLES = {"ap": "Tables 2 and 3", "ndcg": "Tables 5 and 6"}
FIGURES = {"ap": "Fig. 1", "ndcg": "Fig. 2"}
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
# Section 6.2: seconds of inference in a training run of latent AP-SVM on VOC 2007, mean over twenty classes.
LATENT_GREEDY, LATENT_FAST = 7.623, 0.5214
ENOUGH = 2000  # irrelevant samples from which differences between the algorithms exceed their fixed costs
CALLED = {
    BINARY: BINARY,
    "greedy": "greedy, before the paper",
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


def views() -> dict[str, str]:
    """Return the titles of the table and the figure of every timed loss, for the choice of the view."""
    measures = {loss: make_loss(loss).measure for loss in methods_by_loss()}
    tables = {f"tables {loss}": f"{table_name(loss)} · {measure}" for loss, measure in measures.items()}
    figures = {f"figure {loss}": f"{figure_name(loss)} · {measure}" for loss, measure in measures.items()}
    return {view: name.replace(" and", ",") for view, name in (tables | figures).items()}


def table_name(loss: str) -> str:
    """Return the numbers of the paper's tables for a loss; "Table" for a loss that the paper does not time."""
    return TABLES.get(loss, "Table")


def figure_name(loss: str) -> str:
    return FIGURES.get(loss, "Figure")


def table_point(points: Iterable[Point], loss: str) -> Point | None:
    """Return the measured point of the tables of a loss; None if it was not measured."""
    return next((point for point in points if (point.loss, point.varied) == (loss, TABLE)), None)


def named(point: Point) -> dict[str, Timed]:
    return {timed.name: timed for timed in point.timed}


def table(loss: str, point: Point | None) -> str:
    """Return the seconds per training run, the milliseconds per call and the speed-up over greedy, as measured and as
    printed in the paper."""
    here, paper = {} if point is None else named(point), PAPER.get(loss, {})
    columns = ("s per run", "ms per call", "speed-up over greedy")
    heads = ["", *(["calls", *(f"here: {name}" for name in columns)] if here else [])]
    heads += [f"paper: {name}" for name in columns]
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)]]
    for name in here or paper:
        cells = [CALLED[name]]
        if here:
            timed = here[name]
            call = f"{1000 * timed.mean:.3f} ± {1000 * timed.deviation:.3f}"
            cells += [f"{timed.calls:,}", f"{timed.total:.4f}", call, f"**{_faster(here, name)}**"]
        cells += _printed(paper, name)
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _printed(paper: dict[str, Printed], name: str) -> list[str]:
    """Return the paper's cells of an algorithm; dashes if the paper has none."""
    if name not in paper:
        return ["–"] * 3
    printed = paper[name]
    ratio = times(paper["greedy"].call / printed.call)
    return [f"{printed.total:.4f}", f"{printed.call:.3f} ± {printed.deviation:.3f}", ratio]


def of_latent(point: Point | None) -> str:
    """Return the paper's times for latent AP-SVM and their ratio; beside it that of AP-SVM at `point`."""
    here = ""
    if point is not None:
        timed = named(point)
        ratio = times(timed["greedy"].total / timed["select"].total)
        here = f" In the training runs above, which are of AP-SVM without windows, the ratio is {ratio}."
    return (
        f"Inference of a training run of latent AP-SVM takes {LATENT_GREEDY:g} s by greedy and {LATENT_FAST:g} s by "
        f"SEARCH and SELECT in section 6.2 of the paper, {LATENT_GREEDY / LATENT_FAST:.1f}×.{here}"
    )


def _faster(here: dict[str, Timed], name: str) -> str:
    return times(here["greedy"].mean / here[name].mean)


def times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 9.95 else f"{ratio:.1f}×" if ratio >= 0.095 else f"{ratio:.2f}×"


def headline(loss: str, point: Point | None) -> str:
    paper, measure = PAPER.get(loss), make_loss(loss).measure
    theirs = "" if paper is None else times(paper["greedy"].call / paper["select"].call)
    if point is None:
        if paper is None:
            return f"{measure}: how much faster is SELECT than greedy?"
        return f"{measure}: in the paper SELECT is {theirs} as fast as greedy. And here?"
    fewer = ", with fewer samples" if point.negatives < ENOUGH else ""
    ratio = _faster(named(point), "select")
    beside = f", {theirs} in the paper" if theirs else ""
    return f"{measure}: SELECT is {ratio} as fast as greedy here{fewer}{beside}"


def notice_paper(loss: str) -> str:
    """Return the caption of the paper's table, before a measurement."""
    paper = PAPER[loss]
    greedy, select, simple = (paper[name].call for name in ("greedy", "select", BINARY))
    return (
        f"the distance between greedy and SELECT, {greedy:.3f} and {select:.3f} ms: on a logarithmic scale the "
        f"distance reflects the algorithms and the position reflects the machine. A call of SELECT also takes less "
        f"time than a call for the 0-1 loss, {simple:.3f} ms. Is this true on your machine?"
    )


def notice(point: Point) -> str:
    """Return the caption of a measured table."""
    here = named(point)
    fastest = min((timed for timed in point.timed if timed.name != BINARY), key=lambda timed: timed.mean)
    against = here[BINARY].mean / here["select"].mean
    simple = (
        f"a call of SELECT is {times(against)} as fast as a call for the 0-1 loss"
        if against > 1
        else f"a call of SELECT takes {times(1 / against)} as long as a call for the 0-1 loss"
    )
    few = (
        ""
        if point.negatives >= ENOUGH
        else " With so few samples, most of the time of fast algorithms is the fixed cost of a call."
    )
    return (
        f"the ratio to greedy: it depends on the algorithms, on the number of samples, and on greedy, which is "
        f"compiled here. The fastest algorithm for the loss is {CALLED[fastest.name]}, "
        f"{1e6 * fastest.mean:.0f} µs per call. According to the paper, AP and NDCG can be optimised as fast as the "
        f"0-1 loss; here {simple}.{few}"
    )


def notice_figure(points: list[Point]) -> str:
    """Compare the growth of greedy and SELECT with the number of all samples."""
    first, last = (named(point) for point in (points[0], points[-1]))
    more = (points[-1].positives + points[-1].negatives) / (points[0].positives + points[0].negatives)
    grown = {name: last[name].mean / first[name].mean for name in ("greedy", "select")}
    return (
        f"the slopes on the left: with {more:.1f} times the samples, a call of greedy takes {grown['greedy']:.0f} "
        f"times as long, a call of SELECT {grown['select']:.1f} times. The paper plots these figures without printing "
        "their numbers."
    )
