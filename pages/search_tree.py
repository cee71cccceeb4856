"""Search tree."""
from pages.parts import frame
frame.show_page("search_tree", "stub", lambda: None)
