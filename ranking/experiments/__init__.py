"""What is trained, tested and compared: trainings of samples, labels and sequences, studies, cross-validation."""
