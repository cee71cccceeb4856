"""From pixels to vectors: one file a feature, found by its `@register` line.

>>> feature_names()
['HOG', 'Colour']
"""

from __future__ import annotations

from typing import Any

from ranking.registry import Registry
from ranking.types import Feature

FEATURES: Registry[Feature] = Registry("feature", __name__)
register = FEATURES.register

# The features that discovery imports may import `register` from here.
from ranking.features.extract import load_features  # noqa: E402


def feature_names() -> list[str]:
    """Every registered feature, the default first."""
    return FEATURES.names()


def feature_class(name: str) -> type[Feature]:
    """The class of feature `name`; ValueError that lists the valid names where there is none."""
    return FEATURES.get(name)


def make_feature(name: str, **settings: Any) -> Feature:
    """A feature with `settings`; ValueError that says what is valid for an unknown name or value."""
    return FEATURES.make(name, **settings)


__all__ = ["feature_class", "feature_names", "load_features", "make_feature", "register"]
