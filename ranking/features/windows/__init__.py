"""Candidate windows of images and their features: the bags of latent methods (quicksort, section 6.2)."""

from ranking.features.windows.bags import windows_of
from ranking.features.windows.candidates import SOURCES, WindowSettings, candidate_windows
from ranking.features.windows.description import COLUMNS, describe_windows

__all__ = ["COLUMNS", "SOURCES", "WindowSettings", "candidate_windows", "describe_windows", "windows_of"]
