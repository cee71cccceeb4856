"""Experiments, simulations, ablations and timings: forms, progress, curves and tables."""
