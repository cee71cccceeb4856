"""Charts and pictures, and what is said of them."""
