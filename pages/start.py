"""The start page: what this is, a ranking that was really made, and the one next step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from pages.parts.app import cache, frame, home_repair, room_view
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.runs import export, lessons
from ranking.core import ImageSet
from ranking.metrics.ranked import Ranking, first_irrelevant

TRAINED = Path(__file__).parents[1] / "data" / "start_strip.json"  # data/start_strip.py makes it
COLUMNS = 12
LESSONS = ("neighbours_lesson", "pairs_lesson", "violated_lesson", "labels_lesson")  # after the first

WHAT_THIS_IS = """
- **Say what you look for.** A method learns from examples to rank images: what you look for shall come first.
- **Watch it learn.** Two bounds close in on the optimum, and their gap proves how near it is.
- **Look at what it ranks.** The right ones, the wrong ones, and how much a mistake at each place costs.
- **Compare methods** that optimise different things: labels (SVM), average precision (AP-SVM), NDCG.
- **Order whole sequences**, from older to newer, and see what longer subsequences tell than pairs do.
- **Let it ask.** What does an image show? The model asks, and each answer moves all labels.
- **Bring your own images.** All of it runs on this machine.
"""


def steps() -> None:
    home_repair.say()
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        st.markdown(WHAT_THIS_IS)
    with right, st.container(border=True, key="begin"):
        st.markdown("### Begin here: two minutes")
        st.markdown("Two methods rank the same people. Which mistake costs what?")
        frame.next_step("Why optimise AP?", "lesson")
        st.markdown(
            "Then: do people of one scene help each other? What do a few ordered pairs tell, how is the worst "
            "of all rankings found, and which question is worth asking?"
        )
        with st.container(horizontal=True):
            for name in LESSONS:
                frame.next_step(frame.PAGES[name], name, obvious=False)
    room_view.show()
    with frame.in_place():
        show_ranking()
    with st.container(horizontal=True):
        frame.next_step("Train a method", "train", obvious=False)
        frame.next_step("Answer a model's questions", "label_questions", obvious=False)
        frame.next_step("Look at the images", "image_sets", obvious=False)
        frame.next_step("Put cars in order", "orders", obvious=False)
    with frame.in_place():
        lessons.WHY_AP.begin()  # so that the lesson does not have to wait


def show_ranking() -> None:
    """The top of a ranking as data/start_strip.py has trained it."""
    images, thumbnails = cache.ready_made()
    with cache.or_gone():
        told = json.loads(TRAINED.read_text())
    ranked = ranking_of(told, images)
    shown = tiles.top_tiles(images, ranked, thumbnails=thumbnails)
    first = first_irrelevant(ranked.relevance)
    st.markdown(f"## Who is {escaped(told['query'])}? {told['method']} answers, best first")
    flags = {} if first is None else {shown[first - 1].id: "a mistake"}
    label = f"The first {len(shown)} of {told['samples']} people, ranked for {told['query']}"
    strip(shown, name="start strip", label=label, columns=COLUMNS, narrow=6, flags=flags)
    st.caption(
        f"{describe(first, ranked, images)} A real result: {told['method']} on {len(images) - told['samples']} people "
        f"of “{escaped(images.title)}”, tested on {told['samples']} that it has never seen; "
        f"AP {told['average_precision']:.3f}. ✓ and a whole border: right. ✗ and a broken border: wrong."
    )
    title = f"{told['method']} on “{told['query']}”, {images.title}"
    file = f"ranking-{told['query']}.png"
    with frame.in_place():
        export.offer_contact_sheet(
            "This picture as PNG", thumbnails, ranked, title, file, type="tertiary", icon=None
        )


def ranking_of(told: dict[str, Any], images: ImageSet) -> Ranking:
    """The stored ids and scores with what the image set knows of them; Gone where they are of another set."""
    rows = {str(name): row for row, name in enumerate(images.ids)}
    if told["set"] != images.key or not all(name in rows for name, _ in told["shown"]):
        raise cache.Gone(
            "data/start_strip.json was made with other images than data/action_figures holds; "
            "make it again with: python data/start_strip.py"
        )
    samples = np.array([rows[name] for name, _ in told["shown"]])
    scores = np.array([score for _, score in told["shown"]])
    return Ranking(samples, images.relevance(told["query"])[samples], scores)


def describe(first: int | None, ranked: Ranking, images: ImageSet) -> str:
    """What to notice, computed from what is shown."""
    if first is None:
        return f"**Notice**: the first {len(ranked)} are all right."
    wrong = int(ranked.samples[first - 1])
    shows = escaped(tiles.shows(images, wrong))
    if first == 1:
        return f"**Notice** the first mistake, at the very top: this person shows {shows}."
    return f"**Notice**: the first {first - 1} are all right. The first mistake stands at place {first}: {shows}."


frame.show_page("start", "Learn to rank images, exactly and fast, and see what happens inside.", steps)
