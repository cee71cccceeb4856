"""Has a program of its own read Parquet: the library that can do so aborts on some damaged files."""

from __future__ import annotations

import json
import subprocess
import sys

from ranking.core.text import readable
from ranking.files import Unusable
from ranking.files.parquet_to_csv import BROKEN

SECONDS = 120  # that reading may take


def answer_of(program: str, given: bytes, *arguments: object) -> bytes:
    """What the program of that file says of what it is `given`; Unusable where it refuses, breaks off or takes too
    long. No bytecode is written (-B), which the limits that it sets itself would cut short."""
    try:
        ended = subprocess.run(
            [sys.executable, "-IB", program, *map(str, arguments)],
            input=given,
            capture_output=True,
            timeout=SECONDS,
            env={"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise Unusable(BROKEN, f"nothing within {SECONDS} seconds") from error
    if ended.returncode:
        raise _reason(ended.stderr)
    return ended.stdout


def _reason(said: bytes) -> Unusable:
    """What the process refused; where it was ended before it could say so, that."""
    try:
        expected, came = json.loads(said)
    except ValueError:
        return Unusable(BROKEN, "one on which the reader broke off")
    return Unusable(expected, readable(came))
