"""What the page Compare shows: rankings with their names and looks, and what their measures are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pages.parts import comparison_words
from pages.parts.label_looks import Look
from ranking.comparison import Comparison
from ranking.intervals import Redrawn
from ranking.run import Run
from ranking.types import ImageSet


@dataclass(frozen=True, eq=False)
class Shown:
    """Trainings of one image set and one query; names, looks and the rankings of `compared` are in their order."""

    runs: Sequence[Run]
    names: Sequence[str]
    looks: Sequence[Look]
    images: ImageSet
    split: str
    compared: Comparison
    found: Redrawn

    @property
    def query(self) -> str:
        return str(self.runs[0].settings["query"])

    @property
    def ids(self) -> Sequence[str]:
        """(n,) of the samples that are ranked."""
        ids: list[str] = self.images.ids[self.compared.samples].tolist()
        return ids

    def notes_of(self, number: int) -> tuple[str, str]:
        """What stands beside a row."""
        ranked = self.compared.rankings[number]
        return f"AP {ranked.average_precision:.3f}", comparison_words.first_wrong(ranked)
