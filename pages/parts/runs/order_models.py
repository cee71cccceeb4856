"""Which trainings of orders a page is about: the image set, the criterion, one training and others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import sets
from pages.parts.runs import jobs_panel, run_choice, runs
from ranking import method_names
from ranking.core.run_settings import OrderTrainSettings
from ranking.experiments.order_training import make_drawing
from ranking.features import default_names
from ranking.jobs import jobs
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import ImageSetRow

OWN, RIVAL = "MidRank", "RankSVM"
SOURCE = "Timeline cars"  # what is offered where no set has a criterion
MOST_BESIDE = 3


def choose_set() -> ImageSetRow:
    """One of the sets whose samples have numbers; a button that imports one where there is none."""
    sets.prepare()
    known = {row.key: row for row in cache.store().image_sets() if _criteria(row)}
    if not known:
        sets.import_first(
            SOURCE,
            "An order needs images with a number each",
            "Drawn cars of 1920 to 1999, each with its year, to be put in order from the newest to the oldest. They "
            "come with the app. Images with numbers of your own come in on the page Image sets.",
        )
    return sets.choose_among(known, keys.ORDER_SET, SOURCE, _chosen(), sets.title)


def _criteria(row: ImageSetRow) -> tuple[str, ...]:
    try:
        return cache.criteria(row.key)
    except cache.Gone:
        return ()


def choose_criterion(row: ImageSetRow) -> str:
    """By what the samples of a set are put in order; nothing is shown where there is one answer."""
    names = cache.criteria(row.key)
    run = _chosen()
    first = names[0]
    if run is not None and run.settings["set"] == row.key and run.settings["criterion"] in names:
        first = run.settings["criterion"]
    if len(names) == 1:
        return first
    chosen: str = st.selectbox(
        "Criterion", names, **address.bound(keys.CRITERION, address.one_of(names), first)
    )
    return chosen


def _chosen() -> Run | None:
    return address.read(keys.ORDER_RUN, _training, None)


def _training(run_id: str) -> Run:
    return run_choice.of_kind(run_id, "order", "a training that puts sequences in order")


def choose_training(
    row: ImageSetRow, criterion: str, label: str = "Training", methods: Sequence[str] | None = None
) -> Run:
    """One of the trainings of orders on a set by a criterion, those by OWN foremost; a button that trains one and its
    rival where there is none. methods: by which of them; None: by any that puts sequences in order."""
    methods = method_names(ranks="orders") if methods is None else methods
    here = [
        run
        for run in cache.store().runs("order", row.key)
        if run.settings["criterion"] == criterion and run.settings["method"] in methods
    ]
    usable = sorted((run for run in here if run.has_scores), key=lambda run: run.settings["method"] != OWN)
    live = [run for run in here if run.state not in ENDED]
    own_live = [run for run in live if run.settings["method"] == OWN]
    own_there = bool(usable) and usable[0].settings["method"] == OWN
    if not usable or (own_live and not own_there and address.get(keys.ORDER_RUN) is None):
        _train_first(row, criterion, own_live or live, here)
    bound = address.bound(keys.ORDER_RUN, address.one_of([run.id for run in usable]), usable[0].id)
    names = {run.id: name_of(run) for run in usable}
    chosen = st.selectbox(label, list(names), format_func=names.__getitem__, **bound)
    if address.get(keys.ORDER_RUN) is None:
        address.amend(
            **{keys.ORDER_RUN: chosen}
        )  # also where it is only the newest: a link shows it tomorrow
    return next(run for run in usable if run.id == chosen)


def choose_beside(run: Run) -> list[Run]:
    """Up to MOST_BESIDE other trainings tested on the same sequences; at first the newest of other methods."""
    others = {one.id: one for one in same_sequences(run)}
    if not others:
        return []
    newest = {one.settings["method"]: one.id for one in reversed(list(others.values()))}
    newest.pop(run.settings["method"], None)
    first = [key for key in others if key in newest.values()][:MOST_BESIDE]
    names = {key: f"{short_name(one)} · {runs.measured(one)} · {key}" for key, one in others.items()}
    bound = address.bound(keys.BESIDE, address.some_of(list(others)), first, ",".join)
    chosen = st.multiselect(
        "Beside it",
        list(names),
        format_func=names.__getitem__,
        max_selections=MOST_BESIDE,
        placeholder="no other training",
        **bound,
    )
    return [others[key] for key in chosen]


def same_sequences(run: Run) -> list[Run]:
    """The other trainings with scores whose test sequences are those of `run`, newest first."""
    return [
        one
        for one in cache.store().runs("order", run.settings["set"])
        if one.id != run.id and one.has_scores and _tested_on(one) == _tested_on(run)
    ]


def _tested_on(run: Run) -> tuple[object, ...]:
    """What its test sequences follow from, within its image set."""
    settings = OrderTrainSettings.from_json(run.settings)
    return settings.criterion, make_drawing(settings.drawing).tested_on


def name_of(run: Run) -> str:
    """One line that tells a training from others."""
    features = runs.features_of(run)
    star = "★ " if run.star else ""
    return f"{star}{short_name(run)} · {features} · {runs.measured(run)} · {runs.when(run)} · {run.id}"


def short_name(run: Run) -> str:
    """What stands above its strip."""
    return run.name or str(run.settings["method"])


def _train_first(row: ImageSetRow, criterion: str, live: list[Run], here: list[Run]) -> NoReturn:
    with st.container(border=True, horizontal_alignment="center"):
        missing = f"Nothing puts {row.title} in order by “{criterion}” yet"
        learns = f"{live[-1].settings['method']} learns the order by “{criterion}”" if live else ""
        st.markdown(f"#### {escaped(learns or missing)}", text_alignment="center")
        if live:
            if len(live) > 1:
                st.caption(f"{len(live) - 1} more after it, or at the same time")
            watch(live[-1])
            frame.end_page()
        if here:
            jobs_panel.explain_end(here[0])
        if frame.pressed(f"Train {RIVAL} and {OWN}", keys.widget("train orders"), type="primary"):
            for method in (RIVAL, OWN):
                start(row.key, criterion, method)
            st.rerun()
        st.caption(
            f"{RIVAL} learns from pairs which of two images goes first. {OWN} learns from subsequences, one ranker for "
            "each length of 3 to 8, and lets the rankers vote. Both learn from the same thousand sequences."
        )
    frame.end_page()


def start(key: str, criterion: str, method: str) -> Run:
    """A training of orders with all settings at their defaults."""
    features = tuple((name, {}) for name in default_names(cache.image_set(key)))
    return jobs.start_once(
        cache.store(), "order", OrderTrainSettings(key, features, criterion, method).to_json()
    )


def show_newest(row: ImageSetRow, criterion: str) -> None:
    """The oldest training under way, and the page runs again when it ends; else why the newest left nothing to show."""
    here = [run for run in cache.store().runs("order", row.key) if run.settings["criterion"] == criterion]
    live = [run for run in here if run.state not in ENDED]
    if live:
        watch(live[-1])
    elif here and not here[0].has_scores:
        jobs_panel.explain_end(here[0], short_name(here[0]))


def watch(run: Run) -> None:
    """A training under way: how far it has come, and of MidRank with which ranker."""
    jobs_panel.watch(run, lambda seen: _tell_progress(run, seen))


def _tell_progress(run: Run, seen: list[dict[str, Any]]) -> None:
    iterations = jobs_panel.iterations_of(seen)
    if not iterations:
        return
    last = iterations[-1]
    gap = runs.finite(last.get("relative_gap"))
    within = "" if gap is None else f", proven within {100 * gap:.2g}% of the best"
    who = f"ranker {last['round']}, " if last.get("round") else ""
    if run.settings["method"] == OWN and not who:
        who = f"{RIVAL}, whose orders the search begins with, "
    st.caption(f"Now {who}iteration {last['iteration']:,}{within}")
