"""What a command prints."""


def one_line(text):
    return text.endswith("\n") and text.count("\n") == 1
