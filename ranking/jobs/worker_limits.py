"""How much of the machine a worker may take, and why its work failed, in words for a person."""

from __future__ import annotations

import errno
import os
import re
import resource

from ranking.core.errors import HomeError, InputError

MEMORY_VARIABLE = "RANKING_WORKER_MEMORY"
MOST_MEMORY = 2**63 - 1  # bytes; what the system can be told
# What whatever reads files of strangers may have where the variable says nothing.
INTAKE_MEMORY = 4 * 2**30
# By how much less urgent than pages work is. A page needs a tenth of a second now and then, for which it would wait
# where trainings take all cores. What no page wants work has all the same.
LESS_URGENT = 5
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def yield_to_pages(worker: int) -> None:
    """Make a worker that was just started less urgent than this process, before it has threads, which take it over."""
    os.setpriority(os.PRIO_PROCESS, worker, os.getpriority(os.PRIO_PROCESS, 0) + LESS_URGENT)


def limit_memory(default: int | None = None) -> None:
    """Let the worker fail alone, and soon, where it would take the machine's memory: more bytes of addresses than
    MEMORY_VARIABLE says, else than `default`; None: as many as there are."""
    text = os.environ.get(MEMORY_VARIABLE)
    if text and (not re.fullmatch(r"0*[1-9][0-9]{0,18}", text) or int(text) > MOST_MEMORY):
        raise InputError(MEMORY_VARIABLE, f"a number of bytes, 1 to {MOST_MEMORY}", f"{text!r:.80}")
    wanted = int(text) if text else default
    if wanted is not None:
        import scipy.linalg  # noqa: F401 (its OpenBLAS waits for ever if it is loaded where memory is short)

        _limit(resource.RLIMIT_AS, wanted)


def limit_time(seconds: int) -> None:
    """Have the system end this process where it keeps a processor busy longer, without a dump of its memory."""
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(what: int, wanted: int) -> None:
    """As much of a resource, or what is allowed where that is less."""
    _, most = resource.getrlimit(what)
    resource.setrlimit(what, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def lift_memory_limit() -> None:
    """Room to say what went wrong."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def reason_of(error: Exception, default: int | None = None) -> str:
    """An error in one line, for a person; `default` as `limit_memory` was told it."""
    said = " ".join(str(error).split())[:500]
    if _lost_memory(error):
        limit = os.environ.get(MEMORY_VARIABLE) or default
        allowed = f" (it may use {int(limit) / 1e9:.3g} GB, set by {MEMORY_VARIABLE})" if limit else ""
        details = f": {said}" if said else ""
        return f"the worker ran out of memory{allowed}{details}; choose fewer features or a smaller image set"
    if _lacks_space(error):
        return f"there is no space left on the disk of the home folder ({said}); free some, then start again"
    return said if isinstance(error, ValueError | HomeError) and said else f"{type(error).__name__}: {said}"


def _lacks_space(error: Exception) -> bool:
    """Whether a file could not grow; numpy tells it in words, without a number."""
    short = re.fullmatch(r"[0-9]+ requested and [0-9]+ written", str(error)) is not None
    return isinstance(error, OSError) and (short or error.errno in NO_SPACE)


def _lost_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind an error; libraries that could not be loaded tell it in words."""
    if error is None or isinstance(error, MemoryError):
        return error is not None
    told = any(words in str(error) for words in ("failed to map segment", "Cannot allocate memory"))
    return told or _lost_memory(error.__cause__ or error.__context__)
