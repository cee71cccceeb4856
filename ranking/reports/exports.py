"""Exports of results: all trials as CSV or Parquet, tables as plain text or LaTeX."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from ranking.core.settings import GivenJson, Json
from ranking.experiments.cross_validation.protocol import MEASURES
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Row, Table, Value

NOT_THERE = "–"
# columns of a LaTeX table
MAX_ACROSS = 7
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": r"$-$",
    "–": "--",
    "\xa0": "~",
    # unescaped, these three are other signs in LaTeX's default fonts
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # no "?`", which is another sign
    "`": "{`}",
    "“": "``",
    "”": "''",
    # signs of significance; those that remain with Holm's correction are
    "△": r"$\bigtriangleup$",
    # doubled, because plain LaTeX has no filled triangles
    "▽": r"$\bigtriangledown$",
    "▲": r"$\bigtriangleup\!\bigtriangleup$",
    "▼": r"$\bigtriangledown\!\bigtriangledown$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def trial_rows(results: Results) -> list[Json]:
    """Return one row per finished trial: its place, every measure, and its certificate."""
    # fold is None for trials trained on all training samples and evaluated on the test split. Missing
    # measures are None.
    grids = dict.fromkeys(name for method in results.compared_methods for name, _ in method.points[0])
    rows = []
    for place, outcome in results.outcomes.items():
        query, compared_method, point, fold = place
        chosen = dict(point)
        proof = outcome.certificate
        rows.append(
            {
                "query": query,
                "method": compared_method,
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


def rows_parquet(rows: Sequence[GivenJson]) -> bytes:
    """Rows with equal columns as Parquet."""
    # only now, because nothing else needs it
    import pyarrow
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), stream)
    return stream.getvalue()


def shown(value: Value) -> str:
    """Format a value of a table: numbers below 10 with three decimals, others as whole numbers.

    >>> shown(0.58912), shown(None), shown("C = 1"), shown(1234.56), shown(-0.009)
    ('0.589', '–', 'C = 1', '1235', '−0.009')
    """
    if value is None or value != value:
        return NOT_THERE
    if isinstance(value, str):
        return value
    return (f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}").replace("-", "−")


def plain(table: Table) -> str:
    """Return a table as fixed-width text, its best values with a star."""
    lines = [["", *table.columns], *([row.name, *_cells(row, "{}*")] for row in table.rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    rows = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([table.title, *rows, *([table.note] if table.note else [])])


def latex(table: Table) -> str:
    r"""Return a table as LaTeX for the package booktabs, its best values bold.

    >>> print(latex(Table("AP & co", ("run",), (Row("SVM", (0.5,), (True,)),))))
    \begin{table}
    \caption{AP \& co}
    \begin{tabular}{lr}
    \toprule
     & run \\
    \midrule
    SVM & \textbf{0.500} \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    # A table of more than MAX_ACROSS columns is transposed, because pages are higher than wide.

    # only now, because nothing else needs it
    from pandas import DataFrame

    frame = DataFrame(
        [_cells(row, r"\textbf{{{}}}", in_latex) for row in table.rows],
        [row.name for row in table.rows],
        table.columns,
    )
    wide = len(table.columns) > MAX_ACROSS
    if wide:
        frame = frame.T
    frame = frame.rename(index=_first, columns=_broken if wide else in_latex)
    caption = ". ".join(part.rstrip(".") for part in (table.title, table.note) if part)
    return str(frame.to_latex(caption=in_latex(caption), column_format=f"l{'r' * frame.shape[1]}"))


def _broken(head: str) -> str:
    r"""Return a column head of several lines, one per word.

    >>> print(_broken("AP-SVM − SVM"))
    \shortstack[r]{AP-SVM\\$-$~SVM}
    """
    lines = r"\\".join(_first(word) for word in head.replace("− ", "−\xa0").split(" "))
    return rf"\shortstack[r]{{{lines}}}"


def _first(text: str) -> str:
    r"""Escape the first text of a row.

    >>> _first("[b]"), _first("a*")
    ('{}[b]', 'a*')
    """
    # The end of the row before would take "[" or "*" as an argument.
    return f"{{}}{in_latex(text)}" if text.startswith(("[", "*")) else in_latex(text)


def in_latex(text: str) -> str:
    """Escape a text for LaTeX.

    >>> in_latex("50%_a")
    '50\\\\%\\\\_a'
    """
    return "".join(LATEX.get(sign, sign) for sign in text)


def _cells(row: Row, best: str, made: Callable[[str], str] = str) -> list[str]:
    """Format the values of a row with their signs."""
    # The best ones have the form `best`; `made` converts a text.
    return [
        f"{(best if is_best else '{}').format(made(shown(value)))} {made(sign)}".rstrip()
        for value, is_best, sign in row.cells
    ]
