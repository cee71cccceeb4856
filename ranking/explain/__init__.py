"""What pages show of a model: neighbourhoods, edge strengths, steps of inference, questions, search trees."""
