"""House rules for words that a program can check: British spelling, and no numbers of issues."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".js", ".css", ".html", ".md"}
FOLDERS = ("ranking", "pages", "data", "benchmarks", "tests", "docs")
# Words that no library has as a name of its own.
AMERICAN = re.compile(
    r"\b(neighbor(s|ing|hoods?)?|label(ing|ed|er)|model(ing|ed)|behaviors?|favorites?|analyz(e|es|ed|ing)"
    r"|optimiz(es|ing|ation)|regulariz(e|er|ation)|generaliz(e|es|ation)|summariz(e|es)|visualiz(e|ation)|learnt)\b",
    re.IGNORECASE,
)
ISSUE = re.compile(r"\b(issue|pull request|PR) #?\d+", re.IGNORECASE)


@pytest.mark.parametrize("folder", [".", *FOLDERS])
def test_spelling_is_british_and_no_issue_is_named(folder: str) -> None:
    paths = (ROOT / folder).glob("*") if folder == "." else (ROOT / folder).rglob("*")
    files = [path for path in paths if path.suffix in SUFFIXES and path != Path(__file__)]
    assert files
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for match in [*AMERICAN.finditer(line), *ISSUE.finditer(line)]
    ]
    assert hits == []
