"""One training run that ranks images as one file to export: a ZIP that another data folder can import.

It holds ``run.json`` (settings and results), ``events.jsonl`` (the training curve), ``model.npz`` and ``scores.npy``
where training saved them, ``projection.npz`` where the method uses a projection of the features, ``edges.npy`` where it
uses uploaded pairs, and two views to look at, ``ranking.csv`` and ``ranking.png``, which are never imported: the scores
of ``scores.npy`` are exact, in the order of the samples of the image set. Images are not included; the image set is
named by its title and its key, a hash of all its content. Files that could not be included are listed under "left_out"
of ``run.json``, with the reason.

An archive is untrusted. Nothing in it is run, or extracted by name. Sizes are checked before anything is decompressed;
types, shapes and ranges before anything is kept, so that no page and no method fails on it. Whether its numbers are
correct is not checked: `Run.imported` marks the run, and pages show that it was imported.
"""

from __future__ import annotations

import io
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ranking.core import Floats, ImageSet, Ints, Query
from ranking.core.errors import InputError
from ranking.core.run_settings import TrainSettings
from ranking.explain.playback import MOST_BYTES as MOST_PLAYBACK
from ranking.explain.playback import Playback
from ranking.features import feature_columns
from ranking.features.graph.uploaded_pairs import MAX_PAIRS, checked_edges, edges_name, is_edges_name
from ranking.features.projection import Projection, make_projection
from ranking.files.archives import check_array, open_zip, read_entry
from ranking.files.isolated import ask, serve
from ranking.jobs.run_json import read_run, written_run
from ranking.methods import method_class, score_direction
from ranking.metrics import evaluate_or_count
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.space import check_space
from ranking.storage.store import Store
from ranking.storage.uploads import keep_edges

MOST_BYTES = 200_000_000  # of an archive, compressed and decompressed
RUN, EVENTS, SCORES, MODEL, EDGES = "run.json", "events.jsonl", "scores.npy", "model.npz", "edges.npy"
PROJECTION, PLAYBACK = "projection.npz", "playback.npz"
VIEWS = ("ranking.csv", "ranking.png")
ROOM = {RUN: 2_000_000, EVENTS: 20_000_000, SCORES: 60_000_000, MODEL: MOST_BYTES}
ROOM |= dict.fromkeys(VIEWS, 60_000_000) | {EDGES: 16 * MAX_PAIRS + 1000, PROJECTION: MOST_BYTES}
ROOM[PLAYBACK] = MOST_PLAYBACK
MOST_EVENTS = 100_000  # lines of a curve: an hour at twenty per second, and some reserve
MOST_RATIO = 200.0  # decompressed size / compressed size; curves compress to about a twentieth
MODEL_RATIO, MODEL_SPARE = 300.0, 16_000_000  # a model's arrays may be mostly zeros


# ---------------------------------------------------------------------------------------------------------
# Export
# ---------------------------------------------------------------------------------------------------------


def export_run(
    store: Store,
    run_id: str,
    views: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> bytes:
    """Return the archive of a training run that has ended; `views` (VIEWS) are added to look at.

    left_out: why the other views could not be made. ValueError unless the run ranks images, has ended, and has all its
    files. Missing pairs are only listed as omitted, because the user can upload the CSV again.
    """
    run = store.runs.get(run_id)
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
            raise InputError(f"{name} of run {run_id}", f"a file in {run.folder}", "none", "train again")
    stream, missing = io.BytesIO(), dict(left_out or {})
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        try:
            if (edges := store.features.edges_of(run.settings["set"], run.settings.get("graph"))) is not None:
                archive.writestr(EDGES, _as_file(edges))
        except ValueError as error:
            missing[EDGES] = str(error)
        archive.writestr(RUN, written_run(run, store.sets.rows(), missing))
        for name, file in files.items():
            if (
                name in needed
            ):  # numbers hardly compress, and uncompressed sizes let readers use strict limits
                archive.writestr(name, file.read_bytes(), zipfile.ZIP_STORED)
            elif name == EVENTS and file.exists():
                archive.writestr(name, file.read_bytes())
        if run.has_scores and run.playback_file.exists():
            archive.writestr(PLAYBACK, run.playback_file.read_bytes(), zipfile.ZIP_STORED)
        for name, content in (views or {}).items():
            if name not in VIEWS:
                raise InputError("view", f"one of {', '.join(VIEWS)}", f"{name!r}")
            archive.writestr(name, content)
    return stream.getvalue()


def _check_recording(recording: Playback, scores: bytes, run: Run) -> None:
    """Raise InputError unless a recording ends with the scores and the iteration of its run."""
    last = np.load(io.BytesIO(scores), allow_pickle=False).astype(np.float32)
    if not np.array_equal(recording.scores[-1], last):
        raise InputError(PLAYBACK, f"the scores of {SCORES} at its end", "others")
    certificate = run.result.get("certificate", {})
    if int(recording.iterations[-1]) != certificate.get("iterations"):
        raise InputError(
            PLAYBACK, f"iteration {certificate.get('iterations')} at its end", recording.iterations[-1]
        )


def _needed(run: Run) -> tuple[str, ...]:
    """Return the files that every training run of its state must have."""
    if "test" not in run.result:
        return ()
    return (MODEL, SCORES) if run.settings.get("projection") is None else (MODEL, SCORES, PROJECTION)


def _as_file(array: Ints) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


# ---------------------------------------------------------------------------------------------------------
# Import
# ---------------------------------------------------------------------------------------------------------


def import_run(store: Store, data: bytes) -> Run:
    """Add the training run of an archive to `store` under a new id; `Run.imported` marks it as imported.

    ValueError, without changing the store, for a file that is not such an archive or that contradicts itself.
    """
    try:
        return _import_run(store, data)
    except (OSError, sqlite3.Error, MemoryError):  # errors of this machine, not of the file
        raise
    except Exception as error:  # untrusted bytes may raise any error in the readers of ZIP, JSON and arrays
        reason = str(error) if isinstance(error, ValueError) else type(error).__name__
        raise InputError(
            "this file",
            "a training run that a ranking laboratory has exported",
            f"a file in error ({reason})",
        ) from error


def import_run_isolated(store: Store, data: bytes) -> Run:
    """Run `import_run` in an isolated process, so that a server stays responsive.

    FullError in a workspace that is full, after which pages offer to free storage."""
    check_space(store.home)
    return store.runs.get(ask("ranking.jobs.run_archive", [str(store.home)], data).decode())


def _import_run(store: Store, data: bytes) -> Run:
    if len(data) > MOST_BYTES:
        raise InputError("archive", f"at most {MOST_BYTES:,} bytes", len(data))
    with open_zip(data, ROOM.get, MOST_RATIO) as archive:
        names = set(archive.namelist())
        if RUN not in names:
            raise InputError("archive", RUN, "none")
        run = read_run(read_entry(archive, RUN))
        wanted = (EVENTS, MODEL, SCORES, PROJECTION, EDGES, PLAYBACK)
        files = {name: read_entry(archive, name) for name in wanted if name in names}
    if {MODEL, SCORES, PROJECTION} & names != set(_needed(run)):
        raise InputError(
            f"{MODEL}, {SCORES} and {PROJECTION}",
            f"{', '.join(_needed(run)) or 'none'} as {RUN} says",
            ", ".join(sorted({MODEL, SCORES, PROJECTION} & names)) or "none",
        )
    if PLAYBACK in files and SCORES not in files:
        raise InputError(PLAYBACK, f"no recording where there is no {SCORES}")
    lines = files.get(EVENTS, b"").count(b"\n")
    if lines > MOST_EVENTS:
        raise InputError(EVENTS, f"at most {MOST_EVENTS:,} lines", lines)
    settings = TrainSettings.from_json(run.settings)
    edges = _edges(files.pop(EDGES, None), settings)
    if SCORES in files:
        images = _image_set(store, settings.set)
        if images is not None:
            images.relevance(settings.query, settings.corrections)  # an error for unknown classes or ids
        samples = _count_scores(files[SCORES], images)
        _check_metrics(run, samples)
        if edges is not None and edges.max(initial=-1) >= samples:
            raise InputError(EDGES, f"samples up to {samples - 1}, as in {SCORES}", edges.max())
        if PLAYBACK in files:
            _check_recording(Playback.load(files[PLAYBACK], samples), files[SCORES], run)
        columns = feature_columns(settings.features, images)
        width = columns[-1][1].stop if columns else 0
        if PROJECTION in files:
            width = _check_projection(files[PROJECTION], settings, width)
        _check_model(files[MODEL], settings.method, width)

    def write(folder: Path) -> None:  # nothing else, because the whole data folder is locked meanwhile
        for name, content in files.items():
            (folder / name).write_bytes(content)
        if edges is not None:  # last: they lie outside the folder that is removed after a failure
            keep_edges(store.edges, settings.set, edges)

    return store.admit_run(run, write)


def _image_set(store: Store, key: str) -> ImageSet | None:
    """Return the image set with that key; None if it is not in this data folder."""
    return store.sets.get(key) if key in {row.key for row in store.sets.rows()} else None


def _edges(data: bytes | None, settings: TrainSettings) -> Ints | None:
    """Return the pairs in the archive, None without any; ValueError unless they are those that the settings name."""
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


def _count_scores(data: bytes, images: ImageSet | None) -> int:
    """Return the number of scores in `data`; ValueError unless they are finite, one per sample of the image set."""
    check_array(io.BytesIO(data), len(data), SCORES)
    scores: Floats = np.load(io.BytesIO(data), allow_pickle=False)
    if scores.dtype != np.float64 or scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
        raise InputError(SCORES, "(n,) finite float64", f"{scores.dtype} of shape {scores.shape}")
    if images is not None and len(scores) != len(images):
        raise InputError(SCORES, f"{len(images):,} numbers, one per sample of {images.title}", len(scores))
    return len(scores)


def _check_metrics(run: Run, samples: int) -> None:
    """Raise ValueError unless the metrics have the names and ranges of `evaluate_or_count` on this many samples."""
    parts = {part: run.result[part] for part in ("train", "test")}
    for part, metrics in parts.items():
        relevant, counted = metrics.get("positives", -1), metrics.get("samples", -1)
        if not (0 <= relevant <= counted <= samples and relevant == int(relevant)):
            raise InputError(
                f"metrics of {part}",
                f"the numbers of its positives and its samples, at most {samples:,}",
                f"{relevant:g} and {counted:g}",
            )
    count = sum(metrics["samples"] for metrics in parts.values())
    if count != samples:
        raise InputError(SCORES, f"{count:,.0f} numbers, the count in the metrics", samples)
    for part, metrics in parts.items():
        relevance = (np.arange(int(metrics["samples"])) < metrics["positives"]).astype(np.int64)
        expected = evaluate_or_count(relevance, np.zeros(len(relevance)))
        if metrics.keys() != expected.keys():
            raise InputError(f"metrics of {part}", ", ".join(expected), f"{', '.join(metrics):.200}")
        for name in expected.keys() - {"positives", "samples"}:
            if not 0 <= metrics[name] <= 1 + 1e-9:
                raise InputError(f"{part} {name}", "0 to 1", f"{metrics[name]:g}")


def _check_arrays(what: str, data: bytes) -> None:
    """Raise ValueError unless the file called `what` holds plain arrays of the sizes that it declares."""

    def room(name: str) -> int | None:
        return MOST_BYTES if re.fullmatch(r"[a-zA-Z_]{1,40}\.npy", name) else None

    try:
        with open_zip(data, room, MODEL_RATIO, MODEL_SPARE) as file:
            for entry in file.infolist():
                with file.open(entry) as stream:
                    check_array(stream, entry.file_size, entry.filename)
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(what, "arrays in a ZIP file", f"a file in error ({error})") from error


def _check_projection(data: bytes, settings: TrainSettings, columns: int) -> int:
    """Return how many columns the projection in `data` gives; ValueError unless it fits `columns` and the settings."""
    _check_arrays(PROJECTION, data)
    try:
        projection = Projection.load(io.BytesIO(data))
        projection.check_made_by(make_projection(settings.projection), columns)
    except ValueError as error:
        raise InputError(
            PROJECTION, "the projection of the settings", f"a file in error ({error})"
        ) from error
    return projection.kept


def _check_model(data: bytes, name: str, columns: int) -> None:
    """Raise ValueError unless `data` is a model of the method `name` with finite weights and scores for `columns`."""
    _check_arrays(MODEL, data)
    file = io.BytesIO(data)
    try:
        method = method_class(name).load(file)
    except Exception as error:  # untrusted arrays may raise any error in a method
        reason = str(error).replace(str(file), "the file")[
            :80
        ]  # its name in memory means nothing to the user
        raise InputError(MODEL, f"a trained {name}", f"a file in error ({reason})") from error
    try:
        direction = score_direction(method)
        with np.errstate(all="ignore"):
            scores = np.asarray(method.score(Query(np.zeros((1, columns), np.float32))))  # NaN times 0 is NaN
    except Exception as error:  # as above
        raise InputError(
            MODEL, f"a model of {columns} columns of features", f"another model ({str(error)[:120]})"
        ) from error
    if direction is not None and (direction.shape != (columns,) or not np.isfinite(direction).all()):
        raise InputError(f"weights of {MODEL}", f"{columns} finite numbers, one per column of its features")
    if scores.shape != (1,) or scores.dtype != np.float64 or not np.isfinite(scores).all():
        raise InputError(f"scores by {MODEL}", "one finite number per sample")


if __name__ == "__main__":
    serve(lambda arguments, data: import_run(Store(Path(arguments[0])), data).id.encode())
