"""Figures with their captions, which several pages show."""
