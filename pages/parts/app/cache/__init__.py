"""Every cache of the pages. Keys are content keys (image set, run) and the home folder, never arrays:
Streamlit samples large arrays when it hashes them, and would return stale answers."""

from __future__ import annotations

from pages.parts.cache.experiments import LOOK_SECONDS, differences, findings
from pages.parts.cache.homes import EACH, SOME, Gone, NoFeatures, common, look_again, or_gone, store, taken_in
from pages.parts.cache.image_sets import (
    TINY,
    WHOLE_SIDE,
    GuardedThumbnails,
    criteria,
    image_set,
    ready_made,
    shrunk,
    splits,
    thumbnails,
    whole_image,
)
from pages.parts.cache.inference import inference_problem, inference_trace
from pages.parts.cache.labels import (
    _label_ranker,
    answers,
    image_labels,
    label_entropy,
    label_pairs,
    label_ranker,
)
from pages.parts.cache.orders import MOST_LOOKED_AT, mid_rank, ordered, pair_examples, tree_search
from pages.parts.cache.trainings import (
    MOST_PLACES,
    STRENGTHS,
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
    "EACH",
    "LOOK_SECONDS",
    "MOST_LOOKED_AT",
    "MOST_PLACES",
    "SOME",
    "STRENGTHS",
    "TINY",
    "WHOLE_SIDE",
    "Gone",
    "GuardedThumbnails",
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
