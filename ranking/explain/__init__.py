"""Explanations of models for pages: neighbourhoods, edges, steps of inference, questions, searches."""
