"""The interface of every study: it has settings, takes minutes or hours, and returns its results as JSON.

`ranking.experiments.studies` has the studies by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from ranking.core import ImageSet, Ints
from ranking.core.settings import Json
from ranking.storage.run_settings import AnyStudySettings

S = TypeVar("S", bound=AnyStudySettings)
# as JSON
Result = Json
# (what, done, total), `done` may be a fraction
OnShare = Callable[[str, float, int], None]


def ignore(*_: object) -> None:
    """A callback that ignores its arguments."""


@dataclass(frozen=True, eq=False)
class Context:
    """The input of a study, and its callbacks.

    images: None if the settings name no set. features: the folder of computed features. trials: the folders of finished
    trials: the first is written to, the others are only read. edges: the pairs (m, 2) of the graph that settings name,
    None if they name none. on_step receives progress; on_result receives partial results, where these are worth
    storing; check is called often, in any thread. Their exceptions end the study and are raised again.
    """

    images: ImageSet | None = None
    features: Path = Path()
    trials: tuple[Path, ...] = ()
    edges: Ints | None = None
    on_step: OnShare = ignore
    on_result: Callable[[Result], None] = ignore
    check: Callable[[], None] = ignore


class Study(ABC, Generic[S]):
    """Measurements on an image set, or on synthetic samples.

    settings: of its runs, whose `task` is the name of the study.
    """

    settings: ClassVar[type[AnyStudySettings]]

    @abstractmethod
    def run(self, settings: S, context: Context) -> Result:
        """Measure, and return the result; ValueError for invalid settings."""
