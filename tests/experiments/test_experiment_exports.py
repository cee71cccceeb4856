from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from pyarrow import parquet
from tiny_actions import images, material, planned

from ranking.experiments.cell_store import CellStore
from ranking.experiments.curves import grid_curves
from ranking.experiments.exports import cell_rows, cells_csv, latex, plain, write_parquet
from ranking.experiments.results import Results
from ranking.experiments.running import run_experiment
from ranking.experiments.statistics import mean_interval
from ranking.experiments.tables import Row, Table, validation_table

IMAGES = images()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    plan = planned(IMAGES, methods=(("SVM", {}), ("HOB-SVM", {})), folds=2)
    return run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path_factory.mktemp("cells")))


def test_all_cells_are_rows_of_a_csv_and_of_parquet(results: Results, tmp_path: Path) -> None:
    rows = cell_rows(results)
    assert len(rows) == len(results.outcomes) == 2 * (2 + 4) + 2
    read = list(csv.DictReader(io.StringIO(cells_csv(results))))
    assert [row["key"] for row in read] == [row["key"] for row in rows]
    assert [float(row["AP"]) for row in read] == [row["AP"] for row in rows]
    first = rows[0]
    assert (first["query"], first["method"], first["C"], first["eta"], first["fold"]) == (
        "jump",
        "SVM",
        1.0,
        None,
        1,
    )
    assert {row["fold"] for row in rows} == {1, 2, None}
    write_parquet(results, tmp_path / "cells.parquet")
    assert parquet.read_table(tmp_path / "cells.parquet").to_pylist() == rows
    assert [file.name for file in tmp_path.iterdir()] == ["cells.parquet"]


def test_the_curves_go_along_c_one_for_each_eta(results: Results) -> None:
    curves = grid_curves(results, "jump")
    assert [(curve.contender, curve.others, curve.C) for curve in curves] == [
        ("SVM", "", (1.0, 10.0)),
        ("HOB-SVM", "eta = 0.1", (1.0, 10.0)),
        ("HOB-SVM", "eta = 1", (1.0, 10.0)),
    ]
    folds = results.folds_of("jump", "HOB-SVM", (("C", 10.0), ("eta", 1.0)))
    assert folds is not None
    assert curves[2].means[1] == mean_interval(folds)


def test_tables_are_drawn_as_text_and_as_latex(results: Results) -> None:
    table = validation_table(results)
    text = plain(table).splitlines()
    assert text[0] == "AP over 2 folds, best setting of each"
    assert text[1].split() == ["jump", "Average"]
    assert text[-1] == table.note
    assert sum("*" in line for line in text) == sum(any(row.best) for row in table.rows)
    odd = Table(
        "50% of {x}", ("a_b",), (Row("x & y", (None,), (False,)), Row("z", (float("nan"),), (False,)))
    )
    drawn = latex(odd)
    assert r"\caption{50\% of \{x\}}" in drawn
    assert r"x \& y & -- \\" in drawn
    assert r" & a\_b \\" in drawn
