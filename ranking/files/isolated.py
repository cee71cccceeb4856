"""Isolated processes: each reads untrusted files within limits, so that a crash affects no other process.

A program is a module that runs as a script. `ask` starts one that calls `serve`, for a single answer within some
seconds. `Program` starts one that answers many requests, and is killed if it takes too long. Work that takes minutes
runs in a worker (`ranking.jobs.jobs`), whose memory is limited here too.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ranking.core.errors import HomeError, InputError
from ranking.core.text import readable

MEMORY_VARIABLE = "RANKING_WORKER_MEMORY"
MOST_MEMORY = 2**63 - 1  # bytes, the largest limit that the system accepts
# The memory limit of a process that reads untrusted files if the variable is not set.
INTAKE_MEMORY = 4 * 2**30
SECONDS = 60  # of processor time for one answer; the limit of elapsed time is twice as long
AT_ONCE = 2  # the most processes that answer at the same time; further requests wait
READER, ANOTHER_FILE = "reader process", "try another file or a smaller one"
REFUSED = 3  # the exit code of a program whose last line gives the reason
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LOOK_SECONDS = 0.5  # between two checks that the parent process is still running
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

_turns = threading.BoundedSemaphore(AT_ONCE)


class Crashed(InputError):
    """A program gave no answer; `came` is how it ended."""

    def __init__(self, ending: str) -> None:
        super().__init__(READER, "an answer", ending, ANOTHER_FILE)


# ---------------------------------------------------------------------------------------------------------
# In the parent process
# ---------------------------------------------------------------------------------------------------------


def ask(module: str, arguments: list[str], data: bytes = b"") -> bytes:
    """Return what the function that `module` serves returns for these arguments and `data`.

    ValueError or InputError as the function raises it; Crashed if the process crashes or takes too long.
    """
    with _turns:
        try:
            ended = subprocess.run(
                _command(module, arguments),
                input=data,
                capture_output=True,
                timeout=2 * SECONDS,
                env=os.environ | ENVIRONMENT,
            )
        except subprocess.TimeoutExpired as error:
            raise Crashed(f"no answer within {2 * SECONDS:g} seconds") from error
    if not ended.returncode:
        return ended.stdout
    last_line = (
        ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    )  # not the traceback: it shows paths
    if ended.returncode == REFUSED and (parts := _refusal_parts(last_line)):
        raise InputError(*parts) if len(parts) > 1 else ValueError(*parts)
    if ended.returncode == -signal.SIGXCPU:
        raise Crashed(f"more than {SECONDS} seconds of processor time")
    raise Crashed(f"a crash ({ending(ended.returncode, last_line)})")


def _refusal_parts(line: str) -> list[str]:
    """Return the parts of the error in a line of JSON; none if something else wrote the line."""
    try:
        parts = json.loads(line)
    except ValueError:
        return []
    return parts if isinstance(parts, list) and 1 <= len(parts) <= 4 else []


class Program:
    """A module in an isolated process that answers through pipes, until `close` is called or this object is deleted."""

    def __init__(self, module: str, arguments: list[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        self._process = subprocess.Popen(
            _command(module, arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | ENVIRONMENT,
        )
        self.pid = self._process.pid
        self.close = weakref.finalize(self, _end, self._process)

    def write(self, data: bytes) -> None:
        """Send `data`; Crashed if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Crashed(self.end()[1]) from error

    def read(self, size: int, until: float) -> bytes:
        """Return the next `size` bytes of its output. until: a time of the monotonic clock. TimeoutError if they have
        not arrived by then, Crashed if the process has ended."""
        assert self._process.stdout is not None
        descriptor, parts = self._process.stdout.fileno(), list[bytes]()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while size:
                if not selector.select(max(0.0, until - time.monotonic())):
                    self.close()
                    raise TimeoutError
                part = os.read(descriptor, min(size, 2**20))
                if not part:
                    raise Crashed(self.end()[1])
                parts.append(part)
                size -= len(part)
        return b"".join(parts)

    def end(self) -> tuple[int, str]:
        """End the process if it is running, and return its exit code and the last words on standard error."""
        self.close()
        self._errors.seek(0)
        return self._process.wait(), readable(self._errors.read(4_000).decode(errors="replace"), 300)


def ending(code: int, last_words: str) -> str:
    """Return how a process ended, from its exit code.

    >>> ending(-9, ""), ending(1, "no such file")
    ('signal 9', 'exit code 1: no such file')
    """
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}: {readable(last_words, 200)}" if last_words else how


def _command(module: str, arguments: list[str]) -> list[str]:
    """Return the command that runs `module`. -B: write no bytecode, which a limit on file sizes would cut short.
    -P: import no module from the current folder."""
    return [sys.executable, "-P", "-B", "-m", module, *arguments]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                continue  # unread output is no longer needed


# ---------------------------------------------------------------------------------------------------------
# In the isolated process
# ---------------------------------------------------------------------------------------------------------


def serve(work: Callable[[list[str], bytes], bytes]) -> None:
    """Run `work` with the arguments and the data that `ask` sent, and send back its result or its error."""
    try:
        end_with_parent()
        limit_memory(INTAKE_MEMORY)
        limit(resource.RLIMIT_CPU, SECONDS)
        limit(resource.RLIMIT_CORE, 0)
        answer = work(sys.argv[1:], sys.stdin.buffer.read())
    except Exception as error:  # untrusted bytes may make a reader fail in any way
        parts = (
            error.args
            if isinstance(error, InputError)
            else [reason_of(error, INTAKE_MEMORY, READER, ANOTHER_FILE)]
        )
        print(json.dumps(parts, default=_plain), file=sys.stderr)
        sys.exit(REFUSED)
    sys.stdout.buffer.write(answer)


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python number, and any other value as text."""
    return value.item() if hasattr(value, "item") else str(value)


def end_with_parent() -> None:
    """End this process soon after its parent ends, even if the parent was killed: its work could last hours."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def limit(what: int, most: int) -> None:
    """Set the soft limit of a resource to `most`, or to the hard limit if that is lower. The hard limit stays, so that
    `lift_memory_limit` can restore it, and so that the system sends a signal before it kills the process."""
    _, allowed = resource.getrlimit(what)
    resource.setrlimit(what, (most if allowed == resource.RLIM_INFINITY else min(most, allowed), allowed))


def limit_memory(default: int | None = None) -> None:
    """Limit the address space of this process, so that it fails early and alone instead of exhausting the machine.

    The limit in bytes is MEMORY_VARIABLE if it is set, otherwise `default`; None: no limit.
    """
    text = os.environ.get(MEMORY_VARIABLE)
    if text and (not re.fullmatch(r"0*[1-9][0-9]{0,18}", text) or int(text) > MOST_MEMORY):
        raise InputError(MEMORY_VARIABLE, f"a number of bytes, 1 to {MOST_MEMORY}", f"{text!r:.80}")
    most = int(text) if text else default
    if most is not None:
        import scipy.linalg  # noqa: F401 (its OpenBLAS waits for ever if it is loaded where memory is short)

        statm = Path("/proc/self/statm")  # on Linux: the pages of memory that this process has
        used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
        if used >= most:  # Python then fails anywhere, often with an error that does not mention memory
            raise MemoryError(f"its libraries alone take {used / 1e9:.2g} GB")
        limit(resource.RLIMIT_AS, most)


def lift_memory_limit() -> None:
    """Remove the memory limit, so that an error can be reported."""
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def reason_of(
    error: Exception,
    default: int | None = None,
    process: str = "worker",
    remedy: str = "choose fewer features or a smaller image set",
) -> str:
    """Return an error as one line of text. default: as passed to `limit_memory`. remedy: what to do if memory ran
    out."""
    message = " ".join(str(error).split())[:500]
    if _lost_memory(error):
        most = os.environ.get(MEMORY_VARIABLE) or default
        allowed = f" (it may use {int(most) / 1e9:.3g} GB, set by {MEMORY_VARIABLE})" if most else ""
        details = f": {message}" if message else ""
        return f"the {process} ran out of memory{allowed}{details}; {remedy}"
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
