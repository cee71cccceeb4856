"""The benchmark that breaks files: a few of each kind in this process, and that it finds what it looks for."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import fuzz_intake  # noqa: E402
import fuzz_worker  # noqa: E402
from fuzz_kinds import KINDS  # noqa: E402
from mutations import ANYWHERE, JPEG, PNG, TEXT, TOKENS, ZIP, mutated  # noqa: E402

FEW = {"Parquet, a box a row": 2, "exported trainings": 6}  # which take a tenth of a second each


class Nobody:
    """Watches nothing: hooks would stay in this process."""

    def taken(self) -> list[str]:
        return []


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_broken_files_are_imported_or_refused_in_words(make: Any, tmp_path: Path) -> None:
    kind = make()
    fuzz_worker.check_good(kind, tmp_path)
    for number in range(FEW.get(kind.name, 25)):
        told = fuzz_worker.fed(kind, fuzz_worker.file_of(kind, "a test", number), tmp_path, Nobody())  # type: ignore[arg-type]
        assert told["findings"] == [], (kind.name, number)


def test_the_kinds_are_those_of_a_run() -> None:
    made = [make() for make in KINDS]
    assert len({kind.name for kind in made}) == len(made)
    assert sum(kind.share for kind in made) == pytest.approx(100, abs=2)


@pytest.mark.parametrize("mutation", [*ANYWHERE, *TEXT, *ZIP, *PNG, *JPEG])
def test_a_mutation_changes_files_and_is_the_same_again(mutation: Any) -> None:
    good = next(make() for make in KINDS).good[0]
    changed = {mutation(random.Random(seed), good) for seed in range(20)}
    assert len(changed) > 5
    assert changed == {mutation(random.Random(seed), good) for seed in range(20)}
    for tiny in (b"", b"x", b"PK\x01\x02"):
        assert isinstance(mutation(random.Random(0), tiny), bytes)


def test_tokens_come_into_files() -> None:
    files = [mutated(random.Random(seed), b'{"a": 1}', [b"[]"], TEXT) for seed in range(300)]
    assert sum(any(token in file for token in TOKENS if len(token) > 6) for file in files) > 30
    assert len(set(files)) > 200


# ----------------------------------------------------------------------------- that what is wrong is found

BAD = """
import os, subprocess, sys
from pathlib import Path
from fuzz_bringing import Came
from fuzz_kinds import Kind
from fuzz_worker import fed
from watching import Watch

home = Path(sys.argv[1])
home.mkdir()
os.chdir(home)

def bring(number, data, home):
    match number:
        case 0: {}["x"]
        case 1: int("x")
        case 2: (home.parent / "outside.txt").write_text("x")
        case 3: (home / ".." / "secret.txt").read_bytes()
        case 4: subprocess.run(["true"])
        case 5: return Came("imported", ["a\\nb"])
        case 6: b"\\xff".decode()
        case 7: os.rename(home / "inside.txt", home.parent / "moved.txt")
        case 8: bytearray(10**15)
        case 9: (home / "inside.txt").write_text("x")
        case 10: raise ValueError("a refusal of a test, which stands for the product's own")
    return Came("imported", [])

watch = Watch(home, ())
kind = Kind("bad", 1, [], bring)
for number in (9, 0, 1, 2, 3, 4, 5, 6, 7, 8):
    print(number, *fed(kind, (number, b""), home, watch)["findings"])
"""


def test_what_must_not_happen_is_found(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("x")
    ended = subprocess.run(
        [sys.executable, "-c", BAD, str(tmp_path / "home")],
        capture_output=True, text=True, cwd=BENCHMARKS.parent,
        env={"PYTHONPATH": f"{BENCHMARKS}:{BENCHMARKS.parent}", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    said = dict(line.partition(" ")[::2] for line in ended.stdout.splitlines())
    starts = {
        "9": "", "0": "KeyError in ", "1": "no refusal of ours: ValueError of ", "2": "open: written ",
        "3": "open: read ", "4": "subprocess.Popen: ", "5": "cannot be printed: ",
        "6": "no refusal of ours: UnicodeDecodeError", "7": "os.rename: ", "8": "MemoryError in ",
    }  # fmt: skip
    assert said.keys() == starts.keys(), ended.stderr
    assert {number: said[number].startswith(start) for number, start in starts.items()} == dict.fromkeys(
        starts, True
    ), said
    assert said["9"] == ""


SCRIPTED = """
import json, os, signal, sys, time
start, stop = map(int, sys.argv[3:5])
for number in range(start, stop):
    print(number, flush=True)
    if number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 5:
        time.sleep(60)
    print(json.dumps({"came": "refused", "seconds": 0.5, "bytes": 1, "findings": ["odd"] * (number == 6)}), flush=True)
print(json.dumps({"peak": 7.0, "of programs": 1.0}))
"""


def test_a_process_that_dies_or_hangs_is_a_finding_and_the_next_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "worker.py"
    program.write_text(SCRIPTED)
    options = argparse.Namespace(seed="0", memory=10**9, seconds=0.5, program=program)
    told = fuzz_intake.Told("scripted")
    fuzz_intake.feed(told, 0, 0, 9, options, tmp_path / "home")
    assert [number for number, _ in told.findings] == [3, 5, 6]
    assert [text.partition(":")[0] for _, text in told.findings] == [
        "died of SIGSEGV",
        "took longer than 0.5 s",
        "odd",
    ]
    assert told.came == {"refused": 7, "died": 2}
    assert told.peak == 7.0


def test_a_process_that_cannot_begin_is_told(tmp_path: Path) -> None:
    program = tmp_path / "worker.py"
    program.write_text("raise RuntimeError('no files')")
    options = argparse.Namespace(seed="0", memory=10**9, seconds=5, program=program)
    with pytest.raises(RuntimeError, match="no files"):
        fuzz_intake.feed(fuzz_intake.Told("scripted"), 0, 0, 9, options, tmp_path / "home")
