"""Models that rank sequences, and their search trees."""
