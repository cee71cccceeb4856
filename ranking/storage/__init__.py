"""Persistent storage: image sets, runs, answers and workspaces."""
