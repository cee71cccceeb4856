"""Vectors and models that are uploaded for an image set: read within limits, checked, previewed."""
