"""Set-up compiles every kernel that the first training run needs; first_use.py checks this."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ranking import Query
from ranking.commands import kernels
from ranking.core import SampleMethod
from ranking.core.settings import setting
from ranking.methods import METHODS


def test_a_method_need_not_count_iterations(monkeypatch):
    fitted: list[Query] = []

    @dataclass
    class Mean(SampleMethod):
        C: float = setting(1.0, label="C", help="")

        def fit(self, data, on_progress=None, warm_start=None):
            fitted.extend(data)
            return self

        def score(self, query):
            return query.features.mean(axis=1)

        def save(self, path):
            pytest.fail("nothing is kept")

        @classmethod
        def load(cls, path):
            pytest.fail("nothing is kept")

    monkeypatch.setattr(METHODS, "_discovered", True)
    monkeypatch.setattr(METHODS, "_classes", {})
    METHODS.register("Mean")(Mean)
    monkeypatch.setattr(kernels, "ALGORITHMS", ())
    kernels.compile_kernels()
    assert [query.features.dtype.name for query in fitted] == ["float32", "float64"]
