"""Label interactions: which labels attract and which repel each other in a C-star, compared with the data."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import controls, downloads, figures_file, frame, keys, menu
from pages.parts.app.file_names import file_name
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.labelling import label_charts, label_models, star_picture
from ranking.core.spreadsheets import rows_csv
from ranking.explain.label_pairs import LabelPairs
from ranking.storage.run import Run

# of the core
ALL = "all"
# of each sign
MAX_BARS = 3
STAR = (
    "Core labels are in the middle, the labels with their strongest interactions around them. The wider a line, the "
    r"larger |F|; two labels in the same top k add 2F to its value $t^\top s+t^\top Ft$."
)


def steps() -> None:
    picture, settings = st.container(), st.container(key="settings-interactions")
    with settings:
        left, right = st.columns(2, gap="medium")
        with left:
            row = label_models.choose_set()
        with right:
            run = label_models.choose_training(row, "Training run", (label_models.OWN,))
    pairs = label_models.label_pairs(run)
    if not pairs.weight.any():
        frame.show_empty_state(
            "This C-star model has no interactions: its core is empty, or all learned weights are 0",
            "Open interactive labelling",
            "interactive_labelling",
        )
    with picture:
        show_interactions(run, row.title, pairs)


@st.fragment
def show_interactions(run: Run, title: str, pairs: LabelPairs) -> None:
    """Show all that depends on the chosen core label, without running the rest of the page again."""
    with frame.errors_in_place():
        names = [pairs.names[int(label)] for label in pairs.core]
        offered = {ALL: "All", **{name: escaped(name) for name in names}}
        with frame.picture("core"):
            core = controls.segments("Core label", keys.CORE, offered, ALL)
        label = None if core == ALL else pairs.names.index(core)
        shown = pairs if label is None else pairs.of(label)
        left, right = st.columns([5, 4], gap="large")
        with left, frame.picture("star"):
            star = show_star(shown, float(np.abs(pairs.weight).max()))
        with right:
            bars = show_bars(shown, label)
        scatter = show_against_the_data(shown, label)
        show_table(shown)
        with st.container(horizontal=True):
            file = file_name("interactions", title, run.id, "csv")
            downloads.offer("All pairs as CSV", lambda: csv_text(pairs), file)
            figures_file.offer(
                f"Label interactions of {run.settings['method']} on {title}",
                [star, bars, scatter],
                file_name("interactions", title, run.id, "html"),
            )
    menu.show_again()


def show_star(shown: LabelPairs, largest: float) -> figures_file.Shown:
    star = star_picture.star_of(shown)
    words = [label_charts.in_words(star.pairs, place) for place in range(len(star.pairs))]
    figure = star_picture.figure_of(star, largest, words)
    text = label_charts.strongest(shown)
    plots.show(figure, keys.widget("star"), f"The star. {text}", "star", height=464, top=4)
    st.caption(f"**Notice** the extremes: {text}", help=STAR)
    return figure, text


def show_bars(shown: LabelPairs, label: int | None) -> figures_file.Shown:
    """Show the strongest interactions of both signs beside the counts of the same pairs in the data."""
    places = np.concatenate([shown.strongest(1, MAX_BARS), shown.strongest(-1, MAX_BARS)[::-1]])
    part = shown.part(places)
    names = [
        label_charts.named(part, place) if label is None else part.names[int(part.second[place])]
        for place in range(len(part))
    ]
    figure = label_charts.beside_the_data(part, names)
    listed = "; ".join(label_charts.in_words(part, place) for place in range(len(part)))
    key, height = keys.widget("pairs beside the data"), 90 + 45 * len(part)
    plots.show(figure, key, listed, "interactions", height, top=30)
    st.caption(
        f"Right: training images with both labels, of {part.images:,}, compared with chance. Pairs that disagree with "
        f"the data: {np.count_nonzero(part.against > 0)} of {len(part)}.",
        help="Chance: the number expected if the two labels were independent. Bars show the logarithm of the ratio.",
    )
    return figure, listed


def show_against_the_data(shown: LabelPairs, label: int | None) -> figures_file.Shown:
    """Show the learned interaction of all pairs against their counts in the data."""
    furthest = label_charts.most_against(shown)
    words = [label_charts.in_words(shown, place) for place in range(len(shown))]
    figure = label_charts.against_the_data(shown, words, furthest)
    text = label_charts.compared(shown)
    whose = "the core" if label is None else shown.names[label]
    st.markdown(f"### Do the interactions of {escaped(whose)} agree with the data?")
    plots.show(
        figure, keys.widget("learned against counted"), text, "interactions-and-data", height=420, top=8
    )
    st.caption(
        f"Each of the {len(shown):,} points is a pair. {text} F is not a copy of the counts: it models "
        "what the scores of single labels leave unexplained, and is learned for the top k.",
        help="Half an image is added to each count, so that pairs that never occur together can be plotted.",
    )
    return figure, text


def show_table(shown: LabelPairs) -> None:
    """Show a table of all pairs, the strongest first."""
    part = shown.part(np.argsort(-np.abs(shown.weight), kind="stable"))
    numbers = st.column_config.NumberColumn(format="%.2f")
    with st.expander(f"All {len(part):,} pairs as a table"):
        st.dataframe(
            rows_of(part),
            hide_index=True,
            column_config={
                "F": st.column_config.NumberColumn(format="%+.3f"),
                **dict.fromkeys(("expected by chance", "lift", "log2 lift"), numbers),
            },
        )


def rows_of(pairs: LabelPairs) -> list[dict[str, str | float | None]]:
    """Return the cells of the table, a row per pair."""
    return [
        {
            "core label": pairs.names[int(pairs.first[place])],
            "label": pairs.names[int(pairs.second[place])],
            "F": float(pairs.weight[place]),
            "images with both": int(pairs.together[place]),
            "expected by chance": float(pairs.expected[place]),
            "lift": None if np.isnan(pairs.lift[place]) else float(pairs.lift[place]),
            "log2 lift": float(pairs.log_lift[place]),
        }
        for place in range(len(pairs))
    ]


def csv_text(pairs: LabelPairs) -> str:
    return rows_csv(rows_of(pairs))


frame.show_page("label_interactions", "Which labels attract, which repel?", steps)
