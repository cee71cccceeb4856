"""Label questions: the model asks whether an image shows a label, and its whole ranking moves with the answer."""

from __future__ import annotations

from pages.parts import frame


def steps() -> None:
    frame.way_on("No model ranks labels yet", "Train a method", "train")


frame.show_page("label_questions", "One question, one key, and the whole ranking of labels moves.", steps)
