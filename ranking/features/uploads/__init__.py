"""Vectors and models that a person uploads for an image set: read within limits, checked, previewed."""
