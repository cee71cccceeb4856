"""Learning-to-rank methods by name.

A new method is one new file here whose class carries ``@METHODS.register("name")``.
"""

from ranking.methods.direction import score_direction
from ranking.methods.registry import METHODS

__all__ = ["METHODS", "score_direction"]
