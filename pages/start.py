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
from pages.parts.runs import export
from ranking.core import ImageSet
from ranking.metrics.ranked import Ranking, first_irrelevant

TRAINED = Path(__file__).parents[1] / "data" / "start_strip.json"  # data/start_strip.py makes it
COLUMNS = 12
LESSONS = ("neighbours_lesson", "pairs_lesson", "violated_lesson", "labels_lesson")  # after the first

WHAT_THIS_IS = """
- **Choose a query.** A method learns from examples to rank the images of that class first.
- **Watch training.** An upper and a lower bound close in on the optimum; the gap between them proves how near it is.
- **Inspect the ranking.** See which samples are relevant, which are not, and what an error at each rank costs.
- **Compare methods** that optimise different losses: classification error (SVM), average precision (AP-SVM), NDCG.
- **Rank sequences**, such as cars by year, and see what longer subsequences add to pairs.
- **Label interactively.** The model asks which labels an image has, and each answer re-ranks all labels.
- **Import your own images.** Everything runs on this machine.
"""


def steps() -> None:
    home_repair.show()
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        st.markdown(WHAT_THIS_IS)
    with right, st.container(border=True, key="begin"):
        st.markdown("### Start here (2 minutes)")
        st.markdown("Two methods rank the same people. See what each error costs.")
        frame.next_step("Why optimise AP?", "lesson")
        st.markdown(
            "More lessons: neighbours in one scene, pairs and sequences, finding the most violated ranking, and "
            "choosing a question about labels."
        )
        with st.container(horizontal=True):
            for name in LESSONS:
                frame.next_step(frame.PAGES[name], name, obvious=False)
    room_view.show()
    with frame.in_place():
        show_ranking()
    with frame.in_place():
        cache.store()  # below the picture: a new home copies the examples now, and no page waits for that
    with st.container(horizontal=True):
        frame.next_step("Train a method", "train", obvious=False)
        frame.next_step("Label an image interactively", "label_questions", obvious=False)
        frame.next_step("Browse the images", "image_sets", obvious=False)
        frame.next_step("Rank cars by year", "orders", obvious=False)


def show_ranking() -> None:
    """The top of a ranking as data/start_strip.py has trained it."""
    images, thumbnails = cache.ready_made()
    with cache.or_gone():
        stored = json.loads(TRAINED.read_text())
    ranked, query, method = ranking_of(stored, images), stored["query"], stored["method"]
    shown = tiles.top_tiles(images, ranked, thumbnails=thumbnails)
    first = first_irrelevant(ranked.relevance)
    st.markdown(f"## Query “{escaped(query)}”, ranked by {method}")
    flags = {} if first is None else {shown[first - 1].id: "first error"}
    label = f"The first {len(shown)} of {stored['samples']} people, ranked for {query}"
    strip(shown, name="start strip", label=label, columns=COLUMNS, narrow=6, flags=flags)
    st.caption(
        f"{describe(first, ranked, images)} A real result: {method} was trained on "
        f"{len(images) - stored['samples']} people from “{escaped(images.title)}” and tested on {stored['samples']} "
        f"held-out people; AP {stored['average_precision']:.3f}. ✓ and a solid border: relevant. ✗ and a dashed "
        "border: irrelevant."
    )
    title, file = f"{method} on “{query}”, {images.title}", f"ranking-{query}.png"
    with frame.in_place():
        export.offer_contact_sheet(
            "This ranking as PNG", thumbnails, ranked, title, file, type="tertiary", icon=None
        )


def ranking_of(stored: dict[str, Any], images: ImageSet) -> Ranking:
    """The stored ids and scores with what the image set knows of them; Gone where they are of another set."""
    rows = {str(name): row for row, name in enumerate(images.ids)}
    if stored["set"] != images.key or not all(name in rows for name, _ in stored["shown"]):
        raise cache.Gone(
            "data/start_strip.json was made with other images than data/examples holds; "
            "make it again with: python data/start_strip.py"
        )
    samples = np.array([rows[name] for name, _ in stored["shown"]])
    scores = np.array([score for _, score in stored["shown"]])
    return Ranking(samples, images.relevance(stored["query"])[samples], scores)


def describe(first: int | None, ranked: Ranking, images: ImageSet) -> str:
    """What to notice, computed from what is shown."""
    if first is None:
        return f"**Notice**: the first {len(ranked)} are all relevant."
    shows = escaped(tiles.shows(images, int(ranked.samples[first - 1])))
    if first == 1:
        return f"**Notice** the first error, at the very top: this person shows {shows}."
    return f"**Notice**: the first {first - 1} are all relevant. The first error is at rank {first}: {shows}."


frame.show_page("start", "Train learning-to-rank methods on images, and see how they work.", steps)
