"""Two to four rankings side by side."""
