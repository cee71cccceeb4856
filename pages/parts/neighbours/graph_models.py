"""The common parts of both views of neighbours: the model of a run on all samples, and its effect as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.app.home import SOME, of_home
from pages.parts.components import tiles
from pages.parts.components.tile import Tile
from pages.parts.rankings import choices
from pages.parts.training import certificate, jobs_panel
from ranking.core import ImageSet, Ints
from ranking.explain.neighbourhood import Neighbourhood
from ranking.features import load_features
from ranking.inference import bounds_of
from ranking.metrics.ranked import Ranking
from ranking.reports.prose import change
from ranking.storage.run import Run
from ranking.storage.run_settings import DescribeSettings, TrainSettings, train_settings

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.edge_strength import EdgeStrengthCurve

# edge strengths, in multiples of the learned penalties
STRENGTHS = [step / 10 for step in range(21)]


def choose() -> tuple[Run, ImageSet, Neighbourhood, str]:
    """The training run of a page about neighbours, its image set, the effect of neighbours, and the split."""
    wide, narrow = st.columns([5, 2], gap="medium")
    with wide:
        run = choices.training(with_neighbours=True)
    images = cache.image_set(run.settings["set"])
    with narrow:
        split = choices.split(images)
    return run, images, of(run, images), split


def of(run: Run, images: ImageSet) -> Neighbourhood:
    """The effect of neighbours in a training run, or a button that computes its missing features."""
    try:
        return neighbourhood(run)
    except cache.NoFeatures:
        offer_features(run, images)


def offer_features(run: Run, images: ImageSet) -> NoReturn:
    """A button that computes the features of a run, which are not stored; ends the page."""
    described = train_settings(run.settings).features
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown("#### The features of this training run are not stored in this workspace")
        settings = DescribeSettings(images.key, described)
        jobs_panel.finished_study(settings, "Compute features", "compute features", again=True)
    frame.end_page()


def show_measures(model: Neighbourhood, test: bool) -> None:
    """Average precision with the edges off and on, and the number of relevant samples that moved."""
    ranked, alone = model.ranking(test), model.ranking(test, alone=True)
    if not ranked.positives:
        return
    on, off = ranked.average_precision, alone.average_precision
    rise = model.rise[(model.test == test) & model.relevant]
    with st.container(horizontal=True, gap="large"):
        st.metric("AP, edges off", f"{off:.3f}", help=EDGES_OFF, width="content")
        st.metric("AP with neighbours", f"{on:.3f}", width="content")
        st.metric("Difference", change(off, on), width="content")
        st.metric("Relevant moved up", f"{(rise > 0).sum()} of {len(rise)}", width="content")
        st.metric("Relevant moved down", f"{(rise < 0).sum()}", width="content")
    bounds = bounds_of(model.marginals)
    if bounds.large:
        st.warning(
            f"**Approximate.** {certificate.in_words(bounds)} The shown labellings are the best known.",
            icon=":material/warning:",
        )
    if not model.penalty.any():
        st.info(
            "All penalties are 0, so every sample is ranked by its unary score alone: the graph has no edges, or "
            "training learned zero weights for them."
        )


EDGES_OFF = (
    "The same weights without edges: every sample is ranked by its unary score alone. A method that is trained without "
    "edges would have learned other weights."
)


def moved(model: Neighbourhood, row: int) -> str:
    """The effect of its neighbours on the rank of a sample."""
    return f"rank {model.alone[row]:,} with edges off, {model.rank[row]:,} with neighbours"


def steps_of(places: int) -> str:
    """A move by a number of ranks, upwards positive.

    >>> steps_of(25), steps_of(-3), steps_of(0)
    ('▲ 25', '▼ 3', '=')
    """
    return f"{'▲' if places > 0 else '▼'} {abs(places):,}" if places else "="


def most_moved(model: Neighbourhood, test: bool, most: int, hurt: bool = False) -> Ints:
    """At most `most` samples of a split that neighbours helped (or hurt), the largest effect first."""
    # Samples without neighbours, which others merely passed, are omitted.
    connected = model.components.sizes[model.component_of] > 1
    rows = np.flatnonzero((model.test == test) & connected)
    helped = -model.helped[rows] if hurt else model.helped[rows]
    # ties: larger move first
    order = np.lexsort((-np.abs(model.rise[rows]), -helped))
    chosen: Ints = rows[order[helped[order] > 0][:most]]
    return chosen


def what_moved(model: Neighbourhood, row: int) -> str:
    """What to notice about the parts of a score: a sample can move up although its score decreases."""
    return (
        f"neighbours change the score by {model.score[row] - model.unary[row]:+.3g} and the rank by "
        f"{steps_of(int(model.rise[row]))}, which also depends on how the scores of other samples change"
    )


def why_hurt(model: Neighbourhood, rows: Ints) -> str:
    """What to notice about the neighbours of samples that they hurt: how many have a different label."""
    first, second = model.components.edges.T
    ends, others = np.append(first, second), np.append(second, first)
    theirs = np.isin(ends, rows)
    differing = int(np.count_nonzero(model.relevant[ends[theirs]] != model.relevant[others[theirs]]))
    count = int(theirs.sum())
    return (
        f"{differing:,} of {count:,} of their edges lead to the other label, but the model assumes that neighbours "
        "have the same."
    )


def moved_tiles(images: ImageSet, model: Neighbourhood, rows: Ints) -> list[Tile]:
    """One tile per sample: its rank, and the number of ranks by which its neighbours moved it."""
    return [
        replace(
            tile,
            alt=f"{in_words(images, model, row)}; {moved(model, row)}",
            left=f"{model.rank[row]}",
            right=steps_of(int(model.rise[row])),
            card=(
                ("rank", f"{model.rank[row]:,}; {model.alone[row]:,} with edges off"),
                ("score", f"{model.score[row]:+#.4g}"),
                ("unary score", f"{model.unary[row]:+#.4g}"),
                ("shows", tiles.shows(images, row)),
                ("image", tiles.image_name(images, row)),
            ),
        )
        for row, tile in zip(rows.tolist(), tiles.labelled_tiles(images, rows, model.relevant), strict=True)
    ]


def in_words(images: ImageSet, model: Neighbourhood, row: int) -> str:
    """A sample as text: rank, relevance and classes."""
    return f"rank {model.rank[row]}, {tiles.judged(model.relevant[row])}, shows {tiles.shows(images, row)}"


def jump_buttons(images: ImageSet, model: Neighbourhood, test: bool) -> None:
    """Buttons that select the samples that neighbours helped most and hurt most."""
    for label, hurt in (("Helped most", False), ("Hurt most", True)):
        rows, key = most_moved(model, test, 1, hurt), keys.widget(f"go to {label}")
        if not len(rows):
            st.button(f"{label}: no sample", key=key, disabled=True)
            continue
        row = int(rows[0])
        ranks = f"{tiles.glyph(model.relevant[row])} rank {model.alone[row]:,} → {model.rank[row]:,}"
        st.button(
            f"{label}: {ranks}",
            key=key,
            on_click=address.put,
            kwargs={keys.SAMPLE: str(images.ids[row])},
        )


def show_selected(images: ImageSet, model: Neighbourhood, row: int) -> None:
    """The selected sample in one line: its classes, and the effect of its neighbours."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        shown = tiles.shows(images, row)
        st.image(cache.thumbnails(images.key).crop(row), width=44, alt=f"The selected sample: {shown}")
        glyph = tiles.glyph(model.relevant[row])
        st.markdown(f"#### {glyph} {escaped(shown)}: {moved(model, row)}")


def where(images: ImageSet, model: Neighbourhood, ranked: Ranking) -> choices.Shown:
    """The shown part of a ranking; by default the sample that neighbours helped most is selected."""
    first = most_moved(model, bool(model.test[ranked.samples[0]]), 1)
    return choices.where(images, ranked, int(model.rank[first[0]]) - 1 if len(first) else 0)


# ---------------------------------------------------------------------------------------------------------
# The cached model
# ---------------------------------------------------------------------------------------------------------


@of_home(entries=SOME, spinner="Computing max-marginals …", needs="model")
def neighbourhood(run: Run) -> Neighbourhood:
    """The effect of neighbours on each sample of a run's image set; Gone if the scores are not current."""
    # Current: those of the run's stored method.
    from ranking.experiments.sample_task import query_of

    images, settings = cache.image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = cache.features_of(run, settings.features)
    edges = home.store().features.edges_of(settings.set, settings.graph)
    query = query_of(images, settings, features, edges=edges, projection=cache.projection(run))
    method = cache.method_of(run)
    potentials = method.potentials_of(query)
    unary, penalty = method.model_of(query, potentials)
    relevant = images.relevance(settings.query, settings.corrections) > 0
    made = Neighbourhood.of(unary, potentials, penalty, relevant, images.test)
    rankings = [cache.ranking(run, split) for split in cache.splits(images)]
    scores = np.concatenate([ranked.scores for ranked in rankings])
    order = np.concatenate([ranked.samples for ranked in rankings])
    if not np.allclose(made.score[order], scores, rtol=1e-6, atol=1e-9 * np.abs(scores).max()):
        raise ValueError(f"the scores of run {run.id} are not those of its stored model; train again")
    return made


@of_home(entries=SOME, spinner="Ranking at different edge strengths …", needs="model")
def strength_curve(run: Run) -> EdgeStrengthCurve:
    """The test samples of a run ranked at each of STRENGTHS."""
    # Only for a method that uses the similarity graph.
    from ranking.explain.edge_strength import edge_strength_curve

    images = cache.image_set(run.settings["set"])
    described = train_settings(run.settings).features
    # computes them if they are not stored
    load_features(images, described, cache.folder_of_features(run))
    return edge_strength_curve(neighbourhood(run), True, images.image_of, STRENGTHS)
