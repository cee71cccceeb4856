"""Label interactions: which labels a c-star has learnt to draw in or push out, and whether the data says so too."""

from __future__ import annotations

import csv
import io

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, figures_file, frame, keys
from pages.parts.app.file_names import file_name
from pages.parts.app.frame import escaped
from pages.parts.runs import export, label_models
from pages.parts.views import charts, label_charts, label_words, star_picture
from ranking.explain.label_pairs import LabelPairs
from ranking.workspace.run import Run

ALL = "all"  # of the core
MOST_BARS = 8  # of each sign
CSV_COLUMNS = ("core label", "label", "F", "images with both", "expected by chance", "lift", "log2 lift")


def steps() -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        row = label_models.choose_set()
    with right:
        run = label_models.choose_training(row, "Training", (label_models.OWN,))
    pairs = cache.label_pairs(run)
    if not pairs.weight.any():
        frame.way_on(
            "This c-star has no interactions: its core is empty, or nothing was learnt of it",
            "Look at the questions it asks",
            "label_questions",
        )
    look(run, row.title, pairs)


@st.fragment
def look(run: Run, title: str, pairs: LabelPairs) -> None:
    """What answers to the choice of a core label, without the rest of the page running again."""
    with frame.in_place():
        label = choose_core(pairs)
        shown = pairs if label is None else pairs.of(label)
        left, right = st.columns([5, 4], gap="large")
        with left:
            star = show_star(shown, float(np.abs(pairs.weight).max()))
        with right:
            bars = show_bars(shown, label)
        scatter = show_against_the_data(shown, label)
        show_table(shown)
        with st.container(horizontal=True):
            offer_csv(run, title, pairs)
            figures_file.offer(
                f"Label interactions of {run.settings['method']} on {title}",
                [star, bars, scatter],
                file_name("interactions", title, run.id, "html"),
            )
    frame.show_menu()


def choose_core(pairs: LabelPairs) -> int | None:
    """The number of one label of the core, None for all of them."""
    names = [pairs.names[int(label)] for label in pairs.core]
    bound = address.bound(keys.CORE, address.one_of([ALL, *names]), ALL)
    chosen = st.segmented_control(
        "Core label",
        [ALL, *names],
        format_func=lambda name: "All of the core" if name == ALL else escaped(name),
        required=True,
        **bound,
    )
    return None if chosen == ALL else pairs.names.index(str(chosen))


def show_star(shown: LabelPairs, largest: float) -> figures_file.Shown:
    star = star_picture.star_of(shown)
    told = [label_words.told(star.pairs, place) for place in range(len(star.pairs))]
    figure = star_picture.figure_of(star, largest, told)
    said = label_words.strongest(shown)
    charts.show(figure, keys.widget("star"), f"The star. {said}", "star", height=600, top=4)
    outer, others = len(star.shown) - star.middle, len(shown.names) - star.middle
    middle = "the core" if star.middle > 1 else shown.names[int(star.shown[0])]
    caption = (
        f"In the middle {escaped(middle)}, around it the {outer} labels that it joins most strongly, of {others}. "
        r"The wider a line, the larger |F|; two labels in one top k add 2F to its value $t^\top s+t^\top Ft$. "
        f"**Notice** the extremes: {said}"
    )
    st.caption(caption)
    return figure, said


def show_bars(shown: LabelPairs, label: int | None) -> figures_file.Shown:
    """The strongest pairs of both signs, and what the data has of the same pairs."""
    places = np.concatenate([shown.strongest(1, MOST_BARS), shown.strongest(-1, MOST_BARS)[::-1]])
    part = shown.part(places)
    names = [
        label_charts.named(part, place) if label is None else part.names[int(part.second[place])]
        for place in range(len(part))
    ]
    figure = label_charts.beside_the_data(part, names)
    listed = "; ".join(label_words.told(part, place) for place in range(len(part)))
    charts.show(
        figure,
        keys.widget("pairs beside the data"),
        listed,
        "interactions",
        height=90 + 30 * len(part),
        top=30,
    )
    against = np.flatnonzero(part.against > 0)
    found = f"all {len(part)} of these go the way of the data"
    if len(against):
        worst = names[int(part.against.argmax())]
        goes = "goes" if len(against) == 1 else "go"
        found = f"{len(against)} of these {len(part)} {goes} against the data, most of all {escaped(worst)}"
    caption = (
        f"At the right the same pairs in the {part.images:,} training images: how many have both, and how many would "
        "by chance, were the two independent; bars by the logarithm of their ratio. **Notice** whether both bars "
        f"point one way: {found}."
    )
    st.caption(caption)
    return figure, listed


def show_against_the_data(shown: LabelPairs, label: int | None) -> figures_file.Shown:
    """All pairs: the learnt against the counted."""
    furthest = label_charts.most_against(shown)
    told = [label_words.told(shown, place) for place in range(len(shown))]
    figure = label_charts.against_the_data(shown, told, furthest)
    said = label_words.compared(shown)
    whose = "the core" if label is None else shown.names[label]
    st.markdown(f"### Does {escaped(whose)} say what the data says?")
    charts.show(
        figure, keys.widget("learnt against counted"), said, "interactions-and-data", height=420, top=8
    )
    st.caption(
        f"Each point is a pair, of {len(shown):,}. **Notice**: {said} F is no copy of the counts: it holds what the "
        "scores of single labels leave open, and is learnt for the top k. Counts have half an image added, so that "
        "pairs that never meet have a place."
    )
    return figure, said


def show_table(shown: LabelPairs) -> None:
    """All pairs that are shown, the strongest first."""
    order = np.argsort(-np.abs(shown.weight), kind="stable")
    part = shown.part(order)
    with st.expander(f"All {len(part):,} pairs as a table"):
        st.dataframe(
            [dict(zip(CSV_COLUMNS, row, strict=True)) for row in rows_of(part)],
            hide_index=True,
            column_config={
                "F": st.column_config.NumberColumn(format="%+.3f"),
                **{name: st.column_config.NumberColumn(format="%.2f") for name in CSV_COLUMNS[4:]},
            },
        )


def rows_of(pairs: LabelPairs) -> list[tuple[str, str, float, int, float, float | None, float]]:
    """The cells of `CSV_COLUMNS` for each pair."""
    lift = [None if np.isnan(value) else float(value) for value in pairs.lift]
    return [
        (
            pairs.names[int(pairs.first[place])],
            pairs.names[int(pairs.second[place])],
            float(pairs.weight[place]),
            int(pairs.together[place]),
            float(pairs.expected[place]),
            lift[place],
            float(pairs.log_lift[place]),
        )
        for place in range(len(pairs))
    ]


def csv_text(pairs: LabelPairs) -> str:
    """One line a pair; texts are guarded, numbers exact."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(CSV_COLUMNS)
    for first, second, *numbers in rows_of(pairs):
        told = ["" if number is None else repr(number) for number in numbers]
        writer.writerow([export.guarded(first), export.guarded(second), *told])
    return stream.getvalue()


def offer_csv(run: Run, title: str, pairs: LabelPairs) -> None:
    st.download_button(
        "All pairs as CSV",
        lambda: csv_text(pairs),
        file_name("interactions", title, run.id, "csv"),
        "text/csv",
        icon=":material/table_view:",
        on_click="ignore",
    )


frame.show_page(
    "label_interactions", "Which labels draw each other in, and which push each other out.", steps
)
