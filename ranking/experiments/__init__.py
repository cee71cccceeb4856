"""Methods compared as the papers do it: splits, cross-validation, tests on what was never chosen by, and statistics."""
