"""Deleting image sets that were imported, restoring them, and emptying the trash."""

from __future__ import annotations

from datetime import datetime, timedelta

import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from ranking.core.text import counted
from ranking.storage.home import DELETED_DAYS
from ranking.storage.sets import ImageSetRow


def offer_delete(row: ImageSetRow) -> None:
    """The button that deletes an image set; none for shared image sets and examples."""
    if row.shared:
        return
    used = _used(row.key)
    st.button(
        "Delete this image set",
        key="delete set",
        icon=":material/delete:",
        type="tertiary",
        disabled=used is not None,
        help=used,
        on_click=_delete,
        args=(row.key,),
    )


def offer_undo(key: str) -> None:
    """The button that deletes an image set that was just imported, or why that is not possible."""
    if used := _used(key):
        st.caption(f"{used} To undo the import, delete its runs and empty the trash.", width="content")
    else:
        st.button("Undo", key="undo import", icon=":material/undo:", on_click=_delete, args=(key,))


def _used(key: str) -> str | None:
    """Say how many runs use an image set; None if none does."""
    users = len(home.store().sets.users(key))
    return f"Used by {counted(users, 'run')}, including runs in the trash." if users else None


def show_last_change() -> None:
    """The image set that was just deleted, with a button that restores it."""
    deleted = {row.key: row for row in home.store().sets.deleted_rows()}
    row = deleted.get(st.session_state.get(keys.JUST_DELETED_SET, ""))
    if row is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Deleted: {escaped(row.title)}.", width="content")
            key = keys.widget("undo delete of set")
            st.button("Undo", key=key, icon=":material/undo:", on_click=_restore, args=(row.key,))


def show() -> None:
    """The image sets in the trash, a button that restores each, and one that empties the trash."""
    rows = home.store().sets.deleted_rows()
    if not rows:
        return
    with st.expander(f"Trash: {counted(len(rows), 'image set')}", icon=":material/delete:"):
        st.caption(
            f"They are removed permanently after {DELETED_DAYS} days. To remove them now, empty the trash."
        )
        for row in rows:
            last = datetime.fromtimestamp(row.deleted or 0.0) + timedelta(days=DELETED_DAYS)
            st.button(
                f"Restore {escaped(row.title)} ({row.images:,} images, until {last.strftime('%d %b')})",
                key=keys.widget(f"restore set {row.key}"),
                icon=":material/undo:",
                type="tertiary",
                on_click=_restore,
                args=(row.key,),
            )
        with st.popover("Empty trash", icon=":material/delete_forever:"):
            st.markdown(f"{counted(len(rows), 'image set')} will be deleted permanently.")
            if frame.pressed("Delete permanently", "empty sets", type="primary"):
                removed = home.store().sets.empty_trash()
                st.toast(f"{counted(removed, 'image set')} deleted permanently.")
                st.rerun()


def _delete(key: str) -> None:
    try:
        home.store().sets.delete(key)
    except ValueError as error:
        # a training run on it was started in another tab
        address.complain(str(error))
        return
    st.session_state[keys.JUST_DELETED_SET] = key
    address.put(**{keys.SET: None, keys.IMPORT: None})


def _restore(key: str) -> None:
    try:
        home.store().sets.restore(key)
    except ValueError as error:
        # the trash was emptied in another tab
        address.complain(str(error))
        return
    st.session_state[keys.JUST_DELETED_SET] = None
    address.put(**{keys.SET: key})
