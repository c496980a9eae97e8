"""The page of all papers: the BibTeX that components cite and the References of docstrings, and where in the code each is cited."""

import re
import unicodedata
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^ *References\n *-{5,}\n(?P<text>.*?)(?=\n *\"\"\"|\"\"\"|\n *\n *[A-Z][a-z]+\n *---)", re.MULTILINE | re.DOTALL)
START = re.compile(r"\n(?= *(?:[A-Z]\.[- ]?)+[A-Z]\w)")


def entries(text):
    """(constant or None, title, citation) of each BibTeX entry."""
    for entry in re.finditer(r"(?:(?P<name>[A-Z_]+) = r?\"\"\")?@\w+\{[\w:-]+,\n(?P<fields>.*?)^\}", text, re.MULTILINE | re.DOTALL):
        fields = {key: plain(value) for key, value in re.findall(r"^\s*(\w+) *= \{(.*?)\},?$", entry["fields"], re.MULTILINE | re.DOTALL)}
        authors = [short(author) for author in fields.get("author", "").split(" and ")]
        number = f"Technical report {fields.get('number')}, {fields.get('institution')}" if "institution" in fields else None
        place = next((fields[key] for key in ("journal", "booktitle", "howpublished") if key in fields), number)
        place = place or (f"arXiv:{fields['eprint']}" if "eprint" in fields else "")
        volume = f" {fields['volume']}" if "volume" in fields else ""
        pages = f", pages {fields['pages']}" if "pages" in fields else ""
        names = " and ".join(filter(None, [", ".join(authors[:-1]), authors[-1]]))
        year = f", {fields['year']}" if "year" in fields else ""
        yield entry["name"], f"{names}{': ' * bool(names)}{fields['title']}. {place}{volume}{pages}{year}.".replace(". .", ".")


def plain(value):
    """BibTeX without braces and accents' commands."""
    for command, mark in (("'", "\u0301"), ('"', "\u0308"), ("~", "\u0303"), ("`", "\u0300"), ("^", "\u0302")):
        value = re.sub(rf"\\{re.escape(command)}\{{?\\?(\w)\}}?", rf"\1{mark}", value)
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", re.sub(r"[{}]|\\(?=\W)", "", value).replace("--", "–")).strip())


def short(author):
    """A. B. Family, of "Ann B. Family" and "Family, Ann B."."""
    family, _, given = author.partition(", ")
    given, family = (given, family) if given else author.rpartition(" ")[::2]
    return " ".join([*("-".join(f"{part[0]}." for part in name.split("-")) for name in given.split()), family])


def references(text):
    for section in SECTION.finditer(text):
        for one in START.split("\n" + section["text"].strip("\n")):
            cited = re.sub(r"\s+", " ", one).strip()
            if cited:
                yield cited


def title(citation):
    """The title as lower-case letters and digits, which identifies the citations of one paper."""
    match = re.search(r'(?:: |, ")(.*?)(?:\.|",)', citation)
    return re.sub(r"[^a-z0-9]", "", (match[1] if match else citation).lower())


def collected():
    """Papers in the order of their first author's family name: (citation, files that cite it)."""
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for folder in ("structperc", "plugins")
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".pyx", ".pxi") and "templates" not in path.parts}
    papers = {}
    for path, text in texts.items():
        for name, citation in entries(text):
            users = [other for other, given in texts.items()
                     if name and other != path and name in given and re.search(rf"\bimport .*\b{name}\b", given)]
            kept = papers.setdefault(title(citation), [citation, set()])
            kept[0] = citation
            kept[1].update(users if users and path.name == "citations.py" else [path, *users])
    for path, text in texts.items():
        for citation in references(text):
            papers.setdefault(title(citation), [citation, set()])[1].add(path)
    papers_and_files = [(citation, sorted(path.as_posix() for path in paths)) for citation, paths in papers.values()]
    return sorted(papers_and_files, key=lambda paper: (re.search(r"\S+?(?=,|:| and )", paper[0]) or [paper[0]])[0])


def page():
    lines = ["# Bibliography", "", "Every paper that a component or a docstring cites, with the files that cite it. `Engine.citation`",
             "prints the BibTeX of the methods that an engine uses.", ""]
    for citation, paths in collected():
        lines += [f"- {citation}", f"  Cited in {', '.join(f'`{path}`' for path in paths)}.", ""]
    return "\n".join(lines)


def write(app):
    path = Path(app.srcdir) / "docs/reference/bibliography.md"
    path.parent.mkdir(exist_ok=True)
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
