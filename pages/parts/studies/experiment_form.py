"""The form of an experiment, its cost, and the button that starts it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import feature_choice, graph_choice, projections, runs
from pages.parts.runs.jobs_panel import in_minutes
from pages.parts.studies.study_page import StudyPage
from ranking import method_names
from ranking.core.run_settings import PAPER_GRIDS, PAPER_METHODS, SMALL_GRIDS, ExperimentSettings
from ranking.core.stored_settings import Grids
from ranking.experiments.cross_validation.plan import Plan, paths_of, plan_of
from ranking.experiments.cross_validation.protocol import MEASURES, uses_graph
from ranking.features import default_names
from ranking.workspace.run import Run
from ranking.workspace.store import ImageSetRow

LIKE, SMALL, PAPER = "The one above", "Small", "As in the paper"
FEW_QUERIES, FOLDS, MOST_FOLDS, MOST_SEED = 3, 5, 10, 1_000_000
OFFERED = tuple(10.0**power for power in range(-5, 7))
MOST_MEGABYTES = 1  # of a protocol: those of the paper have some hundred bytes
METHODS = [name for name, _ in PAPER_METHODS]
# Processor seconds of a training on the 922 training samples of the bundled action figures, the mean over the grids of
# the small scale: without neighbours, and with them.
SECONDS, MEASURED_ON = {False: 0.035, True: 1.0}, 922


def given(run: Run) -> dict[str, str]:
    """Return the settings of an experiment as URL parameters."""
    settings = ExperimentSettings.from_json(run.settings)
    parameters = {
        keys.EXPERIMENT_SET: settings.set,
        keys.FEATURES: ",".join(feature_choice.names_of(settings.features)),
        keys.CONTENDERS: ",".join(dict.fromkeys(name for name, _ in settings.methods)),
        keys.FOLDS: str(settings.folds),
        keys.SEED: str(settings.seed),
        keys.CHOSEN_BY: settings.measure,
        keys.WIDEN: str(settings.widen),
        **projections.given(settings.projection),
    }
    parameters |= {f"grid.{name}": _values_shown(list(values)) for name, values in settings.grids.items()}
    if settings.queries:
        parameters[keys.QUERIES] = json.dumps(settings.queries)
    if settings.graph is not None:
        parameters[keys.GRAPH] = settings.graph
    return parameters


def begun_with(run: Run) -> dict[str, str]:
    """Return the settings of the shown experiment for the form, except those that a scale in the address replaces."""
    preset = address.get(keys.SCALE) in (SMALL, PAPER)
    return {
        name: value for name, value in given(run).items() if not (preset and keys.depends(name, keys.SCALE))
    }


def words(run: Run) -> str:
    """Describe an experiment in one line."""
    settings = ExperimentSettings.from_json(run.settings)
    queries = f"{len(settings.queries)} queries" if settings.queries else "all queries"
    if len(settings.queries) == 1:
        queries = f"“{settings.queries[0]}”"
    return f"{', '.join(runs.contenders(run))} · {queries} · {runs.features_of(run)}"


PAGE = StudyPage(
    ExperimentSettings.task,
    keys.EXPERIMENT,
    keys.EXPERIMENT_SET,
    "Experiment",
    "A new experiment",
    begun_with,
    words,
)


def show(row: ImageSetRow, shown: Run | None) -> None:
    """Show the form and the start button; pressing it twice starts one experiment. shown: the experiment above the
    form."""
    scales = [SMALL, PAPER] if shown is None else [LIKE, SMALL, PAPER]
    named = {scale: with_time(row, scale) for scale in scales}
    scale = controls.segments("Begin with", keys.SCALE, named, scales[0])
    left, right = st.columns(2, gap="large")
    with left:
        queries = choose_queries(row, scale)
        features = feature_choice.choose(cache.image_set(row.key))
        projection = projections.choose()
        names = choose_contenders()
        leaning = [name for name in names if uses_graph(name)]
        graph = graph_choice.choose(cache.image_set(row.key), leaning[0]) if leaning else None
    with right:
        grids = {"C": choose_values("C: how much an error costs", keys.GRID_C, "C", scale)}
        if leaning:
            grids["eta"] = choose_values("η: how strong neighbours are", keys.GRID_ETA, "eta", scale)
        widen = choose_widen()
        folds = controls.number("Folds", keys.FOLDS, 2, MOST_FOLDS, FOLDS)
        seed = controls.number("Seed of the folds", keys.SEED, 0, MOST_SEED, 0)
        by = address.bound(keys.CHOSEN_BY, address.one_of(MEASURES), "AP")
        measure = st.selectbox("Settings are chosen by, and methods compared by", MEASURES, **by)
    if not (queries and features and names and all(grids.values())):
        st.info("Choose at least one query, feature, method and value of each grid.", icon=":material/info:")
        return
    settings = ExperimentSettings(
        row.key,
        feature_choice.named(features),
        tuple((name, {}) for name in names),
        () if len(queries) == len(row.classes) else tuple(queries),
        {name: tuple(values) for name, values in grids.items()},
        folds,
        seed,
        measure,
        graph,
        projection=projection,
        widen=widen,
    )
    offer(row, settings)


def with_time(row: ImageSetRow, scale: str) -> str:
    """A scale, and where it is one of the presets, how long it takes with all else at its default."""
    if scale == LIKE:
        return scale
    settings = ExperimentSettings(
        row.key,
        tuple((name, {}) for name in default_names(cache.image_set(row.key))),
        queries=first_queries(row, scale),
        grids=grids_of(scale),
        folds=FOLDS,
    )
    try:
        _, seconds = cost(row, settings)
    except cache.Gone:
        return scale  # a set on which it cannot run: where it is chosen, the form says why
    return f"{scale} · about {in_minutes(seconds)}"


def first_queries(row: ImageSetRow, scale: str) -> tuple[str, ...]:
    return row.classes if scale == PAPER else row.classes[:FEW_QUERIES]


def grids_of(scale: str) -> Grids:
    return PAPER_GRIDS if scale == PAPER else SMALL_GRIDS


def offer(row: ImageSetRow, settings: ExperimentSettings) -> None:
    """Show the cost and the start button, or why the experiment cannot be started."""
    with frame.in_place():
        count, seconds = cost(row, settings)
        PAGE.offer_start("Start the experiment", settings, "start experiment")
        st.caption(
            f"**{count:,} trainings**, and as many tests as queries times methods: about "
            f"{in_minutes(seconds)} on this computer while it does nothing else"
            f"{', and more where a grid is widened' if settings.widen else ''}. Trainings that are there already, "
            "also of another experiment, are taken over. It goes on while you look at other pages, and keeps all that "
            "it has when it is stopped."
        )


def cost(row: ImageSetRow, settings: ExperimentSettings) -> tuple[int, float]:
    """Return the number of training runs in the folds and an estimate of their seconds; Gone where the settings make no
    experiment."""
    cost: tuple[int, float] = _cost(row.key, json.dumps(settings.to_json(), sort_keys=True))
    return cost


@cache.of_home(entries=64)
def _cost(key: str, settings: str) -> tuple[int, float]:
    images = cache.image_set(key)
    plan: Plan = plan_of(ExperimentSettings.from_json(json.loads(settings)), images)
    trials = [trial for path in paths_of(plan.validation.values()) for trial in path]
    each = sum(SECONDS[uses_graph(trial.method)] for trial in trials)
    samples = int((~images.test).sum())
    return len(trials), each * samples / MEASURED_ON / (os.cpu_count() or 1)


# ---------------------------------------------------------------------------------------------------------
# The parts of the form
# ---------------------------------------------------------------------------------------------------------


def choose_queries(row: ImageSetRow, scale: str) -> list[str]:
    """Choose the classes to rank, in the order of the set; as JSON in the address, because a class name may contain a
    comma."""
    first = list(first_queries(row, scale))
    bound = address.bound(keys.QUERIES, lambda text: _parse_queries(text, row.classes), first, json.dumps)
    chosen = st.multiselect("Queries: each class is ranked by itself", list(row.classes), **bound)
    return [name for name in row.classes if name in chosen]


def _parse_queries(text: str, classes: tuple[str, ...]) -> list[str]:
    try:
        names = json.loads(text)
    except RecursionError:
        raise ValueError("expected a list, got lists in lists") from None
    if not isinstance(names, list) or not set(map(str, names)) <= set(classes):
        raise ValueError("expected a list of classes of the set")
    return [str(name) for name in names]


def choose_contenders() -> list[str]:
    """Choose the methods, those of the paper first; differences are taken to earlier ones."""
    names = [*METHODS, *(name for name in method_names(ranks="samples") if name not in METHODS)]
    bound = address.bound(keys.CONTENDERS, address.some_of(names), METHODS, ",".join)
    chosen = st.multiselect("Methods", names, **bound)
    return [name for name in names if name in chosen]


def choose_values(label: str, name: str, setting: str, scale: str) -> list[float]:
    """Choose the values of a grid; powers of ten are offered, the address may hold any others."""
    usual = list(grids_of(scale)[setting])
    bound = address.bound(name, _parse_values, usual, _values_shown)
    offered = sorted({*OFFERED, *st.session_state[bound["key"]]})
    return sorted(st.multiselect(label, offered, format_func=lambda value: f"{value:g}", **bound))


def choose_widen() -> bool:
    """Choose whether a grid is extended where its best value is the first or the last."""
    bound = address.bound(keys.WIDEN, address.one_of((True, False)), True)
    words = "Try the next values, twice at most, where a method is best at an end of its grid."
    return bool(st.toggle("Widen a grid at its end", help=words, **bound))


def _parse_values(text: str) -> list[float]:
    parse = address.number(float, 0.0)
    values = [float(parse(part)) for part in text.split(",") if part]
    if len(set(values)) < len(values) or 0.0 in values:
        raise ValueError("expected different numbers above 0")
    return values


def _values_shown(values: list[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


# ---------------------------------------------------------------------------------------------------------
# From a file
# ---------------------------------------------------------------------------------------------------------


def from_file(here: list[ImageSetRow]) -> None:
    """Start an experiment from a protocol file."""
    file = st.file_uploader(
        "A protocol as JSON, as reports hold it",
        type="json",
        key="protocol file",
        max_upload_size=MOST_MEGABYTES,
    )
    if file is None:
        return
    if file.size > MOST_MEGABYTES * 2**20:  # browsers are asked to keep to it, others need not
        st.error(f"A protocol has at most {MOST_MEGABYTES} MB.", icon=":material/error:")
        return
    try:
        payload: Any = json.loads(file.getvalue())
        settings = ExperimentSettings.from_json(payload if isinstance(payload, dict) else {})
    except (ValueError, RecursionError) as error:
        st.error(escaped(f"This is no protocol: {error}"), icon=":material/error:")
        return
    row = next((row for row in here if row.key == settings.set), None)
    if row is None:
        st.error(
            escaped(
                f"Its image set is not here: {settings.set:.80}. Import the same images on the page Image sets; equal "
                "images and labels have the same key."
            ),
            icon=":material/error:",
        )
        return
    st.caption(f"On {escaped(row.title)}: {escaped(', '.join(name for name, _ in settings.methods))}.")
    if settings.scheduler is not None:
        # Who is connected to a scheduler runs what it sends: which one is for whoever runs the app to say.
        settings = replace(settings, scheduler=None)
        st.info(
            "The file names a scheduler, which is left out: this app trains on its own computer, or on the cluster "
            "that it was started with.",
            icon=":material/info:",
        )
    with frame.in_place():
        cost(row, settings)
        PAGE.offer_start("Start this experiment", settings, "start from file", type="secondary")
