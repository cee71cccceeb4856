"""A model that runs in an isolated process, which answers through pipes and is killed if it takes too long."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core.errors import InputError
from ranking.files.isolated import Crashed, Program, ending
from ranking.files.limits import Limits, variable

PROGRAM = "ranking.features.onnx.network_program"
THREADS = max(1, (os.cpu_count() or 1) - 1)  # of one model: the page needs a core too
INSTALL = "install it with `pip install 'ranking-laboratory[onnx]'`"
MOST_LINE = 100_000  # bytes of the line before the numbers


class Port(NamedTuple):
    """An input or output of a model. element: the type of its numbers. shape: None for a size that is not fixed."""

    name: str
    element: str
    shape: tuple[int | None, ...]


class Deadline(NamedTuple):
    """The deadline of an answer on the monotonic clock, the limit that sets it, and what the limit is for, as text."""

    time: float
    limit: str
    what: str


def check_runtime() -> None:
    """Raise ValueError, with the remedy, if onnxruntime is not installed."""
    if importlib.util.find_spec("onnxruntime") is None:
        raise InputError("models in ONNX", "the package onnxruntime", "none", INSTALL)


def check_size(path: Path) -> None:
    """Raise InputError if a file is larger than the limit for models."""
    most, size = Limits.from_environment().network_bytes, path.stat().st_size
    if size > most:
        remedy = f"set {variable('network_bytes')} to allow more"
        raise InputError("model", f"at most {most:,} bytes", size, remedy)


class Network:
    """The model in a file. Several threads may use it; they take turns.

    inputs: the required inputs, without named constants. outputs, metadata: of the model. ValueError if it cannot run,
    or needs more time or memory than the limits allow; the process has then ended.
    """

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        check_runtime()
        self._limits = limits = Limits.from_environment() if limits is None else limits
        self._turn = threading.Lock()
        most = (THREADS, limits.network_memory, THREADS * limits.network_seconds)
        self.program = Program(PROGRAM, [str(path), *map(str, most)])
        self.close = self.program.close
        self._all = Deadline(time.monotonic() + limits.network_seconds, "network_seconds", "all images")
        description = self._line(self._soon("load_seconds", "loading"))
        self.inputs = [_port(*described) for described in description["inputs"]]
        self.outputs = [_port(*described) for described in description["outputs"]]
        self.metadata: dict[str, str] = description["metadata"]

    def ask(self, given: npt.NDArray[Any], output: str) -> npt.NDArray[np.float32]:
        """Return an output for the numbers of the only input, in the shapes of the model."""
        question = {"shape": given.shape, "type": str(given.dtype), "output": output}
        with self._turn:
            until = self._soon("image_seconds", "one image")
            try:
                self.program.write(json.dumps(question).encode() + b"\n" + given.tobytes())
            except Crashed as error:
                raise self._failed() from error
            shape = self._line(until)["shape"]
            data = self._read(4 * int(np.prod(shape, dtype=np.int64)), until)
        return np.frombuffer(data, np.float32).reshape(shape)

    def _soon(self, limit: str, what: str) -> Deadline:
        return min(Deadline(time.monotonic() + getattr(self._limits, limit), limit, what), self._all)

    def _line(self, until: Deadline) -> dict[str, Any]:
        line = b""
        while not line.endswith(b"\n"):
            line += self._read(1, until)
            if len(line) > MOST_LINE:
                raise self._failed()
        message: dict[str, Any] = json.loads(line)
        return message

    def _read(self, size: int, until: Deadline) -> bytes:
        """Return `size` bytes of the answer; InputError if they do not arrive in time, or the process ended."""
        try:
            return self.program.read(size, until.time)
        except Crashed as error:
            raise self._failed() from error
        except TimeoutError as error:
            expected = f"at most {getattr(self._limits, until.limit):g} seconds for {until.what}"
            remedy = f"set {variable(until.limit)} to allow more"
            raise InputError("model", expected, "more", remedy) from error

    def _failed(self) -> InputError:
        """Return the error for a process that has ended."""
        code, reason = self.program.end()
        broke_off, remedy = code < 0 or not reason, ""
        if broke_off:
            reason = f"a crash ({ending(code, reason)})"
        if broke_off or re.search("memory|alloc", reason, re.IGNORECASE):
            gigabytes = f"{self._limits.network_memory / 1e9:.3g} GB"
            remedy = f"it may use {gigabytes} of memory: set {variable('network_memory')} to allow more"
        return InputError("model", "one that can be run", reason, remedy)


def _port(name: str, kind: str, shape: list[Any]) -> Port:
    """Return the port for a description by onnxruntime: a type such as tensor(float), and names for free sizes."""
    element = kind.removeprefix("tensor(").removesuffix(")")
    sides = tuple(side if isinstance(side, int) and side > 0 else None for side in shape)
    return Port(name, {"float": "float32", "double": "float64"}.get(element, element), sides)
