"""The similarity graph: which samples are neighbours, and how similar they are."""
