"""Experiments to show and to take along: rankings behind the tables, differences, and one file that tells it all."""
