"""The same imports, with files from Atheris (libFuzzer), which keeps files that reach new branches, and mutates them.

Run by `fuzz_intake.py --coverage-guided SECONDS`, for that many seconds per kind; needs `pip install atheris`, which
has wheels for Python 3.11 to 3.13 on Linux. The first byte of each file selects one of the good files. An error that is
not a refusal by the app ends the kind, and libFuzzer writes the file into the working folder.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WATCHED = [
    "ranking.files",
    "ranking.datasets",
]
MEGABYTES, SECONDS = 2_000, 20  # limits for one file


def guided(seconds: int, only: str) -> int:
    """Run every kind in its own process, one after the other; return the number of kinds with a finding."""
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("Atheris is not installed: pip install atheris (Linux, Python 3.11 to 3.13)")
    from fuzz_kinds import KINDS

    ended = 0
    for number, make in enumerate(KINDS):
        name = make().name
        if only.lower() in name.lower():
            print(f"\n{name}", flush=True)
            path = [str(ROOT), str(ROOT / "benchmarks"), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
            command = [sys.executable, __file__, str(number), str(seconds)]
            ended += subprocess.run(command, env=environment).returncode != 0
    return ended


def one_kind(kind_number: int, seconds: int) -> None:
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        import fuzz_imports
        import fuzz_kinds

    kind = fuzz_kinds.KINDS[kind_number]()
    with tempfile.TemporaryDirectory() as folder:
        home, corpus = Path(folder) / "home", Path(folder) / "corpus"
        home.mkdir()
        corpus.mkdir()
        for number, data in enumerate(kind.good):
            (corpus / f"{number}").write_bytes(bytes([number]) + data)

        def feed_one(data: bytes) -> None:
            if not data:
                return
            try:
                kind.bring(data[0] % len(kind.good), data[1:], home)
            except ValueError as error:
                fuzz_imports.check_wording(error)

        flags = [
            f"-max_total_time={seconds}",
            f"-timeout={SECONDS}",
            f"-rss_limit_mb={MEGABYTES}",
            "-print_final_stats=1",
        ]
        atheris.Setup([sys.argv[0], *flags, "-close_fd_mask=0", str(corpus)], feed_one)
        atheris.Fuzz()


if __name__ == "__main__":
    one_kind(int(sys.argv[1]), int(sys.argv[2]))
