"""What only lessons use: their data, steps and captions."""
