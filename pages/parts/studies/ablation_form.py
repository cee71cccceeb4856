"""The form of a MidRank ablation, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import cache, controls, forms, keys
from pages.parts.studies.study_page import StudyPage
from pages.parts.training import feature_choice, projections, runs
from ranking import method_class
from ranking.core.settings import settings_of
from ranking.datasets.sequences import ANY, HIGHEST, LOWEST, ONE_EACH
from ranking.experiments.ablations import FIGURES
from ranking.experiments.order_task import make_drawing
from ranking.storage.run import Run
from ranking.storage.run_settings import AblationSettings
from ranking.storage.sets import ImageSetRow

TRAIN, TEST, SUBSEQUENCES = 1000, 500, 10_000
# of the sequences of the paper's cars
USUAL_LENGTH = 20
# Ablations that the paper measures on public figures have shorter sequences. The ablation of representations is small,
# because max-pooled windows have no scores per position, so that their search takes a hundred times as long.
LENGTHS = {"number of trees": 8, "representation": 8}
TESTS = {"representation": 200}
FEW_SUBSEQUENCES = {"representation": 2_000}
OWN = "MidRank"
# Settings of MidRank that an ablation sets itself, and settings that no form offers: the lengths, and the number of
# subsequences, which has another field.
VARIED = {
    **{study: {"fusion"} for study in ("subsequence length", "fusion", "test length", "time")},
    "representation": {"representation"},
    "number of trees": {"trees"},
}
NOT_OFFERED = {"shortest", "longest", "subsequences"}
FIRST, OF = keys.setting("study", "drawing", "first"), keys.setting("study", "drawing", "of")
LENGTH, TRAINED, TESTED, SAMPLED, SEED = (
    keys.setting("study", "drawing", name) for name in ("length", "train", "test", "subsequences", "seed")
)


def given(run: Run) -> dict[str, str]:
    """Return the settings of an ablation as URL parameters."""
    settings = AblationSettings.from_json(run.settings)
    if settings.study not in FIGURES:
        raise ValueError(f"there is no ablation named {settings.study!r:.40}")
    parameters = {
        keys.ORDER_SET: settings.set,
        keys.CRITERION: settings.criterion,
        keys.ABLATION: settings.study,
        keys.FEATURES: ",".join(feature_choice.names_of(settings.features)),
        **projections.given(settings.projection),
    }
    sequences = {
        keys.setting("study", "drawing", name): str(value) for name, value in settings.drawing.items()
    }
    subsequences = settings.method_settings.get("subsequences", SUBSEQUENCES)
    own = {
        keys.setting("study", OWN, name): str(value)
        for name, value in settings.method_settings.items()
        if name not in NOT_OFFERED
    }
    return {**parameters, **sequences, **own, SAMPLED: str(subsequences)}


def show(row: ImageSetRow, criterion: str, study: str) -> None:
    """Show the form and the start button; pressing it twice starts one ablation."""
    left, right = st.columns(2, gap="large")
    with left:
        features = feature_choice.choose(cache.image_set(row.key))
        projection = projections.choose()
        first = controls.segments("Ranked first", FIRST, (HIGHEST, LOWEST), HIGHEST)
        of = controls.segments("Sequences are sampled from", OF, (ANY, ONE_EACH), ANY)
        seed = controls.number("Seed", SEED, 0, 1_000_000, 0)
    with right:
        length = controls.number("Length of the sequences", LENGTH, 3, 500, LENGTHS.get(study, USUAL_LENGTH))
        train = controls.number("Training sequences", TRAINED, 1, 20_000, TRAIN)
        test = controls.number("Test sequences", TESTED, 2, 20_000, TESTS.get(study, TEST))
        subsequences = controls.number(
            "Subsequences per length (plus as many scrambled)",
            SAMPLED,
            10,
            100_000,
            FEW_SUBSEQUENCES.get(study, SUBSEQUENCES),
        )
    with st.expander(f"Settings of {OWN}"):
        plugin, omitted = method_class(OWN), NOT_OFFERED | VARIED.get(study, set())
        values = forms.settings_form("study", [(OWN, plugin)], "More settings", without=omitted)[OWN]
    usual = {item.name: item.default for item in settings_of(plugin)}
    changed = {name: value for name, value in values.items() if value != usual[name]}
    drawing = {"first": first, "of": of, "length": length, "train": train, "test": test, "seed": seed}
    settings = AblationSettings(
        row.key,
        feature_choice.named(features),
        criterion,
        study,
        {**changed, "subsequences": subsequences},
        drawing,
        projection,
    )
    label = f"Measure Fig. {FIGURES[study].figure} on this image set"
    PAGE.offer_start(label, settings, "start study", disabled=not features)
    if not features:
        st.info("Choose at least one feature.", icon=":material/info:")
    st.caption(
        "MidRank has rankers of length 3 to 8. The paper trains on 10,000 sequences and tests on 20,000; the defaults "
        "here take about a minute."
    )


def words(run: Run) -> str:
    """Describe an ablation among others of the same figure."""
    drawing = make_drawing(AblationSettings.from_json(run.settings).drawing)
    return f"{runs.features_shown(run)} · {drawing.train:,} sequences of {drawing.length}"


PAGE = StudyPage(
    AblationSettings.task, keys.ABLATION_RUN, keys.ORDER_SET, "Ablation run", "New measurement", given, words
)
