from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from pyarrow import parquet
from tiny_actions import images, planned, run_tiny

from ranking.core.spreadsheets import rows_csv
from ranking.experiments.cross_validation.curves import grid_curves
from ranking.experiments.cross_validation.protocol import compared_methods_of
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import Row, Table, validation_table
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.metrics.statistics import mean_interval
from ranking.reports.exports import latex, plain, rows_parquet, trial_rows
from ranking.reports.findings import notice_best

IMAGES = images()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = planned(IMAGES, methods=(("SVM", {}), ("HOB-SVM", {})), folds=2)
    return run_tiny(plan, TrialStore(tmp_path_factory.mktemp("cells")))


def test_all_trials_are_rows_of_a_csv_and_of_parquet(results):
    rows = trial_rows(results)
    assert len(rows) == len(results.outcomes) == 2 * (2 + 4) + 2
    read = list(csv.DictReader(io.StringIO(rows_csv(trial_rows(results)))))
    assert [row["key"] for row in read] == [row["key"] for row in rows]
    assert [float(row["AP"]) for row in read] == [row["AP"] for row in rows]
    for row, outcome in zip(rows, results.outcomes.values(), strict=True):
        proof = outcome.certificate
        assert (row["objective"], row["gap"]) == (proof.primal, proof.relative_gap)
        assert (row["converged"], row["iterations"]) == (proof.converged, proof.iterations)
        assert row["seconds"] == outcome.seconds
    assert [rows[0][name] for name in ("query", "method", "C", "eta", "fold")] == [
        "jump",
        "SVM",
        1.0,
        None,
        1,
    ]
    assert rows[-1]["fold"] is None
    assert parquet.read_table(io.BytesIO(rows_parquet(rows))).to_pylist() == rows

    # Each setting of a grid has its column, also where no method has all of them.
    methods = (("HOB-SVM", {}), ("HOAP-SVM", {"eta": 1.0}))
    grids = {"C": (1.0,), "eta": (0.1, 1.0), "start_C": (1.0, 2.0)}
    compared_methods = tuple(compared_methods_of(replace(results.protocol, methods=methods, grids=grids)))
    row = trial_rows(replace(results, compared_methods=compared_methods))[0]
    assert list(row)[:6] == ["query", "method", "C", "eta", "start_C", "fold"]


def test_the_curves_go_along_c_one_for_each_eta(results):
    curves = grid_curves(results, "jump")
    assert [(curve.compared_method, curve.others, curve.C) for curve in curves] == [
        ("SVM", "", (1.0, 10.0)),
        ("HOB-SVM", "eta = 0.1", (1.0, 10.0)),
        ("HOB-SVM", "eta = 1", (1.0, 10.0)),
    ]
    folds = results.folds_of("jump", "HOB-SVM", (("C", 10.0), ("eta", 1.0)))
    assert curves[2].means[1] == mean_interval(folds)


def test_tables_are_written_as_text_and_as_latex(results):
    table = validation_table(results)
    text = plain(table).splitlines()
    assert (text[0], text[1].split(), text[-1]) == (table.title, ["jump"], table.note), (
        "one query has no average"
    )
    assert {"AP", "2"} <= set(table.title.replace(",", "").split()), "measure and folds"
    assert sum("*" in line for line in text) == sum(any(row.best) for row in table.rows)
    rows = (Row("x & y", (None,), (False,)), Row("z", (float("nan"),), (False,)))
    odd = Table("50% of {x}", ("a_b",), rows)
    source = latex(odd)
    assert r"\caption{50\% of \{x\}}" in source
    assert r"x \& y & -- \\" in source
    assert r" & a\_b \\" in source

    assert source.count(" -- ") == 2, "what is not there, and what is not a number"


def test_the_caption_names_the_methods_with_the_highest_means(results):
    means = {
        method.name: np.mean([np.mean(results.validation(query, method.name)) for query in results.queries])
        for method in results.compared_methods
    }
    best, second, *_ = sorted(means, key=means.get, reverse=True)
    text = notice_best(results, False)
    assert f": {best} {means[best]:.3f}, then {second} {means[second]:.3f}. {best} is best on" in text
    assert "not finished" in notice_best(replace(results, outcomes={}), False)


def test_wide_latex_tables_are_turned_with_their_signs():
    for columns, expected in (
        (7, ["AP-SVM", "0.250", r"0.250 $\bigtriangleup$", *["0.250"] * 5]),
        (8, ["q1", "0.250", r"0.250 $\bigtriangleup$"]),
    ):
        queries = tuple(f"q{place}" for place in range(columns))
        rows = tuple(Row(name, (0.25,) * columns, (False,) * columns) for name in ("SVM", "AP-SVM"))
        lines = latex(Table("AP", queries, rows).signed({("q1", "AP-SVM"): "△"}, "better")).splitlines()
        (signed,) = [line for line in lines if "bigtriangleup" in line]
        assert [cell.strip() for cell in signed.removesuffix(r"\\").split("&")] == expected
        shape = "l" + "r" * (len(expected) - 1)
        assert rf"\begin{{tabular}}{{{shape}}}" in lines


def test_names_are_text_in_latex():
    """After the end of a row or of a line LaTeX takes "[" and "*" for a part of that command, and stops."""
    names = ("[b]", "*s", "<b> a|b ?`", "~^\\%")
    for columns, brackets in ((1, 1), (8, 9)):
        rows = tuple(Row(name, ("C = [1]",) * columns, (False,) * columns) for name in names)
        source = latex(Table("of [x] <y>", tuple(f"[{place}] *" for place in range(columns)), rows))
        assert not re.search(r"\\\\\s*[\[*]", source)
        assert not re.search(r"[<>|]|\?`", source)
        assert source.count("{}[") == brackets
        assert r"\textasciitilde{}\textasciicircum{}\textbackslash{}\%" in source
        assert source.startswith("\\begin{table}")


def test_a_query_named_average_is_not_the_average_and_no_name_is_a_formula(results):
    def renamed(name: str) -> Results:
        outcomes, keys = (
            {(name, *place[1:]): value for place, value in by_place.items()}
            for by_place in (results.outcomes, results.keys)
        )
        return replace(
            results,
            queries=(name, *results.queries),
            outcomes=outcomes | results.outcomes,
            keys=keys | results.keys,
        )

    table = validation_table(renamed("Average"))
    assert table.columns == ("Average", "jump", "Average of all")
    signed = latex(table.signed({("Average", "SVM"): "△"}, "better"))
    assert signed.count("bigtriangleup") == 1, "a sign of the query is none of the average"
    read = list(csv.DictReader(io.StringIO(rows_csv(trial_rows(renamed("=1+1"))))))
    assert {row["query"] for row in read} == {"'=1+1", "jump"}
    assert trial_rows(renamed("=1+1"))[0]["query"] == "=1+1"
