# May import nothing.
"""What every room uses and what knows no part: errors, labels, arguments, signals, saved arrays, files that are replaced whole."""
