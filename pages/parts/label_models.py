"""Which ranker of labels a page is about: its image set, its training, its rival; and how to get one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from pages.parts import address, cache, frame, jobs_panel, keys, runs, sets
from pages.parts.frame import escaped
from ranking import jobs, method_names
from ranking.features import default_names
from ranking.run import ENDED, Run
from ranking.run_settings import ImportSettings, LabelTrainSettings
from ranking.store import ImageSetRow

OWN, RIVAL = "C-star p@k", "Independent p@k"
SOURCE = "Label scenes"  # what is offered where no set has several labels an image
MOST_LABELS_OF_ONE = 2.0  # a set whose images have fewer on average leaves nothing to rank
NAMES = {OWN: "C-star", RIVAL: "Independent"}  # what a projector has room for


def choose_set() -> ImageSetRow:
    """One of the sets whose images have several labels; a button that imports one where there is none."""
    sets.prepare()
    known = {row.key: row for row in cache.store().image_sets() if _labels_of_one(row) >= MOST_LABELS_OF_ONE}
    if not known:
        _import_first()
    run = _chosen()
    first = next((row.key for row in known.values() if row.source == SOURCE), next(iter(known)))
    if run is not None and run.settings["set"] in known:
        first = run.settings["set"]
    bound = address.bound(keys.LABEL_SET, address.one_of(list(known)), first)
    key = st.selectbox("Image set", list(known), format_func=lambda key: _title(known[key]), **bound)
    return known[key]


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


def _import_first() -> NoReturn:
    """No set has several labels an image: the one next step is to import label scenes, which are kept unasked."""
    settings = ImportSettings(SOURCE).to_json()
    equal = [run for run in cache.store().equal_runs("import", settings) if "decision" not in run.result]
    run = jobs.poll(cache.store(), equal[0].id) if equal else None
    if run is not None and run.state == "finished":
        cache.store().keep(run.id)
        st.rerun()
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("#### Ranking labels needs images with several labels each", text_alignment="center")
        if run is not None and run.state not in ENDED:
            jobs_panel.watch(run)
            frame.end_page()
        if run is not None:
            jobs_panel.explain_end(run)
        if frame.pressed("Draw label scenes", keys.widget("import label scenes"), type="primary"):
            jobs.start_once(cache.store(), "import", settings)
            st.rerun()
        st.caption(
            "Drawn pictures, each with a dozen of some forty labels such as sea, sand and sunset. They are drawn on "
            "this machine, once. Images of your own come in on the page Image sets."
        )
    frame.end_page()


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
    usable = sorted((run for run in here if run.has_model), key=lambda run: run.settings["method"] != OWN)
    live = [run for run in here if run.state not in ENDED]
    own_live = [run for run in live if run.settings["method"] == OWN]
    own_there = bool(usable) and usable[0].settings["method"] == OWN
    if not usable or (own_live and not own_there and address.get(keys.LABEL_RUN) is None):
        _train_first(row, own_live or live, here)  # a rival that is ready sooner is not what was asked for
    bound = address.bound(keys.LABEL_RUN, address.one_of([run.id for run in usable]), usable[0].id)
    names = {run.id: _name(run) for run in usable}
    chosen = st.selectbox(label, list(names), format_func=names.__getitem__, **bound)
    if address.get(keys.LABEL_RUN) is None:
        address.amend(
            **{keys.LABEL_RUN: chosen}
        )  # also where it is only the newest: a link shows it tomorrow
    return next(run for run in usable if run.id == chosen)


def _name(run: Run) -> str:
    precision = runs.finite((run.result.get("test") or {}).get("BEP"))
    measured = run.state if precision is None else f"test BEP {precision:.3f}"
    features = " + ".join(name for name, _ in run.settings["features"])
    return f"{run.name or run.settings['method']} · {features} · {measured} · {runs.when(run)}"


def _train_first(row: ImageSetRow, live: list[Run], here: list[Run]) -> NoReturn:
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(_missing(row, live))}", text_alignment="center")
        if live:
            _watch(live)
            frame.end_page()
        if here:
            jobs_panel.explain_end(here[0])
        if frame.pressed("Train C-star and its rival", keys.widget("train labels"), type="primary"):
            for method in (RIVAL, OWN):
                start(row.key, method)
            st.rerun()
        st.caption(
            "C-star lets a few core labels draw in or push out all others; its rival, the independent model, scores "
            "each label by itself."
        )
    frame.end_page()


def _missing(row: ImageSetRow, live: list[Run]) -> str:
    if live:
        return f"{live[-1].settings['method']} learns to rank the labels of {row.title}"
    return f"No model ranks the labels of {row.title} yet"


def _watch(live: list[Run]) -> None:
    """The trainings under way; what they say is kept apart by the panel, one at a time."""
    if len(live) > 1:
        st.caption(f"{len(live) - 1} more after it, or at the same time")
    jobs_panel.watch(live[-1])


def start(key: str, method: str, like: Run | None = None) -> Run:
    """A training of labels, with the features of another where there is one to be compared with."""
    settings = (
        LabelTrainSettings(key, tuple((name, {}) for name in default_names(cache.image_set(key))), method)
        if like is None
        else LabelTrainSettings(key, _features(like), method, min_images=like.settings.get("min_images", 20))
    )
    return jobs.start_once(cache.store(), "label", settings.to_json())


def _features(run: Run) -> tuple[tuple[str, dict[str, object]], ...]:
    return LabelTrainSettings.from_json(run.settings).features


def rival_of(run: Run) -> Run | None:
    """The newest training by the other method on the same images, features and labels."""
    other = RIVAL if run.settings["method"] == OWN else OWN
    same = ("set", "features", "min_images")
    for one in cache.store().runs("label", run.settings["set"]):
        equal = all(one.settings.get(part) == run.settings.get(part) for part in same)
        if one.settings["method"] == other and one.has_model and equal:
            return one
    return None


def offer_rival(run: Run) -> None:
    """Where there is no rival to play against: a button that trains it, and its progress."""
    other = RIVAL if run.settings["method"] == OWN else OWN
    live = [
        one
        for one in cache.store().runs("label", run.settings["set"])
        if one.settings["method"] == other and one.state not in ENDED
    ]
    if live:
        jobs_panel.watch(live[0])
    elif frame.pressed(f"Train {other}, to play against", keys.widget("train rival")):
        start(run.settings["set"], other, like=run)
        st.rerun()
