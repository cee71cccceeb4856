"""Images by what a file of annotations calls them: a name is looked up among those of a tree and never followed."""

from __future__ import annotations

from collections.abc import Iterable

from ranking.datasets.tree_source import bare, is_image, part_of
from ranking.intake import FileTree, Unusable
from ranking.intake.files import image_name
from ranking.intake.tree import base, parent

NO_IMAGE = "an image of that name in the folder or ZIP file"


class ImageNames:
    """The images of a tree by the last part of their names, with its ending and without."""

    def __init__(self, tree: FileTree) -> None:
        self._by_base: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for name in filter(is_image, tree.names):
            self._by_base.setdefault(image_name(base(name)), []).append(name)
            self._by_stem.setdefault(image_name(base(bare(name))), []).append(name)

    def knows(self, told: str) -> bool:
        """Whether there is an image, or several, whose name ends as `told` does."""
        last = image_name(told.replace("\\", "/").rpartition("/")[2])
        return last in self._by_base or last in self._by_stem

    def find(self, told: str, beside: str, part: str | None) -> str:
        """The image that a file in folder `beside` calls `told`, which may be a path of another computer.

        It may be told without its ending. Of several with that last part, the one whose folders agree the most; then
        one of the same `part` of the set, then one below `beside`. Unusable where there is none, or more than one is
        left.
        """
        parts = [image_name(one) for one in told.replace("\\", "/").split("/") if one not in ("", ".", "..")]
        last = parts[-1] if parts else ""
        found = self._by_base.get(last, [])
        ranks = {name: _fit(name, parts, beside, part) for name in found}
        if not found:
            found = self._by_stem.get(last, [])
            ranks = {name: _fit(bare(name), parts, beside, part) for name in found}
        best = [name for name in found if ranks[name] == max(ranks.values())]
        if len(best) != 1:
            raise Unusable(NO_IMAGE, f"{told or 'no name'}: {f'{len(best)} of them' if best else 'none'}")
        return best[0]


def _fit(name: str, parts: list[str], beside: str, part: str | None) -> tuple[int, bool, bool]:
    folders: Iterable[str] = reversed([image_name(one) for one in name.split("/")])
    equal = 0
    for one, other in zip(folders, reversed(parts), strict=False):
        if one != other:
            break
        equal += 1
    inside = not beside or parent(name).startswith(beside + "/") or parent(name) == beside
    return equal, part is not None and part_of(name) == part, inside
