"""One training that ranks images as one file to take along: a ZIP that another home can read back.

It holds ``run.json`` (what the training was asked for and what came of it), ``events.jsonl`` (its curve),
``model.npz`` and ``scores.npy`` where it left them, ``projection.npz`` beside them where its method sees features
through one, ``edges.npy`` where it leans on pairs that a person brought, and views for people, ``ranking.csv`` and
``ranking.png``, which are never read back: the scores of ``scores.npy`` are exact, in the order of the set's samples.
Images stay out; the set is named by its title and its key, a hash of all its content. What should be in it and could
not be had is told under "left_out" of ``run.json``.

An archive comes from strangers. Nothing in it is run or extracted by name, sizes are checked before anything
is expanded, and what it tells of itself is checked as far as it can be at once: always that its parts agree with
each other; its metrics against its scores where the image set is here; its scores against its model where the
features are in the cache too, and with them its projection against the training samples. `Run.imported` says under
"checked" which of these was done. That its lower bound is one is never checked: it would have to be trained again.
"""

from __future__ import annotations

import io
import math
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranking.core import Features, Floats, ImageSet, Ints, Query, SampleMethod
from ranking.core.errors import InputError
from ranking.core.json_numbers import certificate_numbers
from ranking.core.run_settings import TrainSettings
from ranking.core.settings import settings_dict
from ranking.experiments.training import query_of
from ranking.features import cached_features, feature_columns
from ranking.features.graph.uploaded_pairs import MAX_PAIRS, checked_edges, edges_name, is_edges_name
from ranking.features.projection import Projection, make_projection
from ranking.files.archives import check_array, open_zip, read_entry
from ranking.jobs.apart import answer_apart, ask_apart
from ranking.jobs.run_json import read_run, written_run
from ranking.methods import make_method, method_class, score_direction
from ranking.metrics import evaluate_or_count
from ranking.workspace.room_quotas import check_disk
from ranking.workspace.run import ENDED, SAMPLES, Run
from ranking.workspace.store import Store
from ranking.workspace.uploads import keep_edges

MOST_BYTES = 200_000_000  # of an archive, and of all that it expands to
RUN, EVENTS, SCORES, MODEL, EDGES = "run.json", "events.jsonl", "scores.npy", "model.npz", "edges.npy"
PROJECTION = "projection.npz"
VIEWS = ("ranking.csv", "ranking.png")
ROOM = {RUN: 2_000_000, EVENTS: 20_000_000, SCORES: 60_000_000, MODEL: MOST_BYTES}
ROOM |= dict.fromkeys(VIEWS, 60_000_000) | {EDGES: 16 * MAX_PAIRS + 1000, PROJECTION: MOST_BYTES}
MOST_EVENTS = 100_000  # lines of a curve: an hour of them, at twenty a second, and room
MOST_RATIO = 200.0  # what an archive expands to, in its own size; curves compress to about a twentieth
SAME_SCORE = 1e-4  # of the largest score: features are single precision, elsewhere summed in another order
MODEL_RATIO, MODEL_SPARE = 300.0, 16_000_000  # a model's arrays may be mostly zeros


# ---------------------------------------------------------------------------------------------------------
# Out
# ---------------------------------------------------------------------------------------------------------


def export_run(
    store: Store,
    run_id: str,
    views: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> bytes:
    """The archive of a training that has ended; `views` (VIEWS) are added for people to look at.

    left_out: of those that could not be made, why. ValueError for what is no training that ranks images, for one that
    goes on, and where its files are gone; pairs that are gone are left out, for who has the CSV can bring it again.
    """
    run = store.run(run_id)
    if run.task != SAMPLES or run.state not in ENDED:
        raise InputError(
            f"run {run_id}",
            "a training run that ranks images and has ended",
            f"a {run.state} {run.called}",
        )
    files = {EVENTS: run.events_file, MODEL: run.model_file, SCORES: run.scores_file}
    files[PROJECTION] = run.projection_file
    needed = _needed(run)
    for name in needed:
        if not files[name].exists():
            raise InputError(f"{name} of training {run_id}", f"a file in {run.folder}", "none", "train again")
    stream, missing = io.BytesIO(), dict(left_out or {})
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        try:
            if (edges := store.edges_of(run.settings["set"], run.settings.get("graph"))) is not None:
                archive.writestr(EDGES, _as_file(edges))
        except ValueError as error:
            missing[EDGES] = str(error)
        archive.writestr(RUN, written_run(run, store.image_sets(), missing))
        for name, file in files.items():
            if name in needed:  # numbers hardly compress, and an honest size lets a reader be strict
                archive.writestr(name, file.read_bytes(), zipfile.ZIP_STORED)
            elif name == EVENTS and file.exists():
                archive.writestr(name, file.read_bytes())
        for name, content in (views or {}).items():
            if name not in VIEWS:
                raise InputError("view", f"one of {', '.join(VIEWS)}", f"{name!r}")
            archive.writestr(name, content)
    return stream.getvalue()


def _needed(run: Run) -> tuple[str, ...]:
    """The files without which a training cannot be used, where it came to an end."""
    if "test" not in run.result:
        return ()
    return (MODEL, SCORES) if run.settings.get("projection") is None else (MODEL, SCORES, PROJECTION)


def _as_file(array: Ints) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


# ---------------------------------------------------------------------------------------------------------
# In
# ---------------------------------------------------------------------------------------------------------


def import_run(store: Store, data: bytes) -> Run:
    """Add the training of an archive to `store`, under a new id; `Run.imported` says that it comes from elsewhere.

    ValueError, and nothing is added, where it is not such an archive or contradicts itself.
    """
    try:
        return _import_run(store, data)
    except (OSError, sqlite3.Error, MemoryError):  # of this machine, not of the file
        raise
    except Exception as error:  # a stranger's bytes may fail the readers of ZIP, JSON and arrays in any way
        reason = str(error) if isinstance(error, ValueError) else type(error).__name__
        raise InputError(
            "this file",
            "a training run that a ranking laboratory has exported",
            f"a file in error ({reason})",
        ) from error


def import_run_apart(store: Store, data: bytes) -> Run:
    """`import_run` by a process of its own, for a server that has others to serve.

    FullError where the home is a room that is full: pages offer to make space then."""
    check_disk(store.home)
    return store.run(ask_apart("ranking.jobs.run_archive", [str(store.home)], data)["id"])


def _import_run(store: Store, data: bytes) -> Run:
    if len(data) > MOST_BYTES:
        raise InputError("archive", f"at most {MOST_BYTES:,} bytes", len(data))
    with open_zip(data, ROOM.get, MOST_RATIO) as archive:
        names = set(archive.namelist())
        if RUN not in names:
            raise InputError("archive", RUN, "none")
        run = read_run(read_entry(archive, RUN))
        wanted = (EVENTS, MODEL, SCORES, PROJECTION, EDGES)
        files = {name: read_entry(archive, name) for name in wanted if name in names}
    if {MODEL, SCORES, PROJECTION} & names != set(_needed(run)):
        raise InputError(
            f"{MODEL}, {SCORES} and {PROJECTION}",
            f"{', '.join(_needed(run)) or 'none'} as {RUN} says",
            ", ".join(sorted({MODEL, SCORES, PROJECTION} & names)) or "none",
        )
    lines = files.get(EVENTS, b"").count(b"\n")
    if lines > MOST_EVENTS:
        raise InputError(EVENTS, f"at most {MOST_EVENTS:,} lines", lines)
    settings = TrainSettings.from_json(run.settings)
    edges = _edges(files.pop(EDGES, None), settings)
    here = _what_is_here(store, settings, edges) if SCORES in files else Here()
    run.result["imported"]["checked"] = here.checks
    if SCORES in files:
        scores = _scores(files[SCORES])
        _check_names(run, len(scores))
        if edges is not None and edges.max(initial=-1) >= len(scores):
            raise InputError(EDGES, f"samples up to {len(scores) - 1}, as in {SCORES}", edges.max())
        if here.images is not None:
            _check_metrics(run, scores, here.images)
        _check_arrays(MODEL, files[MODEL])
        method = _loaded(run, io.BytesIO(files[MODEL]))
        projection = _projection(files.get(PROJECTION), settings, here)
        _check_weights(method, settings, here.images, projection)
        if here.images is not None and here.features is not None:
            query = query_of(here.images, settings, here.features, edges=here.edges, projection=projection)
            _check_scores(method, scores, query)

    def write(folder: Path) -> None:  # nothing else: the whole home waits for it
        for name, content in files.items():
            (folder / name).write_bytes(content)
        if edges is not None:  # last: they lie outside the folder that a failure throws away
            keep_edges(store.edges, settings.set, edges)

    return store.admit_run(run, write)


@dataclass(frozen=True, eq=False)
class Here:
    """What this home has to check a training with: its image set, its features as they lie in the cache, and the
    pairs that its settings name; no features where it has not the pairs that they need beside them."""

    images: ImageSet | None = None
    features: Features | None = None
    edges: Ints | None = None

    @property
    def checks(self) -> dict[str, bool]:
        return {"metrics": self.images is not None, "scores": self.features is not None}


def _what_is_here(store: Store, settings: TrainSettings, edges: Ints | None) -> Here:
    """edges: those that came along."""
    if settings.set not in {row.key for row in store.image_sets()}:
        return Here()
    images = store.image_set(settings.set)
    if edges is None:
        try:
            edges = store.edges_of(settings.set, settings.graph)
        except ValueError:  # not here either: the pages that need them say so
            return Here(images)
    return Here(images, cached_features(images, settings.features, store.features), edges)


def _edges(data: bytes | None, settings: TrainSettings) -> Ints | None:
    """The pairs that came along, None where none did; ValueError unless they are those that the settings name."""
    if data is None:
        return None
    if settings.graph is None or not is_edges_name(settings.graph):
        raise InputError(EDGES, "no such file, because the settings name no pairs")
    check_array(io.BytesIO(data), len(data), EDGES)
    try:
        edges = checked_edges(np.load(io.BytesIO(data), allow_pickle=False))
    except ValueError as error:
        raise InputError(EDGES, "pairs of samples", f"a file in error ({error})") from error
    if edges_name(edges) != settings.graph:
        raise InputError(EDGES, f"the pairs {settings.graph} of the settings", edges_name(edges))
    return edges


# ---------------------------------------------------------------------------------------------------------
# Metrics and scores
# ---------------------------------------------------------------------------------------------------------


def _scores(data: bytes) -> Floats:
    check_array(io.BytesIO(data), len(data), SCORES)
    scores: Floats = np.load(io.BytesIO(data), allow_pickle=False)
    if scores.dtype != np.float64 or scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
        raise InputError(SCORES, "(n,) finite float64", f"{scores.dtype} of shape {scores.shape}")
    return scores


def _check_names(run: Run, samples: int) -> None:
    """ValueError unless the metrics are those that `evaluate_or_count` gives for as many samples, by their names."""
    parts = {part: run.result[part] for part in ("train", "test")}
    for part, told in parts.items():
        relevant, all_of_it = told.get("positives", -1), told.get("samples", -1)
        if not (0 <= relevant <= all_of_it <= samples and relevant == int(relevant)):
            raise InputError(
                f"metrics of {part}",
                f"the numbers of its positives and its samples, at most {samples:,}",
                f"{relevant:g} and {all_of_it:g}",
            )
    count = sum(told["samples"] for told in parts.values())
    if count != samples:
        raise InputError(SCORES, f"{count:,.0f} numbers, as the metrics count", samples)
    for part, told in parts.items():
        relevance = (np.arange(int(told["samples"])) < told["positives"]).astype(np.int64)
        expected = evaluate_or_count(relevance, np.zeros(len(relevance)))
        if told.keys() != expected.keys():
            raise InputError(f"metrics of {part}", ", ".join(expected), f"{', '.join(told):.200}")
        for name in expected.keys() - {"positives", "samples"}:
            if not 0 <= told[name] <= 1 + 1e-9:
                raise InputError(f"{part} {name}", "0 to 1", f"{told[name]:g}")


def _check_metrics(run: Run, scores: Floats, images: ImageSet) -> None:
    """ValueError unless the metrics are those of the scores on the image set."""
    if scores.shape != (len(images),):
        raise InputError(SCORES, f"{len(images):,} numbers, one per sample of {images.title}", len(scores))
    relevance = images.relevance(run.settings["query"])
    for part, rows in (("train", ~images.test), ("test", images.test)):
        told = run.result[part]
        for name, found in evaluate_or_count(relevance[rows], scores[rows]).items():
            if not math.isclose(found, told.get(name, math.nan), rel_tol=1e-9, abs_tol=1e-12):
                raise InputError(f"{part} {name}", f"{found:g}, which the scores give", told.get(name))


# ---------------------------------------------------------------------------------------------------------
# The model
# ---------------------------------------------------------------------------------------------------------


def _check_arrays(what: str, data: bytes) -> None:
    """ValueError unless the file called `what` is one of plain arrays of the sizes that they claim."""

    def room(name: str) -> int | None:
        return MOST_BYTES if re.fullmatch(r"[a-zA-Z_]{1,40}\.npy", name) else None

    try:
        with open_zip(data, room, MODEL_RATIO, MODEL_SPARE) as file:
            for entry in file.infolist():
                with file.open(entry) as stream:
                    check_array(stream, entry.file_size, entry.filename)
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(what, "arrays in a ZIP file", f"a file in error ({error})") from error


def _projection(data: bytes | None, settings: TrainSettings, here: Here) -> Projection | None:
    """The projection in `data`, None where there is none; ValueError unless it is one that the settings ask for, and,
    where the features are here, was fitted on the training samples."""
    if data is None:
        return None
    _check_arrays(PROJECTION, data)
    try:
        found = Projection.load(io.BytesIO(data))
        found.check_made_by(make_projection(settings.projection), _columns(settings, here.images))
        if here.images is not None and here.features is not None:
            with np.errstate(all="ignore"):  # what overflows differs from what is finite
                found.check_fitted(here.features, ~here.images.test)
    except ValueError as error:
        raise InputError(
            PROJECTION, "the projection of the settings", f"a file in error ({error})"
        ) from error
    return found


def _columns(settings: TrainSettings, images: ImageSet | None) -> int:
    """How many columns the features of a training have."""
    columns = feature_columns(settings.features, images)
    return columns[-1][1].stop if columns else 0


def _loaded(run: Run, file: io.BytesIO) -> SampleMethod:
    """The method in `file`; ValueError unless it is that of `run`, with its settings and its certificate."""
    settings = TrainSettings.from_json(run.settings)
    try:
        method: SampleMethod = method_class(settings.method).load(file)
        proof = certificate_numbers(method.certificate)
    except Exception as error:  # a stranger's arrays may fail a method in any way
        said = str(error).replace(str(file), "the file")[:80]  # its name in memory tells nothing
        raise InputError(MODEL, f"a trained {settings.method}", f"a file in error ({said})") from error
    if settings_dict(method) != settings_dict(make_method(settings.method, **settings.method_settings)):
        raise InputError(f"settings of {MODEL}", f"those of {RUN}", "others")
    if proof != run.result["certificate"]:
        raise InputError(f"certificate of {MODEL}", f"that of {RUN}", "another")
    return method


def _check_weights(
    method: SampleMethod, settings: TrainSettings, images: ImageSet | None, projection: Projection | None
) -> None:
    """ValueError unless the method scores samples of its features, with finite weights, one a column of them or of
    what the projection makes of them."""
    size = _columns(settings, images) if projection is None else projection.kept
    try:
        direction = score_direction(method)
        with np.errstate(all="ignore"):
            scores = np.asarray(method.score(Query(np.zeros((1, size), np.float32))))  # NaN times 0 is NaN
    except Exception as error:  # a stranger's arrays may fail a method in any way
        raise InputError(
            MODEL, f"a model of {size} columns of features", f"one of others ({str(error)[:120]})"
        ) from error
    if direction is not None and (direction.shape != (size,) or not np.isfinite(direction).all()):
        raise InputError(f"weights of {MODEL}", f"{size} finite numbers, one per column of its features")
    if scores.shape != (1,) or scores.dtype != np.float64 or not np.isfinite(scores).all():
        raise InputError(f"scores by {MODEL}", "one finite number per sample")


def _check_scores(method: SampleMethod, told: Floats, query: Query) -> None:
    """ValueError unless the method gives the samples of `query` the scores that the archive tells."""
    with np.errstate(all="ignore"):  # what overflows differs from what is finite
        found = method.score(query)
        wrong = np.flatnonzero(~(np.abs(found - told) <= SAME_SCORE * np.abs(told).max()))
    if len(wrong):
        row = wrong[0]
        raise InputError(
            f"score of sample {row} in {SCORES}",
            f"{found[row]:g}, which {MODEL} gives on the features in this home",
            f"{told[row]:g}",
        )


if __name__ == "__main__":
    answer_apart(lambda arguments, data: {"id": import_run(Store(Path(arguments[0])), data).id})
