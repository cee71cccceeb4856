"""Charts and captions of the lesson about label ranking; the captions are computed from its numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import (
    BLUE,
    GREY,
    IRRELEVANT,
    IRRELEVANT_GLYPH,
    PURPLE,
    RELEVANT,
    RELEVANT_GLYPH,
    VERMILLION,
)
from pages.parts.charts.plots import ZERO, hatched, line, points, reach, signed_bars
from pages.parts.lessons.labels_lesson_data import (
    BASELINE,
    BY_CHANCE,
    OWN,
    QUESTIONS,
    LessonLabels,
    strongest,
)
from ranking.core import Bools, Floats, Ints
from ranking.explain.labelling_model import LabellingModel, Position
from ranking.reports.prose import markdown_table, signed

# ranks that are shown after the top k
BELOW = 1
# of the answered label, that the caption names
PARTNERS = 2
# labels in a chart of moves, and the least ranks between two
MAX_NAMED, LEAST_APART = 6, 3
FONT = {"size": 15}
INSIDE, OUTSIDE = "best with it", "best without it"


def marked(name: str, truth: bool) -> str:
    """Return a label with the sign whether the image shows it, escaped for Plotly."""
    return f"{RELEVANT_GLYPH if truth else IRRELEVANT_GLYPH} {html.escape(name)}"


def ranked(names: Sequence[str], order: Ints, scores: Floats, truth: Bools, k: int) -> go.Figure:
    """Plot the scores of the first k + BELOW labels: correct labels solid, incorrect labels hatched."""
    shown = order[: k + BELOW]
    rows = np.arange(len(shown))[::-1]
    figure = go.Figure()
    for correct, name, style in (
        (True, f"{RELEVANT_GLYPH} in the image", {"color": RELEVANT}),
        (False, f"{IRRELEVANT_GLYPH} not", hatched(IRRELEVANT)),
    ):
        chosen = truth[shown] == correct
        figure.add_bar(
            x=scores[shown[chosen]],
            y=rows[chosen],
            orientation="h",
            name=name,
            marker=style,
            hovertext=[html.escape(names[label]) for label in shown[chosen]],
            hovertemplate="%{hovertext}: %{x:+.3f}<extra></extra>",
        )
    figure.add_hline(
        y=len(shown) - k - 0.5,
        line={"color": GREY, "width": 3, "dash": "dash"},
        annotation={"text": f"k = {k}", "font": FONT},
        annotation_position="top right",
    )
    texts = [marked(names[label], bool(truth[label])) for label in shown]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, showgrid=False)
    figure.update_xaxes(title_text="score: best with it − without it", zerolinecolor=GREY)
    figure.update_layout(bargap=0.25)
    return figure


def moves(
    names: Sequence[str],
    before: Ints,
    after: Ints,
    answered: int,
    truth: Bools,
    k: int,
    partners: Sequence[int],
) -> go.Figure:
    """Plot all labels before an answer at the left and after it at the right, joined by lines."""
    # before, after: (L,) from the top. The ends of a line are filled where the image shows the label. Other
    # labels that moved up are blue, those that moved down dashed vermilion. Named are the answered label, its
    # `partners` and those that moved furthest, where there is room.
    was, now = np.argsort(before) + 1, np.argsort(after) + 1
    change = moved_among_others(before, after, answered)
    # what moved furthest lies above the rest
    by_change = np.argsort(np.abs(change), kind="stable")
    figure = go.Figure()
    for label in by_change:
        style = (
            (GREY, 1.5, "solid")
            if not change[label]
            else (BLUE, 3, "solid")
            if change[label] > 0
            else (VERMILLION, 3, "dash")
        )
        line(
            figure,
            [0, 1],
            [was[label], now[label]],
            *((PURPLE, 5, "dot") if label == answered else style),
            mode="lines+markers",
            marker={"size": 7, "symbol": "circle" if truth[label] else "circle-open"},
            hovertemplate=f"{html.escape(names[label])}: rank {was[label]} → {now[label]}<extra></extra>",
        )
    candidates = [answered, *partners, *(label for label in by_change[::-1] if change[label])]
    for label in _apart(candidates, now):
        text = marked(names[label], bool(truth[label]))
        text = f"<b>{text}</b>" if label == answered else text
        style = {"xanchor": "left", "xshift": 8, "showarrow": False, "font": FONT}
        figure.add_annotation(x=1.0, y=now[label], text=text, **style)
    figure.add_hline(
        y=k + 0.5,
        line={"color": GREY, "width": 2, "dash": "dash"},
        annotation={"text": f"k = {k}", "font": FONT},
        annotation_position="bottom left",
    )
    ticks = {"tickvals": [0, 1], "ticktext": ["before", "after"], "tickfont": FONT}
    figure.update_xaxes(range=[-0.3, 1.8], side="top", showgrid=False, zeroline=False, **ticks)
    figure.update_yaxes(range=[len(names) + 0.6, 0.4], visible=False)
    return figure


def _apart(labels: Sequence[int], ranks: Ints) -> list[int]:
    """Return the first MAX_NAMED of `labels` whose ranks leave room for their names."""
    named: list[int] = []
    for label in labels:
        if len(named) < MAX_NAMED and all(abs(ranks[label] - ranks[each]) >= LEAST_APART for each in named):
            named.append(label)
    return named


def moved_among_others(before: Ints, after: Ints, answered: int) -> Ints:
    """Return by how many ranks each label (L,) moves up among the others; 0 for the answered label."""
    places = [np.zeros(len(before), np.int64) for _ in range(2)]
    for place, order in zip(places, (before, after), strict=True):
        place[order[order != answered]] = np.arange(1, len(order))
    moved: Ints = places[0] - places[1]
    return moved


def ties(names: Sequence[str], interactions: Sequence[tuple[int, float]]) -> go.Figure:
    """Plot the interactions of one label, (other label, F), from the top."""
    rows = np.arange(len(interactions))[::-1]
    values = [weight for _, weight in interactions]
    figure = go.Figure()
    figure.add_bar(
        x=values,
        y=rows,
        orientation="h",
        text=[signed(weight) for weight in values],
        textfont=FONT,
        textposition="outside",
        cliponaxis=False,
        marker=signed_bars(values),
        hoverinfo="skip",
    )
    figure.update_xaxes(range=reach(values, 1.9), tickvals=[], **ZERO)
    texts = [html.escape(names[label]) for label, _ in interactions]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.3)
    return figure


def maxima(names: Sequence[str], shown: Sequence[int], inside: Floats, outside: Floats) -> go.Figure:
    """Plot the two max-marginals (L,) of the labels `shown`, the next question on top."""
    # The line between the two is as long as their difference.
    figure = go.Figure()
    rows = np.arange(len(shown))[::-1]
    for row, label in zip(rows, shown, strict=True):
        style = (PURPLE, 9) if label == shown[0] else (GREY, 4)
        line(figure, [inside[label], outside[label]], [row, row], *style)
    chosen, texts = np.array(shown, np.int64), [html.escape(names[label]) for label in shown]
    for name, values, colour, symbol in (
        (INSIDE, inside, BLUE, "circle"),
        (OUTSIDE, outside, VERMILLION, "diamond-open"),
    ):
        hover = {"hovertext": texts, "hovertemplate": "%{hovertext}: %{x:.4f}<extra></extra>"}
        points(figure, values[chosen], rows, colour, symbol, 14, (colour, 3), name=name, **hover)
    texts = [f"<b>asked: {texts[0]}</b>", *texts[1:]]
    edges = [-0.7, len(shown) - 0.3]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, range=edges, showgrid=False)
    figure.update_xaxes(title_text="value of the best k labels", nticks=6)
    return figure


# questions that the table shows, as the paper's Table 1
COLUMNS = (0, 1, 5, QUESTIONS)
# standard errors of a 95% confidence interval
SURE = 1.96


def quoted(names: Sequence[str]) -> str:
    """List names in a sentence.

    >>> quoted(["sea", "sun"]), quoted([])
    ('“sea”, “sun”', 'no other label')
    """
    return ", ".join(f"“{name}”" for name in names) or "no other label"


def listed(taught: LessonLabels, row: int, order: Ints, k: int) -> str:
    """List the top k labels, with the sign whether the image shows them."""
    return f"The first {k} labels: {_with_truth(taught, row, order[:k])}"


def _with_truth(taught: LessonLabels, row: int, labels: Sequence[int]) -> str:
    truth = taught.labels[row]
    return ", ".join(f"{taught.names[i]} {RELEVANT_GLYPH if truth[i] else IRRELEVANT_GLYPH}" for i in labels)


def moved(taught: LessonLabels, before: Ints, after: Ints, answered: int, k: int) -> str:
    """Name the labels, except the answered one, that enter or leave the first k after an answer."""
    was, now = ({int(i) for i in order[:k] if i != answered} for order in (before, after))
    comes = [taught.names[int(i)] for i in after if int(i) in now - was]
    goes = [taught.names[int(i)] for i in before if int(i) in was - now]
    return f"Into the top {k}: {quoted(comes)}; out of it: {quoted(goes)}"


def notice_answer(taught: LessonLabels, label: int, before: Ints, after: Ints) -> str:
    """Return the caption of the two rankings."""
    # before, after: (L,) the labels from the top, as OWN ranks them.
    change = moved_among_others(before, after, label)
    partners = ", ".join(
        f"“{taught.names[partner]}” ($F$ {signed(weight)}) {signed(int(change[partner]), 0)}"
        for partner, weight in partners_of(taught, label)
    )
    return (
        "$F$ is the interaction of two labels. Filled ends: labels in the image. Blue lines move up, dashed lines "
        "down; the dotted line is the answered label. **Notice** by how many ranks its strongest partners move up "
        f"among the other labels: {partners}. {BASELINE} has $F=0$: no other labels cross."
    )


def usual_answers(taught: LessonLabels) -> str:
    """Return how often the first answer changes how many other labels above the line are correct."""
    # Over all scenes.
    corrected = taught.first_answers.corrected
    return (
        f"In {np.count_nonzero(corrected == 0)} of {len(corrected)} test scenes the first answer leaves the number of "
        f"other correct labels above the line unchanged; it rises in {np.count_nonzero(corrected > 0)}."
    )


def partners_of(taught: LessonLabels, label: int) -> list[tuple[int, float]]:
    """Return the labels of the strongest interactions of a label, with F."""
    return strongest(taught.ties(label), PARTNERS)


def answered(taught: LessonLabels, row: int, questions: Sequence[int]) -> str:
    """Return the answered questions as the end of a sentence; "" where there are none."""
    return f" after {_with_truth(taught, row, questions)}" if len(questions) else ""


def maxima_alt(taught: LessonLabels, shown: Sequence[int], inside: Floats, outside: Floats) -> str:
    """Return the two max-marginals of the labels as text."""
    return "; ".join(f"{taught.names[i]}: {inside[i]:.4f} with it, {outside[i]:.4f} without" for i in shown)


def with_and_without(
    taught: LessonLabels, labelling_model: LabellingModel, position: Position, label: int
) -> str:
    """Say which labels are only in the best k with a label, and which only in the best k without it."""
    answers = np.stack([position.after(label, answer).answers for answer in (True, False)])
    inside, outside = labelling_model.prediction(answers).best.members
    also, instead = (
        [taught.names[i] for i in np.flatnonzero(own & ~opposite) if i != label]
        for own, opposite in ((inside, outside), (outside, inside))
    )
    return (
        f"**With “{taught.names[label]}”**, the best {int(inside.sum())} also contain {quoted(also)}; **without it**, "
        f"{quoted(instead)} instead."
    )


def notice_question(taught: LessonLabels, shown: Sequence[int], inside: Floats, outside: Floats) -> str:
    """Say how far apart the max-marginals of the labels shown are; the asked label is the first."""
    lengths = ", ".join(f"“{taught.names[i]}” {abs(float(inside[i] - outside[i])):.4f}" for i in shown)
    return f"**Notice** the lengths of the lines: {lengths}."


def from_to(curves: Mapping[str, Floats]) -> str:
    """Return the first and last value of each curve (q + 1, M) in percent."""
    means = {name: 100 * values.mean(axis=1) for name, values in curves.items()}
    return "; ".join(f"{name} {mean[0]:.1f}% → {mean[-1]:.1f}%" for name, mean in means.items())


def table(curves: Mapping[str, Floats]) -> str:
    """Return the precision in percent by the number of questions, as a Markdown table."""
    means = {name: 100 * values.mean(axis=1) for name, values in curves.items()}
    heads = ["", *(f"Q{count}" if count else "Auto" for count in COLUMNS)]
    return markdown_table(
        heads, ([name, *(f"{mean[count]:.1f}" for count in COLUMNS)] for name, mean in means.items())
    )


def interval(apart: Floats) -> tuple[float, float, float]:
    """Return the mean of paired differences (M,) in points, and its 95% confidence interval over the scenes.

    >>> [round(value, 2) for value in interval(np.array([0.0, 0.02]))]
    [1.0, -0.96, 2.96]
    """
    mean = 100 * float(apart.mean())
    half = SURE * 100 * float(apart.std(ddof=1)) / float(np.sqrt(len(apart)))
    return mean, mean - half, mean + half


def notice_worth(curves: Mapping[str, Floats]) -> str:
    """Say what the interactions add, and what the choice of the questions adds."""
    model = [
        f"{apart(curves[OWN][count] - curves[BASELINE][count])} after {count} questions"
        for count in (0, QUESTIONS)
    ]
    choice = apart(curves[OWN][QUESTIONS] - curves[BY_CHANCE][QUESTIONS])
    return (
        f"**Notice** what interactions add, {OWN} minus {BASELINE}: {', '.join(model)}; and the choice of questions: "
        f"{choice} after {QUESTIONS}."
    )


def measured_on(taught: LessonLabels) -> str:
    """Say what precision is, and of which scenes and training runs."""
    return (
        "Auto: without questions. BEP: precision at $k$, where the model is given the number $k$ of labels and "
        "answered labels are correct. "
        f"{len(taught.scenes)} generated scenes, one training run on {taught.learned} others, within "
        f"{100 * taught.gap:.1g}% of its optimum."
    )


def apart(differences: Floats) -> str:
    """Return the mean of paired differences (M,) in points, with its interval, and whether it is significant.

    >>> apart(np.array([0.0, 0.02]))
    '+1.0 points (−1.0 to +3.0, not significant)'
    """
    # The 95% confidence interval over scenes; significant: it excludes 0.
    mean, low, high = interval(differences)
    sure = "" if low > 0 or high < 0 else ", not significant"
    return f"{signed(mean, 1)} points ({signed(low, 1)} to {signed(high, 1)}{sure})"
