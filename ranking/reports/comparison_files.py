"""Tables of a comparison: all ranks and all measures (CSV), and the measures as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from ranking.core import ImageSet
from ranking.core.settings import Json
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.tables import Row, Table
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled
from ranking.reports import comparison_words
from ranking.reports.compared import Compared
from ranking.reports.differences import bootstrap_words, sign_of
from ranking.reports.exports import latex


def measures_of(top: int) -> list[str]:
    """Return the measures of a comparison whose rows show `top` samples."""
    return ["AP", f"P@{top}", "NDCG"]


def rank_rows(images: ImageSet, compared: Comparison, names: Sequence[str]) -> list[Json]:
    """Return one row per sample, in the order of the first ranking, with its rank and score in each."""
    rows = []
    for sample in compared.ranks[0].argsort().tolist():
        row = int(compared.samples[sample])
        record: Json = {
            "sample": str(images.ids[row]),
            "image": str(images.image_names[images.image_of[row]]),
            "shows": ", ".join(images.classes_of(row)) or "no class",
            "relevant": int(compared.relevance[sample]),
        }
        for number, name in enumerate(names):
            record[f"rank by {name}"] = int(compared.ranks[number, sample])
            record[f"score by {name}"] = float(compared.scores[number, sample])
        rows.append(record)
    return rows


def ranks_csv(images: ImageSet, compared: Comparison, names: Sequence[str]) -> str:
    """Return `rank_rows` as CSV."""
    return rows_csv(rank_rows(images, compared, names))


def measures_csv(measured: Resampled, names: Sequence[str], measures: Sequence[str]) -> str:
    """Return a line per run and measure: the value, and the difference to the first run."""
    # Both have a 95% confidence interval, the difference on the same resamples.
    rows = []
    for number, name in enumerate(names):
        for measure in measures:
            own, lead = measured.interval(measure, number), measured.difference(measure, number, 0)
            row = {"training": name, "measure": measure, "value": own.value, "low": own.low, "high": own.high}
            rows.append({**row, f"less {names[0]}": lead.value, "its low": lead.low, "its high": lead.high})
    return rows_csv(rows)


def measures_table(shown: Compared, top: int) -> Table:
    """Return a row per run: each measure with its interval, and the signed AP difference to the first run."""
    rows, measures = [], measures_of(top)
    for number, name in enumerate(shown.names):
        intervals = [shown.resampled.interval(measure, number) for measure in measures]
        best = [
            interval.value == shown.resampled.values[measure].max()
            for interval, measure in zip(intervals, measures, strict=True)
        ]
        difference = shown.resampled.difference("AP", number, 0)
        last = comparison_words.of_difference(difference) if number else None
        signs = (*("" for _ in measures), sign_of(difference) if number else "")
        rows.append(Row(name, (*map(comparison_words.of_interval, intervals), last), (*best, False), signs))
    title = f"“{shown.query}” on {shown.images.title}, {len(shown.compared.samples):,} {shown.split} samples"
    columns = (*measures, f"AP minus {shown.names[0]}")
    return Table(title, columns, tuple(rows), bootstrap_words(shown.names[0]))


def latex_table(shown: Compared, top: int) -> str:
    """Return the table of measures as LaTeX for the package booktabs."""
    return latex(measures_table(shown, top))
