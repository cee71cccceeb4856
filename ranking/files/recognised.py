"""What a source says of a tree that it can read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Recognised:
    """How sure a source is, and why, in a sentence for a person; and the settings that fit the tree.

    sure: 0.9 or more where files begin as those of the format alone do; 0.8 where their contents were read and fit;
    0.4 for what many a set of another format has too, such as folders with images. The surest is what a person sees.
    """

    sure: float
    why: str
    settings: dict[str, Any] = field(default_factory=dict)
