"""Programs that read what strangers made, each in a process of its own with limits: what breaks one breaks nobody else.

A program is a module that runs by itself. `ask` starts one for one answer, within some seconds; it calls `serve`.
`Program` is one that answers again and again, and is killed where it takes too long. What takes minutes is a worker's
(`ranking.jobs.jobs`), whose memory is limited here too.
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
from typing import Any

from ranking.core.errors import HomeError, InputError
from ranking.core.text import readable

MEMORY_VARIABLE = "RANKING_WORKER_MEMORY"
MOST_MEMORY = 2**63 - 1  # bytes; what the system can be told
# What whatever reads files of strangers may have where the variable says nothing.
INTAKE_MEMORY = 4 * 2**30
SECONDS = 60  # of a processor for one answer, and twice as many by the clock
AT_ONCE = 2  # so many processes answer; who comes then waits
READER, ANOTHER_FILE = "reader process", "try another file or a smaller one"
REFUSED = 3  # the exit code of a program that says on its last line why
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LOOK_SECONDS = 0.5  # between two looks whether the process that asked still lives
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

_turns = threading.BoundedSemaphore(AT_ONCE)


class Crashed(InputError):
    """A program gave no answer; `came` says how it ended."""

    def __init__(self, ending: str) -> None:
        super().__init__(READER, "an answer", ending, ANOTHER_FILE)


# ---------------------------------------------------------------------------------------------------------
# The process that asks
# ---------------------------------------------------------------------------------------------------------


def ask(module: str, arguments: list[str], data: bytes = b"") -> bytes:
    """What the work that `module` serves returns for these arguments and `data`.

    ValueError where it refuses, an InputError in the parts that it was raised with; Crashed where it breaks off or
    takes too long.
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
    last_line = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]  # not where our files lie
    if ended.returncode == REFUSED and (parts := _refusal_parts(last_line)):
        raise InputError(*parts) if len(parts) > 1 else ValueError(*parts)
    if ended.returncode == -signal.SIGXCPU:
        raise Crashed(f"more than {SECONDS} seconds of a processor")
    raise Crashed(f"a crash ({ending(ended.returncode, last_line)})")


def _refusal_parts(line: str) -> list[str]:
    """The parts of the error in a line of JSON; none where something else wrote the line."""
    try:
        parts = json.loads(line)
    except ValueError:
        return []
    return parts if isinstance(parts, list) and 1 <= len(parts) <= 4 else []


class Program:
    """A module that runs in a process of its own and is asked through pipes, until `close` or this object goes."""

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
        """Send `data`; Crashed where the process is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Crashed(self.end()[1]) from error

    def read(self, size: int, until: float) -> bytes:
        """The next `size` bytes that it writes. TimeoutError where they are not there `until` a time of the monotonic
        clock, Crashed where they never will be."""
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
        """Its exit code, and what it said on standard error, after it was killed where it is still there."""
        self.close()
        self._errors.seek(0)
        return self._process.wait(), readable(self._errors.read(4_000).decode(errors="replace"), 300)


def ending(code: int, last_words: str) -> str:
    """How a process ended, by its exit code.

    >>> ending(-9, ""), ending(1, "no such file")
    ('signal 9', 'exit code 1: no such file')
    """
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}: {readable(last_words, 200)}" if last_words else how


def _command(module: str, arguments: list[str]) -> list[str]:
    """No bytecode is written (-B), which a limit on files would cut short, and no module of the current folder is
    found before ours (-P)."""
    return [sys.executable, "-P", "-B", "-m", module, *arguments]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                continue  # what was not read yet is not wanted any more


# ---------------------------------------------------------------------------------------------------------
# The process that answers
# ---------------------------------------------------------------------------------------------------------


def serve(work: Callable[[list[str], bytes], bytes]) -> None:
    """Be the process that `ask` starts: `work` is given the arguments and the data; its errors are refusals."""
    try:
        end_with_parent()
        limit_memory(INTAKE_MEMORY)
        limit(resource.RLIMIT_CPU, SECONDS)
        limit(resource.RLIMIT_CORE, 0)
        answer = work(sys.argv[1:], sys.stdin.buffer.read())
    except Exception as error:  # a stranger's bytes may fail their readers in any way
        parts = (
            error.args
            if isinstance(error, InputError)
            else [reason_of(error, INTAKE_MEMORY, READER, ANOTHER_FILE)]
        )
        print(json.dumps(parts, default=_plain), file=sys.stderr)
        sys.exit(REFUSED)
    sys.stdout.buffer.write(answer)


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python, and whatever else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def end_with_parent() -> None:
    """End soon after the process that asks, also where that was killed: what it asked for may go on for hours."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def limit(what: int, most: int) -> None:
    """Take no more than `most` of a resource, nor than is allowed. What is allowed stays, so that `lift_memory_limit`
    can give it back, and the system can say that time is up before it kills."""
    _, allowed = resource.getrlimit(what)
    resource.setrlimit(what, (most if allowed == resource.RLIM_INFINITY else min(most, allowed), allowed))


def limit_memory(default: int | None = None) -> None:
    """Let this process fail alone, and soon, where it would take the machine's memory: more bytes of addresses than
    MEMORY_VARIABLE says, else than `default`; None: as many as there are."""
    text = os.environ.get(MEMORY_VARIABLE)
    if text and (not re.fullmatch(r"0*[1-9][0-9]{0,18}", text) or int(text) > MOST_MEMORY):
        raise InputError(MEMORY_VARIABLE, f"a number of bytes, 1 to {MOST_MEMORY}", f"{text!r:.80}")
    most = int(text) if text else default
    if most is not None:
        import scipy.linalg  # noqa: F401 (its OpenBLAS waits for ever if it is loaded where memory is short)

        limit(resource.RLIMIT_AS, most)


def lift_memory_limit() -> None:
    """Room to say what went wrong."""
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def reason_of(
    error: Exception,
    default: int | None = None,
    process: str = "worker",
    remedy: str = "choose fewer features or a smaller image set",
) -> str:
    """An error in one line, for a person; `default` as `limit_memory` was given it. remedy: where memory ran out."""
    message = " ".join(str(error).split())[:500]
    if _lost_memory(error):
        most = os.environ.get(MEMORY_VARIABLE) or default
        allowed = f" (it may use {int(most) / 1e9:.3g} GB, set by {MEMORY_VARIABLE})" if most else ""
        details = f": {message}" if message else ""
        return f"the {process} ran out of memory{allowed}{details}; {remedy}"
    if _lacks_space(error):
        return (
            f"there is no space left on the disk of the home folder ({message}); free some, then start again"
        )
    is_worded = isinstance(error, ValueError | HomeError) and message
    return message if is_worded else f"{type(error).__name__}: {message}"


def _lacks_space(error: Exception) -> bool:
    """Whether a file could not grow; numpy tells it in words, without a number."""
    short = re.fullmatch(r"[0-9]+ requested and [0-9]+ written", str(error)) is not None
    return isinstance(error, OSError) and (short or error.errno in NO_SPACE)


def _lost_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind an error; libraries that could not be loaded tell it in words."""
    if error is None or isinstance(error, MemoryError):
        return error is not None
    worded = any(words in str(error) for words in ("failed to map segment", "Cannot allocate memory"))
    return worded or _lost_memory(error.__cause__ or error.__context__)
