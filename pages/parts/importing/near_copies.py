"""The question about near copies across the split of an import: their number, examples, and a switch."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import address, home, keys
from pages.parts.app.frame import escaped
from pages.parts.components import grid, tiles
from pages.parts.importing import problem_table, uploads
from ranking.core import ImageSet
from ranking.core.text import counted, readable
from ranking.datasets import Thumbnails, load_image_set
from ranking.datasets.copies import StoredCopies, are_together, stored_copies
from ranking.datasets.splits import moved_words
from ranking.storage.import_questions import Question
from ranking.storage.run import Run

# samples that are shown
EXAMPLES = 12
# pairs that are shown
PAIRS = 6
# pixels of the width of an image
SIDE = 112


def show(run: Run, question: Question) -> None:
    """The image set that an import has built, near copies across its split, and buttons to add or cancel."""
    st.markdown(f"#### {escaped(question.reading['title'])}: keep near copies together?")
    problem_table.show_counts(question.reading)
    together = None
    try:
        with home.missing_as_error():
            draft, thumbnails, copies = (
                load_image_set(run.draft),
                Thumbnails(run.draft),
                stored_copies(run.draft),
            )
            _show_examples(draft, thumbnails)
            if copies is not None:
                together = _choose(run, draft, thumbnails, copies)
    except home.Gone as error:
        message = f"The import cannot be read: {escaped(str(error))}. Cancel it and import again."
        st.error(message, icon=":material/error:")
    to_add = None if together is None else {"together": together}
    uploads.offer_end(run, question, "Add with this split", "add set", to_add)
    problem_table.show_report(run.draft)


def _show_examples(draft: ImageSet, thumbnails: Thumbnails) -> None:
    rows = np.linspace(0, len(draft) - 1, min(EXAMPLES, len(draft))).round().astype(int)
    examples = tiles.sample_tiles(draft, thumbnails, [int(row) for row in rows])
    label = "Examples of the imported samples"
    grid.image_grid(
        examples, name=keys.EXAMPLE, selected=address.get(keys.EXAMPLE), label=label, kind="images"
    )
    st.caption("Samples from the whole import. **Notice** whether each sample matches the label below it.")


def _choose(run: Run, draft: ImageSet, thumbnails: Thumbnails, copies: StoredCopies) -> bool:
    """Whether to keep near copies on one side of the split."""
    st.markdown("#### Near copies", help=HELP)
    across = len(copies.across)
    with_copies = counted(copies.test_images, "test image")
    has = "has" if copies.test_images == 1 else "have"
    st.markdown(
        f"**{counted(len(copies.pairs), 'pair')}** of near copies, **{across:,}** of them across the split"
        f": {with_copies} of {int(copies.test.sum()):,} {has} a copy among the training images."
    )
    key = keys.widget(f"copies together {run.id}")
    st.session_state.setdefault(key, are_together(draft))
    together: bool = st.toggle("Keep near copies on one side of the split", key=key)
    st.caption(_what_follows(draft, copies, together))
    _show_pairs(draft, thumbnails, copies)
    return together


HELP = (
    "The same image mirrored, rotated, darkened or cropped, or a video frame a moment later. A copy of a test image "
    "among the training images makes a method look better than it is."
)


def _what_follows(draft: ImageSet, copies: StoredCopies, together: bool) -> str:
    """The effect of the switch."""
    if not together:
        return "The split of the source is kept, and folds may separate near copies."
    test = copies.test_together(draft)
    words = moved_words(copies.test, test != copies.test)
    return (
        f"{words[0].upper()}{words[1:]}. There are {int((~test).sum()):,} training images and "
        f"{int(test.sum()):,} test images. Folds keep near copies together as well."
    )


def _show_pairs(draft: ImageSet, thumbnails: Thumbnails, copies: StoredCopies) -> None:
    """The best matches, pairs across the split first."""
    rest = np.setdiff1d(np.argsort(-copies.detail, kind="stable"), copies.across, assume_unique=True)
    rows = [*copies.across, *rest][:PAIRS]
    with st.container(horizontal=True, gap="medium"):
        for row in rows:
            pair = [int(image) for image in copies.pairs[row]]
            names = [readable(str(draft.image_names[image]), 30) for image in pair]
            shown = [
                f"{name} ({'test' if copies.test[image] else 'train'})"
                for name, image in zip(names, pair, strict=True)
            ]
            alts = [f"{name}, one of two near copies" for name in shown]
            both = [thumbnails.image(image) for image in pair]
            st.image(both, caption=list(map(escaped, shown)), width=SIDE, alt=alts)
    st.caption(
        "Pairs across the split, then the best matches. The split of the source is in brackets. "
        "**Notice** whether the two images of a pair are the same; if not, turn the switch off."
    )
