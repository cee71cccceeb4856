"""Numbers as JSON can hold them."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from ranking.core.training import Certificate


def json_numbers(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers as JSON can hold them: numpy's become Python's, and what is not finite becomes None.

    >>> json_numbers({"dual": -math.inf, "iteration": 3})
    {'dual': None, 'iteration': 3}
    """

    def convert(value: Any) -> Any:
        value = value.item() if hasattr(value, "item") else value
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {name: convert(value) for name, value in values.items()}


def certificate_numbers(certificate: Certificate | None) -> dict[str, Any] | None:
    """A certificate and its relative gap as a run's result holds them; None where nothing is proven."""
    if certificate is None:
        return None
    return json_numbers({**asdict(certificate), "relative_gap": certificate.relative_gap})
