"""Charts and images, and their captions."""
