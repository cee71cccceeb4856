"""Training runs of any task on a page: choose, train the first ones, start one, watch it, show its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import streamlit as st

from pages.parts.app import address, cache, controls, forms, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import (
    certificate,
    feature_choice,
    jobs_panel,
    projections,
    run_actions,
    runs,
    sets,
    training_charts,
)
from ranking import method_class
from ranking.core.settings import Named
from ranking.features import default_names
from ranking.reports.settings_words import method_settings
from ranking.storage import jobs
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.run_settings import AnyTrainSettings, BagTrainSettings
from ranking.storage.sets import ImageSetRow


@dataclass(frozen=True)
class Picker:
    """The choice of a run on the pages of a task."""

    task: str
    # The URL parameters of the run and its image set.
    run: str
    set: str
    # The methods that are trained first; by default a run of `own` is shown.
    own: str
    baseline: str
    # Of the default image set.
    source: str
    # The message if no image set can be used.
    needs: str
    # The difference between the two methods, as text.
    contrast: str
    playing: Callable[[Run], None] = lambda run: None

    def named(self) -> Run | None:
        """The run in the URL; None if there is no run of the task."""
        return address.read(self.run, lambda run_id: runs.kept_of_task(run_id, self.task), None)

    def runs(self, set_key: str) -> list[Run]:
        return home.store().runs.all(set_key=set_key, task=self.task)

    def choose_set(
        self, fits: Callable[[ImageSetRow], bool], title: Callable[[ImageSetRow], str] = sets.title
    ) -> ImageSetRow:
        """Choose one of the image sets for which `fits` is true."""
        known = {row.key: row for row in home.store().sets.rows() if fits(row)}
        if not known:
            frame.show_empty_state(self.needs, "Import images", "image_sets")
        defaults = self._chosen_elsewhere(known), sets.of_source(known.values(), self.source)
        return sets.choose_among(known, self.set, defaults, title)

    def _chosen_elsewhere(self, known: dict[str, ImageSetRow]) -> str | None:
        """The set of the run in the URL, or else the set that was chosen on other pages."""
        run = self.named()
        if run is not None:
            return str(run.settings["set"])
        # not by `runs.chosen`, which implies the settings of that run in place of those that this page has implied
        trained = address.read(keys.RUN, lambda run_id: runs.of_task(run_id, SAMPLES), None)
        key = address.get(keys.SET) if trained is None else str(trained.settings["set"])
        # without a choice, other pages show action figures
        return None if key not in known or known[key].source == sets.FIGURES else key

    def choose(self, listed: Sequence[Run], label: str, goal: str, usual: Callable[[str], Any]) -> Run:
        """Choose one of the listed runs, those of `own` first."""
        # If no run has a result, the page ends with a button that trains both methods. goal: what they learn,
        # as text. usual: the default settings of a run of a method.
        usable = sorted(
            (run for run in listed if run.usable), key=lambda run: run.settings["method"] != self.own
        )
        live = [run for run in listed if run.state not in ENDED]
        # Wait for a run of `own` even if the baseline finishes first.
        own_usable = any(run.settings["method"] == self.own for run in usable)
        waits = not own_usable and any(run.settings["method"] == self.own for run in live)
        if not usable or (waits and address.get(self.run) is None):
            self._train_first(listed, live, goal, usual)
        chosen = choose_among(usable, label, self.run)
        if address.get(self.run) is None:
            # also by default, so that a link shows the same run later
            address.amend(**{self.run: chosen.id})
        return chosen

    def _train_first(
        self, listed: Sequence[Run], live: Sequence[Run], goal: str, usual: Callable[[str], Any]
    ) -> NoReturn:
        if live:
            names = " and ".join(sorted({run.settings["method"] for run in live}))
            with st.container(border=True, horizontal_alignment="center"):
                learn = "learns" if len(live) == 1 else "learn"
                st.markdown(f"#### {escaped(f'{names} {learn} to {goal}')}", text_alignment="center")
                watch(live, self.playing)
            run_actions.show_trash(task=self.task)
            frame.end_page()
        if listed:
            jobs_panel.explain_end(listed[0])
        train_first(
            f"No model has learned to {goal} yet",
            f"Train {self.own} and {self.baseline}",
            lambda: start_all([usual(method) for method in (self.baseline, self.own)]),
            self.contrast,
            f"train {self.task}",
            lambda: run_actions.show_trash(task=self.task),
        )

    def show_run(self, run: Run) -> None:
        """An expander with the certificate of a run, its bounds by iteration, and the actions on it."""
        folded = st.expander("How it was trained", key=keys.widget("how it was trained"), on_change="rerun")
        if not folded.open:
            return
        with folded:
            jobs_panel.explain_end(run)
            certificate.show(run)
            certificate.show_projection(run)
            if events := jobs_panel.events_of(run):
                draw(run, events)
            run_actions.manage(run, self.run, self.set)

    def show_new(self, listed: Sequence[Run]) -> None:
        """The listed runs that are running, and the result of the run that this tab started last."""
        # Until it is shown or another run is started.
        live = [run for run in listed if run.state not in ENDED]
        watch(live, self.playing)
        run_id = st.session_state.get(keys.STARTED)
        if run_id is None or run_id in [run.id for run in live]:
            return
        run = home.store().runs.get(run_id)
        if run.task != self.task or run.deleted or run_id == address.get(self.run):
            return
        if not run.usable:
            jobs_panel.explain_end(run, runs.short_name(run))
            return
        st.button(
            f"Show {escaped(runs.short_name(run))}, just trained: {runs.measured(run)}",
            key=keys.widget("show just trained"),
            icon=":material/arrow_upward:",
            on_click=self._show,
            args=(run.id,),
        )

    def _show(self, run_id: str) -> None:
        del st.session_state[keys.STARTED]
        address.put(**{self.run: run_id})


def choose_among(listed: Sequence[Run], label: str, name: str) -> Run:
    """Choose one of the listed runs, with the URL parameter `name`; by default the first."""
    known = {run.id: run for run in listed}
    return known[controls.select(label, name, runs.labels(listed), listed[0].id)]


def train_first(
    heading: str,
    button: str,
    begin: Callable[[], object],
    caption: str,
    key: str,
    below: Callable[[], None] = lambda: None,
) -> NoReturn:
    """If there is no run to show: what is missing, and the button that starts the first runs."""
    # Ends the page.
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(heading)}", text_alignment="center")
        if frame.pressed(button, keys.widget(key), type="primary"):
            with frame.errors_in_place():
                begin()
                st.rerun()
        if caption:
            st.caption(caption)
    below()
    frame.end_page()


class Form(NamedTuple):
    """The settings of a new run that all tasks have."""

    method: str
    method_settings: dict[str, Any]
    features: Named
    projection: dict[str, Any] | None


def form(
    row: ImageSetRow, methods: Sequence[str], bound: dict[str, Any], warn: Callable[[str], None] | None = None
) -> Form:
    """The method, its settings and its features."""
    # bound: arguments of the method's widget. warn: shows what speaks against a method here.
    left, right = st.columns(2, gap="large")
    with left:
        method, values = method_form(methods, bound, warn)
    with right:
        features = feature_choice.named(feature_choice.choose(cache.image_set(row.key)))
        projection = projections.choose()
    return Form(method, values, features, projection)


def method_form(
    methods: Sequence[str], bound: dict[str, Any], warn: Callable[[str], None] | None = None
) -> tuple[str, dict[str, Any]]:
    """The method and its settings; the arguments are those of `form`."""
    method = st.selectbox("Method", methods, **bound)
    st.caption(escaped(method_class(method).summary))
    if warn is not None:
        warn(method)
    values = forms.settings_form("method", [(method, method_class(method))], f"More settings of {method}")
    return method, values[method]


def offer_start(settings: AnyTrainSettings, key: str, **style: Any) -> Run | None:
    """The button that starts a run; returns the run after a press."""
    # A second press does not start another run.
    icon, ready = ":material/play_arrow:", bool(settings.features) or isinstance(settings, BagTrainSettings)
    if frame.pressed("Train", key, type="primary", icon=icon, disabled=not ready, **style):
        # the page goes on, because what it shows may be cancelled
        with frame.errors_in_place():
            return start(settings)
    if not ready:
        st.info("Choose at least one feature. Features are the input of the method.", icon=":material/info:")
    return None


def usual_features(set_key: str) -> Named:
    """The default features of a run."""
    return tuple((name, {}) for name in default_names(cache.image_set(set_key)))


def start(settings: AnyTrainSettings) -> Run:
    """The run with these settings: a running one, else a new one, which this tab shows."""
    return start_all([settings])[0]


def start_all(every: Sequence[AnyTrainSettings]) -> list[Run]:
    """The runs with these settings, started by one press, so that they may wait together."""
    begun: list[Run] = []
    for settings in every:
        request = [run.id for run in begun]
        begun.append(jobs.start_once(home.store(), "train", settings.to_json(), request=request))
    st.session_state[keys.STARTED] = begun[-1].id
    return begun


def watch(live: Sequence[Run], playing: Callable[[Run], None]) -> None:
    """The running runs, the oldest on top; the page runs again when one ends."""
    # playing: as in `Picker`.

    def show(run: Run, seen: list[jobs_panel.Event]) -> None:
        _show_iteration(run, seen)
        playing(run)

    for run in sorted(live, key=lambda run: run.created):
        changed = ", ".join(runs.differing(run))
        st.caption(f"{escaped(runs.short_name(run))}{f' · {escaped(changed)}' if changed else ''}")
        jobs_panel.watch(run, lambda seen, run=run: show(run, seen))


def _show_iteration(run: Run, seen: list[jobs_panel.Event]) -> None:
    """The current iteration of a run, its gap, and when it stops."""
    iterations = jobs_panel.iterations_of(seen)
    if not iterations:
        return
    last, convex, tolerance = iterations[-1], runs.is_convex(run), runs.tolerance_of(run)
    part = f"{'ranker' if convex else 'round'} {last['round']}, " if last.get("round") else ""
    gap = last.get("relative_gap")
    best = "the optimum" if convex else "the optimum of the convex problem of its round"
    within = "" if gap is None else f", proven within {100 * gap:.2g}% of {best}"
    stops = "" if tolerance is None else f" · {certificate.stops(tolerance, convex)}"
    st.caption(f"Now {part}iteration {last['iteration']:,}{within}{stops}")


JOINED_STARTS = "The starts follow each other; rounds above the lowest objective so far are omitted."

# What to notice in the curve of a training run, by whether its objective is convex.
NOTICE = {
    True: "**Notice** how the two bounds close in on the optimum, which is in the grey band.",
    False: (
        "**Notice** the steps: each round bounds the objective by a convex problem that touches it where the step "
        "begins, and the next step is the objective at the optimum of that problem. It never increases. The "
        "dashed line is the lower bound on the convex problem of its own round, not on the objective."
    ),
}


def draw(run: Run, seen: list[jobs_panel.Event]) -> None:
    """The bounds of a training run over its iterations so far; for a running run also its current gap."""
    # compiled
    from ranking.methods.bag_method import SEVERAL

    convex, tolerance = runs.is_convex(run), runs.tolerance_of(run)
    iterations = jobs_panel.iterations_of(seen)
    if not convex:
        begun, iterations = iterations, training_charts.in_rounds(iterations)
        if begun and not iterations:
            show_beginning(run)
    if not iterations:
        return
    ranker = iterations[-1].get("round", 0) if convex else 0
    # MidRank solves one problem per ranker
    if ranker:
        iterations = [event for event in iterations if event.get("round", 0) == ranker]
    if run.state not in ENDED and tolerance is not None:
        certificate.show_gap(iterations[-1], tolerance, convex)
    logarithmic = st.toggle("Logarithmic iterations", key=keys.widget("logarithmic iterations"))
    curve = training_charts.training_curve if convex else training_charts.training_stairs
    curve(iterations, tolerance, logarithmic, "training curve")
    floor = training_charts.lowest_bound(iterations)
    scale = (
        ""
        if floor is None
        else (
            "The objective is on a logarithmic scale because it has decreased by a large factor. Bounds below "
            f"{floor:.3g} are not shown. "
        )
    )
    which = f"The bounds are those of ranker {ranker}, the last one so far. " if ranker else ""
    joined = f"{JOINED_STARTS} " if method_settings(run).get("start") == SEVERAL else ""
    st.caption(f"{which}{NOTICE[convex]} {joined}{scale}Training stops when ${certificate.formula(convex)}$.")


def show_beginning(run: Run) -> None:
    """State that a method with rounds still computes the starting weights of its first round."""
    first = method_settings(run).get("start")
    what = "its starting weights" if first is None else f"{first} for its starting weights"
    method = escaped(run.settings["method"])
    tense = (
        "ended before its first round, while"
        if run.state in ENDED
        else "has not started its first round: it is"
    )
    st.caption(f"{method} {tense} training {escaped(what)}.")
