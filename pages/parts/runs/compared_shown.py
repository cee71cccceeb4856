"""What the page Compare shows: rankings with their names and looks, and what their measures are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.reports import comparison_words
from ranking.reports.compared import Compared
from ranking.reports.looks import Look


@dataclass(frozen=True, eq=False)
class Shown(Compared):
    """A comparison with the looks of its trainings, in their order."""

    looks: Sequence[Look]

    @property
    def ids(self) -> Sequence[str]:
        """(n,) of the samples that are ranked."""
        ids: list[str] = self.images.ids[self.compared.samples].tolist()
        return ids

    def notes_of(self, number: int) -> tuple[str, str]:
        """What stands beside a row."""
        ranked = self.compared.rankings[number]
        return f"AP {ranked.average_precision:.3f}", comparison_words.first_wrong(ranked)
