"""Which trainings of orders a page is about: the image set, the criterion, one training and others beside it."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.app import cache, controls, home, keys
from pages.parts.components.film import Frame, Strip
from pages.parts.runs import playback, runs, sets, training_runs
from ranking import method_names
from ranking.core import ImageSet, Ints
from ranking.core.run_settings import OrderTrainSettings
from ranking.core.text import written
from ranking.datasets.sequences import HIGHEST
from ranking.experiments.order_training import make_drawing
from ranking.reports.markup import data_url
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow

OWN, BASELINE = "MidRank", "RankSVM"
PICKER = training_runs.Picker(
    task="orders",
    run=keys.ORDER_RUN,
    set=keys.ORDER_SET,
    own=OWN,
    baseline=BASELINE,
    source="Timeline cars",
    needs="An order needs images with a number each",
    rivalry=f"{BASELINE} learns from pairs which of two images is first. {OWN} learns from subsequences, one ranker "
    "for each length of 3 to 8, and lets the rankers vote. Both learn from the same thousand sequences.",
    playing=lambda run: playback.show_sequence([run], 0),
)
MOST_BESIDE = 3


def choose_set() -> ImageSetRow:
    """One of the sets whose samples have numbers."""
    return PICKER.choose_set(lambda row: bool(_criteria(row)))


def _criteria(row: ImageSetRow) -> tuple[str, ...]:
    try:
        return cache.criteria(row.key)
    except home.Gone:
        return ()


def choose_criterion(row: ImageSetRow) -> str:
    """By what the samples of a set are put in order; nothing is shown where there is one answer."""
    names = cache.criteria(row.key)
    run, first = PICKER.named(), sets.first_of(names)
    if run is not None and run.settings["set"] == row.key and run.settings["criterion"] in names:
        first = run.settings["criterion"]
    return first if len(names) == 1 else controls.select("Criterion", keys.CRITERION, names, first)


def choose_training(
    row: ImageSetRow, criterion: str, label: str = "Training", methods: Sequence[str] | None = None
) -> Run:
    """One of the trainings of orders on a set by a criterion. methods: by which of them; None: by any that puts
    sequences in order."""
    methods = method_names(ranks="orders") if methods is None else methods
    return PICKER.choose(
        [run for run in by_criterion(row, criterion) if run.settings["method"] in methods],
        label,
        f"put {row.title} in order by “{criterion}”",
        lambda method: OrderTrainSettings(row.key, training_runs.usual_features(row.key), criterion, method),
    )


def by_criterion(row: ImageSetRow, criterion: str) -> list[Run]:
    """The trainings of orders on a set by a criterion, newest first."""
    return [run for run in PICKER.runs(row.key) if run.settings["criterion"] == criterion]


def choose_beside(run: Run) -> list[Run]:
    """Up to MOST_BESIDE other training runs tested on the same sequences; at first the newest of other methods."""
    others = {each.id: each for each in same_sequences(run)}
    if not others:
        return []
    newest = {each.settings["method"]: each.id for each in reversed(list(others.values()))}
    newest.pop(run.settings["method"], None)
    chosen = controls.several(
        "Beside it",
        keys.BESIDE,
        runs.labels(list(others.values()), lambda each: f"{short_name(each)} · {runs.measured(each)}"),
        [key for key in others if key in newest.values()][:MOST_BESIDE],
        max_selections=MOST_BESIDE,
        placeholder="no other training run",
    )
    return [others[key] for key in chosen]


def same_sequences(run: Run) -> list[Run]:
    """The other trainings with scores whose test sequences are those of `run`, newest first."""
    return [
        each
        for each in PICKER.runs(run.settings["set"])
        if each.id != run.id and each.has_scores and _tested_on(each) == _tested_on(run)
    ]


def _tested_on(run: Run) -> tuple[object, ...]:
    """What its test sequences follow from, within its image set."""
    settings = OrderTrainSettings.from_json(run.settings)
    return settings.criterion, make_drawing(settings.drawing).tested_on


def short_name(run: Run) -> str:
    """What stands above its strip."""
    return run.name or str(run.settings["method"])


def frames_of(images: ImageSet, criterion: str, samples: Ints, relevance: Ints) -> list[Frame]:
    """A frame for each of the samples (n,) with its value of the criterion."""
    thumbnails, values = cache.thumbnails(images.key), images.numbers_of(criterion)
    return [
        Frame(
            data_url(thumbnails.crop(row)),
            f"image {images.image_names[images.image_of[row]]}",
            written(float(values[row])),
            grade,
        )
        for row, grade in zip(samples.tolist(), relevance.tolist(), strict=True)
    ]


def goes_first(run: Run) -> str:
    """Which end of the criterion begins a sequence."""
    drawing = make_drawing(OrderTrainSettings.from_json(run.settings).drawing)
    return "highest" if drawing.first == HIGHEST else "lowest"


def true_strip(run: Run, order: tuple[int, ...]) -> Strip:
    return Strip("The true order", f"by “{run.settings['criterion']}”, the {goes_first(run)} first", order)


def show_new(row: ImageSetRow, criterion: str) -> None:
    """What is being trained, and what became of what was started last."""
    PICKER.show_new(by_criterion(row, criterion))
