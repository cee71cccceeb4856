"""The methods by name."""

from ranking.core import Method
from ranking.core.registry import Registry

METHODS: Registry[Method] = Registry("method", Method, "ranking.methods")
