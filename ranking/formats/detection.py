"""Which source reads a tree that a person brought, and why: every source that reads trees is asked."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Recognised


@runtime_checkable
class ReadsTrees(Protocol):
    """What the class of a source has that reads trees, besides being a source."""

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None: ...


@runtime_checkable
class ReadsTable(Protocol):
    """What a source has besides where a person may say what the columns of its table are.

    columns: their names. as_read: the settings that name those of each role as they are read, and the same in words;
    ValueError where that cannot be told.
    """

    def columns(self) -> list[str]: ...

    def as_read(self) -> tuple[dict[str, str], str]: ...


class Detected(NamedTuple):
    """A source by its name, how sure it is, from 0 to 1, why, and the settings that fit the tree."""

    source: str
    recognised: Recognised


def tree_sources() -> list[str]:
    """The sources that read a folder or a ZIP file, in the order in which a person is asked."""
    return [name for name in SOURCES.names() if issubclass(SOURCES.get(name), ReadsTrees)]


def detect(tree: FileTree) -> list[Detected]:
    """The sources that know `tree`, the surest first; none where no source does."""
    told: list[Detected] = []
    for name in tree_sources():
        source: type[ReadsTrees] = SOURCES.get(name)  # type: ignore[assignment]  # `tree_sources` has looked
        recognised = source.recognise(tree)
        if recognised is not None:
            told.append(Detected(name, recognised))
    return sorted(told, key=lambda detected: -detected.recognised.sure)
