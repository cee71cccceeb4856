"""Which ranker of labels a page is about: its image set, its training, its rival; and how to get one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import sets
from pages.parts.runs import jobs_panel, label_trainings, run_actions, runs
from pages.parts.views import label_looks
from ranking import method_names
from ranking.reports.looks import Look
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import ImageSetRow

OWN, RIVAL = "C-star p@k", "Independent p@k"
SOURCE = "Label scenes"  # what is offered where no set has several labels an image
MOST_LABELS_OF_ONE = 2.0  # a set whose images have fewer on average leaves nothing to rank
NAMES = {OWN: "C-star", RIVAL: "Independent"}  # what a projector has room for


class Player(NamedTuple):
    """Who asks, or plays along: a training, what it is called beside the other, and how its line looks."""

    run: Run
    title: str
    look: Look


def choose_set() -> ImageSetRow:
    """One of the sets whose images have several labels; a button that imports one where there is none."""
    sets.prepare()
    known = {row.key: row for row in cache.store().image_sets() if _labels_of_one(row) >= MOST_LABELS_OF_ONE}
    if not known:
        sets.import_first(
            SOURCE,
            "Ranking labels needs images with several labels each",
            "Drawn pictures, each with a dozen of some forty labels such as sea, sand and sunset. They come with the "
            "app. Images of your own come in on the page Image sets.",
        )
    return sets.choose_among(known, keys.LABEL_SET, SOURCE, _chosen(), _title)


def _labels_of_one(row: ImageSetRow) -> float:
    """How many labels an image of a set has on average."""
    try:
        return float(cache.image_labels(row.key).labels.sum(axis=1).mean())
    except cache.Gone:
        return 0.0


def _title(row: ImageSetRow) -> str:
    shown = cache.image_labels(row.key)
    return (
        f"{row.title} — {len(shown):,} images, {len(shown.names)} labels, {_labels_of_one(row):.1f} an image"
    )


def _chosen() -> Run | None:
    return address.read(keys.LABEL_RUN, _training, None)


def _training(run_id: str) -> Run:
    run = cache.store().run(run_id)
    if run.kind != "label":
        raise ValueError(f"expected a training that ranks labels, got: {run.called}")
    return run


def choose_training(
    row: ImageSetRow, label: str = "The model that asks", methods: Sequence[str] | None = None
) -> Run:
    """One of the trainings of labels on a set, those by OWN foremost; a button that trains a model and its rival where
    there is none. methods: by which of them; None: by any that ranks labels."""
    methods = method_names(ranks="labels") if methods is None else methods
    here = [run for run in cache.store().runs("label", row.key) if run.settings["method"] in methods]
    run_actions.say_deleted("label")
    usable = sorted((run for run in here if run.has_model), key=lambda run: run.settings["method"] != OWN)
    live = [run for run in here if run.state not in ENDED]
    own_there = bool(usable) and usable[0].settings["method"] == OWN
    own_live = any(run.settings["method"] == OWN for run in live)
    if not usable or (own_live and not own_there and address.get(keys.LABEL_RUN) is None):
        _train_first(row, live, here)  # a rival that is ready sooner is not what was asked for
    bound = address.bound(keys.LABEL_RUN, address.one_of([run.id for run in usable]), usable[0].id)
    names = runs.labels(usable)
    chosen = st.selectbox(label, list(names), format_func=names.__getitem__, **bound)
    if address.get(keys.LABEL_RUN) is None:
        address.amend(
            **{keys.LABEL_RUN: chosen}
        )  # also where it is only the newest: a link shows it tomorrow
    run = next(run for run in usable if run.id == chosen)
    label_trainings.look_at(run)
    label_trainings.train_another(row, sorted(methods, key=lambda name: name != OWN), live)
    run_actions.bring_back("label")
    return run


def _train_first(row: ImageSetRow, live: list[Run], here: list[Run]) -> NoReturn:
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(_missing(row, live))}", text_alignment="center")
        if live:
            label_trainings.watch(live)
            frame.end_page()
        if here:
            jobs_panel.explain_end(here[0])
        if frame.pressed("Train C-star and its rival", keys.widget("train labels"), type="primary"):
            for method in (RIVAL, OWN):
                label_trainings.start(row.key, method)
            st.rerun()
        st.caption(
            "C-star lets a few core labels draw in or push out all others; its rival, the independent model, scores "
            "each label by itself."
        )
    run_actions.bring_back("label")
    frame.end_page()


def _missing(row: ImageSetRow, live: list[Run]) -> str:
    if live:
        names = " and ".join(sorted({run.settings["method"] for run in live}))
        return f"{names} {'learns' if len(live) == 1 else 'learn'} to rank the labels of {row.title}"
    return f"No model ranks the labels of {row.title} yet"


def rivals_of(run: Run) -> list[Run]:
    """The other trainings on the same images, features and labels, seen through the same projection: first those by
    another method, then the newest."""
    other = RIVAL if run.settings["method"] == OWN else OWN
    same = ("set", "features", "min_images", "projection")
    found = [
        one
        for one in cache.store().runs("label", run.settings["set"])
        if one.has_model
        and one.id != run.id
        and all(one.settings.get(part) == run.settings.get(part) for part in same)
    ]
    return sorted(found, key=lambda one: one.settings["method"] != other)


def choose_rival(run: Run) -> Run | None:
    """Who plays against `run`; None where there is nobody, and then a button trains the other model."""
    known = {one.id: one for one in rivals_of(run)}
    if not known:
        offer_rival(run)
        return None
    bound = address.bound(keys.RIVAL_RUN, address.one_of(list(known)), next(iter(known)))
    if len(known) == 1:
        return next(iter(known.values()))
    names = runs.labels(list(known.values()))
    return known[st.selectbox("Who plays against it", list(known), format_func=names.__getitem__, **bound)]


def players(run: Run, rival: Run | None = None) -> list[Player]:
    """Who plays, as a projector has room for it; two of one method by the settings in which they differ."""
    listed = [run] if rival is None else [run, rival]
    names = [NAMES.get(one.settings["method"], one.settings["method"]) for one in listed]
    keys_of_looks = [str(one.settings["method"]) for one in listed]
    if rival is not None and names[0] == names[1]:
        told = [runs.against(run, rival), runs.against(rival, run)]
        names = [f"{name} ({what})" for name, what in zip(names, told, strict=True)]
        keys_of_looks[1] = names[1]
    looks = label_looks.of_models(keys_of_looks)
    return [Player(*one) for one in zip(listed, names, map(looks.__getitem__, keys_of_looks), strict=True)]


def offer_rival(run: Run) -> None:
    """Where there is no rival to play against: a button that trains it, and its progress."""
    other = RIVAL if run.settings["method"] == OWN else OWN
    live = [
        one
        for one in cache.store().runs("label", run.settings["set"])
        if one.settings["method"] == other and one.state not in ENDED
    ]
    if live:
        st.caption(f"{escaped(other)} is being trained: it plays as soon as it is ready.")
    elif frame.pressed(f"Train {other}, to play against", keys.widget("train rival")):
        label_trainings.start(run.settings["set"], other, like=run)
        st.rerun()
