"""Training runs: choose, start, watch, show and manage them."""
