"""Core data types: everything that flows from an image set to a ranking. They import nothing else of the package.

Conventions: a higher score ranks higher. Relevance 1 is relevant, 0 is irrelevant; grades above 1 are more relevant.
Losses are minimised. Bounding boxes are ``(left, top, right, bottom)`` in pixels, half open.
"""

from __future__ import annotations

from ranking.core.arrays import (
    LARGEST,
    Bools,
    Features,
    Floats,
    Ints,
    all_within,
    as_floats,
    blocks_of_rows,
    check_features,
    check_relevance,
    is_number,
    is_real,
)
from ranking.core.bag_set import BagSet
from ranking.core.image_set import Feature, ImageSet
from ranking.core.label_set import LabelSet
from ranking.core.queries import Query, SimilarityGraph
from ranking.core.sequence_set import SequenceSet
from ranking.core.sources import LateFile, OnCount, Problem, Source, SourceBox, SourceImage
from ranking.core.training import (
    Bounds,
    Certificate,
    Method,
    OnProgress,
    OnStep,
    ProgressEvent,
    SampleMethod,
    StopTraining,
    relative_gap,
)

__all__ = [
    "LARGEST",
    "BagSet",
    "Bools",
    "Bounds",
    "Certificate",
    "Feature",
    "Features",
    "Floats",
    "ImageSet",
    "Ints",
    "LabelSet",
    "LateFile",
    "Method",
    "OnCount",
    "OnProgress",
    "OnStep",
    "Problem",
    "ProgressEvent",
    "Query",
    "SampleMethod",
    "SequenceSet",
    "SimilarityGraph",
    "Source",
    "SourceBox",
    "SourceImage",
    "StopTraining",
    "all_within",
    "as_floats",
    "blocks_of_rows",
    "check_features",
    "check_relevance",
    "is_number",
    "is_real",
    "relative_gap",
]
