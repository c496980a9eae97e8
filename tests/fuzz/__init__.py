"""Hostile input for `make fuzz`, from mutators that know the structure of what they change. CONTRIBUTING.md describes the command.

An execution depends only on its target's name, a seed and an index, so that you can repeat it.
"""
