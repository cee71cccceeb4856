"""The formats of imports, one file per format, what formats share, and the preview of an import."""
