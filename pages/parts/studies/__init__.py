"""Experiments, simulations, studies and timings: forms, progress, curves and tables."""
