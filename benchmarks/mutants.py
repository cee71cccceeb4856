"""How sensitive are the tests? Mutants of the mathematics, the store and the worker, and which of them a test kills.

    pytest --cov=ranking --cov-context=test --durations=0 > durations.txt      # which tests run which line
    python benchmarks/mutants.py --durations durations.txt --out mutants.json

Needs the extra [benchmarks] (cosmic-ray, whose operators are used). The mutants are sampled with a fixed seed from the
files at `--at`, a commit, so that two states of the tests run against the same mutants: a place in a file, uniformly
sampled, and one of the operators that apply there. Each mutant is made in the current file, at the new position of its
line; a mutant whose line no longer exists is reported as gone.

Against each mutant run the tests that execute its line according to the coverage record, those of its own package first
and quick ones first, up to `--seconds` of them (by their recorded times). Coverage does not see compiled lines, nor
lines that run while modules are imported: against such a mutant run the tests of its package and of the methods. A test
that runs out of time (an endless loop) also kills. With `--tests` those run instead, without a coverage record. Mutants
are run in copies of the checkout, `--processes` at a time; `--out` stores each outcome immediately, and a restarted run
continues.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import numpy as np
import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import CoverageData
from timing import options_of, table

ROOT = Path(__file__).parents[1]
PLACES = [
    "inference",
    "solvers",
    "methods",
    "losses",
    "metrics",
    "storage",
    "jobs",
]
OPERATORS = [
    "AddNot",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul")
    ),
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("Mod_Mul", "Pow_Mul", "BitAnd_BitOr", "BitOr_BitAnd")),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_Gt", "Gt_Lt")
    ),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
]


@dataclass(frozen=True)
class Mutant:
    """Lines `first` to `last` of `path` (from 0, half open, at the commit) become `text`."""

    path: str
    operator: str
    first: int
    last: int
    text: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.path}:{self.first + 1} {self.operator} {' '.join(line.strip() for line in self.text)}"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def committed(commit: str, path: str) -> str:
    return git("show", f"{commit}:{path}")


def files_at(commit: str, folders: Sequence[str]) -> list[str]:
    listed = git("ls-tree", "-r", "--name-only", commit, *(f"ranking/{folder}" for folder in folders))
    return [path for path in listed.split() if path.endswith(".py")]


def lines_of_no_effect(code: str) -> set[int]:
    """Return the lines (from 1) of annotations, imports and decorators."""
    # Annotations are never evaluated, and arguments of decorators control compilation only.
    lines: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        imports = [node] if isinstance(node, ast.Import | ast.ImportFrom) else []
        for part in (annotation, *imports, *getattr(node, "decorator_list", ())):
            if part is not None:
                lines |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return lines


def places_in(path: str, code: str) -> Iterator[tuple[tuple[str, tuple[int, int]], tuple[str, int]]]:
    """Yield each place where an operator applies, with the operator and the number of the occurrence."""
    idle, tree = lines_of_no_effect(code), parso.parse(code)
    nodes = list(ast_nodes(tree))
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for number, start in enumerate(positions):
            if start[0] not in idle:
                yield (path, start), (name, number)


def draw(commit: str, folders: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Sample the mutants of that seed, which are the same on every machine."""
    code = {path: committed(commit, path) for path in files_at(commit, folders)}
    operators: dict[tuple[str, tuple[int, int]], list[tuple[str, int]]] = {}
    for path, text in code.items():
        for line, operator in places_in(path, text):
            operators.setdefault(line, []).append(operator)
    generator = random.Random(seed)
    of_folder = {
        folder: sorted(key for key in operators if key[0].startswith(f"ranking/{folder}"))
        for folder in folders
    }
    # The share of each folder is proportional to the square root of its size, so that small ones are represented.
    shares = np.sqrt([len(keys) for keys in of_folder.values()])
    counts = np.diff(np.rint(np.cumsum([0.0, *shares]) / shares.sum() * count).astype(int))
    chosen = []
    keys = [
        key for keys, n in zip(of_folder.values(), counts, strict=True) for key in generator.sample(keys, n)
    ]
    for path, start in keys:
        name, number = generator.choice(operators[path, start])
        mutated = mutate_code(code[path], get_operator(f"core/{name}")(), number)
        assert mutated is not None
        chosen.append(Mutant(path, name, *changed(code[path], mutated)))
    return chosen


def changed(before: str, after: str) -> tuple[int, int, tuple[str, ...]]:
    old, new = before.splitlines(), after.splitlines()
    first = next(i for i, (a, b) in enumerate(zip([*old, None], [*new, None], strict=False)) if a != b)
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    return first, len(old) - same, tuple(new[first : len(new) - same])


def moved(mutant: Mutant, before: str, now: str) -> int | None:
    """Return the current position of the mutant's lines, or None if they have changed."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.a <= mutant.first and mutant.last <= block.a + block.size:
            return block.b + mutant.first - block.a
    return None


class GivenTests:
    """The same tests for every line."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.seconds = names, Counter[str]()

    def of(self, path: str, line: int, most: float) -> list[str]:
        return self.names


class RecordedTests:
    """The tests that execute each line, with their times."""

    def __init__(self, tree: Path, durations: Path) -> None:
        self.tree = tree
        self.coverage = CoverageData(str(tree / ".coverage"))
        self.coverage.read()
        self.seconds: Counter[str] = Counter()
        for seconds, node in re.findall(
            r"^ *([\d.]+)s (?:call|setup|teardown) +(\S.*)$", durations.read_text(), re.M
        ):
            self.seconds[node.strip()] += float(seconds)

    def of(self, path: str, line: int, most: float) -> list[str]:
        """Return the tests for line `line` (from 0) of `path`."""
        package = Path(path).parts[1].removesuffix(".py")
        near = (f"tests/{package}/",)
        contexts = self.coverage.contexts_by_lineno(str(self.tree / path)).get(line + 1, [])
        nodes = {context.partition("|")[0] for context in contexts if "|" in context}
        if not nodes or line + 1 in compiled_lines((self.tree / path).read_text()):
            nodes = {node for node in self.seconds if node.startswith((*near, "tests/methods/"))}
        ordered = sorted(nodes, key=lambda node: (not node.startswith(near), self.seconds[node], node))
        chosen, total = [], 0.0
        for node in ordered:
            total += self.seconds[node]
            if chosen and total > most:
                break
            chosen.append(node)
        return chosen


def compiled_lines(code: str) -> set[int]:
    """Return the lines (from 1) of functions that Numba compiles."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and any(
            "njit" in ast.unparse(mark) for mark in node.decorator_list
        ):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def forget_compiled(tree: Path, path: str) -> None:
    """Remove the compiled kernels of all files that import the mutant's file."""
    # They can contain its code, and Numba checks only the time stamp of a kernel's own file.
    imports = {file: file.read_text() for file in (tree / "ranking").rglob("*.py")}
    stale, fresh = set(), {tree / path}
    while fresh:
        names = [file.relative_to(tree).with_suffix("").as_posix().replace("/", ".") for file in fresh]
        stale |= fresh
        fresh = {
            file for file, text in imports.items() if any(f"from {name} import" in text for name in names)
        } - stale
    for file in stale:
        for kept in (file.parent / "__pycache__").glob(f"{file.stem}.*.nb[ic]"):
            kept.unlink()


def meet(tree: Path, mutant: Mutant, at: int, tests: list[str], seconds: float) -> str:
    """Return "survived", or what killed the mutant."""
    file = tree / mutant.path
    lines = file.read_text().splitlines()
    lines[at : at + mutant.last - mutant.first] = mutant.text
    file.write_text("\n".join(lines) + "\n")
    if compiled_lines(file.read_text()):
        forget_compiled(tree, mutant.path)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(tests))
        names.flush()
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-xq", "--no-header", "-pno:cacheprovider", f"@{names.name}"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        # of a processor, so that a busy machine makes no difference
        most = int(60 + seconds)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most))
        try:
            output, _ = process.communicate(timeout=20 * most)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "no end"
    if process.returncode == 0:
        return "survived"
    if process.returncode < 0:
        return "no end"
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
    return failed[0] if failed else f"pytest ended with {process.returncode}: {output[-200:]}"


def copies(count: int, scratch: Path) -> Queue[Path]:
    """Copy the checkout, with compiled kernels."""
    trees: Queue[Path] = Queue()
    for number in range(count):
        shutil.copytree(
            ROOT, scratch / str(number) / "checkout", ignore=shutil.ignore_patterns(".venv", ".git")
        )
        if (ROOT.parent / "shared").exists():
            (scratch / str(number) / "shared").symlink_to(ROOT.parent / "shared")
        trees.put(scratch / str(number) / "checkout")
    return trees


def run(
    mutants: list[Mutant],
    commit: str,
    tests: RecordedTests | GivenTests,
    out: Path | None,
    processes: int,
    seconds: float,
) -> dict[str, str]:
    outcomes: dict[str, str] = json.loads(out.read_text()) if out is not None and out.exists() else {}
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(processes) as pool:
        trees = copies(processes, Path(scratch))

        def try_mutant(mutant: Mutant) -> None:
            at = moved(mutant, committed(commit, mutant.path), (ROOT / mutant.path).read_text())
            if at is None:
                outcome = "gone"
            else:
                tree = trees.get()
                chosen = tests.of(mutant.path, at, seconds)
                outcome = meet(tree, mutant, at, chosen, sum(tests.seconds[node] for node in chosen))
                outcome += f" ({len(chosen)} tests)" if outcome == "survived" else ""
                shutil.rmtree(tree / "ranking")
                shutil.copytree(ROOT / "ranking", tree / "ranking")
                trees.put(tree)
            outcomes[mutant.name] = outcome
            if out is not None:
                out.write_text(json.dumps(outcomes, indent=1))
            print(f"{len(outcomes):4d}  {outcome:60.60s}  {mutant.name}", flush=True)

        list(pool.map(try_mutant, (mutant for mutant in mutants if mutant.name not in outcomes)))
    return outcomes


def main() -> None:
    options = options_of(
        __doc__, at=("HEAD", "HEAD"), count=(300, 1), seed=(0, 0), seconds=(30.0, 30.0), processes=(2, 1),
        durations=(Path("durations.txt"), None), out=(Path("mutants.json"), None), list=(False, False),
        places=(PLACES, ["losses"]), tests=([], ["tests/losses"]),
    )  # fmt: skip
    mutants = draw(options.at, options.places, options.count, options.seed)
    if options.list:
        print("\n".join(mutant.name for mutant in mutants))
        return
    tests = GivenTests(options.tests) if options.tests else RecordedTests(ROOT, options.durations)
    outcomes = run(mutants, options.at, tests, options.out, options.processes, options.seconds)
    rows = [row(folder, outcomes) for folder in options.places]
    print(table(["place", "mutants", "killed", "survived", "gone"], [*rows, row("", outcomes)]))


def row(folder: str, outcomes: dict[str, str]) -> list[str]:
    """Return the outcomes for the mutants of a folder; of all if it is empty."""
    those = [outcome for name, outcome in outcomes.items() if name.startswith(f"ranking/{folder}")]
    lived, gone = sum(outcome.startswith("survived") for outcome in those), those.count("gone")
    return [folder or "all", *map(str, (len(those), len(those) - lived - gone, lived, gone))]


if __name__ == "__main__":
    main()
