"""Explanations of models for pages: neighbourhoods, edge strengths, steps of inference, questions, searches."""
