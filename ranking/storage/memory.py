"""The memory limit of a worker, and why a worker failed in one sentence."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import os
import re
import resource
from pathlib import Path

from ranking.core.errors import HomeError, InputError

MEMORY_VARIABLE = "RANKING_WORKER_MEMORY"
# bytes, the largest limit that the system accepts
MAX_MEMORY = 2**63 - 1
# of a worker that reads uploads, if the variable is not set
IMPORT_MEMORY = 4 * 2**30
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def limit_memory(default: int | None = None) -> None:
    """Limit the address space of this process in bytes, by MEMORY_VARIABLE or `default`; None: no limit."""
    # So it fails early and alone instead of exhausting the machine.
    text = os.environ.get(MEMORY_VARIABLE)
    if text and (not re.fullmatch(r"0*[1-9][0-9]{0,18}", text) or int(text) > MAX_MEMORY):
        raise InputError(MEMORY_VARIABLE, f"a number of bytes, 1 to {MAX_MEMORY}", f"{text!r:.80}")
    most = int(text) if text else default
    if most is not None:
        import scipy.linalg  # noqa: F401 (its OpenBLAS waits for ever if it is loaded where memory is short)

        # on Linux: the pages of memory that this process has
        statm = Path("/proc/self/statm")
        used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
        # Python then fails anywhere, often with an error that does not mention memory
        if used >= most:
            raise MemoryError(f"its libraries alone take {used / 1e9:.2g} GB")
        # It stays, so that `lift_memory_limit` can restore it.
        _, allowed = resource.getrlimit(resource.RLIMIT_AS)
        within = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(resource.RLIMIT_AS, (within, allowed))


def lift_memory_limit() -> None:
    """Remove the memory limit, so that an error can be reported."""
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def reason_of(error: Exception, default: int | None = None) -> str:
    """Return an error as one line of text. default: as passed to `limit_memory`, None unless the run is an import."""
    message = " ".join(str(error).split())[:500]
    if _lost_memory(error):
        most = os.environ.get(MEMORY_VARIABLE) or default
        allowed = f" (it may use {int(most) / 1e9:.3g} GB, limited by {MEMORY_VARIABLE})" if most else ""
        details = f": {message}" if message else ""
        remedy = "choose fewer features or a smaller image set"
        if default is not None:
            remedy = f"import fewer or smaller files, or raise {MEMORY_VARIABLE}"
        return f"the worker ran out of memory{allowed}{details}; {remedy}"
    if _lacks_space(error):
        return f"the disk of the data folder is full ({message}); free some space, then start the run again"
    is_worded = isinstance(error, ValueError | HomeError) and message
    return message if is_worded else f"{type(error).__name__}: {message}"


def _lacks_space(error: Exception) -> bool:
    """Return whether the disk was full; numpy reports that only in its message, without an error number."""
    short = re.fullmatch(r"[0-9]+ requested and [0-9]+ written", str(error)) is not None
    return isinstance(error, OSError) and (short or error.errno in NO_SPACE)


def _lost_memory(error: BaseException | None) -> bool:
    """Return whether a lack of memory caused an error; a library that cannot be loaded reports it in its message."""
    if error is None or isinstance(error, MemoryError):
        return error is not None
    worded = any(
        words in str(error)
        for words in (
            "failed to map segment",
            "Cannot allocate memory",
            "can't start new thread",
        )
    )
    return worded or _lost_memory(error.__cause__ or error.__context__)


def release_memory() -> None:
    """Return memory that is no longer used to the system. Without this, a process keeps most of its highest use."""
    gc.collect()
    # it exists in the GNU C library only
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
