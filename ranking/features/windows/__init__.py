"""Candidate windows of images and their features: the bags of latent methods (quicksort, section 6.2)."""
