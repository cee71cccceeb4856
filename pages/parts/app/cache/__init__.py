"""Every cache of the pages. Keys are content keys (image set, run) and the home folder, never arrays:
Streamlit samples large arrays when it hashes them, and would return stale answers."""

from __future__ import annotations

from pages.parts.app.cache.experiments import differences, findings
from pages.parts.app.cache.homes import (
    Gone,
    NoFeatures,
    common,
    look_again,
    or_gone,
    store,
    taken_in,
)
from pages.parts.app.cache.image_sets import (
    criteria,
    image_set,
    ready_made,
    shrunk,
    splits,
    thumbnails,
    whole_image,
)
from pages.parts.app.cache.inference import inference_problem, inference_trace
from pages.parts.app.cache.labels import (
    _label_ranker,
    answers,
    image_labels,
    label_entropy,
    label_pairs,
    label_ranker,
)
from pages.parts.app.cache.orders import mid_rank, ordered, pair_examples, tree_search
from pages.parts.app.cache.trainings import (
    MOST_PLACES,
    _neighbourhood,
    _ranking,
    comparison,
    direction,
    leaning,
    neighbourhood,
    projection,
    ranking,
    redrawn,
)

__all__ = [
    "MOST_PLACES",
    "Gone",
    "NoFeatures",
    "_label_ranker",
    "_neighbourhood",
    "_ranking",
    "answers",
    "common",
    "comparison",
    "criteria",
    "differences",
    "direction",
    "findings",
    "image_labels",
    "image_set",
    "inference_problem",
    "inference_trace",
    "label_entropy",
    "label_pairs",
    "label_ranker",
    "leaning",
    "look_again",
    "mid_rank",
    "neighbourhood",
    "or_gone",
    "ordered",
    "pair_examples",
    "projection",
    "ranking",
    "ready_made",
    "redrawn",
    "shrunk",
    "splits",
    "store",
    "taken_in",
    "thumbnails",
    "tree_search",
    "whole_image",
]
