"""The training samples that pull a sample up or down most, beside that sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from pages.parts.app import cache
from pages.parts.app.home import SOME, of_home
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.training import runs
from ranking import method_class
from ranking.core import Features, Floats, ImageSet
from ranking.features import rows_of
from ranking.features.projection import projected
from ranking.metrics.ranked import Ranking
from ranking.storage.run import Run

# in each direction, and in a row
SHOWN, ACROSS = 6, 3


def show(run: Run, images: ImageSet, ranked: Ranking, place: int) -> None:
    """Show the strongest pulls on the sample at `place` of a ranking; nothing for methods that keep none."""
    # loads compiled modules, for which the first page would wait
    from ranking.explain.pulls import pulls

    if (known := model(run)) is None:
        # CCCP never keeps them
        if method_class(run.settings["method"]).is_convex(run.settings["method_settings"]):
            st.caption("Train again without a warm start to see which training samples pull it up or down.")
        return
    coefficients, trained_on, features = known
    values = np.zeros(len(images))
    values[~images.test] = pulls(coefficients, trained_on, features[ranked.samples[place]])
    relevant = images.relevance(run.settings["query"], run.corrections) > 0
    st.markdown("#### Why is it here?")
    for name, sign in (("up", 1.0), ("down", -1.0)):
        strengths = np.maximum(sign * values, 0.0)
        rows, total = np.argsort(-strengths, kind="stable")[:SHOWN], strengths.sum()
        rows = rows[strengths[rows] > 0.0]
        texts = [f"{values[row]:+#.2g}, {strengths[row] / total:.0%}" for row in rows]
        of_rows = zip(tiles.labelled_tiles(images, rows, relevant), texts, strict=True)
        shown = [replace(tile, alt=f"{text}, {tile.alt}", left="", right=text) for tile, text in of_rows]
        st.markdown(f"Training samples that pull it {name} most, with their shares of {sign * total:+.4g}")
        strip(shown, name=f"pull {name}", label=f"Pull it {name}", columns=ACROSS, narrow=ACROSS, ratio=1.5)
    kind = "unary score, without its neighbours" if runs.uses_graph(run) else "score"
    st.caption(
        f"All {(~images.test).sum():,} training samples add up to **{values.sum():+.4g}**, its {kind}."
    )


@of_home(entries=SOME, spinner="Reading the training samples …", needs="model")
def model(run: Run) -> tuple[Floats, Features, Features] | None:
    """How much each training sample counts in the weights of a run, and the features of these and of all samples.

    None if the run does not know it.
    """
    from ranking.explain.pulls import training_coefficients

    images, method = cache.image_set(run.settings["set"]), cache.method_of(run)
    if method.coefficients is None:
        return None
    features = projected(cache.projection(run), cache.features_of(run, run.settings["features"]))
    trained_on = rows_of(features, ~images.test)
    return training_coefficients(method, trained_on), trained_on, features
