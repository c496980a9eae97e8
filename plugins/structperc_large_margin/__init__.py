"""Ordinal regression with large margins: one direction, and thresholds that solve one quadratic program over all examples."""
