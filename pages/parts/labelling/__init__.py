"""Models that rank labels, and the questions that they ask."""
