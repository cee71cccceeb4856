"""The frame of the pages: menu, URL parameters, workspaces, caches, forms and downloads."""
