"""Checks the English of documents, docstrings, comments, messages and help texts; part of `make lint`.

    python tests/prose.py [FILE ...]

Prints all sentences that break a rule, in these files or in all. The exit status is 1 if there are any.
Two rules: a sentence has at most 20 words, and uses none of the words in WORDS. Code in backquotes, a formula and a link count as one word.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 20
DISPLAY = 4                 # columns by which a formula or a table is indented, behind a blank line

# A word or turn, and what to write instead.
WORDS = {
    r"mend(?:s|ed|ing)?": "fix",
    r"check_signals(?:s|ed|ing)?": "use, check",
    r"stand(?:s|ing)? for": "is, means",
    r"stands|stood": "is",
    r"answer(?:s|ed|ing)?(?: with)?": "return, predict; prediction",
    r"tell(?:s|ing)?": "show, set, report",
    r"says|said": "is, shows, reports; predicted",
    r"refus(?:e|es|ed|al|als|ing)": "raise, reject, fail",
    r"bears?": "have, support",
    r"holds? up": "confirm, delay",
    r"(?:by|in) a sentence(?= with| that| which|[.,;:]|$)": "raises an error",
    r"of (?:yours|mine|ours|theirs|one's own)": "your, custom",
    r"alone": "only",
    r"alike": "both, also",
    r"likewise": "also",
    r"in place of": "instead of",
    r"perhaps": "optional, may",
    r"bent": "kernel, non-linear",
    r"battery": "test suite",
    r"what is surprising": "name it",
}
LISTED = [(re.compile(rf"\b{word}\b", re.IGNORECASE), advice) for word, advice in WORDS.items()]

TOKEN = re.compile(r'(?P<comment>#[^\n]*)|[rbfuRBFU]{0,2}(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\''
                   r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)
END = re.compile(r"(?<=[.!?:])[)\"']*\s+(?=\S)")
PARAMETER = re.compile(r"^[\w*]+(?:, [\w*]+)* : ")            # the name in a line of numpydoc
OTHER_CODE = re.compile(r"[{}]$|[\])}];$|\breturn\b.*;|\[\[|; fi$|^(?:\w+ = |return ).*[\])]$")     # lines of exports and scripts
CODE = "```", ">>>", "...", "---", "===", "<!--", ".. "
NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|resp|approx|no|[A-Z])\.|^\d+\.)$")
PLAIN = ((re.compile(r"``.+?``|`[^`]*`|\"[\w.-]+\"", re.DOTALL), "code"), (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
         (re.compile(r"\$[^$\n]+\$"), "formula"), (re.compile(r"<[^>\n]*>|\*\*|\b_|_\b"), ""), (re.compile(r"\{[^{}]*\}"), "value"))


class Prose:
    """A run of text, without code, and the line where it begins."""

    def __init__(self, line, text):
        self.line = line
        for pattern, plain in PLAIN:
            text = pattern.sub(plain, text)
        self.text = text

    def sentences(self):
        """(line, sentence) of each sentence; a new one begins after a colon."""
        begin, kept = 0, ""
        for end in [*END.finditer(self.text), None]:
            kept += self.text[begin:end.start() if end else None]
            if end and NO_END.search(kept):
                kept += " "
            else:
                yield self.line + self.text.count("\n", 0, begin), " ".join(kept.split())
                kept = ""
            begin = end.end() if end else begin

    def offences(self):
        """(line, kind, advice) of each break of a rule."""
        for line, sentence in self.sentences():
            words = re.findall(r"\S*\w\S*", sentence)
            if len(words) > LONGEST:
                yield line, "long", f"{len(words)} words in a sentence: {sentence[:70]} ..."
            for word, advice in LISTED:
                for use in word.finditer(sentence):
                    yield line, "word", f"'{use[0]}' ({advice}): ... {sentence[max(0, use.start() - 30):use.end() + 30]} ..."


def paragraphs(text, line=1):
    """Runs of lines of one indentation between blank lines, list items, table cells and headings; no code, no references."""
    run, begin, indent = [], line, None
    fence, skipped, level, blank = False, None, 0, False
    for number, raw in enumerate([*text.split("\n"), ""], line):
        content, width = raw.strip(), len(raw) - len(raw.lstrip())
        if content.startswith("```"):
            fence = not fence
        if content in ("References", "See Also"):
            skipped = width
        elif skipped is not None and content and re.match(r"[A-Z][A-Za-z ]+$", content) and width <= skipped:
            skipped = None
        command = width and re.match(r"(?:zcat \S+ \| )?structperc [a-z-]+ |--\w", content)
        code = fence or command or skipped is not None or OTHER_CODE.search(content) or content.startswith(CODE)
        fresh = not content or code or content[0] in "|#" or width != indent or PARAMETER.match(content) or re.match(
            r"[-*] |\d+\. ", content)
        if fresh and run:
            yield Prose(begin, "\n".join(run))
            run = []
        if content and blank and width >= level + DISPLAY:
            yield from () if code else cells(number, content)
            continue
        blank, level = not content, width if content else level
        if content and not code:
            if content.startswith("|"):
                yield from (Prose(number, cell) for cell in content.strip("|").split("|") if cell.strip())
                continue
            if not run:
                begin, indent = number, width + (2 if re.match(r"[-*] ", content) else 3 if re.match(r"\d+\. ", content) else 0)
            run.append(PARAMETER.sub("", content.lstrip("#-* ")))


def cells(line, content):
    """The cells of a line of a table without rules; no formulas."""
    for cell in re.split(r"\s{3,}", content):
        if " " in cell and 2 * len(re.findall(r"(?<!\S)[A-Za-z]{2,}(?=[.,;:]?(?:\s|$))", cell)) > len(cell.split()):
            yield Prose(line, cell)


def without_examples(text):
    """A docstring without its doctests: what they print is no prose."""
    return re.sub(r"^ *>>>.*(?:\n *\S.*)*", "", text, flags=re.MULTILINE)


def of_code(text, messages=True):
    """The prose of a Python or Cython file: docstrings, comments on lines that follow each other, and strings of several words."""
    tokens = [(match.start(), match.end(), match) for match in TOKEN.finditer(text)]
    run = []
    for begin, end, match in [*tokens, (None, None, None)]:
        same = run and match and run[-1][2].lastgroup == match.lastgroup and not re.search(
            r"[^\s(]|\n\s*\n" if match["string"] else r"[^\s]|\n\s*\n", text[run[-1][1]:match.start()].rstrip("rbfuRBFU"))
        if run and not same:
            if messages or run[0][2]["comment"] or run[0][2]["string"].startswith(('"""', "'''")):
                yield from joined(text, run)
            run = []
        if match:
            run.append((begin, end, match))


def joined(text, run):
    line = text.count("\n", 0, run[0][0]) + 1
    if run[0][2]["comment"]:
        lines = [re.sub(r"^#[!:]?-* ?", "", match["comment"]).rstrip("- ") for _, _, match in run]
        if not re.match(r"(?:cython:|distutils:|noqa|type:|ruff:)", lines[0].strip()):
            yield from paragraphs("\n".join(lines), line)
        return
    if re.match(r"\s*\.split\(", text[run[-1][1]:run[-1][1] + 40]):
        return                                                      # a list of names
    if run[0][2]["string"].startswith(('"""', "'''")):
        content = run[0][2]["string"][3:-3]
        if not content.lstrip().startswith(("@", "<", "{", "import ")):        # BibTeX, pages, JSON, programs
            margin = re.match(" *", text[text.rfind("\n", 0, run[0][0]) + 1:])[0]
            yield from paragraphs(re.sub(f"^{margin}", "", without_examples(content), flags=re.MULTILINE), line)
        return
    content = "".join(match["string"][1:-1].replace("\\n", "\n") for _, _, match in run)
    if len(re.findall(r"(?<!\S)[a-z]{2,}(?=[\s.,;:]|$)", content)) >= 3 and not content.lstrip().startswith(("<", "@", "import ", "from ")):
        yield Prose(line, content)


def of_markdown(text):
    kept = re.sub(r"^(?:    .*\n)+", lambda code: "\n" * code[0].count("\n"), text, flags=re.MULTILINE)
    return paragraphs(kept)


def files():
    """What users and developers read: documents, and the sources of the library, its plugins, examples, benchmarks and tests."""
    for pattern in ("*.md", "changes/*.md", "docs/*.md", "docs/guide/*.md", "docs/papers/*.md", "docs/rooms/*.md", "examples/**/*.md",
                    "benchmarks/*.md"):
        yield from sorted(ROOT.glob(pattern))
    for pattern in ("structperc", "plugins", "examples", "benchmarks", "docs/_extensions"):
        yield from sorted(path for path in (ROOT / pattern).rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".pxi"))
    yield ROOT / "docs/conf.py"
    yield from sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name not in ("prose.py", "test_prose.py"))


def offences(path):
    """(line, kind, advice) of each break of a rule. The strings of tests are patterns and hostile data, so they are left out."""
    text = path.read_text(encoding="utf-8")
    pieces = of_markdown(text) if path.suffix == ".md" else of_code(text, messages=not path.is_relative_to(ROOT / "tests"))
    return sorted(offence for prose in pieces for offence in prose.offences())


def main(arguments):
    faults = [f"{path}:{line}: {advice}" for path in ([*map(Path, arguments)] or files()) for line, _, advice in offences(path.resolve())]
    print(*faults, sep="\n", end="\n" * bool(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
