"""A training as the JSON that one home writes and another reads: run.json of `ranking.jobs.run_archive`."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Bounds, is_number, relative_gap
from ranking.core.errors import InputError
from ranking.core.run_settings import TrainSettings
from ranking.core.settings import settings_dict
from ranking.features import make_feature
from ranking.features.graph.image_graph import GRAPHS, is_graph_name
from ranking.features.projection import make_projection
from ranking.methods import make_method
from ranking.workspace.run import ENDED, LAST_TIME, TRAVELS, Run, is_run_id, is_set_key
from ranking.workspace.run_store import checked_name
from ranking.workspace.store import ImageSetRow

FORMAT = 1
KIND = "ranking laboratory training"
DEEPEST = 12  # brackets within brackets
LONGEST_TEXT = 2000
EXACT = 1e-12  # a number that follows from others is computed from the same doubles here and there
ROUNDING = 1e-6  # of the bounds: by how much rounding may lift a dual above its primal (`LinearRisk.certify`)

WORDS = {str: "a text", dict: "an object", bool: "true or false", int: "a whole number"}

Json = dict[str, Any]


def written_run(run: Run, image_sets: Sequence[ImageSetRow], left_out: Mapping[str, str]) -> str:
    """Everything about `run` but its files; its image set by title and key, with its classes if it is here.

    left_out: the files that should be beside it and are not, each with the reason.
    """
    told = {
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
    return json.dumps(told, indent=1, allow_nan=False)


def _image_set(run: Run, image_sets: Sequence[ImageSetRow]) -> Json:
    """Which set it was trained on, so that another home can find or import it."""
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
    """The training that `written_run` wrote, still without id and folder; `Run.imported` says where it comes from.

    ValueError for whatever no training of ours would say.
    """
    told = _parsed(text)
    settings = _settings(_get(told, "settings", dict))
    if _get(told, "state", str) not in ENDED:
        raise InputError("state", f"one of {', '.join(ENDED)}", f"{told['state'][:40]!r}")
    result = _result(_get(told, "result", dict), _tolerance(settings))
    image_set = _get(told, "image_set", dict)
    result["imported"] = {
        "run": _get(told, "id", str)[:10],
        "set_title": _get(image_set, "title", str)[:200],
        "exported": _time(told, "exported"),
    }
    created = _time(told, "created")
    if created is None:
        raise InputError("created", "a time in seconds", "None")
    return Run(
        id="",
        kind="train",
        state=told["state"],
        settings=settings,
        result=result,
        reason=_get(told, "reason", str)[:LONGEST_TEXT],
        created=created,
        started=_time(told, "started"),
        ended=_time(told, "ended"),
        folder=Path(),
        name=checked_name(_get(told, "name", str)),
        star=_get(told, "star", bool),
    )


def _parsed(text: bytes) -> Json:
    try:
        told = json.loads(text)
        json.dumps(
            told, ensure_ascii=False
        ).encode()  # refuses halves of characters, which no page could show
    except (ValueError, RecursionError) as error:
        raise InputError("run.json", "JSON", str(error)[:80]) from error
    if not isinstance(told, dict) or told.get("kind") != KIND or told.get("format") != FORMAT:
        raise InputError("run.json", f"a {KIND} of format {FORMAT}")
    if _depth(told) > DEEPEST:
        raise InputError("run.json", f"at most {DEEPEST} levels of brackets")
    return told


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _settings(told: Json) -> Json:
    settings = TrainSettings.from_json(told)
    for name in ("set", "query", "method"):
        _get(told, name, str)
    if not is_set_key(settings.set) or not 0 < len(settings.query) <= LONGEST_TEXT:
        raise InputError(
            "set and query",
            "a key of letters and digits, and a name",
            f"{settings.set:.40}, {settings.query:.40}",
        )
    if settings.warm_start is not None and not is_run_id(_get(told, "warm_start", str)):
        raise InputError("warm_start", "the id of a run", f"{settings.warm_start[:40]!r}")
    if settings.graph is not None and not is_graph_name(_get(told, "graph", str)):
        raise InputError(
            "graph", f"one of {', '.join(GRAPHS)}, or the name of pairs", f"{settings.graph[:40]!r}"
        )
    make_method(settings.method, **settings.method_settings)
    for name, values in settings.features:
        make_feature(name, **values)
    make_projection(settings.projection)
    return settings.to_json()


def _tolerance(settings: Json) -> float | None:
    """The relative gap at which the training stops by itself, None where its method has none."""
    method = make_method(settings["method"], **settings["method_settings"])
    return settings_dict(method).get("tolerance")


def _result(told: Json, tolerance: float | None) -> Json:
    """The certificate and the metrics; what this version does not know is left out."""
    result: Json = {}
    for part in ("train", "test"):
        if part in told:
            metrics = _get(told, part, dict)
            if not all(is_number(value) for value in metrics.values()) or len(metrics) > 100:
                raise InputError(f"metrics of {part}", "at most 100 numbers by name", f"{metrics!r:.80}")
            result[part] = metrics
    if "certificate" in told:
        proof = told["certificate"]
        result["certificate"] = (
            None if proof is None else _certificate(_get(told, "certificate", dict), tolerance)
        )
    if set(result) not in (set(), {"train", "test", "certificate"}):
        raise InputError("result", "certificate, train and test, or nothing", ", ".join(result))
    if result and "bounds" in told:
        result["bounds"] = _bounds(_get(told, "bounds", dict))
    return result


def _bounds(told: Json) -> Json:
    """How exact the max-marginals are (`ranking.core.Bounds`)."""
    found = {name: told.get(name) for name in Bounds._fields}
    counts = [found[name] for name in ("large", "samples", "of")]
    whole = all(isinstance(count, int) and not isinstance(count, bool) for count in counts)
    if not whole or not all(is_number(value) and told[name] >= 0 for name, value in found.items()):
        raise InputError("bounds", f"{', '.join(Bounds._fields)}, as numbers from 0", f"{found!r:.80}")
    return found


def _certificate(proof: Json, tolerance: float | None) -> Json:
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
    _check_bounds(bounds)
    if converged and tolerance is not None and bounds["relative_gap"] > tolerance:
        raise InputError(
            "relative gap of a training run that converged",
            f"at most its tolerance of {tolerance:g}",
            bounds["relative_gap"],
        )
    return {**bounds, "iterations": iterations, "converged": converged}


def _check_bounds(bounds: Json) -> None:
    """ValueError unless gap and relative gap follow from primal and dual, and the dual is a lower bound.

    Every objective is a sum of a regulariser and losses, so no primal is negative.
    """
    primal, dual = bounds["primal"], bounds["dual"]
    if primal is not None and primal < 0:
        raise InputError("primal of the certificate", "0 or more", primal)
    known = primal is not None and dual is not None
    gap = primal - dual if known else math.inf
    follow = {"gap": gap, "relative_gap": relative_gap(primal, dual) if known else math.inf}
    largest = max(abs(primal), abs(dual)) if known else 0.0
    for name, expected in follow.items():
        told = math.inf if bounds[name] is None else bounds[name]
        least = EXACT * (largest if name == "gap" else 1.0)
        if not math.isclose(told, expected, rel_tol=EXACT, abs_tol=least):
            raise InputError(
                f"{name} of the certificate", f"{expected:g}, which primal and dual give", f"{told:g}"
            )
    if -gap > ROUNDING * largest:
        raise InputError("dual of the certificate", f"at most the primal of {primal:g}", f"{dual:g}")


def _get(told: Json, name: str, kind: type) -> Any:
    value = told.get(name)
    if type(value) is not kind:
        raise InputError(name, WORDS[kind], f"{value!r:.40}")
    return value


def _time(told: Json, name: str) -> float | None:
    value = told.get(name)
    if value is not None and not (is_number(value) and 0 <= value <= LAST_TIME):
        raise InputError(name, "a time in seconds", f"{value!r:.40}")
    return value
