"""Compiled kernels as plain Python: subscripts are checked, lines counted, calls can be watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher


def interpret(
    monkeypatch: pytest.MonkeyPatch, modules: Iterable[ModuleType]
) -> dict[str, Callable[..., Any]]:
    """Let the kernels of some modules run as Python to the end of the test; the Python by name."""
    kernels = {}
    for module in modules:
        for name, kernel in list(vars(module).items()):
            if isinstance(kernel, Dispatcher):
                kernels[name] = kernel.py_func
                monkeypatch.setattr(module, name, kernel.py_func)
    return kernels
