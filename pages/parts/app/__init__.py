"""The frame, the menu, the address, rooms, caches and what a page is handed out as."""
