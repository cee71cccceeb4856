"""Image sets and features of one's own: from what a person brings to what is kept."""
