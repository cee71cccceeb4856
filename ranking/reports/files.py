"""An experiment as files beside its report: all cells, the tables as LaTeX, and the protocol that makes it again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ranking.core.run_settings import Protocol
from ranking.experiments.cross_validation.comparisons import difference_table
from ranking.experiments.cross_validation.protocol import part_of_protocol
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import (
    chosen_table,
    seconds_table,
    test_table,
    validation_table,
)
from ranking.reports.differences import (
    Difference,
    marks_of_folds,
    marks_of_folds_words,
    marks_of_pairs,
    marks_of_pairs_words,
    marks_of_test,
    marks_of_test_words,
)
from ranking.reports.exports import latex, write_parquet


def protocol_json(protocol: Protocol) -> str:
    """What ``python -m ranking experiment FILE.json`` makes the same experiment of."""
    return json.dumps(part_of_protocol(protocol), indent=2, ensure_ascii=False) + "\n"


def latex_tables(results: Results, apart: Sequence[Difference]) -> str:
    """All tables as LaTeX that needs no package, with the signs of significance that the page shows. apart: the
    `differences` of the experiment."""
    first = results.contenders[0].name
    folds, test, pairs = marks_of_folds(apart, first), marks_of_test(apart, first), marks_of_pairs(apart)
    tables = (
        latex(validation_table(results), folds, marks_of_folds_words(first) if folds else ""),
        latex(test_table(results), test, marks_of_test_words(first) if test else ""),
        latex(chosen_table(results)),
        latex(difference_table(results), pairs, marks_of_pairs_words() if pairs else ""),
        latex(seconds_table(results)),
    )
    return "\n\n".join(tables) + "\n"


def parquet_bytes(results: Results) -> bytes:
    """All cells as a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.parquet"
        write_parquet(results, file)
        return file.read_bytes()
