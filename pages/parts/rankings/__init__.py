"""Rankings of samples: choose, filter, correct and explain them, also as assignments."""
