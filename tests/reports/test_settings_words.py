"""The names of compared runs: differing settings of runs of one method, else an id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ranking.reports.settings_words import names_of
from ranking.storage.run import Run

SETTINGS = {"set": "key", "features": [["HOG", {}]], "query": "jumping", "method": "HOB-SVM"}


def run(name: str, **settings: Any) -> Run:
    return Run(name, "train", "finished", {**SETTINGS, **settings}, {}, "", 0.0, None, None, Path())


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [
        ({"method_settings": {"C": 10.0}}, "C = 1000", "C = 10"),
        ({"features": [["HOG", {}], ["Colour", {}]]}, "HOG", "HOG + Colour"),
        ({"features": [["HOG", {"orientations": 4}]]}, "HOG", "HOG (Orientations = 4)"),
        ({"projection": {"kind": "PCA", "components": 8}}, "HOG", "HOG, PCA to 8"),
        ({"graph": "similar features"}, "neighbours = same image", "neighbours = similar features"),
        ({"corrections": ["a", "b"]}, "0 corrected labels", "2 corrected labels"),
        ({"method_settings": {"C": 1.0}, "features": [["GIST", {}]]}, "HOG, C = 1000", "GIST, C = 1"),
    ],
)
def test_runs_of_a_method_are_named_by_what_differs(settings, first, second):
    assert names_of([run("one"), run("two", **settings)]) == [f"HOB-SVM, {first}", f"HOB-SVM, {second}"]


def test_each_name_of_three_runs_distinguishes_it_from_both_others():
    runs = [run("one"), run("two", features=[["GIST", {}]]), run("three", method_settings={"C": 10.0})]
    expected = ["HOG, C = 1000", "GIST, C = 1000", "HOG, C = 10"]
    assert names_of(runs) == [f"HOB-SVM, {words}" for words in expected]


def test_a_default_that_is_written_out_is_no_difference():
    same = run("two", features=[["HOG", {"orientations": 9}]], graph="same image", projection=None)
    assert names_of([run("one"), same]) == ["HOB-SVM, one", "HOB-SVM, two"]
    assert names_of([run("one"), run("two", method="SVM")]) == ["HOB-SVM", "SVM"]
