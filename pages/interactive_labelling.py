"""Interactive labelling: the model asks about labels of an image, and each answer re-ranks all of them."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, controls, downloads, frame, home, keys
from pages.parts.app.file_names import file_name
from pages.parts.app.frame import escaped
from pages.parts.labelling import (
    answer_files,
    label_models,
    label_race,
    label_ranking,
    question_image,
    questions,
    uploaded_image,
)
from pages.parts.labelling.labelling_session import LabellingSession, strategies
from pages.parts.neighbours import graph_models
from ranking.core import LabelSet
from ranking.core.text import counted
from ranking.explain.question_strategies import STRATEGIES
from ranking.storage.home import DELETED_DAYS
from ranking.storage.run import Run
from ranking.storage.sets import ImageSetRow

BASELINES = {
    "no": "Alone",
    "same": "Independent, same questions",
    "own": "Independent, its own",
}
ON_OFF = {"0": False, "1": True}
# What to notice of a model with interactions, and of one without.
TOGETHER = (
    "**Notice** how far labels move that you were not asked about: C-star knows which labels occur together."
)
ALONE = "**Notice** that no label overtakes another unless you answer it: this model scores each label independently."


def steps() -> None:
    with frame.picture("questions"):
        layout = st.container(key="questions-layout")
    details = st.container(key="settings-questions")
    with details:
        st.subheader("Model and strategy", anchor=False)
        left, right = st.columns(2, gap="medium")
        with left:
            row = label_models.choose_set()
        with right:
            run = label_models.choose_training(row)
        images = images_of(run)
        strategy = choose_strategy(run)
    # frame.css places them; on a phone they follow one another
    with layout:
        picture_of, switch, view, game = (st.container() for _ in range(4))
    with switch:
        label = "The baseline"
        beside = controls.segments(label, keys.BASELINE, BASELINES, "no", label_visibility="collapsed")
        against = st.container()
    uploaded = None
    with (
        details,
        st.expander("Your own image", icon=":material/add_photo_alternate:"),
        frame.errors_in_place(),
    ):
        uploaded = uploaded_image.choose(run)
    with picture_of:
        shown = question_image.show(run, images, uploaded)
    with game:
        truth = choose_truth(shown)
    with details:
        k = choose_k(run, images)
        offer_files(row)
        explain(run)
    baseline = None
    if beside != "no":
        with against:
            baseline = label_models.choose_baseline(run)
    own, *others = [
        LabellingSession.of(player, shown.images, shown.row, way_of(player.run, strategy), k, shown.known)
        for player in label_models.players(run, baseline)
    ]
    baseline_session = others[0] if others else None
    with view:
        label_ranking.style()
        questions.ask(own, baseline_session, beside, truth)
    with game:
        if truth:
            show_race(own, baseline_session)


def images_of(run: Run) -> LabelSet:
    """Return the images with the features of the model."""
    try:
        return label_models.label_ranker(run)[1]
    except cache.NoFeatures:
        graph_models.offer_features(run, cache.image_set(run.settings["set"]))


def choose_strategy(run: Run) -> str:
    """Choose the question strategy."""
    names = strategies(run)
    help = "  \n".join(f"**{name}**: {STRATEGIES[name].summary}" for name in names)
    return controls.segments("Question strategy", keys.STRATEGY, names, names[0], help=help)


def choose_k(run: Run, images: LabelSet) -> int:
    """Choose the number of labels to predict, by default the mean number of labels per image of the set."""
    method, _ = label_models.label_ranker(run)
    most = questions.most_k(images.names)
    label = "k: number of labels to predict"
    return controls.slider(label, keys.LABEL_K, 1, most, min(method.usual_k, most))


def choose_truth(shown: question_image.Shown) -> bool:
    """Choose whether to show the ground truth; an uploaded image has none."""
    parse = address.one_of(list(ON_OFF))
    bound = address.bound(keys.TRUTH, lambda text: ON_OFF[parse(text)], False, lambda on: str(int(on)))
    return bool(st.toggle("Show ground truth", disabled=not shown.known, **bound)) and shown.known


# ---------------------------------------------------------------------------------------------------------
# Questions
# ---------------------------------------------------------------------------------------------------------


def way_of(run: Run, strategy: str) -> str:
    """Return `strategy` if the model supports it, else its first strategy."""
    # A baseline may have no core labels to ask about first.
    able = strategies(run)
    return strategy if strategy in able else able[0]


def show_race(own: LabellingSession, baseline_session: LabellingSession | None) -> None:
    """Show how soon the ranking of each model is correct if the ground truth answers its questions."""
    assert own.truth is not None
    players = [own] if baseline_session is None else [own, baseline_session]
    played = {each.player.title: each.played() for each in players}
    styles = {each.player.title: each.player.style for each in players}
    truth = ", ".join(name for name, has in zip(own.names, own.truth, strict=True) if has)
    st.markdown("**Precision by number of questions**, answered by the ground truth")
    label_race.show(played, styles, keys.widget("race"))
    st.caption(
        f"{label_race.compared(played)} ●: label in the ground truth ({int(own.truth.sum())}): {escaped(truth)}. "
        "**Notice** which curve rises faster over the first questions: that model gains more from each answer."
    )


def offer_files(row: ImageSetRow) -> None:
    """Offer all answers of the image set as files, which are made when a button is pressed."""
    store = home.store().answers
    with st.container(horizontal=True):
        for label, make, ending in (
            ("Answers as CSV", lambda: answer_files.csv_text(store.images(row.key)), "csv"),
            (
                "Every question, as JSON lines",
                lambda: answer_files.json_lines(store.events(row.key)),
                "jsonl",
            ),
        ):
            downloads.offer(label, make, file_name("answers", row.title, row.key, ending))
        delete_answers(row)


def delete_answers(row: ImageSetRow) -> None:
    """Show the buttons that delete all answers about the image set and restore them."""
    store = home.store().answers
    there, gone = len(store.events(row.key)), len(store.deleted(row.key))
    if there:
        with st.popover("Delete the answers", icon=":material/delete:", type="tertiary"):
            st.markdown(
                f"Delete all answers about {escaped(row.title)}, on all its images: {counted(there, 'entry')} "
                "of the answer log (answers, skips and undos). "
                f"They can be restored for {DELETED_DAYS} days."
            )
            st.button(
                "Delete",
                key=keys.widget("delete answers"),
                type="primary",
                on_click=store.delete,
                args=(row.key,),
            )
    if gone:
        st.button(
            f"Restore deleted answers ({counted(gone, 'entry')} of the answer log)",
            key=keys.widget("restore answers"),
            icon=":material/undo:",
            type="tertiary",
            help=f"Deleted answers can be restored for {DELETED_DAYS} days.",
            on_click=store.restore,
            args=(row.key,),
        )


def explain(run: Run) -> None:
    """Show what to notice with this model, and what the symbols mean."""
    notice = TOGETHER if len(label_models.label_ranker(run)[0].core) else ALONE
    st.caption(
        f"{notice} Keys: 1 yes, 0 no, S skip, U undo. The line marks the end of the top k. Each bar: the value of "
        "the best k labels with this label minus without it. Bars to the right are in the top k. ✓ and ✗: your "
        "answers, fixed in place."
    )


frame.show_page(
    "interactive_labelling",
    "Answers re-rank labels.",
    steps,
)
