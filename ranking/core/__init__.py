"""Core data types: everything that flows from an image set to a ranking. They import nothing else of the package.

Beside them: settings, registries, errors, and texts for people and spreadsheets.

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
from ranking.core.feature import Feature
from ranking.core.image_set import ImageSet
from ranking.core.label_set import LabelSet
from ranking.core.method import (
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
from ranking.core.queries import Query, SimilarityGraph
from ranking.core.sequence_set import SequenceSet
from ranking.core.sources import Decision, LateFile, OnCount, Problem, Reading, Source, SourceBox, SourceImage

__all__ = [
    "LARGEST",
    "BagSet",
    "Bools",
    "Bounds",
    "Certificate",
    "Decision",
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
    "Reading",
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
