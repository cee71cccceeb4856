"""Reports on experiments and comparisons: tables, charts, galleries, and files to download."""
