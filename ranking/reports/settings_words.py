"""The settings and the name of a run in words, the same on pages and in reports."""

from __future__ import annotations

from collections.abc import Sequence

from ranking.core import Method
from ranking.core.settings import Settings, settings_of
from ranking.core.text import counted
from ranking.features import feature_class, feature_names
from ranking.features.graph.image_graph import UNNAMED_GRAPH, graph_words
from ranking.features.projection import features_words, projection_words
from ranking.methods import method_class, method_names
from ranking.storage.run import Run
from ranking.storage.run_settings import TrainSettings


def known_method(name: str) -> type[Method] | None:
    """Return the class of a method; None if this version has no method of that name."""
    return method_class(name) if name in method_names() else None


def known_feature(name: str) -> type | None:
    """Return the class of a feature; None if this version has no feature of that name."""
    return feature_class(name) if name in feature_names() else None


def completed(plugin: type | None, values: Settings) -> Settings:
    """Return settings of a method or feature, completed by its defaults."""
    return ({item.name: item.default for item in settings_of(plugin)} if plugin else {}) | values


def method_settings(run: Run) -> Settings:
    """Return the settings of a run's method, completed by the defaults."""
    return completed(known_method(run.settings["method"]), run.settings.get("method_settings", {}))


def label_of(plugin: type | None, name: str) -> str:
    """Return a setting's label up to its explanation: "C" for "C: cost of a wrong ranking"."""
    labels = {item.name: item.label.partition(":")[0] for item in settings_of(plugin)} if plugin else {}
    return labels.get(name, name)


def shown(plugin: type | None, name: str, value: object) -> str:
    """Return the value of a setting as text: the label of a choice, a short number."""
    for item in settings_of(plugin) if plugin else ():
        if item.name == name and isinstance(value, str) and value in item.choices:
            return item.shown(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def setting_words(plugin: type | None, name: str, value: object) -> str:
    """Return a setting with its value: "C = 10"."""
    return f"{label_of(plugin, name)} = {shown(plugin, name, value)}"


def against(run: Run, others: Sequence[Run]) -> str:
    """List the settings and corrected labels in which a run differs from any of `others`."""
    # others: runs of the same method. The result is the run's id if there are none.
    rest = [_compared(other) for other in others]
    differing = [
        words
        for name, (value, words) in _compared(run).items()
        if any(name not in theirs or theirs[name][0] != value for theirs in rest)
    ]
    return ", ".join(differing) or run.id


def _compared(run: Run) -> dict[str, tuple[object, str]]:
    """Return the value of each setting of a run, also of defaults, with its words."""
    settings, method = run.settings, known_method(run.settings["method"])
    features, projection = settings.get("features", ()), settings.get("projection")
    named = [(_feature_words(name, values), values) for name, values in features]
    described = [(name, completed(known_feature(name), values)) for name, values in features]
    compared: dict[str, tuple[object, str]] = {
        "features": ((described, projection), features_words(named, projection)),
        **{name: (value, setting_words(method, name, value)) for name, value in method_settings(run).items()},
        "corrections": (set(run.corrections), counted(len(run.corrections), "corrected label")),
    }
    if method is not None and method.uses_graph:
        graph = settings.get("graph") or UNNAMED_GRAPH
        compared["graph"] = (graph, f"neighbours = {graph_words(graph)}")
    for name, words in (("min_images", "images per label ≥"), ("warm_start", "warm start from")):
        if settings.get(name) is not None:
            compared[name] = (settings[name], f"{words} {settings[name]}")
    return compared


def names_of(runs: Sequence[Run]) -> list[str]:
    """Return a unique short name per run."""
    # It is the user's name or the method, with the settings that differ if two are equal, and with the id if
    # these do not distinguish them.
    short = {run.id: run.name or str(run.settings["method"]) for run in runs}
    names = []
    for run in runs:
        like = [other for other in runs if other.id != run.id and short[other.id] == short[run.id]]
        names.append(f"{short[run.id]}, {against(run, like)}" if like else short[run.id])
    return [
        f"{name}, {run.id}" if names.count(name) > 1 else name for run, name in zip(runs, names, strict=True)
    ]


def settings_facts(run: Run) -> dict[str, str]:
    """Describe the settings and the outcome of a run by name, with all settings of its method."""
    settings = TrainSettings.from_json(run.settings)
    method, proof = known_method(settings.method), run.result.get("certificate", {})
    features = (_feature_words(name, values) for name, values in settings.features)
    facts = {"Method": settings.method, "Features": " + ".join(features)}
    facts |= {
        label_of(method, name): shown(method, name, value) for name, value in method_settings(run).items()
    }
    if settings.projection is not None:
        facts["Projection"] = projection_words(settings.projection)
    if settings.graph is not None:
        facts["Neighbours"] = graph_words(settings.graph)
    if settings.warm_start is not None:
        facts["Warm start from run"] = settings.warm_start
    if settings.corrections:
        facts["Corrected labels"] = f"{len(settings.corrections):,}"
    if proof.get("relative_gap") is not None:
        facts["Duality gap, share of the primal"] = f"{proof['relative_gap']:.2g}"
    if proof:
        facts["Iterations"], facts["Seconds"] = f"{proof['iterations']:,}", f"{proof['seconds']:.3g}"
    return {**facts, "Training run": run.id}


def _feature_words(name: str, values: Settings) -> str:
    words = [setting_words(known_feature(name), setting, value) for setting, value in values.items()]
    return f"{name} ({', '.join(words)})" if words else name
