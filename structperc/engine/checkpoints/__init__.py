"""Checkpoints of trainings: their files, those of one run, and those of streams."""
