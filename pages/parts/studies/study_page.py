"""The common parts of the pages of studies: choose, start, watch, show, export and delete runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.app import address, downloads, figures_file, frame, home
from pages.parts.training import jobs_panel, run_actions, runs
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import AnyStudySettings


@dataclass(frozen=True)
class StudyPage:
    """A page of a study, on which a run is chosen, started and shown."""

    # Of the runs of the page.
    task: str
    # The URL parameters of a run and of its image set, if it has one.
    run: str
    set: str | None
    # The label of the choice of a run.
    box: str
    # The title of the form for a new run.
    new: str
    # Returns the settings of a run as URL parameters.
    given: Callable[[Run], dict[str, str]]
    # Describes a run in one line, which does not change while it is running.
    words: Callable[[Run], str]

    def named(self) -> Run | None:
        """Return the run in the URL, which then implies its settings; None without one."""
        # Ends the page if its image set is missing.
        run = address.read(self.run, self.read, None)
        if run is None:
            return None
        if run.settings.get("set") and not runs.set_is_here(run):
            frame.show_empty_state(runs.missing_set(run), "Import images", "image_sets")
        address.imply(self.given(run))
        return run

    def read(self, run_id: str) -> Run:
        """Return the run with that id."""
        # ValueError if it is of another task, was deleted, or has settings that this version cannot read.
        run = runs.kept_of_task(run_id, self.task)
        self.given(run)
        return run

    def choose(self, listed: Iterable[Run], named: Run | None, **along: str) -> Run | None:
        """Return the `named` run, or a chosen one that is running or has a result; None without any."""
        # The first of the listed runs is the default. The run and the parameters `along` are written to the
        # URL.
        known = {
            run.id: run
            for run in listed
            if run.state not in ("failed", "cancelled")
            or run.parts_done
            or (named is not None and run.id == named.id)
        }
        if not known:
            return None
        bound = address.bound(self.run, address.one_of(list(known)), next(iter(known)))
        names = runs.labels(list(known.values()), self.name_of)
        chosen = known[st.selectbox(self.box, list(known), format_func=names.__getitem__, **bound)]
        # so that the link shows the same run later
        address.amend(**{self.run: chosen.id, **along})
        # also by default, when the URL did not have the run yet
        address.imply(self.given(chosen))
        return chosen

    def name_of(self, run: Run) -> str:
        star = "★ " if run.star else ""
        return f"{star}{run.name or self.words(run)} · {runs.when(run)}"

    def lay_out(
        self,
        run: Run | None,
        form: Callable[[], None],
        invite: Callable[[], None],
        show: Callable[[Run], None],
        live: Callable[[Run], jobs_panel.Live] | None = None,
        more: Callable[[], None] | None = None,
    ) -> None:
        """Show a run, or an invitation to start one; below it the form for a new run, and the trash."""
        # more: further ways to start a run. live: shows the events of a running run.
        above, below = st.container(), st.container()
        with below:
            with st.expander(self.new, icon=":material/science:", expanded=run is None):
                form()
            if more is not None:
                more()
            run_actions.show_trash(self.task, self.name_of)
        with above:
            if run is None:
                invite()
                return
            if run.state in ENDED:
                jobs_panel.explain_end(run)
            else:
                jobs_panel.watch(run, live and live(run))
            show(run)
            if run.state in ENDED:
                run_actions.manage(run, self.run, self.set)

    def offer_start(self, label: str, settings: AnyStudySettings, key: str, **options: Any) -> None:
        """Show the button that starts a run, which is then shown; a second press does not start another run."""
        if frame.pressed(label, key, icon=":material/play_arrow:", **{"type": "primary", **options}):
            with frame.errors_in_place():
                run = jobs.start_once(home.store(), "study", settings.to_json())
                address.put(**{self.run: run.id})
                st.rerun()


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def offer_files(
    label: str,
    table: Callable[[], str],
    title: str,
    figures: Sequence[figures_file.Shown],
    file: Callable[[str], str],
) -> None:
    """Offer all values as CSV and the charts as one HTML file. file: returns the name of a file with an extension."""
    with st.container(horizontal=True):
        downloads.offer(label, table, file("csv"))
        figures_file.offer(title, figures, file("html"))
