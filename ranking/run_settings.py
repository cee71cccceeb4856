"""What a run is asked to do, as the pages, the store and the worker tell it to each other: in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

Settings = dict[str, Any]


@dataclass(frozen=True)
class ImportSettings:
    """The source of an image set, by its name, and its settings."""

    source: str
    source_settings: Settings = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ImportSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        _check(cls, "an import", values)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        return {"source": self.source, "source_settings": self.source_settings}


@dataclass(frozen=True)
class TrainSettings:
    """A training: the key of its image set, the class that is ranked first, features and method with settings.

    warm_start: the id of the run whose weights it begins with. graph: the name of the similarity graph of a method
    that uses one, one of `ranking.image_graph.GRAPHS` or pairs that a person brought (`ranking.edge_files`); None
    leaves it to the method.

    >>> TrainSettings("abc", (("HOG", {}),), "jumping", "AP-SVM", {"C": 10.0}).to_json()["features"]
    [['HOG', {}]]
    """

    set: str
    features: tuple[tuple[str, Settings], ...]
    query: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    warm_start: str | None = None
    graph: str | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrainSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        _check(cls, "a training", values)
        parts = values["features"]
        try:
            features = tuple((str(name), dict(settings)) for name, settings in parts)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"features must be a list of a name and settings each, as [['HOG', {{}}]], got {parts!r:.80}"
            ) from error
        return cls(**{**values, "features": features})

    def to_json(self) -> dict[str, Any]:
        told = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**told, "features": [[name, settings] for name, settings in self.features]}


def _check(cls: type[ImportSettings | TrainSettings], what: str, values: Mapping[str, Any]) -> None:
    """ValueError unless `values` name the fields of `cls` and no others."""
    known = {item.name: item for item in fields(cls)}
    optional = [
        name for name, item in known.items() if (item.default, item.default_factory) != (MISSING, MISSING)
    ]
    needed = [name for name in known if name not in optional]
    for words, names in (
        ("lack", [name for name in needed if name not in values]),
        ("have an unknown", [name for name in values if name not in known]),
    ):
        if names:
            expected = f"expected {', '.join(needed)} and, where wanted, {', '.join(optional)}"
            raise ValueError(f"the settings of {what} {words} {', '.join(names)}; {expected}")
    for name in ("source_settings", "method_settings"):
        if not isinstance(values.get(name, {}), dict):
            raise ValueError(f"{name} must be settings by name, as {{'seed': 1}}, got {values[name]!r:.80}")
