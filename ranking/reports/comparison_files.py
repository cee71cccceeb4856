"""A comparison as tables: all ranks and all measures (CSV), and the measures as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ranking.core import ImageSet
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.tables import Row, Table
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Interval, Redrawn
from ranking.reports import comparison_words
from ranking.reports.compared import Compared
from ranking.reports.differences import BETTER, WORSE
from ranking.reports.exports import latex, write_rows


def measures_of(top: int) -> list[str]:
    """The measures that are told of a comparison whose rows show `top` places."""
    return ["AP", f"P@{top}", "NDCG"]


def sign_of(less: Interval) -> str:
    """The sign of a difference whose interval leaves out 0; "" of another one.

    >>> sign_of(Interval(0.1, 0.05, 0.2)), sign_of(Interval(0.1, -0.05, 0.2))
    ('△', '')
    """
    if not less.without_zero:
        return ""
    return BETTER if less.value > 0 else WORSE


def signs_words(first: str) -> str:
    """What the signs mean."""
    return (
        f"{BETTER} better and {WORSE} worse than {first}: the interval of 95% of the difference of AP on images that "
        "are drawn again (paired bootstrap) leaves out 0. Not corrected for the number of comparisons."
    )


def rank_rows(images: ImageSet, compared: Comparison, names: Sequence[str]) -> list[dict[str, Any]]:
    """A row a sample, in the order of the first ranking, with its rank and score in each."""
    rows = []
    for sample in compared.places[0].argsort().tolist():
        row = int(compared.samples[sample])
        told: dict[str, Any] = {
            "sample": str(images.ids[row]),
            "image": str(images.image_names[images.image_of[row]]),
            "shows": _shows(images, row),
            "relevant": int(compared.relevance[sample]),
        }
        for number, name in enumerate(names):
            told[f"rank by {name}"] = int(compared.places[number, sample])
            told[f"score by {name}"] = float(compared.scores[number, sample])
        rows.append(told)
    return rows


def ranks_csv(images: ImageSet, compared: Comparison, names: Sequence[str]) -> str:
    """`rank_rows` as CSV."""
    return rows_csv(rank_rows(images, compared, names))


def ranks_parquet(shown: Compared, file: Path) -> None:
    """`rank_rows` as a Parquet file, there whole or not at all."""
    write_rows(rank_rows(shown.images, shown.compared, shown.names), file)


def _shows(images: ImageSet, row: int) -> str:
    """The classes of a sample, as pages tell them."""
    shown = [name for name, is_shown in zip(images.classes, images.labels[row], strict=True) if is_shown]
    return ", ".join(shown) or "no class"


def measures_csv(found: Redrawn, names: Sequence[str], measures: Sequence[str]) -> str:
    """One line a training and measure: its value and its 95% interval, and the same of its difference to the first
    training on the same draws."""
    rows = []
    for number, name in enumerate(names):
        for measure in measures:
            own, less = found.interval(measure, number), found.difference(measure, number, 0)
            row = {"training": name, "measure": measure, "value": own.value, "low": own.low, "high": own.high}
            rows.append({**row, f"less {names[0]}": less.value, "its low": less.low, "its high": less.high})
    return rows_csv(rows)


def measures_table(shown: Compared, top: int) -> Table:
    """A row a training: each measure with its interval, and by how much AP lies above that of the first one, with its
    sign."""
    rows, measures = [], measures_of(top)
    for number, name in enumerate(shown.names):
        told = [shown.found.interval(measure, number) for measure in measures]
        best = [
            one.value == shown.found.values[measure].max()
            for one, measure in zip(told, measures, strict=True)
        ]
        less = shown.found.difference("AP", number, 0)
        apart = f"{comparison_words.of_difference(less)} {sign_of(less)}".rstrip() if number else None
        rows.append(Row(name, (*map(comparison_words.of_interval, told), apart), (*best, False)))
    title = f"“{shown.query}” on {shown.images.title}, {len(shown.compared.samples):,} {shown.split} samples"
    columns = (*measures, f"AP less {shown.names[0]}")
    return Table(title, columns, tuple(rows), signs_words(shown.names[0]))


def latex_table(shown: Compared, top: int) -> str:
    """The table of measures as LaTeX that needs no package."""
    return latex(measures_table(shown, top)) + "\n"
