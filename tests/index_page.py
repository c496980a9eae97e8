"""Runs the code of README as an installed structperc has it for package indexes: `python tests/index_page.py`, after an installation.

Its links must be absolute, and its blocks must print what they show.
"""

import contextlib
import importlib.metadata
import io
import re
import sys


def main():
    page = importlib.metadata.metadata("structperc")["Description"]
    relative, names, printed = re.findall(r"\]\((?!\w+:)[^)]*\)", page), {"__name__": "page"}, io.StringIO()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    with contextlib.redirect_stdout(printed):
        for block in blocks:
            exec(compile(block, "README", "exec"), names)
    lines = printed.getvalue().split("\n")
    shown = [line for text in re.findall(r"# -> (.*?)(?:, where .*)?$", "\n".join(blocks), re.MULTILINE) for line in text.split(", then ")]
    lost = [line for line in shown if line not in lines]
    print(f"structperc {importlib.metadata.version('structperc')}: {len(blocks)} blocks, {len(shown)} printed lines, {len(lost)} of them "
          f"other than shown {lost}, {len(relative)} relative links {relative}")
    return bool(relative or lost or not shown)


if __name__ == "__main__":
    sys.exit(main())
