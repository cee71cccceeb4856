"""Persistent storage: image sets, runs, answers, workspaces, and their databases."""
