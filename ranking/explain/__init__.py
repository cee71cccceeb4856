"""Explanations of models that pages show: neighbourhoods, edge strengths, steps of inference, questions, search
trees."""
