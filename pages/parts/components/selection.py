"""The selected samples: one selection for all pages.

The URL parameter `sample` is the sample that is shown in detail, so that a link shows it. More samples can be selected
in a grid; these are in the session only (`grid.together`), because a link is too short for a hundred ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, keys
from pages.parts.components import grid, tiles
from ranking.core import ImageSet, Ints
from ranking.metrics.ranked import Ranking


def row(images: ImageSet) -> int | None:
    """The row of the selected sample; None if no sample is selected."""

    def parse(text: str) -> int:
        rows = np.flatnonzero(images.ids == text)
        if not len(rows):
            raise ValueError("expected the id of a sample of this image set")
        return int(rows[0])

    return address.read(keys.SAMPLE, parse, None)


def rows(images: ImageSet) -> Ints:
    """(m,) rows of all selected samples of this image set."""
    return np.flatnonzero(np.isin(images.ids, grid.together(keys.SAMPLE, address.get(keys.SAMPLE))))


def show(images: ImageSet, ranked: Ranking, corrected: Mapping[str, bool]) -> None:
    """A table of the selected samples by rank, if there are several."""
    # corrected: as in `tiles.ranked_tiles`.
    chosen = rows(images)
    if len(chosen) < 2:
        return
    places = np.flatnonzero(np.isin(ranked.samples, chosen))
    relevant = int(ranked.relevance[places].sum())
    st.markdown(f"#### {len(places)} samples selected, {relevant} relevant")
    samples = ranked.samples[places].tolist()
    ids = [str(images.ids[sample]) for sample in samples]
    glyphs = {each: tiles.glyph(corrected[each]) for each in ids if each in corrected}
    st.dataframe(
        [
            {
                "rank": place + 1,
                "score": float(ranked.scores[place]),
                "relevant": tiles.glyph(bool(ranked.relevance[place])),
                **({"corrected to": glyphs.get(sample_id, "")} if glyphs else {}),
                "shows": tiles.shows(images, sample),
                "image": tiles.image_name(images, sample),
                "sample": sample_id,
            }
            for place, sample, sample_id in zip(places.tolist(), samples, ids, strict=True)
        ],
        hide_index=True,
        height=min(250, 36 * (len(places) + 1)),
        key=keys.widget("selected samples"),
    )
    more = len(chosen) - len(places)
    outside = f" {more} more in the other split." if more else ""
    st.caption(
        f"Mean score: {ranked.scores[places].mean():+.4g}.{outside} **Notice** what samples "
        "with nearly equal scores have in common. Press Escape in the grid to clear the selection."
    )


def show_crops(images: ImageSet, count: int) -> None:
    """The crops of the selected samples, at most `count`, if there are several."""
    chosen = rows(images).tolist()
    if len(chosen) < 2:
        return
    st.markdown(f"#### {len(chosen)} samples selected")
    with st.container(horizontal=True, gap="small"):
        for tile in tiles.sample_tiles(images, cache.thumbnails(images.key), chosen[:count]):
            st.image(tile.src, width=72, alt=tile.alt)
    if len(chosen) > count:
        st.caption(f"The first {count} are shown.")
