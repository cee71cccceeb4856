"""Training runs on the pages: which run is chosen, its name, and its differences from another run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any

import streamlit as st

from pages.parts.app import address, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import feature_choice, projections
from ranking import method_names, methods
from ranking.core import SampleMethod
from ranking.core.settings import Settings, settings_dict, settings_of
from ranking.experiments.sample_task import graph_in_use
from ranking.features.graph.image_graph import graph_words
from ranking.features.projection import PCA, features_words, projection_words
from ranking.features.windows.settings import WindowSettings
from ranking.losses import RankingLoss
from ranking.reports.settings_words import (
    completed,
    known_feature,
    known_method,
    label_of,
    method_settings,
    setting_words,
    shown,
)
from ranking.storage import examples
from ranking.storage.run import ENDED, SAMPLES, Kind, Run
from ranking.storage.run_settings import (
    KIND_NAMES,
    TASK_SETTINGS,
    BagTrainSettings,
    ExperimentSettings,
    LabelTrainSettings,
    TrainSettings,
)
from ranking.storage.sets import ImageSetRow
from ranking.storage.store import Store

# the default for the fewest images of a label
LEAST = LabelTrainSettings("", (), "").min_images


STATES = {
    "queued": "… queued",
    "running": "… running",
    "finished": "✓ finished",
    "cancelled": "– cancelled",
    "failed": "✗ failed",
}


def chosen() -> Run | None:
    """Return the training run in the URL; None if the URL has no known run."""
    # The run implies its settings, so the URL need not contain them. If the image set of the run is missing,
    # image set and query are not implied.
    run = address.read(keys.RUN, lambda run_id: of_task(run_id, SAMPLES), None)
    given = {} if run is None else _given(run)
    if run is not None and not set_is_here(run):
        given = {name: value for name, value in given.items() if name not in (keys.SET, keys.QUERY)}
    address.imply(given)
    return run


def _given(run: Run) -> dict[str, str]:
    """Return the settings of `run` as URL parameters."""
    settings = run.settings
    parameters = {
        keys.SET: settings["set"],
        keys.FEATURES: ",".join(feature_choice.names_of(settings["features"])),
        keys.QUERY: settings["query"],
        keys.METHOD: settings["method"],
        **projections.given(settings.get("projection")),
        keys.CORRECTIONS: str("corrections" in settings),
    }
    if (by := neighbours_of(TrainSettings.from_json(settings))) is not None:
        parameters[keys.GRAPH] = by
    given = [("method", settings["method"], settings["method_settings"])]
    given += [("feature", name, values) for name, values in settings["features"]]
    for owner, plugin, values in given:
        parameters |= {keys.setting(owner, plugin, name): str(value) for name, value in values.items()}
    return parameters


def of_task(run_id: str, task: str) -> Run:
    """Return the run with that id; ValueError if it is of another task."""
    run = home.store().runs.get(run_id)
    if run.task != task:
        raise ValueError(f"expected: {KIND_NAMES[task]}, got: {run.kind_name}")
    return run


def kept_of_task(run_id: str, task: str) -> Run:
    """Return the run with that id; ValueError if it is of another task or was deleted."""
    run = of_task(run_id, task)
    if run.deleted is not None:
        raise ValueError(f"that {run.kind_name} was deleted")
    return run


def with_scores() -> list[Run]:
    """Return the training runs that have scores, newest first."""
    # Those on the image set in the URL come before others.
    here = {row.key for row in home.store().sets.rows()}
    scored = [
        run for run in home.store().runs.all(task=SAMPLES) if run.has_scores and run.settings["set"] in here
    ]
    return sorted(scored, key=lambda run: run.settings["set"] != address.get(keys.SET))


def uses_graph(run: Run) -> bool:
    """Whether the method of a run uses a similarity graph; False for an unknown method."""
    method = known_method(run.settings["method"])
    return method is not None and method.uses_graph


def has_loss(run: Run) -> bool:
    """Whether training computes most violated rankings."""
    # Asked of every run in a list, so of the class only.
    method = known_method(run.settings["method"])
    return method is not None and issubclass(method, SampleMethod) and method.loss is not None


def loss_of(run: Run) -> RankingLoss | None:
    """Return the ranking loss of the method's most violated ranking, with its settings."""
    # None for a method without loss-augmented inference.
    return methods.loss_of(run.settings["method"], run.settings["method_settings"])


def set_is_here(run: Run) -> bool:
    """Whether the image set of a training run exists in this workspace."""
    return run.settings["set"] in {row.key for row in home.store().sets.rows()}


def missing_set(run: Run) -> str:
    """Name the missing image set of a training run, and what to do."""
    return (
        f"The image set of this run (key {run.settings['set']}) is not in this workspace. Import the same "
        "images on the page Image sets: identical images and labels get the same key, and the ranking becomes "
        "available again."
    )


def done(act: Callable[..., None], run_id: str, *arguments: Any) -> bool:
    """Call `act` for a training run and return True; show an error and return False if it is gone."""
    try:
        act(run_id, *arguments)
    except ValueError as error:
        st.error(escaped(str(error)), icon=":material/error:")
        return False
    return True


def short_name(run: Run) -> str:
    """Return the name that a training run was given, else one made of its method and query."""
    if run.name:
        return run.name
    if run.task == "asking":
        models = dict.fromkeys(name for name, _ in run.settings["methods"])
        return f"Simulation of {' and '.join(models)}"
    if run.task == "midrank":
        return f"Ablation: {run.settings['study']}"
    if run.task == "experiment":
        return f"Experiment with {', '.join(compared_methods(run))}"
    if run.task == "timing":
        return "Timing of loss-augmented inference"
    query = f" on “{run.settings['query']}”" if run.task in (SAMPLES, BagTrainSettings.task) else ""
    return f"{run.settings['method']}{query}"


def compared_methods(run: Run) -> list[str]:
    """Return the methods that an experiment compares, each once."""
    return list(dict.fromkeys(name for name, _ in ExperimentSettings.from_json(run.settings).methods))


def labels(listed: Sequence[Run], name: Callable[[Run], str] | None = None) -> dict[str, str]:
    """Return a unique label per training run by its id, for the options of a selectbox."""
    # listed: newest first. Of runs with the same name, the oldest has no number, and later ones are numbered
    # from 2.
    # by name
    ids = dict[str, str]()
    for run in reversed(listed):
        text = (name or name_of)(run)
        ids[next(each for each in _numbered(text) if each not in ids)] = run.id
    return {run_id: text for text, run_id in reversed(ids.items())}


def _numbered(text: str) -> Iterator[str]:
    yield text
    for number in count(2):
        yield f"{text} · {number}"


def name_of(run: Run) -> str:
    """Describe a training run in one line."""
    # Runs of labels and sequences with their non-default settings, because no table shows them.
    features = features_shown(run)
    star = "★ " if run.star else ""
    changed = [", ".join(differing(run))] if run.is_training and run.task != SAMPLES else []
    parts = [f"{star}{short_name(run)}", *filter(None, changed), features, measured(run), when(run)]
    return " · ".join(parts)


def features_shown(run: Run) -> str:
    """Name the features of a training run in a few words; for a localisation run, its candidate windows."""
    if run.task == BagTrainSettings.task:
        windows = {**settings_dict(WindowSettings()), **run.settings.get("windows", {})}
        return f"{windows['most']} windows of {windows['source']}"
    features = list(feature_choice.by_words(run.settings["features"], run.settings["set"]).items())
    return features_words(features, run.settings.get("projection"))


def measured(run: Run) -> str:
    """Return the test metric of a training run as text, else the state of the run."""
    if run.task not in TASK_SETTINGS:
        return run.state
    measure = TASK_SETTINGS[run.task].measure
    value = run.result.get("test", {}).get(measure.key)
    by = " with corrected labels" if run.corrections else ""
    return run.state if value is None else f"test {measure.short} {value:.3f}{by}"


def when(run: Run) -> str:
    return datetime.fromtimestamp(run.created).strftime("%d %b %H:%M") + origin_of(run)


# ---------------------------------------------------------------------------------------------------------
# Differences in settings
# ---------------------------------------------------------------------------------------------------------


def settings_given(run: Run) -> TrainSettings:
    """Return the settings of a training run, completed by the defaults."""
    given = TrainSettings.from_json(run.settings)
    features = tuple((name, completed(known_feature(name), values)) for name, values in given.features)
    method = completed(known_method(given.method), given.method_settings)
    projection = None if given.projection is None else completed(PCA, given.projection)
    return replace(
        given,
        features=features,
        method_settings=method,
        graph=neighbours_of(given),
        projection=projection,
    )


def neighbours_of(settings: TrainSettings) -> str | None:
    """Return the name of the similarity graph that a run uses; None where its method uses none."""
    return graph_in_use(settings) if settings.method in method_names() else settings.graph


def differences(before: TrainSettings, after: TrainSettings) -> list[str]:
    """List the settings in which `after` differs from `before`, both complete: ["C 1000 → 10"]."""
    changes = []
    for what in ("query", "method"):
        old, new = getattr(before, what), getattr(after, what)
        if old != new:
            changes.append(f"{what} {old} → {new}")
    if before.set != after.set:
        changes.append("another image set")
    old, new = (feature_choice.by_words(settings.features, settings.set) for settings in (before, after))
    if set(old) != set(new):
        changes.append(f"features {' + '.join(old)} → {' + '.join(new) or 'none'}")
    for name in old.keys() & new.keys():
        changes += _changes(known_feature(name), old[name], new[name], f"{name}: ")
    if before.projection != after.projection:
        old, new = (projection_words(settings.projection) for settings in (before, after))
        changes.append(f"projection {old} → {new}")
    if before.corrections != after.corrections:
        old, new = (f"{len(settings.corrections):,}" for settings in (before, after))
        changes.append(f"corrected labels {old} → {new}" if old != new else f"{new} other corrected labels")
    if None not in (before.graph, after.graph) and before.graph != after.graph:
        changes.append(f"neighbours {graph_words(before.graph)} → {graph_words(after.graph)}")
    both = before.method_settings.keys() & after.method_settings.keys()
    old, new = ({name: settings.method_settings[name] for name in both} for settings in (before, after))
    return changes + sorted(_changes(known_method(after.method), old, new))


def differing(run: Run, main: bool = False) -> list[str]:
    """List the settings of a training run that differ from their defaults: ["Labels in the core = 0"]."""
    # main: also those of its main settings that do not.
    given = [("", known_method(run.settings["method"]), run.settings.get("method_settings", {}))]
    features = feature_choice.by_words(run.settings.get("features", ()), run.settings["set"])
    given += [(f"{name}: ", known_feature(name), values) for name, values in features.items()]
    texts, least = list[str](), run.settings.get("min_images", LEAST)
    for prefix, plugin, values in given:
        defaults = completed(plugin, {})
        always = {item.name for item in settings_of(plugin) if not item.advanced} if main and plugin else ()
        for name, value in {**defaults, **values}.items():
            if name in always or name not in defaults or defaults[name] != value:
                texts.append(f"{prefix}{setting_words(plugin, name, value)}")
    return texts if least == LEAST else [*texts, f"images per label ≥ {least}"]


def telling(run: Run) -> str:
    """List the settings that identify a training run: main settings and those other than the defaults."""
    given, texts = TrainSettings.from_json(run.settings), differing(run, main=True)
    if (by := neighbours_of(given)) is not None:
        texts.append(f"neighbours = {graph_words(by)}")
    if given.corrections:
        texts.append(f"corrected labels = {len(given.corrections):,}")
    return ", ".join(texts)


def is_convex(run: Run) -> bool:
    """Whether the certificate of a run bounds the optimum."""
    # For CCCP it bounds the convex problem of the last round.
    method = known_method(run.settings["method"])
    return method is None or method.is_convex(method_settings(run))


def tolerance_of(run: Run) -> float | None:
    """Return the relative duality gap at which training stops; None for a method without one."""
    value = method_settings(run).get("tolerance")
    return None if value is None else float(value)


def _changes(plugin: type | None, old: Settings, new: Settings, prefix: str = "") -> list[str]:
    return [
        f"{prefix}{label_of(plugin, name)} "
        f"{shown(plugin, name, old.get(name))} → {shown(plugin, name, new.get(name))}"
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]


def origin_of(item: Run | ImageSetRow, before: str = " · ") -> str:
    """Where a read-only run or image set comes from, after `before`; "" for those of the visitor."""
    if not item.shared:
        return ""
    return before + ("example" if examples.is_example(item.folder) else "shared")


def best_equal(store: Store, kind: Kind, settings: dict[str, Any]) -> Run | None:
    """Return the newest run with these settings: one with a result, else running, else failed."""
    shown = [
        run
        for run in store.runs.equal(kind, settings)
        if run.state != "finished" or run.usable or not run.is_training
    ]
    return min(shown, key=lambda run: (run.state != "finished", run.state in ENDED), default=None)
