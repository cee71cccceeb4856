"""The selected samples: one selection for all pages.

The address holds the sample that is shown large (`sample`), so that a link shows it. A person may select more in
a grid; those are of this browser tab alone (`grid.together`), as a hundred ids have no place in a link.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, keys
from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking


def row(images: ImageSet) -> int | None:
    """The row of the selected sample; None where none is selected."""
    return address.read(keys.SAMPLE, lambda text: _row_of(images, text), None)


def _row_of(images: ImageSet, sample: str) -> int:
    rows = np.flatnonzero(images.ids == sample)
    if not len(rows):
        raise ValueError("expected the id of a sample of this image set")
    return int(rows[0])


def rows(images: ImageSet) -> Ints:
    """(m,) rows of all samples that are selected together; those of another image set are not among them."""
    return np.flatnonzero(np.isin(images.ids, grid.together(keys.SAMPLE, address.get(keys.SAMPLE))))


def show(images: ImageSet, ranked: Ranking) -> None:
    """A table of the selected samples by rank, where there are several."""
    chosen = rows(images)
    if len(chosen) < 2:
        return
    places = np.flatnonzero(np.isin(ranked.samples, chosen))
    relevant = int(ranked.relevance[places].sum())
    st.markdown(f"#### {len(places)} samples selected, {relevant} relevant")
    st.dataframe(
        [_line(images, ranked, int(place)) for place in places],
        hide_index=True,
        height=min(250, 36 * (len(places) + 1)),
        key=keys.widget("selected samples"),
    )
    outside = (
        f" {len(chosen) - len(places)} more are in the other split." if len(places) < len(chosen) else ""
    )
    st.caption(
        f"The mean of their scores is {ranked.scores[places].mean():+.4g}.{escaped(outside)} **Notice** what samples "
        "of nearly equal scores have in common. Escape in the grid selects nothing."
    )


def _line(images: ImageSet, ranked: Ranking, place: int) -> dict[str, object]:
    sample = int(ranked.samples[place])
    return {
        "rank": place + 1,
        "score": float(ranked.scores[place]),
        "relevant": RELEVANT_GLYPH if ranked.relevance[place] else IRRELEVANT_GLYPH,
        "shows": tiles.shows(images, sample),
        "image": str(images.image_names[images.image_of[sample]]),
        "sample": str(images.ids[sample]),
    }


def show_crops(images: ImageSet, count: int) -> None:
    """The crops of the selected samples, at most `count`, where there are several."""
    chosen = rows(images)
    if len(chosen) < 2:
        return
    st.markdown(f"#### {len(chosen)} samples selected")
    shown = tiles.sample_tiles(images, cache.thumbnails(images.key), [int(one) for one in chosen[:count]])
    with st.container(horizontal=True, gap="small"):
        for tile in shown:
            st.image(tile.src, width=72, alt=tile.alt)
    if len(chosen) > count:
        st.caption(f"The first {count} of them.")
