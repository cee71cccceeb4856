"""Training of samples, labels and sequences; studies; comparison of methods by cross-validation."""
