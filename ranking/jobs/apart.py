"""Small work on what a stranger brought, by a process of its own: what it breaks, and what it takes, is nobody else's.

It is for what a page waits for, some seconds at most; what takes longer is a worker's (see `ranking.jobs.jobs`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.jobs.worker_limits import INTAKE_MEMORY, limit_memory, limit_time, reason_of

SECONDS = 60  # of a processor, and twice as many by the clock
AT_ONCE = 2  # so many processes; who comes then waits
READER, SMALLER = "reader process", "try a smaller file"
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

_turns = threading.BoundedSemaphore(AT_ONCE)


def ask_apart(program: str, arguments: list[str], data: bytes) -> dict[str, Any]:
    """What the module `program`, run by itself, answers to `data`: what its `answer_apart` was given returns.

    ValueError where it refuses, with its words, and where it breaks off or takes too long.
    """
    with _turns:
        try:
            ended = subprocess.run(
                [sys.executable, "-m", program, *arguments],
                input=data,
                capture_output=True,
                timeout=2 * SECONDS,
                env={**os.environ, **ALONE},
            )
        except subprocess.TimeoutExpired as error:
            raise InputError(READER, f"an answer within {2 * SECONDS} seconds", "none", SMALLER) from error
    if ended.returncode == -signal.SIGXCPU:
        raise InputError(READER, f"at most {SECONDS} seconds of a processor", "more", SMALLER)
    try:
        told: dict[str, Any] = json.loads(ended.stdout)
    except ValueError as error:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]  # not where our files lie
        said = readable(last, 200) or f"exit code {ended.returncode}"
        raise InputError(
            READER, "an answer", f"a crash ({said})", "try another file or a smaller one"
        ) from error
    if "refused" in told:
        raise ValueError(told["refused"])  # the sentence that the other process made of its error
    return told


def answer_apart(work: Callable[[list[str], bytes], dict[str, Any]]) -> None:
    """Be the process that is asked: `work` is given the arguments and what came; its ValueErrors are refusals."""
    try:
        limit_memory(INTAKE_MEMORY)
        limit_time(SECONDS)
        told = work(sys.argv[1:], sys.stdin.buffer.read())
    except (
        Exception
    ) as error:  # a stranger's bytes may fail their readers in any way; it is told to who asked
        told = {"refused": reason_of(error, INTAKE_MEMORY)}
    print(json.dumps(told))
