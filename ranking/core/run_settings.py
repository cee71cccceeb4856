"""What a run is asked to do, as the pages, the store and the worker tell it to each other: in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from ranking.core.errors import InputError
from ranking.core.first_settings import (
    as_first_meant,
    as_stored,
    read_ablation_settings,
    read_source_settings,
    read_train_settings,
)
from ranking.core.stored_settings import OPTIONAL, Grids, StoredSettings, limited, one_of
from ranking.core.stored_settings import Named as Named
from ranking.core.stored_settings import Settings as Settings
from ranking.core.text import readable

T = TypeVar("T")


class Measure(NamedTuple):
    """How well a training ranks what it has not seen: its short name, that in results, and in full."""

    short: str
    key: str
    full: str


# ---------------------------------------------------------------------------------------------------------
# Imports
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ImportSettings(StoredSettings):
    """The source of an image set, by its name, and its settings.

    brought: what a person calls the ZIP file that they uploaded, which is then read instead of what the settings name.
    title: of the image set, "" for what the source calls it.

    >>> ImportSettings("COCO", brought="zoo.zip").to_json()
    {'source': 'COCO', 'source_settings': {}, 'brought': 'zoo.zip'}
    """

    task: ClassVar[str] = "images"
    implied: ClassVar[bool] = True
    called: ClassVar[str] = "import"
    source: str
    source_settings: Settings = field(default_factory=dict)
    brought: str | None = field(default=None, metadata=OPTIONAL)
    title: str = field(default="", metadata=OPTIONAL)

    @classmethod
    def as_meant(cls, read: dict[str, Any]) -> dict[str, Any]:
        settings = read_source_settings(read["source"], read.get("source_settings", {}))
        return {**read, "source_settings": settings}


@dataclass(frozen=True)
class LookSettings(StoredSettings):
    """The first stage of an import: what a person brought, and as what it is read.

    look: the path that was typed, empty for a ZIP file that was uploaded. source: None for the one that knows it best.
    brought: as in `ImportSettings`.
    """

    task: ClassVar[str] = "look"
    implied: ClassVar[bool] = True
    called: ClassVar[str] = "import"
    look: str
    source: str | None = None
    source_settings: Settings = field(default_factory=dict)
    brought: str | None = None


@dataclass(frozen=True)
class FeaturesSettings(StoredSettings):
    """A look at features that a person brings for the image set of a key.

    place: the path that was typed, empty for a file that was uploaded. brought: what the person calls the file that
    they uploaded. vectors, ids: which of its arrays are read, None for those that are called so
    (`ranking.features.uploads.vectors_preview`). network: how a model in ONNX is to be used, over what it says itself
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

    @property
    def file_name(self) -> str:
        """What the person calls the file.

        >>> FeaturesSettings("abc", "/home/anna/resnet.npy").file_name
        'resnet.npy'
        """
        return self.brought or readable(Path(self.place.strip()).name, 120) or "the file"


# ---------------------------------------------------------------------------------------------------------
# Trainings
# ---------------------------------------------------------------------------------------------------------


class OfMethod(StoredSettings):
    """Settings with those of one method, the one that is called `method`."""

    method: str
    method_settings: Settings

    @classmethod
    def as_meant(cls, read: dict[str, Any]) -> dict[str, Any]:
        return read_train_settings(read)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "method_settings": as_stored(self.method, self.method_settings)}


@dataclass(frozen=True)
class TrainSettings(OfMethod):
    """A training: the key of its image set, the class that is ranked first, features and method with settings.

    warm_start: the id of the run whose weights it begins with. graph: the name of the similarity graph of a method
    that uses one, one of `ranking.features.graph.image_graph.GRAPHS` or uploaded pairs
    (`ranking.features.graph.uploaded_pairs`); None leaves it to the method. projection: what is made of the features
    before they are learnt from, as `ranking.features.projection.make_projection` takes it; None for nothing, here and
    in all settings below. corrections: the ids of the samples that the run learns from, and is measured by, with the
    opposite of their label of the image set (`ImageSet.relevance`), as a person had corrected them when it was started.

    >>> TrainSettings("abc", (("HOG", {}),), "jumping", "AP-SVM", {"C": 10.0}).to_json()["features"]
    [['HOG', {}]]
    """

    task: ClassVar[str] = "samples"
    implied: ClassVar[bool] = True
    called: ClassVar[str] = "training"
    measure: ClassVar[Measure] = Measure("AP", "AP", "Average precision")
    set: str
    features: Named
    query: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    warm_start: str | None = None
    graph: str | None = None
    projection: Settings | None = field(default=None, metadata=OPTIONAL)
    corrections: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


@dataclass(frozen=True)
class LabelTrainSettings(OfMethod):
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
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class OrderTrainSettings(OfMethod):
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
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


# ---------------------------------------------------------------------------------------------------------
# Studies
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AskingSettings(StoredSettings):
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
    questions: int = limited(10, 0)
    folds: int = limited(5, 2)
    seed: int = limited(0, 0)
    min_images: int = 20
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class AblationSettings(StoredSettings):
    """A figure of the MidRank paper: the key of its image set, features, the criterion, and which of
    `ranking.experiments.ablations.FIGURES`.

    method_settings: of MidRank, but for what the figure varies. drawing: as in `OrderTrainSettings`.
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
    projection: Settings | None = field(default=None, metadata=OPTIONAL)

    @classmethod
    def as_meant(cls, read: dict[str, Any]) -> dict[str, Any]:
        return read_ablation_settings(read)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "method_settings": as_stored("MidRank", self.method_settings)}


LEAST_SHARE = 0.05  # of the samples of a timing: some are left of each kind
TIMED = ("tables", "tables and figures")  # of the paper about loss-augmented inference


@dataclass(frozen=True)
class TimingSettings(StoredSettings):
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
    share: float = limited(1.0, LEAST_SHARE, 1)
    dimensions: int = limited(2404, 1, 100_000)
    rounds: int = limited(5, 1, 1000)
    seed: int = limited(0, 0)
    parts: str = one_of(TIMED[-1], *TIMED)


PAPER_METHODS: Named = (("SVM", {}), ("AP-SVM", {}), ("HOB-SVM", {}), ("HOAP-SVM", {}))
SMALL_GRIDS: Grids = {"C": (10.0, 100.0, 1e3, 1e4), "eta": (0.01, 1.0, 100.0)}
PAPER_GRIDS: Grids = {"C": (1e-1, 1.0, 1e1, 1e2, 1e3, 1e4), "eta": (1e-4, 1e-2, 1.0, 1e2, 1e4)}


@dataclass(frozen=True)
class Protocol(StoredSettings):
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

    called: ClassVar[str] = "experiment"
    set: str
    features: Named
    methods: Named = PAPER_METHODS
    queries: tuple[str, ...] = ()
    grids: Grids = field(default_factory=lambda: dict(PAPER_GRIDS))
    folds: int = limited(5, 2)
    seed: int = limited(0, 0)
    measure: str = "AP"
    graph: str | None = None
    tolerance: float = 1e-3
    projection: Settings | None = field(default=None, metadata=OPTIONAL)
    widen: bool = True

    @classmethod
    def as_meant(cls, read: dict[str, Any]) -> dict[str, Any]:
        """One that does not say `widen` is from before C had a unit, and keeps its meaning."""
        if "widen" in read:
            return read
        methods = read.get("methods", PAPER_METHODS)
        first = tuple((name, _first_fixed(name, given)) for name, given in methods)
        return {**read, "methods": first, "widen": False}


def _first_fixed(method: str, fixed: Settings) -> Settings:
    """What a protocol of before C had a unit fixes of a method: the unit too."""
    first = as_first_meant(method, fixed)
    return {**fixed, "unit": first["unit"]} if "unit" in first else fixed


@dataclass(frozen=True)
class ExperimentSettings(Protocol):
    """A run of a protocol. scheduler: the address of the Dask scheduler whose workers train; None for this computer."""

    task: ClassVar[str] = "experiment"
    scheduler: str | None = None


# ---------------------------------------------------------------------------------------------------------
# All of them
# ---------------------------------------------------------------------------------------------------------

AnyTrainSettings = TrainSettings | LabelTrainSettings | OrderTrainSettings
AnyStudySettings = ExperimentSettings | AskingSettings | AblationSettings | TimingSettings
TASK_SETTINGS: dict[str, type[AnyTrainSettings]] = {
    cls.task: cls for cls in (TrainSettings, LabelTrainSettings, OrderTrainSettings)
}
STUDY_SETTINGS: dict[str, type[AnyStudySettings]] = {
    cls.task: cls for cls in (ExperimentSettings, AskingSettings, AblationSettings, TimingSettings)
}
# What people call a run of each task.
CALLED: dict[str, str] = {
    **{cls.task: cls.called for cls in (ImportSettings, LookSettings, FeaturesSettings)},
    **{task: cls.called for task, cls in TASK_SETTINGS.items()},
    **{task: cls.called for task, cls in STUDY_SETTINGS.items()},
}


def train_settings(values: Mapping[str, Any]) -> AnyTrainSettings:
    """The settings of a training of any task, from what `to_json` gave."""
    return _class_of(values.get("task", TrainSettings.task), TASK_SETTINGS).from_json(values)


def study_settings(values: Mapping[str, Any]) -> AnyStudySettings:
    """The same of a study."""
    return _class_of(values.get("task"), STUDY_SETTINGS).from_json(values)


def _class_of(task: Any, known: Mapping[str, type[T]]) -> type[T]:
    if not isinstance(task, str) or task not in known:
        raise InputError("task", f"one of: {', '.join(known)}", f"{task!r:.80}")
    return known[task]
