"""A home with the bundled sets, of two images each, and dated patches to be put in order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dated_pictures import dated
from label_home import OneEach

from ranking.datasets import build_image_set, bundled_names
from ranking.store import Store


@dataclass(frozen=True)
class DatedHome:
    """The home and the key of its patches."""

    home: Path
    key: str

    @property
    def store(self) -> Store:
        return Store(self.home)


def fill(home: Path, scratch: Path) -> DatedHome:
    store = Store(home)
    for name in bundled_names():
        build_image_set(OneEach(name), scratch / name)
        store.adopt(scratch / name, name)
    dated(scratch / "dated")
    return DatedHome(home, store.adopt(scratch / "dated", "Dated"))
