"""Import of image sets and custom features: upload, preview, and the decision to keep or discard."""
