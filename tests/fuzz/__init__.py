"""Hostile input, made by mutators that know the structure of what they spoil: `make fuzz`; CONTRIBUTING.md tells how.

An execution is a function of the name of its target, a seed and an index alone, so that each can be repeated.
"""
