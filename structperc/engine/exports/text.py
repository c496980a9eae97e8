"""What the formats of text share: numbers that read back to the same bits, and labels."""

from __future__ import annotations


def numbers(values) -> str:
    """Numbers with commas between them, each the shortest text that reads back to the same bits."""
    return ", ".join(map(repr, values.tolist()))


def table(rows, indent="    ", brackets="[]") -> str:
    """Rows of numbers, a line each."""
    left, right = brackets
    return ",\n".join(f"{indent}{left}{numbers(row)}{right}" for row in rows)


