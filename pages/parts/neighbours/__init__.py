"""What the similarity graph does to a ranking: max-marginals, labellings, connected samples."""
