"""The choice of two to four training runs with the same image set and query, whose ids are in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.app import address, cache, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.comparison import compared_rankings
from pages.parts.training import jobs_panel, run_steps, runs
from pages.parts.training.run_actions import MAX_COMPARED
from ranking import method_class, method_names
from ranking.core.text import counted
from ranking.features.graph.image_graph import default_graph, has_edges
from ranking.reports.comparison_words import listed as listed_in_words
from ranking.storage import examples
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.run_settings import TrainSettings

Subject = tuple[str, str]
SUBJECT = keys.widget("compared subject")
# high-order, Tables 1 and 2
PAPER = ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM")


def choose() -> tuple[list[Run], DeltaGenerator]:
    """Two to four training runs with scores, in the order of their rows, and a container beside them."""
    # The container is for another control. Ends the page if there are fewer runs.
    named = in_address()
    usable = {run.id: run for run in home.store().runs.all(task=SAMPLES) if _usable(run)}
    if not usable:
        frame.show_empty_state(
            "A comparison needs two training runs with rankings, and there are none yet",
            "Train a method",
            "train",
        )
    subjects = by_subject(list(usable.values()))
    subject = subject_of(named[0]) if named else _first_subject(subjects)
    listed = subjects.get(subject, [])
    left, middle, right = st.columns([2, 4, 1], gap="medium")
    with left:
        _choose_subject(subject, subjects)
    with middle:
        chosen = _choose_runs(listed)
    live = [run for run in chosen if run.state not in ENDED]
    if live:
        others = f" and {len(live) - 1} more" if len(live) > 1 else ""
        st.markdown(f"#### Training {escaped(runs.short_name(live[0]))}{others} …")
        jobs_panel.watch(live[0])
    ranked = [run for run in chosen if run.has_scores]
    if len(ranked) < 2:
        _need_another(subject, listed, bool(live))
    return ranked, right


def subject_of(run: Run) -> Subject:
    """The key of the image set and the query of a run, which all compared runs share."""
    return run.settings["set"], run.settings["query"]


def in_address() -> list[Run]:
    """The training runs in the URL that can be compared with the first of them."""
    # The others are removed from the URL with a message.
    text = address.get(keys.COMPARED)
    if not text:
        return []
    named: list[Run] = []
    for run_id in dict.fromkeys(text.split(",")):
        if len(named) == MAX_COMPARED:
            address.complain(
                f"At most {MAX_COMPARED} training runs can be compared: {run_id[:20]!r} is ignored."
            )
            continue
        try:
            named.append(_comparable(run_id, named))
        except ValueError as error:
            address.complain(f"The comparison ignores {run_id[:20]!r}: {error}")
    kept = ",".join(run.id for run in named)
    if kept != text:
        address.amend(**{keys.COMPARED: kept or None})
    return named


def _comparable(run_id: str, others: Sequence[Run]) -> Run:
    """The training run with that id; ValueError if it cannot be compared with `others`."""
    run = runs.of_task(run_id, SAMPLES)
    name = runs.short_name(run)
    if run.deleted:
        raise ValueError(f"{name} was deleted; restore it on the page Train")
    if not runs.set_is_here(run):
        raise ValueError(runs.missing_set(run))
    if run.state in ENDED and not run.has_scores:
        raise ValueError(f"{name} has {run.state} and has no scores; train it again")
    if others and subject_of(run) != subject_of(others[0]):
        first = others[0].settings
        what = "another image set" if run.settings["set"] != first["set"] else "another query"
        raise ValueError(
            f"{name} has {what} than {runs.short_name(others[0])}. Only rankings of the same images for the same query "
            "can be compared"
        )
    return run


def _usable(run: Run) -> bool:
    """Whether a training run has or may still get a ranking, and its image set exists."""
    return (run.has_scores or run.state not in ENDED) and runs.set_is_here(run)


def by_subject(usable: Sequence[Run]) -> dict[Subject, list[Run]]:
    """The training runs by image set and query, newest first."""
    # Groups with the image set in the URL come first, then the group with the newest run.
    grouped: dict[Subject, list[Run]] = {}
    for run in sorted(usable, key=lambda run: run.settings["set"] != address.get(keys.SET)):
        grouped.setdefault(subject_of(run), []).append(run)
    return grouped


def _methods(listed: Sequence[Run]) -> set[str]:
    return {run.settings["method"] for run in listed}


def _first_subject(subjects: dict[Subject, list[Run]]) -> Subject:
    """The previous subject if its compared runs were just deleted, else that in the URL, else the first."""
    before = st.session_state.get(SUBJECT)
    if address.get(keys.COMPARED) is not None and before in subjects:
        return before
    run = runs.chosen()
    if run is not None and subject_of(run) in subjects:
        return subject_of(run)
    return next(iter(subjects))


def first_choice(listed: Sequence[Run], shown: str | None) -> list[str]:
    """The ids of the default training runs, for example the newest run with a ranking per method."""
    # The run `shown` and the one whose settings were changed for it, if both have a ranking; else the newest
    # run with a ranking per method (for the method of `shown`, that run), in the order of the paper; the two
    # newest if all are of one method. Bundled runs are omitted where others suffice.
    before = [run.id for run in listed if run.id in (shown, address.get(keys.LIKE)) and run.has_scores]
    if len(before) == 2:
        return before[::-1]
    listed = _without_examples(sorted(listed, key=lambda run: not run.has_scores), shown)
    newest = {run.settings["method"]: run for run in reversed(listed)}
    own = [run for run in listed if run.id == shown]
    newest |= {run.settings["method"]: run for run in own}
    if len(newest) == 1:
        return list(dict.fromkeys(run.id for run in (*newest.values(), *listed)))[:2]
    known = method_names(ranks="samples")
    order = [name for name in (*known, *sorted(newest.keys() - set(known))) if name in newest]
    kept = dict.fromkeys([*(run.settings["method"] for run in own), *order])
    return [newest[name].id for name in sorted([*kept][:MAX_COMPARED], key=order.index)]


def _without_examples(listed: Sequence[Run], shown: str | None) -> Sequence[Run]:
    """The runs without bundled ones, if two of them have a ranking and `shown` is not bundled."""
    own = [run for run in listed if not examples.is_example(run.folder)]
    wanted = shown is None or any(run.id == shown for run in own)
    return own if wanted and sum(run.has_scores for run in own) >= 2 else listed


def _choose_subject(subject: Subject, subjects: dict[Subject, list[Run]]) -> None:
    """The choice of image set and query; a change starts a new comparison."""
    titles = {row.key: row.title for row in home.store().sets.rows()}
    alike = [*titles.values()].count

    def name(subject: Subject) -> str:
        key, query = subject
        tail = f" {key[:6]}" if alike(titles[key]) > 1 else ""
        return f"“{query}” · {titles[key]}{tail} · {counted(len(subjects[subject]), 'run')}"

    st.session_state[SUBJECT] = subject
    st.selectbox(
        "Query · image set",
        list(subjects),
        format_func=name,
        key=SUBJECT,
        on_change=lambda: _begin_with(first_choice(subjects[st.session_state[SUBJECT]], None)),
    )


def _begin_with(ids: Sequence[str]) -> None:
    address.put(**{keys.COMPARED: ",".join(ids), keys.SAMPLE: None})


def _choose_runs(listed: Sequence[Run]) -> list[Run]:
    known = {run.id: run for run in listed}
    chosen = controls.several(
        "Training runs",
        keys.COMPARED,
        runs.labels(listed, _label),
        first_choice(listed, address.get(keys.RUN)),
        max_selections=MAX_COMPARED,
        placeholder="choose two to four",
    )
    if address.get(keys.COMPARED) is None:
        # so that the link shows the same runs later
        address.amend(**{keys.COMPARED: ",".join(chosen)})
    return [known[run_id] for run_id in chosen]


def _label(run: Run) -> str:
    parts = (
        run.name or run.settings["method"],
        ", ".join(runs.differing(run)),
        _measured(run),
    )
    return " · ".join(filter(None, parts))


def _measured(run: Run) -> str:
    """The test AP by the original labels, as on the whole page, else the state of the run."""
    if not (run.corrections and run.has_scores):
        return runs.measured(run).removeprefix("test ")
    try:
        [ranked] = compared_rankings.comparison([run], "test").rankings
    except home.Gone:
        return run.state
    return f"AP {ranked.average_precision:.3f} on original labels"


# ---------------------------------------------------------------------------------------------------------
# Fewer than two rankings
# ---------------------------------------------------------------------------------------------------------


def _need_another(subject: Subject, listed: Sequence[Run], waits: bool) -> NoReturn:
    """Offer to choose more rankings, or to train the missing methods, and end the page."""
    # Fewer than two rankings are chosen.
    ranked, query = [run for run in listed if run.has_scores], escaped(subject[1])
    if len(ranked) >= 2:
        st.info(
            f"Choose at least two of the {len(ranked)} training runs on “{query}” above.",
            icon=":material/compare_arrows:",
        )
        usual = first_choice(ranked, None)
        names = [run.settings["method"] for run_id in usual for run in ranked if run.id == run_id]
        if frame.pressed(f"Compare {listed_in_words(names)}", keys.widget("compare usual"), type="primary"):
            _begin_with(usual)
            st.rerun()
    elif not waits:
        method = escaped(ranked[0].settings["method"]) if ranked else ""
        lacking = f"Only {method} has ranked “{query}” so far" if ranked else f"No ranking of “{query}” yet"
        with st.container(border=True, horizontal_alignment="center"):
            st.markdown(f"#### {lacking}", text_alignment="center")
            offer_missing(listed, primary=True)
    frame.end_page()


def offer_missing(listed: Sequence[Run], primary: bool) -> None:
    """A button that trains the missing methods of the paper on the images and features of the listed runs."""
    # With default settings; nothing if no method is missing. Methods whose graph has no edges are left out.
    missing = [name for name in PAPER if name not in _methods(listed)]
    if not missing or not listed:
        return
    like = TrainSettings.from_json(listed[0].settings)
    images = cache.image_set(like.set)
    graph, leave = default_graph(images), [name for name in missing if method_class(name).uses_graph]
    if leave and not has_edges(images, graph):
        missing = [name for name in missing if name not in leave]
        st.caption(f"Without {listed_in_words(leave)}: the similarity graph joins no training samples.")
    if missing and frame.pressed(
        f"Train {listed_in_words(missing)} on the same images",
        keys.widget("train missing"),
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:",
    ):
        alike = replace(like, method_settings={}, warm_start=None)
        with frame.errors_in_place():
            begun = run_steps.start_all(
                [replace(alike, method=name, graph=graph if name in leave else None) for name in missing]
            )
            newest = {run.settings["method"]: run.id for run in reversed([*listed, *begun])}
            _begin_with([newest[name] for name in PAPER if name in newest])
            st.rerun()
