"""What pages show of models, rankings and inference: neighbourhoods, edges, steps, questions, programs in CVXPY."""
