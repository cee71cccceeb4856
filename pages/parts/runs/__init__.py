"""Trainings: which one a page is about, how one is begun, watched, shown, compared and managed."""
