"""The form of a labelling simulation, and the button that starts it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.app import cache, controls, forms, keys
from pages.parts.app.frame import escaped
from pages.parts.studies.study_page import StudyPage
from pages.parts.training import feature_choice, projections, runs
from ranking import method_class, method_names
from ranking.explain.question_strategies import STRATEGIES
from ranking.storage.run import Run
from ranking.storage.run_settings import SimulationSettings
from ranking.storage.sets import ImageSetRow

# for its defaults
USUAL = SimulationSettings("", (), (), ())
MAX_QUESTIONS, MAX_FOLDS, MAX_SEED = 50, 10, 1_000_000


def given(run: Run) -> dict[str, str]:
    """Return the settings of a simulation as URL parameters."""
    settings = SimulationSettings.from_json(run.settings)
    parameters = {
        keys.LABEL_SET: settings.set,
        keys.FEATURES: ",".join(feature_choice.names_of(settings.features)),
        keys.MODELS: ",".join(dict.fromkeys(name for name, _ in settings.methods)),
        keys.STRATEGIES: ",".join(settings.strategies),
        keys.QUESTIONS: str(settings.questions),
        keys.FOLDS: str(settings.folds),
        keys.SEED: str(settings.seed),
        keys.MIN_IMAGES: str(settings.min_images),
        **projections.given(settings.projection),
    }
    for plugin, values in settings.methods:
        parameters |= {keys.setting("method", plugin, name): str(value) for name, value in values.items()}
    return parameters


def show(row: ImageSetRow) -> None:
    """Show the form and the start button; pressing it twice starts one simulation."""
    left, right = st.columns(2, gap="large")
    with left:
        features = feature_choice.choose(cache.image_set(row.key))
        projection = projections.choose()
        strategies = controls.pills("Question strategies", keys.STRATEGIES, list(STRATEGIES))
        st.caption(
            "  \n".join(f"**{escaped(name)}**: {escaped(STRATEGIES[name].summary)}" for name in strategies)
        )
        questions = controls.number("Questions per image", keys.QUESTIONS, 1, MAX_QUESTIONS, USUAL.questions)
        folds = controls.number("Folds", keys.FOLDS, 2, MAX_FOLDS, USUAL.folds)
    with right:
        names = controls.pills("Models", keys.MODELS, method_names(ranks="labels"))
        values: dict[str, dict[str, Any]] = {}
        for name in names:
            with st.expander(f"Settings of {name}"):
                values |= forms.settings_form(
                    "method", [(name, method_class(name))], f"More settings of {name}"
                )
        least = controls.number(
            "Minimum number of images per label", keys.MIN_IMAGES, 1, row.images, USUAL.min_images
        )
        seed = controls.number("Seed of the folds", keys.SEED, 0, MAX_SEED, USUAL.seed)
    settings = SimulationSettings(
        row.key,
        feature_choice.named(features),
        tuple((name, values[name]) for name in names),
        tuple(strategies),
        questions,
        folds,
        seed,
        least,
        projection,
    )
    ready = bool(features and names and strategies)
    PAGE.offer_start("Start the simulation", settings, "start simulation", disabled=not ready)
    if not ready:
        st.info("Choose at least one feature, one model and one question strategy.", icon=":material/info:")
    training_runs = folds * len(names)
    st.caption(
        f"The simulation trains {training_runs} models: each model {folds} times, on all folds but one. Questions are "
        "then asked about the images of the held-out fold and answered by the ground truth. All models have the same "
        "folds."
    )


def words(run: Run) -> str:
    """Describe a simulation in one line."""
    settings = SimulationSettings.from_json(run.settings)
    models = " and ".join(dict.fromkeys(name for name, _ in settings.methods))
    return f"{models} · {runs.features_shown(run)} · {settings.questions} questions, {settings.folds} folds"


PAGE = StudyPage(
    SimulationSettings.task, keys.SIMULATION, keys.LABEL_SET, "Simulation", "New simulation", given, words
)
