"""Results to take along: all trials as CSV or Parquet, tables as plain text or LaTeX."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.protocol import MEASURES
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Row, Table, Value, turned

NOT_THERE = "–"
MOST_ACROSS = 7  # columns of a LaTeX table
LATIN = "\u017f"  # the last letter of those that LaTeX's first engine knows, by far most of them
OTHER_LETTERS = (
    "% Where pdfLaTeX stops at a letter that is not Latin, use XeLaTeX or LuaLaTeX with a font that has it.\n"
)
Marks = Mapping[tuple[str, str], str]  # signs by column and row of a table
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": r"$-$",
    "–": "--",
    "\xa0": "~",
    "<": r"\textless{}",  # as they are, these three are other signs in LaTeX's first fonts
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": "{`}",  # no "?`", which is another sign
    "“": "``",
    "”": "''",
    "△": r"$\bigtriangleup$",  # signs of significance; those that stay with Holm's correction are doubled, for
    "▽": r"$\bigtriangledown$",  # LaTeX has no filled ones of its own
    "▲": r"$\bigtriangleup\!\bigtriangleup$",
    "▼": r"$\bigtriangledown\!\bigtriangledown$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def trial_rows(results: Results) -> list[dict[str, Any]]:
    """A row for each cell that is there: where it stands, every measure, and what its training proved.

    fold is None of those that learnt from all of train and were tested on test. Measures that a cell lacks are None.
    """
    grids = dict.fromkeys(name for one in results.contenders for name, _ in one.points[0])
    rows = []
    for place, outcome in results.outcomes.items():
        query, contender, point, fold = place
        chosen = dict(point)
        proof = outcome.certificate
        rows.append(
            {
                "query": query,
                "method": contender,
                **{name: chosen.get(name) for name in grids},
                "fold": None if fold is None else fold + 1,
                **{name: outcome.measures.get(name) for name in (*MEASURES, "positives", "samples")},
                "seconds": outcome.seconds,
                "iterations": proof.iterations,
                "objective": proof.primal,
                "gap": proof.relative_gap,
                "converged": proof.converged,
                "key": results.keys[place],
            }
        )
    return rows


def trials_csv(results: Results) -> str:
    """`trial_rows` as CSV."""
    return rows_csv(trial_rows(results))


def write_parquet(results: Results, file: Path) -> None:
    """`trial_rows` as a Parquet file, there whole or not at all."""
    write_rows(trial_rows(results), file)


def write_rows(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Rows with equal columns as a Parquet file, there whole or not at all."""
    import pyarrow  # only now: nothing else needs it
    from pyarrow import parquet

    with whole(file) as partial:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), partial)


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A file beside `file` to write, which takes its place at the end: that one is there whole or not at all. What
    fails names `file`, the only one that was asked for."""
    partial = file.with_name(f"partial-{file.name}")
    try:
        try:
            yield partial
            os.replace(partial, file)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, said, str(file)) from error


def shown(value: Value) -> str:
    """A value of a table in words: shares with three places, seconds and counts as they are.

    >>> shown(0.58912), shown(None), shown("C = 1"), shown(1234.56)
    ('0.589', '–', 'C = 1', '1235')
    """
    if value is None or value != value:
        return NOT_THERE
    return value if isinstance(value, str) else f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def plain(table: Table) -> str:
    """A table as text of one width, its best values with a star."""
    lines = [["", *table.columns], *([row.name, *_marked(row, "{}*")] for row in table.rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    drawn = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([table.title, *drawn, *([table.note] if table.note else [])])


def latex(table: Table, marks: Marks | None = None, told: str = "") -> str:
    r"""A table as LaTeX that needs no package, its best values bold. marks: signs beside values, by column and row,
    which `told` explains. More than MOST_ACROSS columns stand as rows, for a page is higher than wide.

    >>> print(latex(Table("AP & co", ("run",), (Row("SVM", (0.5,), (True,)),))))
    \begin{table}
    \caption{AP \& co}
    \begin{tabular}{lr}
    \hline
     & run \\
    \hline
    SVM & \textbf{0.500} \\
    \hline
    \end{tabular}
    \end{table}
    """
    caption = ". ".join(part.rstrip(".") for part in (table.title, told, table.note) if part)
    signs, heads = marks or {}, [escaped(column) for column in table.columns]
    if len(table.columns) > MOST_ACROSS:
        table, signs = turned(table), {(row, column): sign for (column, row), sign in signs.items()}
        heads = [_broken(column) for column in table.columns]
    body = []
    for row in table.rows:
        cells = zip(table.columns, _marked(row, r"\textbf{{{}}}", escaped), strict=True)
        signed = [f"{cell} {escaped(signs.get((column, row.name), ''))}".rstrip() for column, cell in cells]
        body.append(" & ".join([_first(row.name), *signed]) + r" \\")
    drawn = "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\hline",
            " & ".join(["", *heads]) + r" \\",
            r"\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )
    return f"{OTHER_LETTERS}{drawn}" if max(drawn) > LATIN else drawn


def _broken(head: str) -> str:
    r"""A head of several lines, a word each.

    >>> print(_broken("AP-SVM − SVM"))
    \begin{tabular}{@{}r@{}}AP-SVM\\$-$~SVM\end{tabular}
    """
    lines = [_first(word) for word in head.replace("− ", "−\xa0").split(" ")]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{tabular}{@{}r@{}}" + r"\\".join(lines) + r"\end{tabular}"


def _first(text: str) -> str:
    r"""A text for LaTeX that may stand after the end of a row, whose command would take "[" and "*" for its own.

    >>> _first("[b]"), _first("a*")
    ('{}[b]', 'a*')
    """
    return f"{{}}{escaped(text)}" if text.startswith(("[", "*")) else escaped(text)


def escaped(text: str) -> str:
    """A text for LaTeX.

    >>> escaped("50%_a")
    '50\\\\%\\\\_a'
    """
    return "".join(LATEX.get(sign, sign) for sign in text)


def _marked(row: Row, best: str, made: Any = str) -> list[str]:
    cells: Mapping[bool, str] = {True: best, False: "{}"}
    return [cells[mark].format(made(shown(value))) for value, mark in zip(row.values, row.best, strict=True)]
