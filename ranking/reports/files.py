"""An experiment as files beside its report: all cells, the tables as LaTeX, and the protocol that makes it again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ranking.experiments.comparisons import difference_table
from ranking.experiments.exports import latex, write_parquet
from ranking.experiments.protocol import part_of_protocol
from ranking.experiments.results import Results
from ranking.experiments.tables import Table, chosen_table, seconds_table, test_table, validation_table
from ranking.run_settings import Protocol

TABLES: Sequence[Callable[[Results], Table]] = (
    validation_table,
    test_table,
    chosen_table,
    difference_table,
    seconds_table,
)


def protocol_json(protocol: Protocol) -> str:
    """What ``python -m ranking experiment FILE.json`` makes the same experiment of."""
    return json.dumps(part_of_protocol(protocol), indent=2, ensure_ascii=False) + "\n"


def latex_tables(results: Results) -> str:
    """All tables as LaTeX that needs no package."""
    return "\n\n".join(latex(make(results)) for make in TABLES) + "\n"


def parquet_bytes(results: Results) -> bytes:
    """All cells as a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.parquet"
        write_parquet(results, file)
        return file.read_bytes()
