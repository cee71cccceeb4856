"""The form of an experiment, its cost, and the button that starts it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.studies.study_page import StudyPage
from pages.parts.training import feature_choice, graph_choice, projections, runs
from pages.parts.training.jobs_panel import in_minutes
from ranking import method_names
from ranking.experiments.cross_validation.plan import Plan, paths_of, plan_of
from ranking.experiments.cross_validation.protocol import MEASURES, uses_graph
from ranking.features import default_names
from ranking.features.graph.image_graph import UNNAMED_GRAPH
from ranking.storage.run import Run
from ranking.storage.run_settings import PAPER_GRIDS, PAPER_METHODS, SMALL_GRIDS, ExperimentSettings
from ranking.storage.sets import ImageSetRow
from ranking.storage.stored_settings import Grids

LIKE, SMALL, PAPER = "The one above", "Small", "As in the paper"
FEW_QUERIES, FOLDS, MAX_FOLDS, MAX_SEED = 3, 5, 10, 1_000_000
OFFERED = tuple(10.0**power for power in range(-5, 7))
# of a protocol file; usual protocols have some hundred bytes
MAX_MEGABYTES = 1
METHODS = [name for name, _ in PAPER_METHODS]
# Processor seconds of a training run on the 922 training samples of the bundled action figures, mean over the small
# grids; by whether the method uses the similarity graph.
SECONDS, MEASURED_ON = {False: 0.035, True: 1.0}, 922


def given(run: Run) -> dict[str, str]:
    """Return the settings of an experiment as URL parameters."""
    settings = ExperimentSettings.from_json(run.settings)
    parameters = {
        keys.EXPERIMENT_SET: settings.set,
        keys.FEATURES: ",".join(feature_choice.names_of(settings.features)),
        keys.COMPARED_METHODS: ",".join(dict.fromkeys(name for name, _ in settings.methods)),
        keys.FOLDS: str(settings.folds),
        keys.SEED: str(settings.seed),
        keys.CHOSEN_BY: settings.measure,
        keys.WIDEN: str(settings.widen),
        **projections.given(settings.projection),
        keys.GRAPH: settings.graph or UNNAMED_GRAPH,
    }
    parameters |= {f"grid.{name}": _values_shown(list(values)) for name, values in settings.grids.items()}
    if settings.queries:
        parameters[keys.QUERIES] = json.dumps(settings.queries)
    return parameters


def warm_start(run: Run) -> dict[str, str]:
    """Return the settings of the shown experiment for the form, without those of a scale in the URL."""
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
    return f"{', '.join(runs.compared_methods(run))} · {queries} · {runs.features_shown(run)}"


PAGE = StudyPage(
    ExperimentSettings.task,
    keys.EXPERIMENT,
    keys.EXPERIMENT_SET,
    "Experiment",
    "A new experiment",
    warm_start,
    words,
)


def show(row: ImageSetRow, shown: Run | None) -> None:
    """Show the form and the start button."""
    # shown: the experiment above the form.
    scales = [SMALL, PAPER] if shown is None else [LIKE, SMALL, PAPER]
    named = {scale: with_time(row, scale, shown) for scale in scales}
    scale = controls.segments("Preset", keys.SCALE, named, scales[0])
    left, right = st.columns(2, gap="large")
    with left:
        queries = choose_queries(row, scale)
        features = feature_choice.choose(cache.image_set(row.key))
        projection = projections.choose()
        names = choose_compared_methods()
        graph_methods = [name for name in names if uses_graph(name)]
        graph = graph_choice.choose(cache.image_set(row.key), graph_methods, st.container())
    with right:
        grids = {"C": choose_values("C: cost of an error", keys.GRID_C, "C", scale)}
        if graph_methods:
            grids["eta"] = choose_values("η: edge weight", keys.GRID_ETA, "eta", scale)
        widen = choose_widen()
        folds = controls.number("Folds", keys.FOLDS, 2, MAX_FOLDS, FOLDS)
        seed = controls.number("Seed of the folds", keys.SEED, 0, MAX_SEED, 0)
        by = address.bound(keys.CHOSEN_BY, address.one_of(MEASURES), "AP")
        measure = st.selectbox("Measure for model selection and comparison", MEASURES, **by)
    if not (queries and features and names and all(grids.values())):
        st.info(
            "Choose at least one query, one feature, one method and one value per grid.",
            icon=":material/info:",
        )
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


def with_time(row: ImageSetRow, scale: str, shown: Run | None) -> str:
    """The label of a scale with its time: of a preset at default settings, or of the experiment `shown`."""
    if scale == LIKE and shown is not None:
        label, settings = "Same as above", ExperimentSettings.from_json(shown.settings)
    else:
        label = scale
        settings = ExperimentSettings(
            row.key,
            tuple((name, {}) for name in default_names(cache.image_set(row.key))),
            queries=first_queries(row, scale),
            grids=grids_of(scale),
            folds=FOLDS,
        )
    try:
        _, seconds = cost(row, settings)
    except home.Gone:
        # it cannot run on this image set; the form shows the reason when it is chosen
        return label
    return f"{label} · about {in_minutes(seconds)}"


def first_queries(row: ImageSetRow, scale: str) -> tuple[str, ...]:
    return row.classes if scale == PAPER else row.classes[:FEW_QUERIES]


def grids_of(scale: str) -> Grids:
    return PAPER_GRIDS if scale == PAPER else SMALL_GRIDS


def offer(row: ImageSetRow, settings: ExperimentSettings) -> None:
    """Show the cost and the start button, or why the experiment cannot be started."""
    with frame.errors_in_place():
        count, seconds = cost(row, settings)
        PAGE.offer_start("Start the experiment", settings, "start experiment")
        st.caption(
            f"**{count:,} training runs**, plus one test per query and method: about {in_minutes(seconds)} on this "
            f"computer if it is idle{', more if a grid is extended' if settings.widen else ''}. Finished training runs "
            "are reused, also from other experiments. The experiment continues while you use other pages, and keeps "
            "its results if you stop it."
        )


def cost(row: ImageSetRow, settings: ExperimentSettings) -> tuple[int, float]:
    """Return the number of training runs in the folds and an estimate of their seconds."""
    # Gone if the settings are invalid.
    cost: tuple[int, float] = _cost(row.key, json.dumps(settings.to_json(), sort_keys=True))
    return cost


@home.of_home(entries=64)
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
    """Choose the classes to rank, in the order of the set."""
    # The URL has them as JSON, because a class name may contain a comma.
    first = list(first_queries(row, scale))
    bound = address.bound(keys.QUERIES, lambda text: _parse_queries(text, row.classes), first, json.dumps)
    chosen = st.multiselect("Queries: each class is ranked separately", list(row.classes), **bound)
    return [name for name in row.classes if name in chosen]


def _parse_queries(text: str, classes: tuple[str, ...]) -> list[str]:
    try:
        names = json.loads(text)
    except RecursionError:
        raise ValueError("expected a list, got lists in lists") from None
    if not isinstance(names, list) or not set(map(str, names)) <= set(classes):
        raise ValueError("expected a list of classes of the set")
    return [str(name) for name in names]


def choose_compared_methods() -> list[str]:
    """Choose the methods, those of the paper first; each is compared with the earlier ones."""
    names = [*METHODS, *(name for name in method_names(ranks="samples") if name not in METHODS)]
    bound = address.bound(keys.COMPARED_METHODS, address.some_of(names), METHODS, ",".join)
    chosen = st.multiselect("Methods", names, **bound)
    return [name for name in names if name in chosen]


def choose_values(label: str, name: str, setting: str, scale: str) -> list[float]:
    """Choose the values of a grid; powers of ten are offered, the URL may have any others."""
    usual = list(grids_of(scale)[setting])
    bound = address.bound(name, _parse_values, usual, _values_shown)
    offered = sorted({*OFFERED, *st.session_state[bound["key"]]})
    return sorted(st.multiselect(label, offered, format_func=lambda value: f"{value:g}", **bound))


def choose_widen() -> bool:
    """Choose whether a grid is extended if its best value is the first or the last."""
    bound = address.bound(keys.WIDEN, address.one_of((True, False)), True)
    words = "If the best value of a method is at an end of its grid, try the next values, at most twice."
    return bool(st.toggle("Extend grids", help=words, **bound))


def _parse_values(text: str) -> list[float]:
    parse = address.number(float, 0.0)
    values = [float(parse(part)) for part in text.split(",") if part]
    if len(set(values)) < len(values) or 0.0 in values:
        raise ValueError("expected different numbers above 0")
    return values


def _values_shown(values: list[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


# ---------------------------------------------------------------------------------------------------------
# Protocol files
# ---------------------------------------------------------------------------------------------------------


def from_file(here: list[ImageSetRow]) -> None:
    """Start an experiment from a protocol file."""
    file = st.file_uploader(
        "Protocol (JSON) from a report",
        type="json",
        key="protocol file",
        max_upload_size=MAX_MEGABYTES,
    )
    if file is None:
        return
    # browsers enforce this limit, but other clients may not
    if file.size > MAX_MEGABYTES * 2**20:
        st.error(f"A protocol has at most {MAX_MEGABYTES} MB.", icon=":material/error:")
        return
    try:
        payload: Any = json.loads(file.getvalue())
        settings = ExperimentSettings.from_json(payload if isinstance(payload, dict) else {})
    except (ValueError, RecursionError) as error:
        st.error(escaped(f"This file is not a valid protocol: {error}"), icon=":material/error:")
        return
    row = next((row for row in here if row.key == settings.set), None)
    if row is None:
        st.error(
            escaped(
                f"The image set {settings.set:.80} is not in this workspace. Import the same images on the page Image "
                "sets; identical images and labels get the same key."
            ),
            icon=":material/error:",
        )
        return
    st.caption(f"On {escaped(row.title)}: {escaped(', '.join(name for name, _ in settings.methods))}.")
    if settings.scheduler is not None:
        # The workers of a scheduler run the code that it sends, so only the administrator may choose one.
        settings = replace(settings, scheduler=None)
        st.info(
            "The scheduler in this file is ignored: this app trains on its own computer, or on the cluster that it was "
            "started with.",
            icon=":material/info:",
        )
    with frame.errors_in_place():
        cost(row, settings)
        PAGE.offer_start("Start this experiment", settings, "start from file", type="secondary")
