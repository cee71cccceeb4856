"""Actions on training runs: open, repeat, name, star, export, delete and restore.

Each is stored on disk before the page reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from pages.parts.app import address, downloads, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.training import export, runs
from ranking.core.text import counted as in_number
from ranking.storage.home import DELETED_DAYS
from ranking.storage.run import ENDED, Run
from ranking.storage.run_names import LONGEST_NAME
from ranking.storage.run_settings import KIND_NAMES

# rankings on the page Compare rankings
MAX_COMPARED = 4


def act_on(chosen: Sequence[Run]) -> None:
    """Show the buttons for the chosen runs; those for a single run are disabled while several are chosen."""
    if not chosen:
        st.caption("Select a run to open, name, star, export or delete it, or to reuse its settings.")
        return
    run = chosen[0] if len(chosen) == 1 else None
    st.markdown(f"**{escaped(runs.short_name(run))}**" if run else f"**{len(chosen)} training runs**")
    with st.container(horizontal=True):
        _show_run(run)
        _compare(chosen)
        _begin_again(run)
        _star(chosen)
        _name(run)
        _export(run)
        _delete(chosen, {})
    if run is not None and run.state in ENDED:
        for name, why in export.lacking(run).items():
            st.warning(f"The export will not include {name}: {escaped(why)}", icon=":material/warning:")


def manage(run: Run, name: str, set_name: str | None) -> None:
    """Star, name or delete the run that a page shows."""
    # name, set_name: the URL parameters of the run and its image set; after a deletion the page shows another
    # run on the same images.
    with st.container(horizontal=True):
        _star([run])
        _name(run)
        _delete([run], {name: None} | ({set_name: run.settings["set"]} if set_name else {}))


def _show_run(run: Run | None) -> None:
    ready = run is not None and run.has_scores
    if (
        frame.pressed(
            "Ranked images", "show ranked images", icon=":material/photo_library:", disabled=not ready
        )
        and run
    ):
        st.switch_page("pages/ranked_images.py", query_params=address.changed(**{keys.RUN: run.id}))


def _compare(chosen: Sequence[Run]) -> None:
    """Show the button that opens the page Compare with two to four rankings of the same images and query."""
    alike = len({(run.settings["set"], run.settings["query"]) for run in chosen}) == 1
    ready = alike and 2 <= len(chosen) <= MAX_COMPARED and all(run.has_scores for run in chosen)
    if frame.pressed(
        "Compare",
        "compare runs",
        icon=":material/compare_arrows:",
        disabled=not ready,
        help="Two to four finished training runs with the same image set and query.",
    ):
        # the oldest first
        ids = ",".join(run.id for run in reversed(chosen))
        st.switch_page("pages/compare.py", query_params=address.changed(**{keys.COMPARED: ids}))


def _begin_again(run: Run | None) -> None:
    st.button(
        "Reuse these settings",
        icon=":material/replay:",
        key="begin again",
        on_click=_begin_again_now,
        args=(run,),
        disabled=run is None,
    )


def _begin_again_now(run: Run) -> None:
    # also drops the changes in the form
    address.put(**{keys.RUN: None})
    address.put(**{keys.RUN: run.id})
    st.toast(
        f"The form at the top of the page has the settings of {escaped(runs.short_name(run))}. "
        "Change one and press **Train**.",
        icon=":material/replay:",
        duration="long",
    )


def _star(chosen: Sequence[Run]) -> None:
    starred = all(run.star for run in chosen)
    st.button(
        "Unstar" if starred else "Star",
        icon=":material/star:",
        key="star runs",
        on_click=_star_now,
        args=([run.id for run in chosen], not starred),
        disabled=_is_shared(chosen),
    )


def _star_now(run_ids: Sequence[str], star: bool) -> None:
    _act(home.store().runs.star, run_ids, star)


def _name(run: Run | None) -> None:
    with st.popover("Name", icon=":material/edit:", disabled=run is None or run.shared, key="name run"):
        if run is not None:
            with st.form(f"name {run.id}", border=False):
                name = st.text_input("Name", run.name, LONGEST_NAME, help="Leave empty to remove the name.")
                saved = st.form_submit_button("Save", type="primary")
                if saved and runs.done(home.store().runs.rename, run.id, name):
                    st.rerun()


def _export(run: Run | None) -> None:
    ready = run is not None and run.state in ENDED
    downloads.offer(
        "Export",
        lambda: export.archive(run) if run else b"",
        f"training-{run.id}.zip" if run else "training.zip",
        disabled=not ready,
        help="Settings, result, curve, model and scores, and the ranking as CSV and PNG, in one ZIP file.",
        key="export run",
    )


def _delete(chosen: Sequence[Run], after: dict[str, str | None]) -> None:
    """The button that deletes runs."""
    # after: the changes of the URL after a deletion.
    st.button(
        "Delete",
        icon=":material/delete:",
        key="delete runs",
        on_click=_delete_now,
        args=([run.id for run in chosen], after),
        disabled=_is_shared(chosen),
    )


def _is_shared(chosen: Sequence[Run]) -> bool:
    """Whether one of the runs belongs to the shared workspace, which is read-only."""
    return any(run.shared for run in chosen)


def _delete_now(run_ids: Sequence[str], after: dict[str, str | None]) -> None:
    with frame.errors_in_place():
        chosen = [run for run in home.store().runs.all() if run.id in run_ids]
        for run in chosen:
            if run.state not in ENDED:
                _remember_error(f"{runs.short_name(run)} is still running. Cancel it before you delete it.")
                return
    st.session_state[keys.JUST_DELETED] = deleted = _act(home.store().runs.delete, run_ids)
    if not deleted:
        return
    chosen_last = next(run for run in chosen if run.id == deleted[-1])
    st.toast(f"Deleted {counted(len(deleted), chosen_last.task)}.", icon=":material/delete:")
    address.amend(**after)


def _act(act: Callable[..., None], run_ids: Iterable[str], *arguments: Any) -> list[str]:
    """Call `act` for each run and return the ids of the runs that still existed."""
    # Errors are shown above the table. Called before the page runs, because a page that is interrupted and
    # run again loses the press of a button.
    done = []
    with frame.errors_in_place():
        for run_id in run_ids:
            try:
                act(run_id, *arguments)
            except ValueError as error:
                _remember_error(str(error))
            else:
                done.append(run_id)
    return done


def _remember_error(message: str) -> None:
    st.session_state.setdefault(keys.NOT_DONE, []).append(message)


# ---------------------------------------------------------------------------------------------------------
# Restore
# ---------------------------------------------------------------------------------------------------------


def offer_undo(run: Run, elsewhere: bool = False) -> None:
    """Say that a training run was deleted and until when it can be restored, with a button for that."""
    # elsewhere: the button is already on the page.
    deleted = datetime.fromtimestamp(run.deleted or 0.0)
    last = (deleted + timedelta(days=DELETED_DAYS)).strftime("%d %b")
    with st.container(border=True):
        st.markdown(
            f"#### {escaped(runs.short_name(run))} was deleted on {deleted.strftime('%d %b at %H:%M')}"
        )
        st.caption(f"You can restore it until {last}.")
        if elsewhere:
            return
        _undo(keys.widget("undo deletion"), [run.id], type="primary")


def _undo(key: str, run_ids: Sequence[str], **style: Any) -> None:
    st.button("Undo", icon=":material/undo:", key=key, on_click=_restore, args=run_ids, **style)


def show_errors() -> None:
    """Show why actions on training runs failed before this run of the page."""
    for message in st.session_state.pop(keys.NOT_DONE, []):
        st.error(escaped(message), icon=":material/error:")


def show_deleted(task: str) -> None:
    """Show what was just deleted, with an undo button, and the errors of failed actions."""
    show_errors()
    deleted = {run.id: run for run in home.store().runs.all(deleted=True, task=task)}
    just = [deleted[run_id] for run_id in st.session_state.get(keys.JUST_DELETED, []) if run_id in deleted]
    if just:
        what = escaped(runs.short_name(just[0])) if len(just) == 1 else counted(len(just), task)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Deleted: {what}.", width="content")
            _undo("undo just deleted", [run.id for run in just])


def show_trash(task: str, name_of: Callable[[Run], str] = runs.name_of) -> None:
    """Show the deleted runs of a task, each with a button that restores it; a button empties the trash."""
    deleted = home.store().runs.all(deleted=True, task=task)
    if not deleted:
        return
    with st.expander(f"Trash: {counted(len(deleted), task)}", icon=":material/delete:"):
        st.caption(
            f"Deleted runs are removed permanently after {DELETED_DAYS} days. To remove them now, empty the trash."
        )
        for run_id, name in runs.labels(deleted, name_of).items():
            st.button(
                escaped(f"Restore {name}"),
                key=keys.widget(f"restore {run_id}"),
                icon=":material/undo:",
                type="tertiary",
                on_click=_restore,
                args=[run_id],
            )
        with st.popover("Empty trash", icon=":material/delete_forever:"):
            st.markdown(f"{counted(len(deleted), task).capitalize()} will be deleted permanently.")
            if frame.pressed("Delete permanently", "empty deleted", type="primary"):
                removed = home.store().runs.empty_trash(task)
                st.toast(f"{counted(removed, task).capitalize()} deleted permanently.")
                st.rerun()


def _restore(*run_ids: str) -> None:
    _act(home.store().runs.restore, run_ids)


def counted(count: int, task: str) -> str:
    """Return a number of runs of a task as text."""
    return in_number(count, KIND_NAMES[task])
