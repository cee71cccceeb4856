"""The similarity graph: which samples are alike, and by how much."""
