"""Objects found without boxes: models and their best windows."""
