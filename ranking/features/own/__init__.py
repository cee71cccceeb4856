"""Vectors that a person brings for the samples of an image set: read within limits, matched, checked, looked at."""

from ranking.features.own.looking import VectorsLook, look_at_vectors

__all__ = ["VectorsLook", "look_at_vectors"]
