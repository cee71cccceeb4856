"""The visitor's data folder: its store, and caches of its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import streamlit as st

from pages.parts.app import workspaces
from ranking.reports.prose import escaped
from ranking.storage import jobs
from ranking.storage.home import home_folder
from ranking.storage.run import Run
from ranking.storage.space import FullError
from ranking.storage.store import Store

# entries of a cache: enough for a class of thirty with a workspace each
EACH = 32
# entries of a cache whose entries take much memory
SOME = 8

# The message if the folder of the examples is incomplete.
NO_EXAMPLES = (
    "the example images are missing in data/examples. Restore that folder (git checkout data/examples) and start the "
    "app again. Or import images on the page Image sets"
)


class Gone(Exception):
    """Something that the URL or a run refers to does not exist (any more). The message explains what to do."""


def store() -> Store:
    """The store of the visitor's data folder; when it is first opened, runs of crashed workers are failed."""
    # Outside of a page run, such as in a download, the function that calls this must be wrapped in
    # `workspaces.kept`.
    return _recovered(workspaces.here())


def common_features() -> Path:
    """The folder of computed features of shared image sets, which is the server's: no visitor computes them twice."""
    return _recovered(str(home_folder())).features.cache


def show_damage() -> None:
    """Name the folders and files that cannot be read."""
    for damage in store().damage():
        st.warning(escaped(damage.lost), icon=":material/warning:")


# Not a cache of Streamlit's: a page needs its store thirty times, and each look into such a cache takes 0.1 ms.
_opened: dict[str | None, Store] = {}


def _recovered(home: str | None) -> Store:
    if home not in _opened:
        opened = Store(home)
        jobs.recover(opened)
        # of two that open it at the same time, the first
        _opened.setdefault(home, opened)
    return _opened[home]


@contextmanager
def missing_as_error() -> Iterator[None]:
    """Turn errors about data that is missing or cannot be read into Gone, which pages show."""
    # Other errors are bugs. FullError is not changed, because pages then offer to free up storage.
    try:
        yield
    except FullError:
        raise
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise Gone(str(error)) from error


def of_home(entries: int = EACH, spinner: str | bool = False, needs: str = "") -> Callable[[Any], Any]:
    """Cache the results of a function of the visitor's data folder, separately per folder."""
    # Errors are turned into Gone. needs: "scores" or "model", which the run in the first argument must have.

    def decorate(make: Callable[..., Any]) -> Any:
        def made(home: str, *arguments: Any) -> Any:
            return make(*arguments)

        # Streamlit distinguishes caches by these.
        made.__module__, made.__qualname__ = make.__module__, make.__qualname__
        kept = st.cache_resource(
            made, show_spinner=spinner, max_entries=entries, hash_funcs={Run: lambda run: run.id}
        )

        @wraps(make)
        def get(*arguments: Any) -> Any:
            if needs and not getattr(arguments[0], f"has_{needs}"):
                run = arguments[0]
                raise Gone(f"run {run.id} is {run.state} and has no {needs}; train again")
            with missing_as_error():
                return kept(str(store().home), *arguments)

        get.clear = kept.clear  # type: ignore[attr-defined]
        return get

    return decorate
