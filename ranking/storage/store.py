"""Everything that is stored in a data folder."""

from __future__ import annotations

from pathlib import Path

from ranking.core.errors import explained
from ranking.storage import examples, queue
from ranking.storage.answers import Answers
from ranking.storage.corrections import Corrections
from ranking.storage.features import FeatureStore
from ranking.storage.home import SHARED, Home, is_workspace, remove_partial_files, server_of
from ranking.storage.records import Damage
from ranking.storage.runs import Runs
from ranking.storage.sets import Sets

# data folders that are shared with all others
BUNDLED = (examples.FOLDER,)


class Store:
    """Everything stored under `home`, as in `Home`; HomeError, an OSError, if it cannot be written."""

    def __init__(self, home: Path | str | None = None) -> None:
        opened = Home(home)
        self.home = opened.path
        # data folders that can be read too: the bundled image sets and runs, and in the workspace of a
        # visitor also those that the server shares
        self.shared = shared_with(self.home)
        shared = [Home(path, shared=True) for path in self.shared]
        self.runs = Runs(opened, shared)
        self.sets = Sets(opened, shared, self.runs)
        self.features = FeatureStore(opened, shared, self.sets, self.runs)
        self.answers = Answers(opened)
        self.corrections = Corrections(opened)
        self._home = opened

    def damage(self) -> list[Damage]:
        """Return the folders and files that cannot be read, also shared ones. They are kept; everything else opens."""
        return [*self.sets.damage(), *self.runs.damage(), *self.answers.damage(), *self.corrections.damage()]

    def sweep(self) -> None:
        """Finish or remove what crashes have left, and remove what was deleted long ago."""
        home = self._home
        with explained(home.display_name):
            queue.remove_dead(self.home)
            self.runs.sweep()
            self.sets.sweep()
            self.answers.sweep()
            kept = home.runs, home.sets, home.features, home.edges, home.vectors, home.models
            remove_partial_files((*kept, home.path / "experiments"))


def shared_with(home: Path) -> list[Path]:
    """Return the data folders whose content is also shown in `home`."""
    server = [server_of(home) / SHARED] if is_workspace(home) else []
    return [*server, *BUNDLED]
