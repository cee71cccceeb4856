"""The times of loss-augmented inference in the paper, and a table of them and of those measured on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ranking.experiments.timing_studies import BINARY, NEGATIVE, POSITIVE, SAMPLES, TABLE, Point, Timed
from ranking.methods import methods_by_loss
from ranking.reports.prose import markdown_table


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
LATENT = (
    "Inference of a training run of latent AP-SVM takes 7.623 s by greedy and 0.5214 s by SEARCH and SELECT in section "
    "6.2 of the paper (VOC 2007, mean over twenty classes), 14.6×."
)
DISPLAY_NAMES = {
    BINARY: BINARY,
    "greedy": "greedy, before the paper",
    "search": "SEARCH",
    "select": "SELECT",
    "buckets": "buckets (not in the paper)",
    "auto": "auto (not in the paper)",
}
SHORT = {
    name: display_name.partition(",")[0].partition(" (")[0] for name, display_name in DISPLAY_NAMES.items()
}
AXES = {
    SAMPLES: "all samples, 1 relevant to 10",
    NEGATIVE: "irrelevant samples, relevant ones fixed",
    POSITIVE: "relevant samples, irrelevant ones fixed",
}


def views() -> dict[str, str]:
    """Return the titles of the table and the figure of every timed loss, for the choice of the view."""
    measures = _titles()
    tables = {f"tables {loss}": f"{table_name(loss)} · {measure}" for loss, measure in measures.items()}
    figures = {f"figure {loss}": f"{figure_name(loss)} · {measure}" for loss, measure in measures.items()}
    return {view: name.replace(" and", ",") for view, name in (tables | figures).items()}


def _titles() -> dict[str, str]:
    """Return the titles of the losses that are timed, by their keys."""
    return {loss.key: loss.title for loss in methods_by_loss()}


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
    """Return seconds per run, milliseconds per call and the speed-up, as measured and as in the paper."""
    # The speed-up is over greedy.
    here, paper = {} if point is None else named(point), PAPER.get(loss, {})
    columns = ("s per run", "ms per call", "speed-up over greedy")
    heads = ["", *(["calls", *(f"here: {name}" for name in columns)] if here else [])]
    heads += [f"paper: {name}" for name in columns]
    rows = []
    for name in here or paper:
        cells = [DISPLAY_NAMES[name]]
        if here:
            timed = here[name]
            call = f"{1000 * timed.mean:.3f} ± {1000 * timed.deviation:.3f}"
            cells += [f"{timed.calls:,}", f"{timed.total:.4f}", call, f"**{_faster(here, name)}**"]
        rows.append([*cells, *_printed(paper, name)])
    return markdown_table(heads, rows)


def _printed(paper: dict[str, Printed], name: str) -> list[str]:
    """Return the paper's cells of an algorithm; dashes if the paper has none."""
    if name not in paper:
        return ["–"] * 3
    printed = paper[name]
    ratio = times(paper["greedy"].call / printed.call)
    return [f"{printed.total:.4f}", f"{printed.call:.3f} ± {printed.deviation:.3f}", ratio]


def _faster(here: dict[str, Timed], name: str) -> str:
    return times(here["greedy"].mean / here[name].mean)


def times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 9.95 else f"{ratio:.1f}×" if ratio >= 0.095 else f"{ratio:.2f}×"


def headline(loss: str, point: Point | None) -> str:
    """Return how much faster SELECT is than greedy, as measured and in the paper."""
    ratios = [] if point is None else [f"{_faster(named(point), 'select')} here"]
    if loss in PAPER:
        ratios.append(f"{_printed(PAPER[loss], 'select')[-1]} in the paper")
    return f"{_titles().get(loss, loss)}: speed-up of SELECT over greedy {', '.join(ratios) or 'not measured yet'}"


def notice(loss: str, point: Point | None) -> str:
    """Return the caption of a table: a call of SELECT and one for the 0-1 loss, as measured or else as printed."""
    if point is None:
        select, simple = (PAPER[loss][name].call for name in ("select", BINARY))
    else:
        select, simple = (1000 * named(point)[name].mean for name in ("select", BINARY))
    return (
        f"that a call of SELECT takes {select:.3f} ms, and a call for the 0-1 loss {simple:.3f} ms. According to the "
        "paper, AP and NDCG can be optimised as fast as the 0-1 loss."
    )


def notice_figure(points: list[Point]) -> str:
    """Compare the growth of greedy and SELECT with the number of all samples."""
    first, last = (named(point) for point in (points[0], points[-1]))
    more = (points[-1].positives + points[-1].negatives) / (points[0].positives + points[0].negatives)
    greedy, select = (last[name].mean / first[name].mean for name in ("greedy", "select"))
    return (
        f"the slopes on the left: with {more:.1f} times the samples, a call of greedy takes {greedy:.0f} times as "
        f"long, a call of SELECT {select:.1f} times. The paper plots these figures without printing their numbers."
    )
