"""Tables of docs/performance.md and README, made from pages of results; `python benchmarks/summaries.py` writes them.

A table is found by its head. The text before and after it is written by hand.
"""

import re
from pathlib import Path

import missed
from results_pages import read_page

ROOT = Path(__file__).parents[1]
READ = {"predictions", "stream", "epoch", "exact", "updates", "streams", "rivals", "peers", "parsing"}


class Results:
    """The rows of all tables of a page, by what its first cells are."""

    def __init__(self, name):
        self.name = name
        self.tables = read_page(missed.RESULTS / f"{name}.md").tables

    def cells(self, *first, under=None):
        """The further cells of the first row that begins with these. `under`: only of tables below this heading."""
        return self.row(*first, under=under)[1][len(first):]

    def cell(self, *first, column, under=None):
        """The cell of that row in the column of this name."""
        table, row = self.row(*first, under=under)
        return row[table.head.index(column)]

    def row(self, *first, under):
        rows = [(table, row) for table in self.tables if under in (None, table.under) for row in table.rows
                if row[:len(first)] == list(first)]
        if not rows:
            raise ValueError(f"results/{self.name}.md has no row {' | '.join(first)!r}, which a summary reads. Was all of it measured?")
        return rows[0]


def median(cell):
    """A figure without its range."""
    return re.match(r"[\d.,]*", cell)[0]


def predictions(results):
    for columns in (50, 136, 500):
        reading, *theirs = results["predictions"].cells(f"{columns} x float64")
        yield [f"{columns}, float64", median(reading), *(f"{median(cell)} ({cell.rpartition(': ')[2]})" for cell in theirs)]
    for columns in (50, 136, 500):
        yield [f"{columns}, float32", *map(median, results["predictions"].cells(f"{columns} x float32"))]


def calls(results):
    labels = {"structperc cusum, partial_fit": "`partial_fit`, CuSum", "structperc prank, partial_fit": "`partial_fit`, PRank",
              "structperc cusum, partial_fit, defaults": "`partial_fit`, CuSum, columns on one scale",
              "structperc cusum, predict": "`predict`, CuSum", "structperc prank, predict": "`predict`, PRank",
              "the same, and looks at the buffers of X and y": "a method of Python that looks at the buffers of X and y"}
    for name, text in labels.items():
        cell = results["stream"].cells(name)[0]
        yield [text, median(cell), cell.partition("(")[2].rstrip(")")]


def epoch(results):
    for data in ("4,000 x 10", "200,000 x 50", "1,000,000 x 136", "100,000 x 1000", "CSR 200,000 x 2^20"):
        yield [data, *(", ".join(map(median, results["epoch"].cells(data, problem, "file")[:3])) for problem in ("cusum", "prank"))]


def exact(results):
    for data in ("4,000 x 10", "200,000 x 50", "200,000 x 136"):
        perceptron, steps = (results["exact"].cells(data, "4", name) for name in ("prank, perceptron", "interval-pa, exact-pa"))
        yield [data, *(f"{median(one[0])}, {one[2].replace('%', ' %')}" for one in (perceptron, steps)), median(steps[1])]


def updates(results):
    for data, under in (("chunks, CoNLL-2000", "Chunks, CoNLL-2000"), ("tags, UD English EWT", "Tags, UD English EWT")):
        yield [data, *(median(results["updates"].cell(rule, column="÷ perceptron", under=under))
                       for rule in ("perceptron, loss in the search", "adagrad"))]


def streams(results):
    for name in ("memory", "pairs from a function", "mapped .npy", "Arrow", "Parquet", "Parquet, plain"):
        clock, _, reading, _, bound, _ = results["streams"].cells(name)
        yield [name, median(clock), median(reading), median(bound)]


def rivals(results):
    """Defaults against defaults. Then, of two tasks, each at its cheapest setting of equal quality."""
    def quality(row, text="{}", seconds=-1):
        return f"{text.format(row[0].replace('%', ' %'))}, {median(row[seconds])} s"

    pages, chunks = results["rivals"], "F1 of chunks"
    for theirs, task, ours, heading, text in (
            ("crfsuite lbfgs", "CoNLL-2000 chunking", "SequenceTagger()", chunks, "F1 {}"),
            ("LightGBM LGBMRanker()", "OHSUMED, NDCG@10", "RankingSVM()", "NDCG@10 of rankings", "{}"),
            ("scikit-learn SGDClassifier()", "classes of rows", "StructuredClassifier()", "Right classes of rows", "{}")):
        rows = (pages.cells(name, under=f"{heading}, by default") for name in (theirs, f"structperc {ours}"))
        name = theirs.removesuffix("()").replace("crfsuite lbfgs", "CRFsuite")
        yield [name, f"{task}, by default", *(quality(row, text) for row in rows)]
    rows = (pages.cells(name, under=chunks) for name in ("crfsuite ap", "structperc, perceptron"))
    yield ["CRFsuite, averaged perceptron", "CoNLL-2000 chunking, fewest passes", *(quality(row, "F1 {}", 2) for row in rows)]
    for ours, task in (("structperc CuSumRank()", "ordinal regression, 160,000 rows, by default"),
                       ("structperc prank, 1 epoch", "the same, one epoch of `Engine`")):
        rows = (results["peers"].cells(name) for name in ("mord LogisticAT", ours))
        yield ["mord LogisticAT", task, *(f"MAE {row[-2]}, {median(row[0])} s" for row in rows)]
    theirs, ours = (results["parsing"].cells(name) for name in ("UDPipe 1.2, gold tags, published", "labels after, order 2"))
    yield ["UDPipe 1.2 (published)", "UD English EWT, UAS / LAS", theirs[2], ours[2]]


TABLES = {              # by page: the head of a table, and what yields its rows
    "docs/performance.md": {
        "| columns | reading X | CuSum | PRank |": predictions,
        "| call | median | lowest and highest |": calls,
        "| data | CuSum: engine, roof, ratio | PRank: engine, roof, ratio |": epoch,
        "| data | perceptron, examples with a step | `exact-pa`, examples with a step | ratio |": exact,
        "| data | perceptron with the loss in its search | `adagrad` |": updates,
        "| data | ns | reading only | part of the bound's speed |": streams,
    },
    "README.md": {"| instead of | same task, one thread | theirs | structperc |": rivals},
}


def written(page, text, results):
    """The text of a page with the rows of its tables replaced."""
    for head, rows in TABLES[page].items():
        lines = "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows(results))
        text, n = re.subn(rf"(?<=^{re.escape(head)}\n)(\|[-|]*\|\n)(?:\|.*\n)*", lambda match, lines=lines: match[1] + lines, text,
                          flags=re.MULTILINE)
        if n != 1:
            raise ValueError(f"{page} has {n} tables with the head {head}; expected one.")
    return text


def read_results():
    return {name: Results(name) for name in READ}


if __name__ == "__main__":
    for page in TABLES:
        path = ROOT / page
        path.write_text(written(page, path.read_text(encoding="utf-8"), read_results()), encoding="utf-8")
