"""What is the same in every study: it has settings, takes minutes or hours, and gives its results as JSON.

`ranking.experiments.studies` has the studies by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ranking.core import ImageSet, Ints
from ranking.core.run_settings import AnyStudySettings

S = TypeVar("S", bound=AnyStudySettings)
Result = dict[str, Any]  # as JSON
OnShare = Callable[[str, float, int], None]  # (what, done, total), done in fractions too


class Kept(NamedTuple):
    """What a study finds, and adds to.

    features: the folder of computed features. trials: the folders of finished trials, first the one that is written to,
    then those that are only read. edges: the pairs (m, 2) of the graph that settings name, None where they name none.
    """

    features: Path
    trials: tuple[Path, ...] = ()
    edges: Ints | None = None


class Study(ABC, Generic[S]):
    """Measurements on an image set, or on synthetic samples.

    settings: of its runs, whose `task` is the name of the study.
    """

    settings: ClassVar[type[Any]]

    @property
    def name(self) -> str:
        name: str = self.settings.task
        return name

    @abstractmethod
    def run(
        self,
        images: ImageSet | None,
        settings: S,
        kept: Kept,
        on_step: OnShare | None = None,
        on_result: Callable[[Result], None] = lambda result: None,
        check: Callable[[], None] = lambda: None,
    ) -> Result:
        """Measure, and return the result.

        images: None where the settings name no set. on_step hears how far it is, on_result what would be the result if
        it ended now, wherever that is worth keeping; check is called often, in any thread. What they raise ends the
        study, and is raised. ValueError for settings that make no study.
        """
