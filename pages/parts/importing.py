"""An import from its first question to the person's decision: keep the image set, or discard it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import streamlit as st

from pages.parts import address, cache, forms, grid, jobs_panel, keys, tiles
from pages.parts.frame import escaped
from ranking.datasets import Thumbnails, load_image_set, source_class, source_names
from ranking.run_settings import ImportSettings
from ranking.store import ENDED, Run
from ranking.types import ImageSet

EXAMPLES = 12
REPORT = ("file", "expected", "came", "done")  # the columns of ranking.types.Problem


def show() -> None:
    """The import that the address names, as far as it is; where it names none, the form that starts one."""
    place = st.container()  # also where it stays empty: what stands below keeps its place
    run = address.read(keys.IMPORT, _import, None)
    with place:
        if run is None:
            _offer()
        else:
            with st.container(border=True):
                _show(run)


def _offer() -> None:
    """The form for any source that the laboratory knows."""
    with st.expander("Import images of your own", icon=":material/create_new_folder:"):
        names = source_names()
        source = st.selectbox("From", names, index=len(names) - 1, key=keys.widget("source"))
        more = f"More settings of {source}"
        values = forms.settings_form("source", [(source, source_class(source))], more, shared=False)
        if st.button("Import", type="primary", key="start import"):
            run = jobs_panel.start_once("import", ImportSettings(source, values[source]).to_json())
            address.put(**{keys.IMPORT: run.id})
            st.rerun()


def _show(run: Run) -> None:
    """An import that is under way, has failed, or waits for a decision."""
    if run.state not in ENDED:
        st.markdown(f"#### Importing from {escaped(run.settings['source'])}")
        jobs_panel.watch(run)
    elif run.state != "finished":
        jobs_panel.explain_end(run)
        _close()
    elif "decision" in run.result:
        st.markdown(f"This import of **{escaped(run.result['title'])}** was {run.result['decision']}.")
        _close()
    else:
        _decide(run)


def _import(run_id: str) -> Run:
    run = cache.store().run(run_id)
    if run.kind != "import":
        raise ValueError(f"that is a {run.kind}ing, expected an import")
    return run


def _close() -> None:
    st.button("Close", on_click=lambda: address.put(**{keys.IMPORT: None}), key="close import")


def _decide(run: Run) -> None:
    """What came of it, then the two buttons."""
    result = run.result
    st.markdown(f"#### Imported {escaped(result['title'])}: keep it?")
    with st.container(horizontal=True, gap="large"):
        st.metric("Images", f"{result['images']:,}", width="content")
        st.metric("Samples", f"{result['samples']:,}", width="content")
        st.metric("Classes", f"{len(result['classes']):,}", width="content")
        st.metric("Problems", f"{result['problems']:,}", width="content")
    draft = load_image_set(run.draft)
    _show_examples(draft, Thumbnails(run.draft))
    with st.container(horizontal=True):
        if st.button("Keep", type="primary", icon=":material/check_circle:", key="keep import"):
            address.put(**{keys.SET: cache.store().keep(run.id), keys.IMPORT: None})
            st.rerun()
        if st.button("Discard", icon=":material/delete:", key="discard import"):
            cache.store().discard(run.id)
            address.put(**{keys.IMPORT: None})
            st.rerun()
    _show_problems(run)


def _show_examples(draft: ImageSet, thumbnails: Thumbnails) -> None:
    rows = np.linspace(0, len(draft) - 1, min(EXAMPLES, len(draft))).round().astype(int)
    examples = tiles.sample_tiles(draft, thumbnails, [int(row) for row in rows])
    label = "Examples of the imported samples"
    grid.image_grid(
        examples, name=keys.EXAMPLE, selected=address.get(keys.EXAMPLE), label=label, kind="images"
    )
    st.caption("Samples from the whole import. **Notice** whether each shows what is written below it.")


def _show_problems(run: Run) -> None:
    problems = json.loads(run.problems_file.read_text())
    if not problems:
        st.success("Every file was as expected.", icon=":material/check_circle:")
        return
    st.dataframe([{name: row[name] for name in REPORT} for row in problems], hide_index=True, height=250)
    st.caption("What was not as expected, and what was done about it; everything else was imported.")
    st.download_button(
        "Report as CSV",
        lambda: _csv(problems),
        f"import-{run.id}.csv",
        "text/csv",
        icon=":material/table_view:",
        on_click="ignore",
    )


def _csv(problems: list[dict[str, str]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, REPORT, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(problems)
    return stream.getvalue()
