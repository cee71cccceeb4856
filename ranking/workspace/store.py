"""What outlives a page: image sets and runs, under one home folder that several processes may use at once."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ranking.core.errors import InputError
from ranking.core.run_settings import FeaturesSettings
from ranking.core.text import counted
from ranking.workspace.blobs import link
from ranking.workspace.home import Home, move_durably
from ranking.workspace.room_layout import borrowers_of, home_in_words
from ranking.workspace.room_quotas import bytes_of, check_disk
from ranking.workspace.row_files import ROW, SET_COLUMNS, read_set_row, write_row
from ranking.workspace.run import ENDED, INTAKES, LAST_TIME, Run, is_set_key
from ranking.workspace.run_store import DELETED_DAYS, READABLE, UNREADABLE, RunStore, is_unused

if TYPE_CHECKING:  # what these import would double the time that a worker takes to start
    from ranking.core import ImageSet, Ints
    from ranking.datasets import Thumbnails
    from ranking.workspace.uploads import KeptNetwork, KeptVectors


class TakenIn(NamedTuple):
    """What was found in a home that its database did not know: the titles of image sets and the runs that are listed
    from now on, and why others are not."""

    sets: tuple[str, ...]
    runs: tuple[Run, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True)
class ImageSetRow:
    """What a list of image sets shows of one, without reading its files.

    deleted: when a person took it away, in seconds since the epoch; None where nobody did. lent: whether it is another
    home's, which lends it to look at.
    """

    key: str
    title: str
    source: str
    images: int
    samples: int
    classes: tuple[str, ...]
    created: float
    deleted: float | None = None
    lent: bool = False


class Store(RunStore):
    """Image sets and runs under `home`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None.

    A room of a server is lent those of other homes: see `ranking.workspace.run_store.RunStore`. Raises
    ranking.core.errors.HomeError, an OSError, where the folder cannot be written, or a room has as much as it may
    have.
    """

    @property
    def features(self) -> Path:
        """The cache of features. What lenders have computed is in it too, as links to their files, and so are vectors
        and models that people brought."""
        for lender in self.lenders:
            for file in sorted(lender.features.glob("*.npy")):
                link(file, self._home.features / file.name)
        self.place_brought(self._home.features)
        return self._home.features

    def place_brought(self, cache: Path) -> None:
        """Have all vectors and models that were uploaded, here or to a lender, lie in a cache of features, as links."""
        homes = [self._home, *self.lenders]
        for file in (file for home in homes for file in home.models.glob("onnx-*.onnx")):
            link(file, cache / file.name)
        files = [file for home in homes for file in home.vectors.glob("*/own-*.npy")]
        if files:
            from ranking.features import cached_vectors_file

            for file in files:
                link(file, cached_vectors_file(cache, file.parent.name, file.stem))

    def place_model(self, name: str, folder: Path) -> None:
        """Have a model that was brought here or to a lender lie in a folder, as a link; nothing where there is none."""
        from ranking.features.onnx.files import is_model_name, model_file

        for home in [self._home, *self.lenders] if is_model_name(name) else ():
            if (file := model_file(home.models, name)).is_file():
                link(file, model_file(folder, name))

    @property
    def edges(self) -> Path:
        """The pairs of samples that people uploaded: see `ranking.workspace.uploads`."""
        return self._home.edges

    def drop_features(self) -> None:
        """Remove all computed features; who needs them computes them again."""
        for file in self._home.features.iterdir():
            file.unlink(missing_ok=True)

    # -------------------------------------------------------------------------------------- image sets

    def image_sets(self) -> list[ImageSetRow]:
        """The image sets that were kept, newest first, then those that are lent and not of this home too."""
        rows = {row.key: row for row in _image_sets_of(self._home)}
        for lender in self.lenders:
            rows = {row.key: row for row in _image_sets_of(lender)} | rows
        return sorted(rows.values(), key=lambda row: row.lent)  # stable: what is lent comes last

    def deleted_image_sets(self) -> list[ImageSetRow]:
        """The image sets of this home that were taken away and can be restored, newest first."""
        return _image_sets_of(self._home, deleted=True)

    def image_set(self, key: str) -> ImageSet:
        """The image set of that key; ValueError that says which there are if there is none."""
        from ranking.datasets import load_image_set

        return load_image_set(self._set_folder(key))

    def thumbnails(self, key: str) -> Thumbnails:
        """The small pictures of an image set; ValueError that says which sets there are if there is none."""
        from ranking.datasets import Thumbnails

        return Thumbnails(self._set_folder(key))

    def _set_folder(self, key: str) -> Path:
        rows = {row.key: row for row in self.image_sets()}
        if key not in rows:
            there = ", ".join(f"{row.title} ({row.key})" for row in rows.values())
            raise InputError(
                "image set",
                f"the key of one in {home_in_words(self.home)}",
                f"{key[:80]!r}",
                f"choose one of: {there}" if there else "import one",
            )
        homes = self.lenders if rows[key].lent else [self._home]
        folder = next((home.sets / key for home in homes if (home.sets / key).is_dir()), None)
        if folder is None:
            raise InputError(
                f"image set {rows[key].title}",
                f"its files in {home_in_words(self.home)}",
                "none, because they are gone",
                "import it again",
            )
        return folder

    def home_of_set(self, key: str) -> Path:
        """The home, this one or a lender's, whose image set of that key `image_set` reads; ValueError as there."""
        return self._set_folder(key).parents[1]

    def adopt(self, folder: Path, source: str) -> str:
        """Make a copy of the image set that was built in `folder` one of this home, and return its key.

        `source` is what its row says it came from. Repeating it is harmless. ValueError where `folder` holds no
        image set or a damaged one.
        """
        from ranking.datasets import load_image_set

        image_set = load_image_set(folder)
        target, part = (self._home.sets / f"{image_set.key}{end}" for end in ("", ".part"))
        with self._home.change() as database:  # which keeps `sweep` of other processes away from the part
            check_disk(self.home)
            if not target.is_dir():
                self._home.throw_away(part)  # of one that crashed
                shutil.copytree(folder, part)
                move_durably(part, target)
            self._insert_set(database, {**_told(image_set), "source": source})
        self._home.empty_trash()
        return image_set.key

    # -------------------------------------------------------------------------- pairs that people brought

    def keep_edges(self, set_key: str, edges: Ints) -> str:
        """Keep pairs (m, 2) of an image set, and return the name that settings give them."""
        from ranking.workspace.uploads import keep_edges

        with self._home.change():  # which keeps `sweep` of other processes away from what is half written
            check_disk(self.home)
            return keep_edges(self.edges, set_key, edges)

    def edges_of(self, set_key: str, graph: str | None) -> Ints | None:
        """The pairs (m, 2) that settings name, None where they name none; ValueError where these are not here."""
        from ranking.features.graph.edge_files import is_edges_name
        from ranking.workspace.uploads import edges_in, load_edges

        if graph is None or not is_edges_name(graph):
            return None
        folders = [home.edges for home in (self._home, *self.lenders)]
        there = [folder for folder in folders if edges_in(folder, set_key).path(graph).exists()]
        return load_edges((there or folders)[0], set_key, graph)

    def edge_names(self, set_key: str) -> list[str]:
        """The names of the pairs that this home has for an image set, those kept last first."""
        from ranking.workspace.uploads import edges_in

        return edges_in(self.edges, set_key).list()

    # -------------------------------------------------------------------------- features that people brought

    def vectors_of(self, set_key: str) -> list[KeptVectors]:
        """The vectors that people brought for an image set, those kept last first, then what is lent."""
        from ranking.workspace.uploads import kept_vectors

        homes = [self._home, *self.lenders]
        rows = [row for home in homes for row in kept_vectors(home.vectors, set_key, home.lent)]
        own = {row.name for row in rows if not row.lent}
        return [row for row in rows if not row.lent or row.name not in own]

    def networks(self) -> list[KeptNetwork]:
        """The models that people brought, each with its settings, those kept last first, then what is lent."""
        from ranking.workspace.uploads import kept_networks

        homes = [self._home, *self.lenders]
        rows = [row for home in homes for row in kept_networks(home.models, home.lent)]
        own = {row.name for row in rows if not row.lent}
        return [row for row in rows if not row.lent or row.name not in own]

    def bytes_of_model(self, name: str) -> int:
        """What the file of a model that was uploaded to this home takes of the disk."""
        from ranking.workspace.uploads import models_in

        return models_in(self._home.models).path(name).stat().st_size

    def keep_vectors(self, run_id: str, title: str = "") -> str:
        """Keep what a finished look at features left, and return the name that settings give it. Repeating it is
        harmless. It is moved, so that a full room can keep it too: see `keep`.

        title: what the person calls it, else the name of the file. ValueError where nothing of it can be kept, or its
        image set has gone.
        """
        from ranking.workspace.uploads import KeptVectors, keep_vectors, vectors_in

        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "kept", ("features",))
            settings, name = FeaturesSettings.from_json(run.settings), str(run.result.get("name", ""))
            self._set_folder(settings.set)
            if run.draft_vectors.is_file():
                size, matched = int(run.result["columns"]), str(run.result["matched"])
                vectors = KeptVectors(name, title or settings.called, size, matched, time.time())
                keep_vectors(self._home.vectors, settings.set, run.draft_vectors, vectors)
            elif not name or not vectors_in(self._home.vectors, settings.set).path(name).is_file():
                raise _nothing_to_keep(run)
            self._decide(database, run, "kept")
        self.clear(run)
        return name

    def keep_network(self, run_id: str, title: str = "") -> str:
        """The same for a look at a model in ONNX."""
        from ranking.features.onnx.files import network_name
        from ranking.workspace.uploads import keep_network

        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "kept", ("features",))
            settings = run.result.get("network")
            if not settings:
                raise _nothing_to_keep(run)
            name = network_name(settings)
            if run.brought_file.is_file():
                called = title or FeaturesSettings.from_json(run.settings).called
                keep_network(self._home.models, run.brought_file, settings, called)
            self._decide(database, run, "kept")
        self.clear(run)
        return name

    def delete_network(self, name: str) -> None:
        """Remove a model that was brought to this home, for good, as `delete_vectors` does."""
        from ranking.features.onnx.files import model_file
        from ranking.workspace.uploads import kept_networks, models_in, remove_network

        with self._home.change():
            models = [one.settings["model"] for one in kept_networks(self._home.models) if one.name == name]
            live = [run for run in self.own_runs() if run.state not in ENDED and run.alive]
            if any(model in json.dumps(run.settings) for model in models for run in live):
                raise _in_use("model")
            remove_network(self._home.models, name)
            for model in models:
                if not models_in(self._home.models).path(model).exists():
                    model_file(self._home.features, model).unlink(missing_ok=True)

    def delete_vectors(self, set_key: str, name: str) -> None:
        """Remove vectors that were brought to this home, for good: who has the file can bring it again. Trainings keep
        their scores. Repeating it is harmless. ValueError where a run of this home learns from them just now."""
        from ranking.features import cached_vectors_file
        from ranking.workspace.uploads import remove_vectors

        with self._home.change():
            live = [run for run in self.own_runs(set_key=set_key) if run.state not in ENDED and run.alive]
            if any(name in json.dumps(run.settings) for run in live):
                raise _in_use("vectors")
            remove_vectors(self._home.vectors, set_key, name)
            cached_vectors_file(self._home.features, set_key, name).unlink(missing_ok=True)

    # ------------------------------------------------------------------- a set that was kept, taken away

    def delete_set(self, key: str) -> None:
        """Take an image set out of all lists; `restore_set` brings it back within DELETED_DAYS days.

        Repeating it is harmless. ValueError where a run uses it, also one that was deleted and can be restored, or one
        of a room that the set is lent to.
        """
        borrowed = [
            len(users) for room in borrowers_of(self.home) if (users := Store(room)._users_of_lent_set(key))
        ]
        if borrowed:
            raise InputError(
                "image set",
                "one that no run uses",
                f"one that {counted(sum(borrowed), 'run')} in {counted(len(borrowed), 'room')} of others used",
                "it is lent to all rooms: wait until these runs are deleted permanently",
            )
        with self._home.change() as database:
            users = self.users_of_set(key)
            if users:
                raise InputError(
                    "image set",
                    "one that no run uses",
                    f"one of {counted(len(users), 'run')}",
                    "delete them and empty the list of deleted ones first",
                )
            if self._row_of_set(database, key)["deleted"] is None:
                self._mark_deleted(database, key, min(time.time(), LAST_TIME))

    def users_of_set(self, key: str) -> list[Run]:
        """The runs that need an image set, those among them that were deleted and can be restored."""
        runs = self.own_runs(set_key=key) + self.own_runs(set_key=key, deleted=True)
        return [run for run in runs if run.kind not in INTAKES]

    def _users_of_lent_set(self, key: str) -> list[Run]:
        """`users_of_set` of one that is lent to this home; none where it has that set itself."""
        return [] if key in {row.key for row in _image_sets_of(self._home)} else self.users_of_set(key)

    def bytes_of_set(self, key: str) -> int:
        """What an image set of this home takes of the disk, with what people brought for it."""
        folders = (self._home.sets, self._home.edges, self._home.vectors)
        return sum(bytes_of(folder / key) for folder in folders)

    def restore_set(self, key: str) -> None:
        """Undo `delete_set`. ValueError where the set is gone for good."""
        with self._home.change() as database:
            self._row_of_set(database, key)
            self._mark_deleted(database, key, None)

    def empty_deleted_sets(self) -> int:
        """Remove all image sets that were taken away, and their files, for good, at once; how many there were."""
        with self._home.change() as database:
            removed = self._remove_deleted_sets(database, before=None)
        self._home.empty_trash()
        return removed

    def _row_of_set(self, database: sqlite3.Connection, key: str) -> sqlite3.Row:
        row: sqlite3.Row | None = database.execute("select * from image_set where key = ?", (key,)).fetchone()
        if row is None:
            raise InputError(
                "image set",
                f"the key of one in {home_in_words(self.home)}",
                f"{key[:80]!r}",
                "choose one from the list",
            )
        return row

    def _remove_deleted_sets(self, database: sqlite3.Connection, before: float | None) -> int:
        """As `_remove_deleted` of runs. What people brought for a set goes with it."""
        rows = database.execute(
            "delete from image_set where deleted is not null"
            " and (:before is null or (deleted < :before and deleted >= created)) returning key",
            {"before": before},
        ).fetchall()
        for row in rows:
            for folder in (self._home.sets, self._home.edges, self._home.vectors):
                self._home.throw_away(folder / row["key"])
        return len(rows)

    # ----------------------------------------------------------------------- an import is a transaction

    def keep(self, run_id: str, copies_together: bool | None = None) -> str:
        """Make the draft of a finished import an image set, and return its key. Repeating it is harmless.

        copies_together: whether near copies are kept on one side of the split, as the import proposes by default.

        It takes no more of the disk than the draft does, which a room had space for when the import ended: however
        full it is by now, what it was told is imported can be kept.
        """
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "kept", ("import",))
            if copies_together is not None:
                run = self._with_copies(database, run, copies_together)
            key = self._admit(database, run)
        run.brought_file.unlink(missing_ok=True)
        self._home.empty_trash()
        return key

    def discard(self, run_id: str) -> None:
        """Remove what a finished import has built, or what a look has found, also one at features. Repeating it is
        harmless."""
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "discarded")
            self._decide(database, run, "discarded")
        self.clear(run)

    def free(self, run: Run) -> None:
        """Remove what takes space of an import that will not finish, and leave what tells how it ended. It changes no
        row, which on a full disk nothing could do before."""
        for folder in (run.draft, run.scratch):
            self._home.throw_away(folder)
        for file in (run.brought_file, run.draft_vectors):
            file.unlink(missing_ok=True)
        self._home.empty_trash()

    def clear(self, run: Run) -> None:
        """Remove all files of an import: what was uploaded, what it has built and what it has said."""
        self._home.throw_away(run.folder)
        self._home.empty_trash()

    def _decidable(self, run_id: str, decision: str, kinds: Sequence[str] = INTAKES) -> Run:
        run = self.own_run(run_id)
        if run.kind not in kinds or run.state != "finished":
            raise InputError(
                f"run {run_id}", f"a finished import to be {decision}", f"a {run.state} {run.called}"
            )
        if run.looks and decision == "kept":
            raise InputError(
                f"run {run_id}",
                "an import that built an image set",
                "a look at what was uploaded",
                "import it, then keep it",
            )
        if run.result.get("decision", decision) != decision:
            again = "import it again" if run.kind == "import" else "bring it again"
            raise InputError(
                f"decision about {run.called} {run_id}", decision, str(run.result["decision"]), again
            )
        return run

    def _with_copies(self, database: sqlite3.Connection, run: Run, together: bool) -> Run:
        """Have the draft of `run` keep near copies on one side of the split, or not: an image set of another key."""
        from ranking.datasets.found_copies import keep_together

        if not run.draft.is_dir():
            return run
        result = {**run.result, "key": keep_together(run.draft, together).key}
        database.execute("update run set result = ? where id = ?", (json.dumps(result), run.id))
        return replace(run, result=result)

    def _admit(self, database: sqlite3.Connection, run: Run) -> str:
        """Move the draft of `run` among the sets and insert its row.

        A crash after the move and before the commit leaves the folder without its row: the next `keep` or
        `sweep` finds it in place and goes on from there.
        """
        result = run.result
        key = str(result["key"])
        if not is_set_key(key):
            raise InputError("key of an image set", "8 to 128 letters and digits", f"{key[:140]!r}")
        target = self._home.sets / key
        if run.draft.is_dir() and _files(run.draft) != _files(target):
            self._home.throw_away(
                target
            )  # equal keys are equal sets, so files are missing there, or cut short
            move_durably(run.draft, target)
        elif target.is_dir():
            self._home.throw_away(run.draft)
        else:
            raise InputError(
                f"import {run.id}",
                f"its files in {run.draft}",
                "none, because they are gone",
                "import it again",
            )
        self._insert_set(database, {**result, "source": run.settings["source"]})
        self._decide(database, run, "kept")
        return key

    def _decide(self, database: sqlite3.Connection, run: Run, decision: str) -> None:
        result = json.dumps({**run.result, "decision": decision})
        self._change(database, run.id, result=result)

    def _insert_set(self, database: sqlite3.Connection, told: Mapping[str, Any]) -> None:
        """The row of an image set, unless there is one of its key; one that was taken away is back with it."""
        names = ("key", "title", "source", "images", "samples", "classes")
        database.execute(
            f"insert or ignore into image_set ({', '.join(names)}, created, revision)"
            " values (:key, :title, :source, :images, :samples, :classes, :created, :revision)",
            {
                **{name: told[name] for name in names},
                "classes": json.dumps(list(told["classes"])),
                "created": told.get("created", time.time()),
                "revision": told.get("revision", 0),
            },
        )
        self._mark_deleted(database, told["key"], None, told["source"])

    def _mark_deleted(
        self, database: sqlite3.Connection, key: str, when: float | None, source: str = ""
    ) -> None:
        """Have an image set be taken away, or not, in the database and beside its files: see `_write_row`.

        source: where it came from, which is noted where nobody knew it."""
        self._catch_up_set(database, key)
        database.execute(
            "update image_set set deleted = ?, source = case source when '' then ? else source end,"
            " revision = revision + 1 where key = ?",
            (when, source, key),
        )
        self._write_set_row(database, key)

    def _catch_up_set(self, database: sqlite3.Connection, key: str) -> None:
        """As `_catch_up` of runs."""
        if (told := read_set_row(self._home.sets / key)) is not None:
            database.execute(
                "update image_set set source = :source, created = :created, deleted = :deleted, revision = :revision"
                " where key = :key and revision <= :revision",
                {"key": key, **told},
            )

    def _write_set_row(self, database: sqlite3.Connection, key: str) -> None:
        row = database.execute("select * from image_set where key = ?", (key,)).fetchone()
        with contextlib.suppress(OSError, ValueError):
            write_row(self._home.sets / key, {name: row[name] for name in SET_COLUMNS})

    def sweep(self) -> None:
        """Finish or remove what crashes have left behind; what a live run or a person still needs stays.

        Moves happen inside write transactions only, so nothing seen here is another process's half step.
        """
        with self._home.change() as database:
            database.execute(
                "update run set state = 'failed', reason = ?, ended = coalesce(ended, created)"
                f" where state in ('queued', 'running') and not {READABLE}",
                (UNREADABLE,),
            )
            self._remove_deleted(database, before=time.time() - DELETED_DAYS * 86400)
            self._remove_deleted_sets(database, before=time.time() - DELETED_DAYS * 86400)
            database.execute("delete from answer where deleted < ?", (time.time() - DELETED_DAYS * 86400,))
            runs = {run.id: run for run in self.own_runs()}
            for run in (*runs.values(), *self.own_runs(deleted=True)):
                self._write_row(database, run.id)
            known_ids = {row["id"] for row in database.execute("select id from run")}
            for folder in self._home.runs.iterdir():
                if folder.name not in known_ids and is_unused(folder):
                    self._home.throw_away(folder)
            imports = [run for run in runs.values() if run.kind in INTAKES and not run.alive]
            undecided = [run for run in imports if _waits(run)]
            for run in imports:
                if run.kind == "features" and "decision" in run.result:
                    self._home.throw_away(run.folder)
                elif run.result.get("decision") == "kept":
                    self._home.throw_away(run.draft)
                    run.brought_file.unlink(missing_ok=True)
                elif run not in undecided and run.state in ENDED:
                    self._home.throw_away(run.folder)
                elif run not in undecided:  # whoever polls it settles it, and asks its folder how it died
                    self._home.throw_away(run.draft)
                    run.brought_file.unlink(missing_ok=True)
            if not any(run.alive for run in runs.values()):
                for half_written in self.features.glob("*.part"):
                    half_written.unlink()
            for folder in (self._home.edges, self._home.vectors, self._home.models):
                for half_written in folder.rglob("*.part"):
                    half_written.unlink()
            built = [run for run in undecided if run.kind == "import" and not run.looks]
            moved = {run.result["key"]: run for run in built if not run.draft.is_dir()}
            known = {row["key"] for row in database.execute("select key from image_set")}
            for key in known:
                self._write_set_row(database, key)
            for folder in self._home.sets.iterdir():
                if folder.name in moved and folder.name not in known:
                    self._admit(database, moved[folder.name])
                elif folder.suffix == ".part":  # a copy that `adopt` did not end
                    self._home.throw_away(folder)
        self._home.empty_trash()

    # --------------------------------------------------------------- folders that the database does not know

    def take_in(self) -> TakenIn:
        """Give each folder of an image set or a run that has no row in the database, or an older one than it tells, its
        row, from what it holds.

        Such are there where the database was put back from a copy, or made anew. What cannot be read stays where it is.
        """
        with self._home.change() as database:
            runs, refused = self._take_in_runs(database)
            built = {run.result.get("key") for run in (*runs, *self.own_runs("import")) if _waits(run)}
            sets, others = self._take_in_sets(database, built)
        return TakenIn(tuple(sets), tuple(runs), tuple(map(str, (*others, *refused))))

    def _take_in_sets(
        self, database: sqlite3.Connection, built: set[Any]
    ) -> tuple[list[str], list[InputError]]:
        """The titles of those that have a row now, and why others do not; but for those `built` by imports that wait
        for a decision."""
        from ranking.datasets import load_image_set

        known = {row["key"] for row in database.execute("select key from image_set")}
        for key in known:
            self._catch_up_set(database, key)
        found, refused = list[dict[str, Any]](), list[InputError]()
        for folder in self._home.sets.iterdir():
            if folder.name in known | built or folder.suffix == ".part":
                continue
            try:
                told = {**_told(load_image_set(folder)), **(read_set_row(folder) or _untold(folder))}
                if told["key"] != folder.name:
                    raise InputError(
                        f"folder {folder.name}",
                        f"the name {told['key']}, the key of the image set in it",
                        remedy="rename the folder",
                    )
                found.append(told)
            except InputError as error:
                refused.append(error)
        for told in sorted(found, key=lambda told: float(told["created"])):
            self._insert_set(database, told)
            self._mark_deleted(database, told["key"], told["deleted"])
        return [told["title"] for told in found], refused


def _waits(run: Run) -> bool:
    """Whether what an import built waits to be kept or discarded."""
    return run.state == "finished" and "decision" not in run.result


def _nothing_to_keep(run: Run) -> InputError:
    return InputError(f"{run.called} {run.id}", "features to keep", "none", "upload the file again")


def _in_use(subject: str) -> InputError:
    return InputError(
        subject,
        "no running training run that uses it",
        remedy="wait until the run has ended, or cancel it",
    )


def _files(folder: Path) -> dict[str, int]:
    """The files of an image set with their sizes in bytes, but for its row's; none where there is no folder."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.name != ROW
    }


def _told(image_set: ImageSet) -> dict[str, Any]:
    """What the row of an image set tells of it, but for its source."""
    return {
        "key": image_set.key,
        "title": image_set.title,
        "classes": image_set.classes,
        "images": len(image_set.image_names),
        "samples": len(image_set),
    }


def _untold(folder: Path) -> dict[str, Any]:
    """The row of an image set that does not tell it: of one that was never told where it came from the source is ""."""
    return {"source": "", "created": folder.stat().st_mtime, "deleted": None, "revision": 0}


def _image_sets_of(home: Home, deleted: bool = False) -> list[ImageSetRow]:
    """The rows of the image sets in a home, newest first: those that were taken away, or the others."""
    with home.read() as database:
        rows = database.execute(
            "select * from image_set where (deleted is not null) = ? order by number desc", (deleted,)
        ).fetchall()
    names = [field.name for field in fields(ImageSetRow) if field.name not in ("classes", "lent")]
    return [
        ImageSetRow(
            **{name: row[name] for name in names},
            classes=tuple(json.loads(row["classes"])),
            lent=home.lent,
        )
        for row in rows
    ]
