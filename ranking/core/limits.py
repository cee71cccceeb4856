"""Limits that more than one folder needs."""

DEFAULT_STATES = 2_000_000_000  # bytes of solver states that experiments keep
