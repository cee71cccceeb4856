"""Uploaded ONNX models: their descriptions, and how they run in an isolated process with limits."""
