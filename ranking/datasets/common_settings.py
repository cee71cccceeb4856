"""Settings that sources share: how many images they make, how many of them test, and what chance begins with."""

from __future__ import annotations

from typing import Any

from ranking.core.settings import setting


def number_of_images(default: int, images: str) -> Any:
    """The setting images of a source that draws them; `images`: what they are called."""
    return setting(
        default,
        label="Number of images",
        help=f"How many {images} are drawn. Fewer are ready sooner, more teach a method better.",
        minimum=50,
        maximum=100_000,
    )


def share_of_test(default: float, help: str, *, of: str = "images", **details: Any) -> Any:
    """The setting test_share; `of`: what is set aside."""
    label = f"Share of test {of}"
    return setting(default, label=label, help=help, minimum=0.1, maximum=0.9, **details)


def seed_of_pictures(default: int, things: str) -> Any:
    """The setting seed of a source that draws pictures; `things`: of what."""
    return _seed(default, f"Which {things} are drawn. The same seed draws the same {things}.")


def seed_of_test(things: str = "images") -> Any:
    """The setting seed of a source that may have to draw what tests; `things`: what is drawn."""
    return _seed(0, f"Which {things} are drawn for the test, where any are.")


def _seed(default: int, help: str) -> Any:
    return setting(default, label="Seed", help=help, minimum=0, advanced=True)
