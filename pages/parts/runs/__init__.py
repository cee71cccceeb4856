"""Training runs on the pages: choose, start, watch, show, compare and manage them."""
