"""Orders: sequences of images as each method puts them, below the true order; and as one's own hand does."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components import film
from pages.parts.runs import order_form, order_means, order_models, run_actions, trainings
from pages.parts.views import order_export
from pages.parts.views.order_frames import frames_of, goes_first
from pages.parts.views.strips import Strip
from ranking.core import ImageSet, Ints
from ranking.experiments.order_training import Ordered, OrderMeasures, measure_order
from ranking.workspace.run import Run

VIEWS = {"methods": "The methods' orders", "own": "Order it yourself"}
MOST_SHOWN = 80  # pictures of a sequence on the screen


class Task(NamedTuple):
    """One test sequence: its number from 0, (n,) its samples and their relevance, the true order, and what tells it
    from all others."""

    number: int
    samples: Ints
    relevance: Ints
    true: tuple[int, ...]
    token: str


def steps() -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        row = order_models.choose_set()
        criterion = order_models.choose_criterion(row)
    run_actions.say_deleted(task="orders")
    view, form = st.container(), st.container()
    with form, st.expander("A new training", icon=":material/model_training:"):
        order_form.show(row, criterion)
    with view:
        with right:
            run = order_models.choose_training(row, criterion)
            beside = order_models.choose_beside(run)
        order_models.show_new(row, criterion)
        shown = {one.id: one for one in (run, *beside)}
        found = {key: cache.ordered(one) for key, one in shown.items()}
        images = cache.image_set(row.key)
        task = choose_sequence(images, run, found[run.id])
        show_sequence(images, criterion, shown, found, task)
        order_means.show(shown, found, task.number)
        offer_files(images, criterion, shown, found, task)
        trainings.look_at(run)
    with form:
        run_actions.bring_back(task="orders")


# ---------------------------------------------------------------------------------------------------------
# Which sequence
# ---------------------------------------------------------------------------------------------------------


def choose_sequence(images: ImageSet, run: Run, ordered: Ordered) -> Task:
    """A number, with buttons to the next and to those that the training orders worst and best."""
    count, tau = len(ordered), ordered.measures.tau
    current = int(address.read(keys.SEQUENCE, address.number(int, 1, count), 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound = address.bound(keys.SEQUENCE, address.number(int, 1, count), 1)
        st.number_input(f"Test sequence, of {count:,}", 1, count, step=1, width=190, **bound)
        ways = {
            "Previous": current - 1,
            "Next": current + 1,
            "Worst": int(np.argmin(tau)) + 1,
            "Best": int(np.argmax(tau)) + 1,
        }
        for label, target in ways.items():
            there = 1 <= target <= count and target != current
            key = keys.widget(f"sequence {label}")
            if frame.pressed(label, key, disabled=not there):
                address.put(**{keys.SEQUENCE: str(target)})
                st.rerun()
        bound = address.bound(keys.ORDER_VIEW, address.one_of(list(VIEWS)), "methods")
        st.segmented_control("View", list(VIEWS), format_func=VIEWS.__getitem__, required=True, **bound)
    number = current - 1
    samples, relevance = ordered.samples(number), ordered.relevance[number]
    true = tuple(ordered.true_order(number).tolist())
    token = hashlib.sha256(
        f"{images.key} {run.settings['criterion']} {samples.tolist()}".encode()
    ).hexdigest()
    return Task(number, samples, relevance, true, token[:16])


# ---------------------------------------------------------------------------------------------------------
# The sequence as a film
# ---------------------------------------------------------------------------------------------------------


@st.fragment
def show_sequence(
    images: ImageSet, criterion: str, shown: dict[str, Run], found: dict[str, Ordered], task: Task
) -> None:
    """The strips; in a fragment, so that a move of one's own strip runs nothing else."""
    with frame.in_place():
        if len(task.samples) > MOST_SHOWN:
            st.info(
                f"This sequence has {len(task.samples)} images, more than a screen can hold ({MOST_SHOWN}); its "
                "measures stand below.",
                icon=":material/info:",
            )
            return
        own_view = address.get(keys.ORDER_VIEW) == "own"
        revealed = not own_view or st.toggle(
            "Show the true order",
            key=keys.widget(f"reveal {task.token}"),
            help="And what the methods make of it.",
        )
        strips = strips_of(shown, found, task) if revealed else []
        key = keys.widget("film")
        if own_view:
            strips = [own_strip(key, task, revealed), *strips]
        film.film(
            frames_of(images, criterion, task.samples, task.relevance),
            strips,
            truth=true_strip(criterion, first_of(shown), task) if revealed else None,
            token=task.token,
            label=f"Test sequence {task.number + 1} in the true order and as methods put it",
            key=key,
        )
        st.caption(notice(criterion, first_of(shown), strips, task, own_view, revealed))


def first_of(shown: dict[str, Run]) -> Run:
    return next(iter(shown.values()))


def true_strip(criterion: str, run: Run, task: Task) -> Strip:
    note = f"by “{criterion}”, the {goes_first(run)} first"
    return Strip("The true order", note, task.true)


def strips_of(shown: dict[str, Run], found: dict[str, Ordered], task: Task) -> list[Strip]:
    """A strip for each training."""
    strips = []
    for key, run in shown.items():
        measured = OrderMeasures(*(values[task.number] for values in found[key].measures))
        order = tuple(found[key].order(task.number).tolist())
        strips.append(Strip(order_models.short_name(run), in_words(measured), order))
    return strips


def own_strip(key: str, task: Task, revealed: bool) -> Strip:
    """One's own order, at first a shuffled one; its measures once the truth is shown."""
    first = np.random.default_rng(task.number).permutation(len(task.samples)).tolist()
    order = film.own_order(key, task.token, first)
    note = (
        in_words(measure_order(task.relevance, order)) if revealed else "drag, or Shift with the arrow keys"
    )
    return Strip("Your order", note, order, movable=True)


def in_words(measured: OrderMeasures) -> str:
    return (
        f"{100 * measured.pairs:.0f}% of pairs right · Kendall tau {measured.tau:.2f} · NDCG "
        f"{measured.ndcg_linear:.3f} (linear gain), {measured.ndcg_exponential:.3f} (exponential)"
    )


def notice(criterion: str, run: Run, strips: list[Strip], task: Task, own_view: bool, revealed: bool) -> str:
    """What to look at."""
    if not revealed:
        return (
            f"Put the images in order by “{escaped(criterion)}”, the {goes_first(run)} first, then show the true "
            "order. A picture is dragged, or taken along by Shift with Left and Right."
        )
    shown = strips[0]
    wrong, pairs = crossings(shown.order, task.relevance), pairs_of(task.relevance)
    tied = len(task.relevance) - len(np.unique(task.relevance))
    said = (
        f"Solid lines go too early, dashed ones too late, grey ones are in place. **Notice** the crossings: each is a "
        f"pair in the wrong order, {wrong} of {pairs} in “{escaped(shown.title)}”."
    )
    if tied:
        said += " Images with equal numbers have no order among them, and their lines do not cross."
    if own_view:
        said += " Your order can still be moved, and its measures follow."
    return said


def crossings(order: tuple[int, ...], relevance: Ints) -> int:
    """How many pairs of different relevance stand in the wrong order.

    >>> crossings((0, 2, 1), np.array([2, 1, 0]))
    1
    """
    graded = relevance[list(order)]
    return int(np.triu(graded[:, None] < graded[None], 1).sum())


def pairs_of(relevance: Ints) -> int:
    """How many pairs have different relevance."""
    return int(np.triu(relevance[:, None] != relevance[None], 1).sum())


# ---------------------------------------------------------------------------------------------------------
# To take along
# ---------------------------------------------------------------------------------------------------------


def offer_files(
    images: ImageSet, criterion: str, shown: dict[str, Run], found: dict[str, Ordered], task: Task
) -> None:
    """This sequence as a picture, all as a table; made when the button is pressed."""
    names = {f"{order_models.short_name(run)} {key}": found[key] for key, run in shown.items()}
    with st.container(horizontal=True):
        st.download_button(
            "All test sequences as CSV",
            lambda: order_export.csv_text(images, criterion, names),
            f"orders-{first_of(shown).id}.csv",
            "text/csv",
            icon=":material/table_view:",
            on_click="ignore",
        )
        if len(task.samples) > MOST_SHOWN:
            return
        pictures, captions = (
            cache.thumbnails(images.key),
            frames_of(images, criterion, task.samples, task.relevance),
        )
        truth, strips = true_strip(criterion, first_of(shown), task), strips_of(shown, found, task)
        st.download_button(
            "This sequence as PNG",
            lambda: order_export.picture(
                pictures,
                task.samples,
                task.relevance,
                [one.caption for one in captions],
                truth,
                strips,
                f"{images.title}, test sequence {task.number + 1}",
            ),
            f"orders-{first_of(shown).id}-{task.number + 1}.png",
            "image/png",
            icon=":material/image:",
            on_click="ignore",
        )


frame.show_page(
    "orders", "Which goes first? Sequences as each method puts them, against the true order.", steps
)
