"""The settings of every run as JSON, shared by the pages, the store and the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar, get_args

from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, Named, Settings
from ranking.core.text import readable
from ranking.storage.stored_settings import OPTIONAL, Grids, StoredSettings, limited, one_of

T = TypeVar("T")


class Measure(NamedTuple):
    """The measure of a run on its test split: its short name, its name in results, and its full name."""

    short: str
    key: str
    full: str


# ---------------------------------------------------------------------------------------------------------
# Imports
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ImportSettings(StoredSettings):
    """An import of an image set: its source, and the settings of the source.

    >>> ImportSettings("COCO", upload="zoo.zip").to_json()
    {'source': 'COCO', 'source_settings': {}, 'upload': 'zoo.zip'}
    """

    task: ClassVar[str] = "images"
    implied: ClassVar[bool] = True
    kind_name: ClassVar[str] = "import"
    # None for the format that recognises the files
    source: str | None = None
    # those that differ from what the files suggest, and the path that was entered
    source_settings: Settings = field(default_factory=dict)
    # the name of the uploaded ZIP file, which is read instead of a path; None without an upload
    upload: str | None = field(default=None, metadata=OPTIONAL)
    # of the image set; "" for the title that the source gives it
    title: str = field(default="", metadata=OPTIONAL)
    # whether anything that is left out is an error
    strict: bool = field(default=False, metadata=OPTIONAL)

    @property
    def file_name(self) -> str:
        """Return the name of the upload, or the path that was entered, or the source that needs neither.

        >>> ImportSettings(upload="zoo.zip").file_name, ImportSettings("Digits").file_name
        ('zoo.zip', 'Digits')
        """
        paths = self.source_settings
        return self.upload or str(paths.get("folder") or paths.get("file") or self.source)


@dataclass(frozen=True)
class FeaturesSettings(StoredSettings):
    """An import of custom features for the image set with the key `set`."""

    task: ClassVar[str] = "features"
    kind_name: ClassVar[str] = "import of features"
    set: str
    # the path that was entered, empty for an uploaded file
    place: str = ""
    # the name of the uploaded file
    upload: str | None = None
    # the arrays to read, None for those with the default names (`ranking.features.uploads.vectors_preview`)
    vectors: str | None = None
    ids: str | None = None
    # how to use an ONNX model, where this differs from its metadata (`ranking.features.onnx_model`)
    network: Settings = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """Return the name of the file as the user knows it.

        >>> FeaturesSettings("abc", "/home/anna/resnet.npy").file_name
        'resnet.npy'
        """
        return self.upload or readable(Path(self.place.strip()).name, 120) or "the file"


@dataclass(frozen=True)
class OwnImageSettings(StoredSettings):
    """An image of the user, described by these features."""

    task: ClassVar[str] = "own image"
    kind_name: ClassVar[str] = "uploaded image"
    file_name: ClassVar[str] = "your image"
    features: Named


# ---------------------------------------------------------------------------------------------------------
# Training runs
# ---------------------------------------------------------------------------------------------------------


class OfMethod(StoredSettings):
    """Settings that include those of one method, `method`."""

    method: str
    method_settings: Settings


@dataclass(frozen=True)
class TrainSettings(OfMethod):
    """A training run: the key of its image set, the class ranked first, features, and a method with settings.

    >>> TrainSettings("abc", (("HOG", {}),), "jumping", "AP-SVM", {"C": 10.0}).to_json()["features"]
    [['HOG', {}]]
    """

    task: ClassVar[str] = "samples"
    implied: ClassVar[bool] = True
    kind_name: ClassVar[str] = "training run"
    measure: ClassVar[Measure] = Measure("AP", "AP", "Average precision")
    set: str
    features: Named
    query: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    # the id of the run whose weights it starts from
    warm_start: str | None = None
    # the similarity graph of a method that uses one: a name in `ranking.features.graph.image_graph.GRAPHS`,
    # or of uploaded pairs (`ranking.features.graph.uploaded_pairs`); None for its UNNAMED_GRAPH, or where the
    # method uses no graph
    graph: str | None = None
    # applied to the features before training, as in `ranking.features.projection.make_projection`; None for
    # no projection, here and in all settings below
    projection: Settings | None = field(default=None, metadata=OPTIONAL)
    # ids of samples whose label the user had corrected when the run was started; training and evaluation use
    # the opposite of their label in the image set (`ImageSet.relevance`)
    corrections: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


@dataclass(frozen=True)
class LabelTrainSettings(OfMethod):
    """A label-ranking run: the key of its image set, features, and a method with settings.

    >>> LabelTrainSettings("abc", (("GIST", {}),), "C-star p@k", {"core_size": 3}).to_json()["min_images"]
    20
    """

    task: ClassVar[str] = "labels"
    kind_name: ClassVar[str] = "label-ranking run"
    measure: ClassVar[Measure] = Measure("BEP", "BEP", "Break-even precision")
    warm_start: ClassVar[None] = None
    graph: ClassVar[None] = None
    set: str
    features: Named
    method: str
    method_settings: Settings = field(default_factory=dict)
    # classes that fewer images show are not used as labels
    min_images: int = 20
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class OrderTrainSettings(OfMethod):
    """A sequence-ranking run: the key of its image set, features, the criterion, and a method with settings.

    >>> OrderTrainSettings("abc", (("HOG", {}),), "year", "MidRank", drawing={"length": 20}).to_json()["drawing"]
    {'length': 20}
    """

    task: ClassVar[str] = "sequences"
    kind_name: ClassVar[str] = "sequence-ranking run"
    measure: ClassVar[Measure] = Measure("tau", "Kendall tau", "Kendall tau")
    warm_start: ClassVar[None] = None
    graph: ClassVar[None] = None
    set: str
    features: Named
    criterion: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    # the settings of `ranking.datasets.sequences.Drawing` that differ from their defaults: which end of the
    # criterion is ranked first, what sequences contain, their length, number and seed. Equal settings give
    # all methods the same sequences.
    drawing: Settings = field(default_factory=dict)
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class BagTrainSettings(OfMethod):
    """A localisation run: the key of its image set, the class that is located, and a method with settings.

    >>> BagTrainSettings("abc", "horse", "Latent AP-SVM", windows={"source": "grid"}).to_json()["windows"]
    {'source': 'grid'}
    """

    task: ClassVar[str] = "windows"
    kind_name: ClassVar[str] = "localisation run"
    measure: ClassVar[Measure] = Measure("AP", "AP", "Average precision of images")
    warm_start: ClassVar[None] = None
    graph: ClassVar[None] = None
    features: ClassVar[Named] = ()
    projection: ClassVar[None] = None
    set: str
    query: str
    method: str
    method_settings: Settings = field(default_factory=dict)
    # the settings of `ranking.features.windows.settings.WindowSettings` that differ from their defaults
    windows: Settings = field(default_factory=dict)


# ---------------------------------------------------------------------------------------------------------
# Studies
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SimulationSettings(StoredSettings):
    """A labelling simulation: methods, the images they are trained on, and their question strategies."""

    task: ClassVar[str] = "asking"
    kind_name: ClassVar[str] = "labelling simulation"
    graph: ClassVar[None] = None
    set: str
    features: Named
    # each with its settings
    methods: Named
    # names in `ranking.explain.question_strategies.STRATEGIES`
    strategies: tuple[str, ...]
    # per image
    questions: int = limited(10, 0)
    # to which images are assigned by `seed`
    folds: int = limited(5, 2)
    seed: int = limited(0, 0)
    # as in `LabelTrainSettings`
    min_images: int = 20
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class AblationSettings(StoredSettings):
    """A MidRank ablation: the key of its image set, features, the criterion, and a figure of the paper."""

    task: ClassVar[str] = "midrank"
    kind_name: ClassVar[str] = "ablation"
    graph: ClassVar[None] = None
    set: str
    features: Named
    criterion: str
    # one of `ranking.experiments.ablations.FIGURES`
    study: str
    # of MidRank, except the setting that the figure varies
    method_settings: Settings = field(default_factory=dict)
    # as in `OrderTrainSettings`
    drawing: Settings = field(default_factory=dict)
    projection: Settings | None = field(default=None, metadata=OPTIONAL)


# of the samples of a timing, so that both classes have some
LEAST_SHARE = 0.05
# of the paper about loss-augmented inference
TIMED = ("tables", "tables and figures")


@dataclass(frozen=True)
class TimingSettings(StoredSettings):
    """A timing of loss-augmented inference on synthetic samples, as many as in quicksort's experiments."""

    task: ClassVar[str] = "timing"
    kind_name: ClassVar[str] = "timing"
    set: ClassVar[None] = None
    graph: ClassVar[None] = None
    features: ClassVar[Named] = ()
    # of the paper's numbers of samples; 1 for all
    share: float = limited(1.0, LEAST_SHARE, 1)
    # of the features
    dimensions: int = limited(2404, 1, 100_000)
    # every time is the median of this many measurements
    rounds: int = limited(5, 1, 1000)
    seed: int = limited(0, 0)
    # one of TIMED: the tables only, or the figures too
    parts: str = one_of(TIMED[-1], *TIMED)


@dataclass(frozen=True)
class CvxpySettings(TrainSettings):
    """A CVXPY comparison: a training run's problem on few samples, solved by its method and in CVXPY."""

    task: ClassVar[str] = "cvxpy"
    implied: ClassVar[bool] = False
    kind_name: ClassVar[str] = "CVXPY comparison"


@dataclass(frozen=True)
class FeatureStudySettings(StoredSettings):
    """AP by feature: the key of the image set, the features that are each used alone, the class, and the method."""

    task: ClassVar[str] = "by feature"
    kind_name: ClassVar[str] = "comparison of features"
    graph: ClassVar[None] = None
    set: str
    features: Named
    query: str
    method: str = "SVM"


@dataclass(frozen=True)
class DescribeSettings(StoredSettings):
    """A computation of features of an image set, which other runs and pages then find computed."""

    task: ClassVar[str] = "describe"
    kind_name: ClassVar[str] = "computation of features"
    graph: ClassVar[None] = None
    set: str
    features: Named


PAPER_METHODS: Named = (("SVM", {}), ("AP-SVM", {}), ("HOB-SVM", {}), ("HOAP-SVM", {}))
SMALL_GRIDS: Grids = {"C": (10.0, 100.0, 1e3, 1e4), "eta": (0.01, 1.0, 100.0)}
PAPER_GRIDS: Grids = {"C": (1e-1, 1.0, 1e1, 1e2, 1e3, 1e4), "eta": (1e-4, 1e-2, 1.0, 1e2, 1e4)}


@dataclass(frozen=True)
class Protocol(StoredSettings):
    """A comparison of methods by cross-validation (high-order, section 5): all that determines its results.

    >>> Protocol("abc", (("HOG", {}),), grids={"C": (1.0, 10.0)}).to_json()["grids"]
    {'C': [1.0, 10.0]}
    """

    kind_name: ClassVar[str] = "experiment"
    set: str
    features: Named
    # each with its fixed settings
    methods: Named = PAPER_METHODS
    # the classes to rank, one at a time; an empty tuple stands for all classes of the set
    queries: tuple[str, ...] = ()
    # the values of each setting among which cross-validation chooses, for every method that has the setting
    # and does not fix it
    grids: Grids = field(default_factory=lambda: dict(PAPER_GRIDS))
    # of the training samples, assigned by `seed`
    folds: int = limited(5, 2)
    seed: int = limited(0, 0)
    # the criterion of choice, one of `ranking.metrics.evaluate`
    measure: str = "AP"
    # as in `TrainSettings`
    graph: str | None = None
    # of every training run
    tolerance: float = 1e-3
    # as in `TrainSettings`, fitted to the training part of each fold
    projection: Settings | None = field(default=None, metadata=OPTIONAL)
    # whether a grid is extended beyond an end that has the best value (`Results.points`)
    widen: bool = True


@dataclass(frozen=True)
class ExperimentSettings(Protocol):
    """A run of a protocol. scheduler: the address of a Dask scheduler whose workers train; None for this computer."""

    task: ClassVar[str] = "experiment"
    scheduler: str | None = None


# ---------------------------------------------------------------------------------------------------------
# All settings
# ---------------------------------------------------------------------------------------------------------

AnyImportSettings = ImportSettings | FeaturesSettings | OwnImageSettings
AnyTrainSettings = TrainSettings | LabelTrainSettings | OrderTrainSettings | BagTrainSettings
AnyStudySettings = (
    ExperimentSettings
    | SimulationSettings
    | AblationSettings
    | TimingSettings
    | CvxpySettings
    | FeatureStudySettings
    | DescribeSettings
)
TASK_SETTINGS: dict[str, type[AnyTrainSettings]] = {cls.task: cls for cls in get_args(AnyTrainSettings)}
STUDY_SETTINGS: dict[str, type[AnyStudySettings]] = {cls.task: cls for cls in get_args(AnyStudySettings)}
IMPORT_SETTINGS: dict[str, type[AnyImportSettings]] = {cls.task: cls for cls in get_args(AnyImportSettings)}
# How messages name a run of each task.
KIND_NAMES: dict[str, str] = {
    **{task: cls.kind_name for task, cls in IMPORT_SETTINGS.items()},
    **{task: cls.kind_name for task, cls in TASK_SETTINGS.items()},
    **{task: cls.kind_name for task, cls in STUDY_SETTINGS.items()},
}


def train_settings(values: GivenSettings) -> AnyTrainSettings:
    """Read the settings of a training run of any task from the output of `to_json`."""
    return _class_of(values.get("task", TrainSettings.task), TASK_SETTINGS).from_json(values)


def study_settings(values: GivenSettings) -> AnyStudySettings:
    """Read the settings of a study from the output of `to_json`."""
    return _class_of(values.get("task"), STUDY_SETTINGS).from_json(values)


def _class_of(task: object, known: Mapping[str, type[T]]) -> type[T]:
    if not isinstance(task, str) or task not in known:
        raise InputError("task", f"one of: {', '.join(known)}", f"{task!r:.80}")
    return known[task]
