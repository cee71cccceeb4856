"""A limited number of report rows: the first of them, and counts of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ranking.core import Problem
from ranking.core.text import counted

# that a page shows and sends; later rows are only counted, by `expected` and `done`
MAX_ROWS = 10_000


class ProblemRows:
    """Report rows in the order in which they were added."""

    def __init__(self) -> None:
        self._first: list[Problem] = []
        self._more: Counter[tuple[str, str]] = Counter()

    def add(self, problems: Iterable[Problem]) -> None:
        """Add rows."""
        for problem in problems:
            if len(self._first) < MAX_ROWS:
                self._first.append(problem)
            else:
                self._more[problem.expected, problem.done] += 1

    def all(self) -> list[Problem]:
        """Return the first MAX_ROWS rows, then one row per kind for all others.

        >>> rows = ProblemRows()
        >>> rows.add([Problem("a.png", "an image", "an empty file", "ignored")] * (MAX_ROWS + 2))
        >>> len(rows.all()), rows.all()[-1]
        (10001, Problem(file='2 more rows', expected='an image', came='similar', done='ignored'))
        """
        more = [
            Problem(counted(number, "more row"), expected, "similar", done)
            for (expected, done), number in self._more.most_common(MAX_ROWS)
        ]
        return self._first + more
