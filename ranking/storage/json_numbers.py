"""Convert numbers to what JSON can hold."""

from __future__ import annotations

import math
from dataclasses import asdict

from ranking.core.method import Certificate
from ranking.core.settings import Json, Settings


def json_numbers(values: Settings) -> Json:
    """Return `values` with NumPy numbers as Python numbers, and None for what is not finite.

    >>> json_numbers({"dual": -math.inf, "iteration": 3})
    {'dual': None, 'iteration': 3}
    """

    def convert(value: object) -> object:
        value = value.item() if hasattr(value, "item") else value
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {name: convert(value) for name, value in values.items()}


def certificate_numbers(certificate: Certificate | None) -> Json | None:
    """Return a certificate and its relative gap as a run's result stores them; None without a certificate."""
    if certificate is None:
        return None
    return json_numbers({**asdict(certificate), "relative_gap": certificate.relative_gap})
