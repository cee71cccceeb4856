"""Settings that sources share: how many images test, and the seed by which they are chosen."""

from __future__ import annotations

from typing import Any

from ranking.core.settings import setting


def share_of_test(default: float, help: str, *, of: str = "images", **details: Any) -> Any:
    """The setting test_share; `of`: what is set aside."""
    label = f"Share of test {of}"
    return setting(default, label=label, help=help, minimum=0.1, maximum=0.9, **details)


def seed_of_test(things: str = "images") -> Any:
    """The setting seed of a source that may have to draw what tests; `things`: what is drawn."""
    help = f"Which {things} are drawn for the test, where any are."
    return setting(0, label="Seed", help=help, minimum=0, advanced=True)
