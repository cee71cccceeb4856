"""Which trainings are compared: two to four of one image set and one query. The address holds their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import sets
from pages.parts.runs import jobs_panel, lessons, runs
from pages.parts.runs.run_actions import MOST_COMPARED
from ranking.core.run_settings import TrainSettings
from ranking.jobs import jobs
from ranking.reports.comparison_words import listed as listed_in_words
from ranking.reports.looks import OF_METHODS
from ranking.workspace.run import ENDED, SAMPLES, Run

SUBJECT = keys.widget("compared subject")
PAPER = ("SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM")  # high-order, Tables 1 and 2


class Subject(NamedTuple):
    """What all trainings that can be compared have in common."""

    set: str
    query: str

    @classmethod
    def of(cls, run: Run) -> Subject:
        return cls(run.settings["set"], run.settings["query"])


def choose() -> tuple[list[Run], DeltaGenerator]:
    """Two to four trainings with scores, in the order of their rows, and the place beside them for another choice; the
    page ends where there are not so many."""
    sets.prepare()
    named = in_address()
    usable = {run.id: run for run in cache.store().runs(task=SAMPLES) if _usable(run)}
    if not usable:
        _train_first()
    subjects = by_subject(list(usable.values()))
    subject = Subject.of(named[0]) if named else _first_subject(subjects)
    listed = subjects.get(subject, [])
    left, middle, right = st.columns([2, 4, 1], gap="medium")
    with left:
        _choose_subject(subject, subjects)
    with middle:
        chosen = _choose_runs(listed)
    live = [run for run in chosen if run.state not in ENDED]
    if live:
        _watch(live)
    ranked = [run for run in chosen if run.has_scores]
    if len(ranked) < 2:
        _need_another(subject, listed, bool(live))
    return ranked, right


def in_address() -> list[Run]:
    """The trainings that the address names and that can be compared with the first of them; of each other one it is
    said why not, and the address goes on without it."""
    text = address.get(keys.COMPARED)
    if not text:
        return []
    found: list[Run] = []
    for run_id in dict.fromkeys(text.split(",")):
        if len(found) == MOST_COMPARED:
            address.complain(
                f"At most {MOST_COMPARED} trainings can be compared at once: {run_id[:20]!r} is left out."
            )
            continue
        try:
            found.append(_comparable(run_id, found))
        except ValueError as error:
            address.complain(f"The comparison goes without {run_id[:20]!r}: {error}")
    kept = ",".join(run.id for run in found)
    if kept != text:
        address.amend(**{keys.COMPARED: kept or None})
    return found


def _comparable(run_id: str, others: Sequence[Run]) -> Run:
    """The training of that id; ValueError says why it cannot be compared with `others`."""
    run = runs.of_task(run_id, SAMPLES)
    name = runs.short_name(run)
    if run.deleted:
        raise ValueError(f"{name} was deleted; the page Train can bring it back")
    if not runs.set_is_here(run):
        raise ValueError(runs.missing_set(run))
    if run.state in ENDED and not run.has_scores:
        raise ValueError(f"{name} has {run.state} and has no scores; train it again")
    if others and Subject.of(run) != Subject.of(others[0]):
        first = others[0].settings
        what = "another image set" if run.settings["set"] != first["set"] else "another query"
        raise ValueError(
            f"{name} ranks {what} than {runs.short_name(others[0])}, and only rankings of the same images for the same "
            "query can be compared"
        )
    return run


def _usable(run: Run) -> bool:
    """Whether a training has a ranking, or still may have one, of a set that is here."""
    return (run.has_scores or run.state not in ENDED) and runs.set_is_here(run)


def by_subject(usable: Sequence[Run]) -> dict[Subject, list[Run]]:
    """Trainings that can be compared with each other, the newest first; foremost those by the most methods."""
    found: dict[Subject, list[Run]] = {}
    for run in usable:
        found.setdefault(Subject.of(run), []).append(run)
    return dict(sorted(found.items(), key=lambda item: -len(_methods(item[1]))))


def _methods(listed: Sequence[Run]) -> set[str]:
    return {run.settings["method"] for run in listed}


def _first_subject(subjects: dict[Subject, list[Run]]) -> Subject:
    """That whose trainings were all taken away a moment ago, else of the training in the address, else the foremost."""
    before = st.session_state.get(SUBJECT)
    if address.get(keys.COMPARED) is not None and before in subjects:
        return Subject(*before)
    run = runs.chosen()
    if run is not None and Subject.of(run) in subjects:
        return Subject.of(run)
    return next(iter(subjects))


def first_choice(listed: Sequence[Run], shown: str | None) -> list[str]:
    """The ids of the trainings to begin with: the newest of each method that has a ranking, or the `shown` one of its
    own, in the order of the paper; where all are by one method, the two newest."""
    listed = sorted(listed, key=lambda run: not run.has_scores)
    newest = {run.settings["method"]: run for run in reversed(listed)}
    newest |= {run.settings["method"]: run for run in listed if run.id == shown}
    order = [*OF_METHODS, *sorted(newest.keys() - OF_METHODS.keys())]
    own = [run.settings["method"] for run in listed if run.id == shown]
    kept = [name for name in order if name in newest]
    if len(kept) == 1:
        return list(dict.fromkeys([newest[kept[0]].id, *(run.id for run in listed)]))[:2]
    kept = sorted([*own, *(name for name in kept if name not in own)][:MOST_COMPARED], key=order.index)
    return [newest[name].id for name in kept]


def _choose_subject(subject: Subject, subjects: dict[Subject, list[Run]]) -> None:
    """The image set and query; another one has the comparison begin anew."""
    known = {row.key: row.title for row in cache.store().image_sets()}
    twice = [title for title in known.values() if list(known.values()).count(title) > 1]
    names = {
        one: f"“{one.query}” · {known[one.set]}{f' {one.set[:6]}' if known[one.set] in twice else ''} · {len(listed)}"
        for one, listed in subjects.items()
    }
    st.session_state[SUBJECT] = subject
    st.selectbox(
        "Query · images · trainings",
        list(names),
        format_func=names.__getitem__,
        key=SUBJECT,
        on_change=lambda: _begin_with(first_choice(subjects[st.session_state[SUBJECT]], None)),
    )


def _begin_with(ids: Sequence[str]) -> None:
    address.put(**{keys.COMPARED: ",".join(ids), keys.SAMPLE: None})


def _choose_runs(listed: Sequence[Run]) -> list[Run]:
    known = {run.id: run for run in listed}
    first = first_choice(listed, address.get(keys.RUN))
    names = runs.labels(listed, _label)
    bound = address.bound(keys.COMPARED, address.some_of(list(known)), first, ",".join)
    chosen = st.multiselect(
        "Trainings, two to four, in the order of their rows",
        list(known),
        format_func=names.__getitem__,
        max_selections=MOST_COMPARED,
        placeholder="choose two to four",
        **bound,
    )
    if address.get(keys.COMPARED) is None:
        address.amend(**{keys.COMPARED: ",".join(chosen)})  # the link shall show the same tomorrow
    return [known[run_id] for run_id in chosen]


def _label(run: Run) -> str:
    told = ", ".join(runs.differing(run))
    measured = runs.measured(run).removeprefix("test ")
    return " · ".join(filter(None, (run.name or run.settings["method"], told, measured)))


def titles(shown: Sequence[Run]) -> dict[str, str]:
    """A short name of each by its id, no two alike: its own, else its method, with what tells it from others of that
    method."""
    named = {run.id: run.name or str(run.settings["method"]) for run in shown}
    found = {}
    for run in shown:
        like = [one for one in shown if one.id != run.id and named[one.id] == named[run.id]]
        found[run.id] = f"{named[run.id]}, {runs.against(run, like[0])}" if like else named[run.id]
    twice = [name for name in found.values() if list(found.values()).count(name) > 1]
    return {key: f"{name}, {key}" if name in twice else name for key, name in found.items()}


# ---------------------------------------------------------------------------------------------------------
# Where there are not enough of them
# ---------------------------------------------------------------------------------------------------------


def _watch(live: Sequence[Run]) -> None:
    """The first training under way; the page runs again when it ends."""
    others = f", {len(live) - 1} more after it or at the same time" if len(live) > 1 else ""
    st.markdown(f"#### Training {escaped(runs.short_name(live[0]))} …{others}")
    jobs_panel.watch(live[0])


def _train_first() -> NoReturn:
    """Nothing is ranked yet: the one next step trains the four methods of the paper on the scenes that came along."""
    lesson = lessons.NEIGHBOURS
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("#### Nothing is ranked yet: a comparison needs two trainings", text_alignment="center")
        if frame.pressed(
            f"Train {listed_in_words(lesson.methods)} on “{lesson.query}”",
            keys.widget("train all"),
            type="primary",
        ):
            _begin_with([run.id for run in lesson.begin().values()])
            st.rerun()
        st.caption(
            "Four methods learn from the same drawn scenes, once; two of them see who else is in the image."
        )
    frame.end_page()


def _need_another(subject: Subject, listed: Sequence[Run], waits: bool) -> NoReturn:
    """Fewer than two rankings are chosen: choose more of those that are there, or train what is missing."""
    ranked = [run for run in listed if run.has_scores]
    if len(ranked) >= 2:
        st.info(
            f"Choose at least two of the {len(ranked)} trainings on “{escaped(subject.query)}” above.",
            icon=":material/compare_arrows:",
        )
        usual = first_choice(ranked, None)
        names = [run.settings["method"] for run_id in usual for run in ranked if run.id == run_id]
        if frame.pressed(f"Compare {listed_in_words(names)}", keys.widget("compare usual"), type="primary"):
            _begin_with(usual)
            st.rerun()
    elif not waits:
        with st.container(border=True, horizontal_alignment="center"):
            st.markdown(
                f"#### Only {escaped(ranked[0].settings['method'])} has ranked “{escaped(subject.query)}” so far"
                if ranked
                else f"#### Nothing has ranked “{escaped(subject.query)}” yet",
                text_alignment="center",
            )
            offer_missing(listed, primary=True)
    frame.end_page()


def offer_missing(listed: Sequence[Run], primary: bool) -> None:
    """A button that trains the methods of the paper that are not among trainings that can be compared, on what these
    learnt from, with their settings at the defaults; nothing where all are there."""
    missing = [name for name in PAPER if name not in _methods(listed)]
    if not missing or not listed:
        return
    like = TrainSettings.from_json(listed[0].settings)
    if frame.pressed(
        f"Train {listed_in_words(missing)} on the same images",
        keys.widget("train missing"),
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:",
    ):
        begun = [
            jobs.start_once(
                cache.store(),
                "train",
                TrainSettings(
                    like.set, like.features, like.query, name, projection=like.projection
                ).to_json(),
            )
            for name in missing
        ]
        there = {run.settings["method"]: run.id for run in reversed([*listed, *begun])}
        _begin_with([there[name] for name in PAPER if name in there])
        st.rerun()
