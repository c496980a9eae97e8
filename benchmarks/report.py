"""One self-contained HTML page of all results: every paper's cells beside ours and the speed tables; `make report` calls this.

    python benchmarks/report.py [--results FOLDER] [--output build/report.html]

The page is made from the committed tables and figures; nothing is measured. A results page that is not there is named on it.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

import report_html as html
import verdicts
from measuring import median
from report_papers import PAPERS, counts
from results_pages import read_page
from verdicts import EVEN, VERDICTS, WORSE

from structperc.pictures.markup import Markup, element

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results")
SPEED = {
    "Other libraries": ("rivals",),
    "Calls": ("doors",),
    "Ranks": ("epoch", "peers", "stream", "fixed", "exact", "exports"),
    "Sentences": ("tagging", "scaling", "segments", "log_loss", "parsing", "arborescences"),
    "Kernels, large margins and stumps": ("kernels", "trees", "boosting", "large_margin", "large_margin_linear"),
    "Structures": ("linking", "clustering", "decisions", "images"),
    "Learning": ("updates", "bent_rankings", "interval_labels", "rare_classes", "ordinal_columns", "people"),
}
READING = (
    "Published: what the paper prints. Ours: the mean of the repeated experiment, with its standard error where the experiment has one. "
    f"{verdicts.RULE} Data that are not to be had, and stand-ins for them, are not run either.")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of tables and figures (default: benchmarks/results)")
    parser.add_argument("--output", type=Path, default=ROOT / "build/report.html", help="the page (default: build/report.html)")
    chosen = parser.parse_args(arguments)
    if not any(chosen.results.glob("*.md")):
        sys.exit(f"report: {chosen.results} holds no tables (.md) of results; name another folder by --results.")
    try:
        text, told = page(chosen.results, chosen.output)
    except ValueError as error:         # of a table that is no table
        sys.exit(f"report: {error}")
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(text, encoding="utf-8")
    print(f"{told}\n{chosen.output} ({len(text.encode()) / 2**20:.1f} MB)")


def page(results, output):
    """The page as text, and its summary in a line."""
    pages = {path.stem: read_page(path) for path in sorted(results.glob("*.md"))}
    links = Links(output)

    cells = {paper.key: list(paper.cells(pages)) for paper in PAPERS}
    total = counts([cell for found in cells.values() for cell in found])
    sections = {
        "Papers at a glance": summary(cells),
        "Papers": html.joined(paper_section(paper, cells[paper.key], pages, results, links) for paper in PAPERS),
        "Speed and further measurements": speed(pages, results),
        "From commit to commit": comparisons(results / "compare"),
    }
    menu = [element("li", element("a", name, href=f"#{html.slug(name)}")) for name in sections]
    body = [element("section", element("h2", name, id=html.slug(name)), content, aria_labelledby=html.slug(name))
            for name, content in sections.items()]
    told = f"{sum(total)} published cells: " + ", ".join(f"{count} {verdict}" for verdict, count in zip(VERDICTS, total, strict=True))
    title = "structperc: results beside the papers"
    text = "<!DOCTYPE html>\n" + element(
        "html",
        element("head", Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
                element("title", title), element("style", Markup(html.STYLE))),
        element("body", element("a", "Skip to the results", class_="skip", href="#results"),
                element("header", element("h1", title),
                        element("p", f"{told}. Tables and figures are those of the repository; machine and day are beside each."),
                        element("nav", element("ul", *menu), aria_label="Sections")),
                element("main", html.joined(body), id="results", tabindex="-1"),
                element("footer", element("p", "Made by make report from benchmarks/results.", class_="soft"))),
        lang="en")
    return text + "\n", told


class Links:
    """Links from the page to files of the repository."""

    def __init__(self, output):
        self.folder = Path(output).resolve().parent

    def to(self, path, text):
        return element("a", text, href=Path(os.path.relpath(ROOT / path, self.folder)).as_posix())


# ---- papers ----

def summary(cells):
    head = ["paper", "published", *VERDICTS]
    rows = [[element("a", paper.who or paper.title, href=f"#paper-{paper.key}"), *told(cells[paper.key])] for paper in PAPERS]
    rows.append(["all", *told([cell for found in cells.values() for cell in found])])
    return html.joined([element("p", READING), html.table("How many published cells have each verdict", head, rows)])


def told(cells):
    return [str(len(cells)), *map(str, counts(cells))]


def paper_section(paper, cells, pages, results, links):
    pieces = [element("h3", paper.name, id=f"paper-{paper.key}"), element("p", paper.story),
              element("p", f"Repeat it: make {paper.target}. Protocols: ",
                      *separated(links.to(f"benchmarks/results/{one}.md", f"{one}.md") for one in paper.pages), ".")]
    tables = {}
    for cell in cells:
        tables.setdefault(cell.table, []).append(cell)
    if plots := [plot for caption, found in tables.items() if (plot := html.ratios(caption, found))]:
        better = "right" if paper.larger_is_better else "left"
        pieces += [element("p", f"Ours divided by the published figure, with two standard errors; {better} of 1 is better. "
                                "● even, ▲ better, ▼ worse, ○ constant or not run."), element("div", *plots, class_="plots")]
    written = element("div", *(cell_table(caption, found) for caption, found in tables.items()), class_="tables" if plots else None)
    pieces += [element("details", element("summary", f"Published and ours: {len(cells)} cells"), written, open=""), errata(paper, links)]
    pieces += [html.figures([pages[one] for one in paper.pages if pages.get(one)], results) or ""]
    for one in paper.pages:
        pieces.append(element("details", element("summary", f"The whole protocol: {pages[one].title}"), html.parts(pages[one], 4))
                      if pages.get(one) else missing(one))
    return html.joined(pieces)


def separated(pieces):
    for i, piece in enumerate(pieces):
        yield from (", ", piece) if i else (piece,)


def cell_table(caption, cells):
    claims = all(cell.published == "claimed" for cell in cells)
    words = {EVEN: "holds", WORSE: "does not hold"} if claims else {}
    rows = [[cell.what, *([] if claims else [cell.published, *halves(cell.ours)]), words.get(cell.verdict, cell.verdict), cell.note]
            for cell in cells]
    head = ["claim" if claims else "what", *([] if claims else ["published", "ours", "standard error"]), "verdict", "note"]
    if not any(cell.note for cell in cells):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return html.table(caption, head, rows)


def halves(ours):
    """The mean and its standard error, as texts."""
    mean, _, error = ours.strip("*").partition(" ± ")
    return mean, error


def errata(paper, links):
    """The titles of the paper's errata."""
    path = ROOT / "docs/errata.md"
    titles = re.findall(rf"^### ({paper.errata}-\d+) (.*)$", path.read_text(encoding="utf-8") if path.is_file() else "", re.MULTILINE)
    if not titles:
        return missing("docs/errata.md")
    lines = [element("li", element("strong", key), " ", html.inline(title)) for key, title in titles]
    return element("details", element("summary", f"{len(titles)} errata"), element("ul", *lines),
                   element("p", "Numbers, and the test of each: ", links.to("docs/errata.md", "docs/errata.md"), "."))


def missing(name):
    return element("p", f"{name if '.' in name else name + '.md'} is missing: its tables are not shown.", class_="soft")


# ---- speed ----

def speed(pages, results):
    told_already = {one for paper in PAPERS for one in paper.pages}
    groups = dict(SPEED)
    listed = {name for names in groups.values() for name in names} | told_already
    if others := tuple(name for name in pages if name not in listed):
        groups["Further"] = others
    pieces = [element("p", "CPU time of one thread unless a table has another unit; medians, with the range over the rounds in brackets.")]
    for group, names in groups.items():
        pieces += [element("h3", group), html.figures([pages[name] for name in names if pages.get(name)], results) or ""]
        for name in names:
            found = pages.get(name)
            pieces.append(missing(name) if not found else
                          element("details", element("summary", found.title), html.parts(found, 4)))
    return html.joined(pieces)


def comparisons(folder):
    """A figure for each case over all comparisons of commits, drawn from their JSON."""
    raw = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []
    if not raw:
        return element("p", "There is no comparison of commits among these results; make bench-compare REF=main writes one.", class_="soft")
    names = dict.fromkeys(name for one in raw for name in one["cases"])
    figures = []
    for name in names:
        points = [(one["this"][:7], median(values), min(values), max(values))
                  for one in raw if (values := one["cases"].get(name, {}).get("ratio"))]
        if points:
            figures.append(html.history(name, points))
    story = "CPU time of a commit divided by that of the other commit, median and range of the rounds. Below 1 is faster."
    return html.joined([element("p", story), element("div", *figures, class_="plots")])


if __name__ == "__main__":
    main()
