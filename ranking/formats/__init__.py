"""The formats of imports, one file per format."""
