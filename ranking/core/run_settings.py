"""What a run is asked to do, as the pages, the store and the worker tell it to each other: in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from ranking.core import is_number
from ranking.core.errors import InputError
from ranking.core.first_settings import (
    as_first_meant,
    as_stored,
    read_source_settings,
    read_study_settings,
    read_train_settings,
)
from ranking.core.text import readable

Settings = dict[str, Any]
T = TypeVar("T")
Named = tuple[tuple[str, Settings], ...]  # features or methods, each with its settings


class Measure(NamedTuple):
    """How well a training ranks what it has not seen: its short name, that in results, and in full."""

    short: str
    key: str
    full: str


@dataclass(frozen=True)
class ImportSettings:
    """The source of an image set, by its name, and its settings.

    brought: what a person calls the ZIP file that they uploaded, which is then read instead of what the settings name.
    title: of the image set, "" for what the source calls it.

    >>> ImportSettings("COCO", brought="zoo.zip").to_json()
    {'source': 'COCO', 'source_settings': {}, 'brought': 'zoo.zip'}
    """

    task: ClassVar[str] = "images"
    called: ClassVar[str] = "import"
    source: str
    source_settings: Settings = field(default_factory=dict)
    brought: str | None = None
    title: str = ""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ImportSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        _check(cls, "an import", values)
        made = cls(**values)
        return replace(made, source_settings=read_source_settings(made.source, made.source_settings))

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"source": self.source, "source_settings": self.source_settings}
        told |= {} if self.brought is None else {"brought": self.brought}
        return told | ({"title": self.title} if self.title else {})


@dataclass(frozen=True)
class LookSettings:
    """The first stage of an import: what a person brought, and as what it is read.

    look: the path that was typed, empty for a ZIP file that was uploaded. source: None for the one that knows it best.
    brought: as in `ImportSettings`.
    """

    task: ClassVar[str] = "look"
    called: ClassVar[str] = "import"
    look: str
    source: str | None = None
    source_settings: Settings = field(default_factory=dict)
    brought: str | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LookSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        known = {name: value for name, value in values.items() if (name, value) != ("source", None)}
        _check(cls, "a look at what was brought", known)
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        return _told(self)


@dataclass(frozen=True)
class FeaturesSettings:
    """A look at features that a person brings for the image set of a key.

    place: the path that was typed, empty for a file that was uploaded. brought: what the person calls the file that
    they uploaded. vectors, ids: which of its arrays are read, None for those that are called so
    (`ranking.features.own.look_at_vectors`). network: how a model in ONNX is to be used, over what it says itself
    (`ranking.features.onnx_model`).
    """

    task: ClassVar[str] = "features"
    called: ClassVar[str] = "look at features"
    set: str
    place: str = ""
    brought: str | None = None
    vectors: str | None = None
    ids: str | None = None
    network: Settings = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> FeaturesSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a look at features", values)
        return cls(**values)

    @property
    def file_name(self) -> str:
        """What the person calls the file.

        >>> FeaturesSettings("abc", "/home/anna/resnet.npy").file_name
        'resnet.npy'
        """
        return self.brought or readable(Path(self.place.strip()).name, 120) or "the file"

    def to_json(self) -> dict[str, Any]:
        return {**_told(self), "task": self.task}


@dataclass(frozen=True)
class TrainSettings:
    """A training: the key of its image set, the class that is ranked first, features and method with settings.

    warm_start: the id of the run whose weights it begins with. graph: the name of the similarity graph of a method
    that uses one, one of `ranking.features.graph.image_graph.GRAPHS` or pairs that a person brought
    (`ranking.features.graph.edge_files`); None leaves it to the method. projection: what is made of the features before
    they are learnt from, as `ranking.features.projection.make_projection` takes it; None for nothing, here and in all
    settings below.

    >>> TrainSettings("abc", (("HOG", {}),), "jumping", "AP-SVM", {"C": 10.0}).to_json()["features"]
    [['HOG', {}]]
    """

    task: ClassVar[str] = "samples"
    called: ClassVar[str] = "training"
    measure: ClassVar[Measure] = Measure("AP", "AP", "Average precision")
    set: str
    features: Named
    query: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    warm_start: str | None = None
    graph: str | None = None
    projection: Settings | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrainSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a training", values)
        return cls(**{**read_train_settings(values), "features": _named(values, "features", "HOG")})

    def to_json(self) -> dict[str, Any]:
        return {**_told(self), "method_settings": as_stored(self.method, self.method_settings)}


@dataclass(frozen=True)
class LabelTrainSettings:
    """A training of a ranker of labels: the key of its image set, features and method with settings.

    min_images: a class that fewer images show is no label.

    >>> LabelTrainSettings("abc", (("GIST", {}),), "C-star p@k", {"core_size": 3}).to_json()["min_images"]
    20
    """

    task: ClassVar[str] = "labels"
    called: ClassVar[str] = "training of labels"
    measure: ClassVar[Measure] = Measure("BEP", "BEP", "Break-even precision")
    warm_start: ClassVar[None] = None
    graph: ClassVar[None] = None
    set: str
    features: Named
    method: str
    method_settings: Settings = field(default_factory=dict)
    min_images: int = 20
    projection: Settings | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LabelTrainSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a training of labels", values)
        return cls(**{**values, "features": _named(values, "features", "HOG")})

    def to_json(self) -> dict[str, Any]:
        return {**_told(self), "task": self.task}


@dataclass(frozen=True)
class AskingSettings:
    """A simulation of asking for labels: which methods are trained on which images, and how they ask.

    methods: each with its settings. strategies: names of `ranking.explain.asking.STRATEGIES`. questions: how many each
    image is asked. folds: how many parts the images are dealt into, by `seed`. min_images: as in `LabelTrainSettings`.
    """

    task: ClassVar[str] = "asking"
    called: ClassVar[str] = "simulation"
    graph: ClassVar[None] = None
    set: str
    features: Named
    methods: Named
    strategies: tuple[str, ...]
    questions: int = 10
    folds: int = 5
    seed: int = 0
    min_images: int = 20
    projection: Settings | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> AskingSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a simulation", values)
        strategies = _names(values, "strategies", "entropy")
        features, methods = _named(values, "features", "HOG"), _named(values, "methods", "C-star p@k")
        return cls(**{**values, "features": features, "methods": methods, "strategies": strategies})

    def to_json(self) -> dict[str, Any]:
        return {**_told(self), "strategies": list(self.strategies), "task": self.task}


@dataclass(frozen=True)
class OrderTrainSettings:
    """A training of a method that puts sequences in order: the key of its image set, features, the criterion that
    its numbers are of, and the method with settings.

    drawing: those settings of `ranking.datasets.sequences.Drawing` that are not its defaults: which end goes first,
    what sequences are drawn of, how long, how many, and by which seed. Equal ones give all methods the same sequences.

    >>> OrderTrainSettings("abc", (("HOG", {}),), "year", "MidRank", drawing={"length": 20}).to_json()["drawing"]
    {'length': 20}
    """

    task: ClassVar[str] = "orders"
    called: ClassVar[str] = "training of orders"
    measure: ClassVar[Measure] = Measure("tau", "Kendall tau", "Kendall tau")
    warm_start: ClassVar[None] = None
    graph: ClassVar[None] = None
    set: str
    features: Named
    criterion: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    drawing: Settings = field(default_factory=dict)
    projection: Settings | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> OrderTrainSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a training of orders", values)
        return cls(**{**read_train_settings(values), "features": _named(values, "features", "HOG")})

    def to_json(self) -> dict[str, Any]:
        return {
            **_told(self),
            "method_settings": as_stored(self.method, self.method_settings),
            "task": self.task,
        }


@dataclass(frozen=True)
class StudySettings:
    """A study of MidRank: the key of its image set, features, the criterion, and which of
    `ranking.experiments.order_studies.FIGURES`.

    method_settings: of MidRank, but for what the study varies. drawing: as in `OrderTrainSettings`.
    """

    task: ClassVar[str] = "midrank"
    called: ClassVar[str] = "study"
    graph: ClassVar[None] = None
    set: str
    features: Named
    criterion: str
    study: str
    method_settings: Settings = field(default_factory=dict)
    drawing: Settings = field(default_factory=dict)
    projection: Settings | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> StudySettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a study", values)
        return cls(**{**read_study_settings(values), "features": _named(values, "features", "HOG")})

    def to_json(self) -> dict[str, Any]:
        settings = as_stored("MidRank", self.method_settings)
        return {**_told(self), "method_settings": settings, "task": self.task}


@dataclass(frozen=True)
class TimingSettings:
    """A timing of loss-augmented inference (`ranking.experiments.timing_studies`) on synthetic samples of the size of
    quicksort's.

    share: of the paper's numbers of samples, 1 for all. dimensions: of the features of each. rounds: a time is the
    median over so many. parts: one of TIMED, the tables alone or the figures too.
    """

    task: ClassVar[str] = "timing"
    called: ClassVar[str] = "timing"
    set: ClassVar[None] = None
    graph: ClassVar[None] = None
    features: ClassVar[Named] = ()
    share: float = 1.0
    dimensions: int = 2404
    rounds: int = 5
    seed: int = 0
    parts: str = "tables and figures"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TimingSettings:
        """What `to_json` gave; a ValueError says what else it is."""
        values = _of_task(cls, values)
        _check(cls, "a timing", values)
        settings = cls(**values)
        share = settings.share
        if type(share) not in (int, float) or not LEAST_SHARE <= share <= 1:
            raise InputError("share", f"a number from {LEAST_SHARE:g} to 1", f"{share!r:.80}")
        for name, most in (("dimensions", 100_000), ("rounds", 1000)):
            value = getattr(settings, name)
            if type(value) is not int or not 1 <= value <= most:
                raise InputError(name, f"a whole number from 1 to {most:,}", f"{value!r:.80}")
        if settings.parts not in TIMED:
            raise InputError("parts", f"one of: {', '.join(TIMED)}", f"{settings.parts!r:.80}")
        return settings

    def to_json(self) -> dict[str, Any]:
        return {**_told(self), "task": self.task}


Grids = dict[str, tuple[float, ...]]
PAPER_METHODS: Named = (("SVM", {}), ("AP-SVM", {}), ("HOB-SVM", {}), ("HOAP-SVM", {}))
SMALL_GRIDS: Grids = {"C": (10.0, 100.0, 1e3, 1e4), "eta": (0.01, 1.0, 100.0)}
PAPER_GRIDS: Grids = {"C": (1e-1, 1.0, 1e1, 1e2, 1e3, 1e4), "eta": (1e-4, 1e-2, 1.0, 1e2, 1e4)}


@dataclass(frozen=True)
class Protocol:
    """A comparison of methods by cross-validation (high-order, section 5): everything that decides its numbers.

    methods: each with the settings that are fixed for it. queries: the classes that are ranked, each by itself; none
    stands for all of the set. grids: for each setting the values that cross-validation chooses among, for every method
    that has the setting and does not fix it. folds: of the training samples, dealt by `seed`. measure: by which it
    chooses, one of `ranking.metrics.evaluate`. graph: as in `TrainSettings`. tolerance: of every training.
    projection: as there too, and fitted in each fold on what is learnt from. widen: whether a grid goes on beyond an
    end where the best value lies (`ranking.experiments.cross_validation.results.Results.points`).

    >>> Protocol("abc", (("HOG", {}),), grids={"C": (1.0, 10.0)}).to_json()["grids"]
    {'C': [1.0, 10.0]}
    """

    set: str
    features: Named
    methods: Named = PAPER_METHODS
    queries: tuple[str, ...] = ()
    grids: Grids = field(default_factory=lambda: dict(PAPER_GRIDS))
    folds: int = 5
    seed: int = 0
    measure: str = "AP"
    graph: str | None = None
    tolerance: float = 1e-3
    projection: Settings | None = None
    widen: bool = True

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave; a ValueError says what else it is. One that does not say `widen` is from before C had
        a unit, and keeps its meaning."""
        _check(cls, "an experiment", values)
        read = {**values, "features": _named(values, "features", "HOG")}
        if "methods" in values:
            read["methods"] = _named(values, "methods", "HOB-SVM")
        if "queries" in values:
            read["queries"] = _names(values, "queries", "jumping")
        if "grids" in values:
            read["grids"] = _grids(values["grids"])
        if "widen" not in values:
            first = tuple(
                (name, _first_fixed(name, given)) for name, given in read.get("methods", PAPER_METHODS)
            )
            read |= {"methods": first, "widen": False}
        return cls(**read)

    def to_json(self) -> dict[str, Any]:
        grids = {name: list(values) for name, values in self.grids.items()}
        return {**_told(self), "queries": list(self.queries), "grids": grids}


def _first_fixed(method: str, fixed: Settings) -> Settings:
    """What a protocol of before C had a unit fixes of a method: the unit too."""
    first = as_first_meant(method, fixed)
    return {**fixed, "unit": first["unit"]} if "unit" in first else fixed


@dataclass(frozen=True)
class ExperimentSettings(Protocol):
    """A run of a protocol. scheduler: the address of the Dask scheduler whose workers train; None for this computer."""

    task: ClassVar[str] = "experiment"
    called: ClassVar[str] = "experiment"
    scheduler: str | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        return super().from_json(_of_task(cls, values))

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "task": self.task}


AnyImportSettings = ImportSettings | LookSettings | FeaturesSettings
AnyTrainSettings = TrainSettings | LabelTrainSettings | OrderTrainSettings
AnyStudySettings = ExperimentSettings | AskingSettings | StudySettings | TimingSettings
AnySettings = AnyImportSettings | AnyTrainSettings | AnyStudySettings | Protocol
TASK_SETTINGS: dict[str, type[AnyTrainSettings]] = {
    cls.task: cls for cls in (TrainSettings, LabelTrainSettings, OrderTrainSettings)
}
STUDY_SETTINGS: dict[str, type[AnyStudySettings]] = {
    cls.task: cls for cls in (ExperimentSettings, AskingSettings, StudySettings, TimingSettings)
}
# What people call a run of each task.
CALLED: dict[str, str] = {
    **{cls.task: cls.called for cls in (ImportSettings, LookSettings, FeaturesSettings)},
    **{task: cls.called for task, cls in TASK_SETTINGS.items()},
    **{task: cls.called for task, cls in STUDY_SETTINGS.items()},
}
WHOLE_NUMBERS = ("min_images", "questions", "folds", "seed")
NAMES = ("set", "look", "place", "source", "query", "method", "criterion", "study", "title")
TEXTS = ("measure", "graph", "scheduler", "warm_start", "brought", "vectors", "ids")
TIMED = ("tables", "tables and figures")  # of the paper about loss-augmented inference
LEAST_SHARE = 0.05  # of the samples of a timing: some are left of each kind


def train_settings(values: Mapping[str, Any]) -> AnyTrainSettings:
    """The settings of a training of any task, from what `to_json` gave."""
    return _class_of(values.get("task", TrainSettings.task), TASK_SETTINGS).from_json(values)


def study_settings(values: Mapping[str, Any]) -> AnyStudySettings:
    """The same of a study."""
    return _class_of(values.get("task"), STUDY_SETTINGS).from_json(values)


def _class_of(task: Any, known: Mapping[str, type[T]]) -> type[T]:
    if task not in known:
        raise InputError("task", f"one of: {', '.join(known)}", f"{task!r:.80}")
    return known[task]


def _of_task(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings without the name of their task; that of samples is not stored, as it was the only one once."""
    rest = {name: value for name, value in values.items() if name != "task"}
    if "task" in values and values["task"] != cls.task:
        raise InputError("task", cls.task, f"{values['task']!r:.80}")
    return rest


def _told(settings: AnySettings) -> dict[str, Any]:
    """The settings by name; features and methods as lists, as JSON gives them back.

    No projection is left out, so that a run of before there were any is told as it always was.
    """
    told = {item.name: getattr(settings, item.name) for item in fields(settings)}
    if told.get("projection", ...) is None:
        del told["projection"]
    for name in {"features", "methods"} & told.keys():
        told[name] = [[one, given] for one, given in told[name]]
    return told


def _named(values: Mapping[str, Any], what: str, example: str) -> Named:
    """The parts of `values` called `what`, each a name with its settings; `example`: a name of one."""
    try:
        return tuple((str(name), dict(settings)) for name, settings in values[what])
    except (TypeError, ValueError) as error:
        raise InputError(
            what, f"a list of a name and settings each, as [['{example}', {{}}]]", f"{values[what]!r:.80}"
        ) from error


def _names(values: Mapping[str, Any], what: str, example: str) -> tuple[str, ...]:
    """The part of `values` called `what`, a list of names; `example`: one of them."""
    names = values[what]
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(what, f"a list of names, as ['{example}']", f"{names!r:.80}")
    return tuple(names)


def _grids(told: Any) -> Grids:
    """Values by setting, as numbers; ValueError for anything else."""
    lists = told.values() if isinstance(told, dict) else [None]
    if not all(isinstance(values, list | tuple) and all(map(is_number, values)) for values in lists):
        raise InputError("grids", "numbers by setting, as {'C': [1, 10]}", f"{told!r:.80}")
    return {str(name): tuple(map(float, values)) for name, values in told.items()}


def _check(cls: type[AnySettings], what: str, values: Mapping[str, Any]) -> None:
    """ValueError unless `values` name the fields of `cls` and no others."""
    known = {item.name: item for item in fields(cls)}
    optional = [
        name for name, item in known.items() if (item.default, item.default_factory) != (MISSING, MISSING)
    ]
    needed = [name for name in known if name not in optional]
    for words, names in (
        ("no", [name for name in needed if name not in values]),
        ("an unknown", [name for name in values if name not in known]),
    ):
        if names:
            expected = f"{', '.join(needed)} and, where wanted, {', '.join(optional)}"
            raise InputError(f"settings of {what}", expected, f"{words} {', '.join(map(readable, names))}")
    for name in ("source_settings", "method_settings", "drawing", "network"):
        if not isinstance(values.get(name, {}), dict):
            raise InputError(name, "settings by name, as {'seed': 1}", f"{values[name]!r:.80}")
    if not isinstance(values.get("projection"), dict | None):
        raise InputError(
            "projection",
            "a kind and its settings, as {'kind': 'PCA', 'components': 64}",
            f"{values['projection']!r:.80}",
        )
    if not isinstance(values.get("widen", True), bool):
        raise InputError("widen", "true or false", f"{values['widen']!r:.80}")
    for name in NAMES:
        if not isinstance(values.get(name, ""), str):
            raise InputError(name, "a text", f"{values[name]!r:.80}")
    for name in WHOLE_NUMBERS:
        if type(values.get(name, 0)) is not int:
            raise InputError(name, "a whole number", f"{values[name]!r:.80}")
    if not is_number(values.get("tolerance", 1e-3)):
        raise InputError("tolerance", "a number", f"{values['tolerance']!r:.80}")
    for name in TEXTS:
        if not isinstance(values.get(name), str | None):
            raise InputError(name, "a text", f"{values[name]!r:.80}")
