"""Networks of a person's own, as ONNX files: what they say of themselves; how they are run, apart and limited."""
