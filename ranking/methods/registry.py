"""The methods by name."""

from typing import Any

from ranking.core import Method
from ranking.core.registry import Registry

METHODS: Registry[Any] = Registry("method", Method, "ranking.methods")
