"""Sequence ranking: test sequences in the predicted orders and in your own, below the true order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, downloads, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import sheets
from pages.parts.components import film, tiles
from pages.parts.components.film import Strip
from pages.parts.sequences import order_models
from pages.parts.sequences.order_models import frames_of, true_strip
from pages.parts.training import jobs_panel, playback, run_actions, run_steps
from ranking import method_class, method_names
from ranking.core import ImageSet, Ints
from ranking.core.settings import settings_of
from ranking.core.spreadsheets import rows_csv
from ranking.datasets.sequences import Drawing, usual_drawing
from ranking.experiments.order_task import NAMES, Ordered, OrderMeasures, measure_order, training_grades
from ranking.methods.order_method import OrderMethod
from ranking.reports.prose import markdown_table
from ranking.storage.run import Run
from ranking.storage.run_settings import OrderTrainSettings
from ranking.storage.sets import ImageSetRow

VIEWS = {"methods": "Predicted orders", "own": "Order it yourself"}
# A criterion of such a name gets another column name.
OWN_COLUMNS = ("sequence", "true place", "sample", "image")
# crops of a sequence on the screen
MAX_SHOWN = 80


class Task(NamedTuple):
    """A test sequence."""

    # From 0.
    number: int
    # (n,)
    samples: Ints
    # (n,)
    relevance: Ints
    # The true order.
    true: tuple[int, ...]
    # Identifies the sequence.
    token: str


def steps() -> None:
    view, settings = st.container(), st.container(key="settings-orders")
    means, form = st.container(), st.container()
    left, right = settings.columns(2, gap="medium")
    with left:
        row = order_models.choose_set()
        criterion = order_models.choose_criterion(row)
    with view:
        run_actions.show_deleted(task="sequences")
    with form, st.expander("A new training", icon=":material/model_training:"):
        train_another(row, criterion)
    with view:
        with right:
            run = order_models.choose_training(row, criterion)
            beside = order_models.choose_beside(run)
        order_models.show_new(row, criterion)
        shown = {each.id: each for each in (run, *beside)}
        ordered = {key: order_models.ordered(each) for key, each in shown.items()}
        images = cache.image_set(row.key)
        with frame.picture("number"):
            task = choose_sequence(images, run, ordered[run.id])
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(means_in_words(shown, ordered), width="content")
            order_models.link_to_lesson()
        with frame.picture("sequence"):
            show_sequence(images, criterion, shown, ordered, task)
    with means:
        if address.get(keys.ORDER_VIEW) != "own":
            playback.show_sequence(list(shown.values()), task.number)
        show_means(shown, ordered, task.number)
        offer_files(images, criterion, shown, ordered, task)
        order_models.PICKER.show_run(run)
    with form:
        run_actions.show_trash(task="sequences")


# ---------------------------------------------------------------------------------------------------------
# A new training run
# ---------------------------------------------------------------------------------------------------------


def train_another(row: ImageSetRow, criterion: str) -> None:
    """Settings of the sequences, the features and the method, and the button."""
    names = method_names(ranks="sequences")
    bound = address.bound(keys.ORDER_METHOD, address.one_of(names), order_models.OWN)
    form = run_steps.form(row, names, bound, lambda method: warn_of_few_grades(row, criterion, method))
    more, usual = "More settings of the sequences", usual_drawing(cache.image_set(row.key), criterion)
    values = forms.settings_form("drawing", [(Drawing.name, Drawing)], more, usual=usual)
    defaults = {item.name: item.default for item in settings_of(Drawing)}
    drawing = {name: value for name, value in values[Drawing.name].items() if value != defaults[name]}
    settings = OrderTrainSettings(
        row.key, form.features, criterion, form.method, form.method_settings, drawing, form.projection
    )
    if run_steps.offer_start(settings, "train sequences"):
        st.rerun()
    st.caption(
        "You can compare runs that are tested on the same sequences: they need the same criterion and the same "
        "sequence settings. Features, scaling, methods and training sequences may differ."
    )


def warn_of_few_grades(row: ImageSetRow, criterion: str, method: str) -> None:
    """Recommend RankSVM if a method needs more different values than the training samples have."""
    grades, ranker = training_grades(cache.image_set(row.key), criterion), method_class(method)
    enough = ranker.enough_grades if issubclass(ranker, OrderMethod) else 0
    if grades < enough:
        st.warning(
            f"{method} is not recommended here. The training images have only {grades} different values of "
            f"“{escaped(criterion)}”, so most samples of a sequence are tied. With 3 or 4 values, the Kendall tau of "
            f"{method} was .005 to .065 lower than that of RankSVM on sequences with ties. Choose RankSVM.",
            icon=":material/warning:",
        )


# ---------------------------------------------------------------------------------------------------------
# Which sequence
# ---------------------------------------------------------------------------------------------------------


def choose_sequence(images: ImageSet, run: Run, ordered: Ordered) -> Task:
    """Choose a test sequence by its number, or the next one, or those that the run orders worst and best."""
    count, tau = len(ordered), ordered.measures.tau
    worst, best = int(np.argmin(tau)) + 1, int(np.argmax(tau)) + 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = controls.stepper(
            f"Test sequence, of {count:,}",
            keys.SEQUENCE,
            1,
            count,
            1,
            lambda now: {"Previous": now - 1, "Next": now + 1, "Worst": worst, "Best": best},
            width=190,
        )
        controls.segments("View", keys.ORDER_VIEW, VIEWS, "methods", label_visibility="collapsed")
    samples, relevance = ordered.samples(number - 1), ordered.relevance[number - 1]
    token = hashlib.sha256(
        f"{images.key} {run.settings['criterion']} {samples.tolist()}".encode()
    ).hexdigest()
    true = tuple(ordered.true_order(number - 1).tolist())
    return Task(number - 1, samples, relevance, true, token[:16])


# ---------------------------------------------------------------------------------------------------------
# The sequence as strips of crops
# ---------------------------------------------------------------------------------------------------------


@st.fragment
def show_sequence(
    images: ImageSet, criterion: str, shown: dict[str, Run], ordered: dict[str, Ordered], task: Task
) -> None:
    """Show the strips, in a fragment, so that moving a crop of your own strip runs nothing else."""
    with frame.errors_in_place():
        if len(task.samples) > MAX_SHOWN:
            st.info(
                f"This sequence has {len(task.samples)} images, too many to display (at most {MAX_SHOWN}). Its "
                "measures are shown below.",
                icon=":material/info:",
            )
            return
        own_view = address.get(keys.ORDER_VIEW) == "own"
        revealed = not own_view or st.toggle(
            "Show the true order",
            key=keys.widget(f"reveal {task.token}"),
            help="Also shows the orders that the methods predict.",
        )
        strips = strips_of(shown, ordered, task) if revealed else []
        key = keys.widget("film")
        if own_view:
            strips = [own_strip(key, task, revealed), *strips]
        film.film(
            frames_of(images, criterion, task.samples, task.relevance),
            strips,
            truth=true_strip(first_of(shown), task.true) if revealed else None,
            token=task.token,
            label=f"Test sequence {task.number + 1} in the true order and in the predicted orders",
            key=key,
        )
        st.caption(notice(criterion, first_of(shown), strips, task, own_view, revealed))
        tiles.explain_cards(images)


def first_of(shown: dict[str, Run]) -> Run:
    return next(iter(shown.values()))


def strips_of(shown: dict[str, Run], ordered: dict[str, Ordered], task: Task) -> list[Strip]:
    """Return a strip per run."""
    strips = []
    for key, run in shown.items():
        measured = OrderMeasures(*(values[task.number] for values in ordered[key].measures))
        order = tuple(ordered[key].order(task.number).tolist())
        strips.append(Strip(order_models.short_name(run), in_words(measured), order))
    return strips


def own_strip(key: str, task: Task, revealed: bool) -> Strip:
    """Return the strip of your own order, at first shuffled; with its measures if the true order is shown."""
    first = np.random.default_rng(task.number).permutation(len(task.samples)).tolist()
    order = film.own_order(key, task.token, first)
    note = (
        in_words(measure_order(task.relevance, order)) if revealed else "drag, or Shift with the arrow keys"
    )
    return Strip("Your order", note, order, movable=True)


def in_words(measured: OrderMeasures[float]) -> str:
    return (
        f"{100 * measured.pairs:.0f}% of pairs correct · Kendall tau {measured.tau:.2f} · NDCG "
        f"{measured.ndcg_linear:.3f} (linear gain), {measured.ndcg_exponential:.3f} (exponential)"
    )


def notice(criterion: str, run: Run, strips: list[Strip], task: Task, own_view: bool, revealed: bool) -> str:
    """Return the caption: how to move images, or what to notice of the order."""
    if not revealed:
        return (
            f"Order the images by “{escaped(criterion)}”, the {order_models.goes_first(run)} first, then show the true "
            "order. Drag an image, or move it with Shift + Left or Right."
        )
    shown, grades = strips[0], task.relevance
    pairs = int(np.triu(grades[:, None] != grades[None], 1).sum())
    text = (
        f"Solid line: predicted too early. Dashed: too late. Grey: correct position. **Notice** the crossings: each is "
        f"a pair in the wrong order, {crossings(shown.order, grades)} of {pairs} in “{escaped(shown.title)}”."
    )
    if len(np.unique(grades)) < len(grades):
        text += " Images with equal values are tied, so their lines do not cross."
    return text + (" You can still move images; the measures are updated." if own_view else "")


def crossings(order: tuple[int, ...], relevance: Ints) -> int:
    """Count the pairs of different relevance in the wrong order.

    >>> crossings((0, 2, 1), np.array([2, 1, 0]))
    1
    """
    graded = relevance[list(order)]
    return int(np.triu(graded[:, None] < graded[None], 1).sum())


# ---------------------------------------------------------------------------------------------------------
# All sequences
# ---------------------------------------------------------------------------------------------------------


def means_in_words(shown: dict[str, Run], ordered: dict[str, Ordered]) -> str:
    """Return the mean Kendall tau of each run over all test sequences."""
    means = (
        f"{escaped(order_models.short_name(run))} **{ordered[key].measures.tau.mean():.3f}**"
        for key, run in shown.items()
    )
    return f"Mean Kendall tau of all {len(ordered[next(iter(shown))]):,}: {', '.join(means)}"


def show_means(shown: dict[str, Run], ordered: dict[str, Ordered], number: int) -> None:
    """Show the mean measures of each run over all test sequences, and its pair accuracy on one of them."""
    # number: from 0.
    st.markdown(f"### Over all {len(next(iter(ordered.values()))):,} test sequences")
    names = {key: escaped(order_models.short_name(run)) for key, run in shown.items()}
    means = {
        key: OrderMeasures(*(float(values.mean()) for values in each.measures))
        for key, each in ordered.items()
    }
    best = np.max(list(means.values()), axis=0)
    table = []
    for key, mean in means.items():
        cells = [
            f"**{value:.3f}**" if value == top else f"{value:.3f}"
            for value, top in zip(mean, best, strict=True)
        ]
        table.append([names[key], *cells, f"{ordered[key].measures.pairs[number]:.3f}"])
    st.markdown(markdown_table(["", *NAMES, "this sequence: pairs"], table))
    caption = (
        "Means over sequences; the best value shown is bold. The paper defines NDCG with the exponential gain "
        "2^rel − 1, but its Table 1 is reproduced with linear gain, so both are shown. Kendall tau is always twice the "
        "pair accuracy minus one; both ignore tied pairs."
    )
    if len(means) > 1:
        ahead, *_, behind = sorted(means, key=lambda key: -means[key].pairs)
        points = 100 * (means[ahead].pairs - means[behind].pairs)
        caption += f" **Notice** that {names[ahead]} has {points:.1f} points more correct pairs than {names[behind]}."
    st.caption(caption)
    for run in shown.values():
        jobs_panel.explain_end(run, order_models.short_name(run))


# ---------------------------------------------------------------------------------------------------------
# Downloads
# ---------------------------------------------------------------------------------------------------------


def offer_files(
    images: ImageSet, criterion: str, shown: dict[str, Run], ordered: dict[str, Ordered], task: Task
) -> None:
    """Offer this sequence as PNG and all sequences as CSV; the files are made when a button is pressed."""
    run, names = (
        first_of(shown),
        {f"{order_models.short_name(run)} {key}": ordered[key] for key, run in shown.items()},
    )
    with st.container(horizontal=True):
        downloads.offer(
            "All test sequences as CSV",
            lambda: csv_text(images, criterion, names),
            f"orders-{run.id}.csv",
        )
        if len(task.samples) > MAX_SHOWN:
            return
        captions = [each.caption for each in frames_of(images, criterion, task.samples, task.relevance)]
        strips, headline = strips_of(shown, ordered, task), f"{images.title}, test sequence {task.number + 1}"
        downloads.offer(
            "This sequence as PNG",
            lambda: sheets.sequence_sheet(
                cache.thumbnails(images.key),
                task.samples,
                task.relevance,
                captions,
                true_strip(run, task.true),
                strips,
                headline,
            ),
            f"orders-{run.id}-{task.number + 1}.png",
        )


def csv_text(images: ImageSet, criterion: str, shown: Mapping[str, Ordered]) -> str:
    """Return a line per sample of each test sequence, in the true order, with a column per run."""
    # The column contains the position of the sample in the order of that run, from 1.
    values, rows = images.numbers_of(criterion), []
    first = next(iter(shown.values()))
    for number in range(len(first)):
        samples = first.samples(number)
        places = {f"place by {name}": np.argsort(each.order(number)) + 1 for name, each in shown.items()}
        for place, member in enumerate(first.true_order(number).tolist(), start=1):
            row = int(samples[member])
            rows.append(
                {
                    "sequence": number + 1,
                    "true place": place,
                    criterion if criterion not in OWN_COLUMNS else f"criterion {criterion}": float(
                        values[row]
                    ),
                    "sample": str(images.ids[row]),
                    "image": str(images.image_names[images.image_of[row]]),
                    **{name: int(placed[member]) for name, placed in places.items()},
                }
            )
    return rows_csv(rows)


frame.show_page("sequences", "Test sequences as each method orders them.", steps)
