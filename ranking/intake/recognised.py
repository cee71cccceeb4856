"""What a source says of a tree that it can read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Recognised:
    """How sure a source is, from 0 to 1, and why, in a sentence for a person; and the settings that fit the tree."""

    sure: float
    why: str
    settings: dict[str, Any] = field(default_factory=dict)
