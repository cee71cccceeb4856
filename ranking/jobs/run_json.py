"""A training run as JSON that one data folder writes and another reads: run.json of `ranking.jobs.run_archive`."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Bounds, is_number
from ranking.core.errors import InputError
from ranking.core.run_settings import TrainSettings
from ranking.features import make_feature
from ranking.features.graph.image_graph import GRAPHS, is_graph_name
from ranking.features.projection import make_projection
from ranking.methods import make_method
from ranking.storage.run import ENDED, LAST_TIME, TRAVELS, Run, is_run_id, is_set_key
from ranking.storage.run_names import checked_name
from ranking.storage.sets import ImageSetRow

FORMAT = 1
KIND = "ranking laboratory training"
DEEPEST = 12  # brackets within brackets
LONGEST_TEXT = 2000

WORDS = {str: "a text", dict: "an object", bool: "true or false", int: "a whole number"}

Json = dict[str, Any]


def written_run(run: Run, image_sets: Sequence[ImageSetRow], left_out: Mapping[str, str]) -> str:
    """Return everything about `run` except its files; its image set by title and key, with its classes if it is here.

    left_out: the files that are missing from the archive, each with the reason.
    """
    record = {
        **{name: getattr(run, name) for name in ("id", *TRAVELS)},
        "kind": KIND,
        "format": FORMAT,
        "exported": time.time(),
        "exported_by": {
            "ranking-laboratory": _version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "image_set": _image_set(run, image_sets),
        "left_out": dict(left_out),
        "result": {name: value for name, value in run.result.items() if name != "imported"},
    }
    return json.dumps(record, indent=1, allow_nan=False)


def _image_set(run: Run, image_sets: Sequence[ImageSetRow]) -> Json:
    """Describe the image set of a run, so that it can be identified or imported in another data folder."""
    key = run.settings["set"]
    for row in image_sets:
        if row.key == key:
            counts = {"images": row.images, "samples": row.samples}
            return {"key": key, "title": row.title, "classes": list(row.classes), **counts}
    return {"key": key, "title": (run.imported or {}).get("set_title", "")}


def _version() -> str:
    try:
        return version("ranking-laboratory")
    except PackageNotFoundError:  # run from a checkout
        return "not installed"


def read_run(text: bytes) -> Run:
    """Read the training run that `written_run` wrote, without id and folder; `Run.imported` names its origin.

    ValueError for anything that `written_run` cannot write.
    """
    record = _parsed(text)
    settings = _settings(_get(record, "settings", dict))
    if _get(record, "state", str) not in ENDED:
        raise InputError("state", f"one of {', '.join(ENDED)}", f"{record['state'][:40]!r}")
    result = _result(_get(record, "result", dict))
    image_set = _get(record, "image_set", dict)
    result["imported"] = {
        "run": _get(record, "id", str)[:10],
        "set_title": _get(image_set, "title", str)[:200],
        "exported": _time(record, "exported"),
    }
    created = _time(record, "created")
    if created is None:
        raise InputError("created", "a time in seconds", "None")
    return Run(
        id="",
        kind="train",
        state=record["state"],
        settings=settings,
        result=result,
        reason=_get(record, "reason", str)[:LONGEST_TEXT],
        created=created,
        started=_time(record, "started"),
        ended=_time(record, "ended"),
        folder=Path(),
        name=checked_name(_get(record, "name", str)),
        star=_get(record, "star", bool),
    )


def _parsed(text: bytes) -> Json:
    try:
        record = json.loads(text)
        json.dumps(record, ensure_ascii=False).encode()  # raises for lone surrogates, which no page can show
    except (ValueError, RecursionError) as error:
        raise InputError("run.json", "JSON", str(error)[:80]) from error
    if not isinstance(record, dict) or record.get("kind") != KIND or record.get("format") != FORMAT:
        raise InputError("run.json", f"a {KIND} of format {FORMAT}")
    if _depth(record) > DEEPEST:
        raise InputError("run.json", f"at most {DEEPEST} levels of brackets")
    return record


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _settings(record: Json) -> Json:
    settings = TrainSettings.from_json(record)
    if not is_set_key(settings.set) or not 0 < len(settings.query) <= LONGEST_TEXT:
        raise InputError(
            "set and query",
            "a key of letters and digits, and a name",
            f"{settings.set:.40}, {settings.query:.40}",
        )
    if settings.warm_start is not None and not is_run_id(settings.warm_start):
        raise InputError("warm_start", "the id of a run", f"{settings.warm_start[:40]!r}")
    if settings.graph is not None and not is_graph_name(settings.graph):
        raise InputError(
            "graph", f"one of {', '.join(GRAPHS)}, or the name of pairs", f"{settings.graph[:40]!r}"
        )
    make_method(settings.method, **settings.method_settings)
    for name, values in settings.features:
        make_feature(name, **values)
    make_projection(settings.projection)
    return settings.to_json()


def _result(record: Json) -> Json:
    """Read the certificate and the metrics; fields unknown to this version are dropped."""
    result: Json = {}
    for part in ("train", "test"):
        if part in record:
            metrics = _get(record, part, dict)
            if not all(is_number(value) for value in metrics.values()) or len(metrics) > 100:
                raise InputError(f"metrics of {part}", "at most 100 numbers by name", f"{metrics!r:.80}")
            result[part] = metrics
    if "certificate" in record:
        proof = record["certificate"]
        result["certificate"] = None if proof is None else _certificate(_get(record, "certificate", dict))
    if set(result) not in (set(), {"train", "test", "certificate"}):
        raise InputError("result", "certificate, train and test, or nothing", ", ".join(result))
    if result and "bounds" in record:
        result["bounds"] = _bounds(_get(record, "bounds", dict))
    return result


def _bounds(record: Json) -> Json:
    """Read how exact the max-marginals are (`ranking.core.Bounds`)."""
    values = {name: record.get(name) for name in Bounds._fields}
    counts = [values[name] for name in ("large", "samples", "of")]
    whole = all(isinstance(count, int) and not isinstance(count, bool) for count in counts)
    if not whole or not all(is_number(value) and record[name] >= 0 for name, value in values.items()):
        raise InputError("bounds", f"{', '.join(Bounds._fields)}, as numbers from 0", f"{values!r:.80}")
    return values


def _certificate(proof: Json) -> Json:
    bounds = {name: proof.get(name, "") for name in ("primal", "dual", "gap", "relative_gap", "seconds")}
    if not all(value is None or is_number(value) for value in bounds.values()):
        raise InputError("certificate", f"{', '.join(bounds)} as numbers", f"{bounds!r:.80}")
    converged, iterations = _get(proof, "converged", bool), _get(proof, "iterations", int)
    if converged and None in bounds.values():
        raise InputError("converged", "False, because a bound is missing", converged)
    if not is_number(iterations) or iterations < 0 or (bounds["seconds"] or 0) < 0:
        raise InputError(
            "iterations and seconds", "numbers from 0", f"{iterations!r:.40}, {bounds['seconds']!r:.40}"
        )
    return {**bounds, "iterations": iterations, "converged": converged}


def _get(record: Json, name: str, kind: type) -> Any:
    value = record.get(name)
    if type(value) is not kind:
        raise InputError(name, WORDS[kind], f"{value!r:.40}")
    return value


def _time(record: Json, name: str) -> float | None:
    value = record.get(name)
    if value is not None and not (is_number(value) and 0 <= value <= LAST_TIME):
        raise InputError(name, "a time in seconds", f"{value!r:.40}")
    return value
