"""The rows of a report, however many files a stranger has damaged: the first of them, and how many more there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ranking.core import Problem
from ranking.core.text import counted

MOST_ROWS = 10_000  # that a page shows and sends; of what comes then it is counted what was expected and done


class ProblemRows:
    """Rows in the order in which they came."""

    def __init__(self) -> None:
        self._first: list[Problem] = []
        self._more: Counter[tuple[str, str]] = Counter()

    def add(self, problems: Iterable[Problem]) -> None:
        """More rows."""
        for problem in problems:
            if len(self._first) < MOST_ROWS:
                self._first.append(problem)
            else:
                self._more[problem.expected, problem.done] += 1

    def all(self) -> list[Problem]:
        """The first MOST_ROWS, then one for each kind of the rest.

        >>> rows = ProblemRows()
        >>> rows.add([Problem("a.png", "an image", "an empty file", "left out")] * (MOST_ROWS + 2))
        >>> len(rows.all()), rows.all()[-1]
        (10001, Problem(file='2 more rows', expected='an image', came='the like', done='left out'))
        """
        more = [
            Problem(counted(number, "more row"), expected, "the like", done)
            for (expected, done), number in self._more.most_common(MOST_ROWS)
        ]
        return self._first + more
