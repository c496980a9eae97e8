"""The papers whose experiments are repeated, and every published cell beside ours with its verdict.

Published cells are those of published.py, and the claims of the experiment with interval labels. Measured cells are those of the pages
of results. Verdicts are those of verdicts.py.
"""

import math
import re
from collections import Counter

import attrs
import published
import verdicts
from verdicts import EVEN, NOT_RUN, VERDICTS, WORSE

MEAN = re.compile(r"\**([\d.]+)(?: ± ([\d.]+))?\**$")
ON_A_STAND_IN = "LambdaRank"            # claims on MSLR-WEB10K, which is not to be had, checked on another set


@attrs.frozen
class Cell:
    """A published figure or claim beside ours: "mean ± standard error" of its page, or "". `note` has the reason if there is none."""

    table: str
    what: str
    published: str
    ours: str
    verdict: str
    note: str = ""

    @property
    def ratio(self):
        """Ours over the published figure, and two standard errors of it; nan where either is no number."""
        theirs, (ours, error) = number(self.published)[0], number(self.ours)
        return (ours / theirs, 2 * error / theirs) if theirs else (math.nan, math.nan)


@attrs.frozen
class Paper:
    """`pages`: of results, the one with the verdicts first; `errata`: the letters of its errata; `target`: what make repeats it by."""

    key: str
    who: str
    title: str
    story: str
    pages: tuple
    target: str
    errata: str
    cells: object
    larger_is_better: bool = False

    @property
    def name(self):
        return f"{self.who}, {self.title}" if self.who else self.title


def number(text):
    """(mean, standard error) of a cell such as "**0.404 ± 0.022**"; nan for what is missing."""
    found = MEAN.match(text.replace(",", ""))
    return (float(found[1]), float(found[2] or "nan")) if found else (math.nan, math.nan)


def shown(value):
    """A published figure with its three or four decimals."""
    return f"{value:.3f}" if round(value, 3) == value else f"{value:.4f}"


def lookup(pages, name, under, keys, columns):
    """Cells of the first row that begins with `keys`, in tables under such headings, by places or names of columns."""
    for table in pages[name].tables if pages.get(name) else ():
        if table.under.startswith(under) and all(isinstance(one, int) or one in table.head for one in columns):
            for row in table.rows:
                if row[:len(keys)] == list(keys):
                    return [row[one if isinstance(one, int) else table.head.index(one)] for one in columns]
    return None


def measured(table, what, theirs, found, other=None):
    """A cell whose page gives our mean and the verdict, or none; `other`: the same of SVOREX, for its note."""
    if found is None:
        return Cell(table, what, theirs, "", NOT_RUN, "its page has no such row")
    ours, verdict = found
    note = f"SVOREX: {' '.join(other)}" if other else f"fewer than {verdicts.FEWEST} partitions" if verdict == NOT_RUN else ""
    return Cell(table, what, theirs, ours, verdict, note)


# ---- the papers ----

def cusum_cells(pages):
    for bins, sets in published.NINE.items():
        for name, (_, cusum) in sets.items():
            found = lookup(pages, "reproduce-ordinal-nine", f"{bins} bins", [name], ["learned CuSum", 4])
            yield measured(f"CuSum on learned features, {bins} bins", name, shown(cusum), found)
        for name, (benchmark, _) in sets.items():
            found, other = (lookup(pages, "reproduce-ordinal-nine", f"{bins} bins", [name], columns)
                            for columns in (["SVORIM", 9], ["SVOREX", 7]))
            yield measured(f"The benchmark, a kernel support vector machine, {bins} bins: SVORIM", name, shown(benchmark), found, other)


def interval_cells(pages):
    tables = pages["reproduce-interval"].tables if pages.get("reproduce-interval") else ()
    rows = [row for table in tables if table.under == "Claims of the paper" for row in table.rows]
    for claim, holds, _ in rows or [("claims", NOT_RUN, "")]:
        verdict = NOT_RUN if claim.startswith(ON_A_STAND_IN) or holds == NOT_RUN else EVEN if holds == "yes" else WORSE
        note = f"on a stand-in for MSLR-WEB10K: {holds}" if claim.startswith(ON_A_STAND_IN) else "" if holds == "yes" else holds
        yield Cell("Claims", claim, "claimed", "", verdict, note)


def latent_cells(pages):
    for name, values in published.PRECISION.items():
        for k, theirs in zip((1, 3, 5, 10), values, strict=True):
            ours, = lookup(pages, "reproduce-ranking", "", [name], [f"P@{k}"]) or [""]
            verdict = verdicts.beside_published(*number(ours), theirs, published.PRECISION_DIGITS, larger_is_better=True)
            yield Cell("Precision on OHSUMED", f"{name}, P@{k}", shown(theirs), ours, verdict)


def boosting_cells(pages):
    for base, sets in published.BOOSTING.items():
        for part, place in (("test", 4), ("training", 7)):
            for name, forms in sets.items():
                for ranker, values in zip((base, "+ AdaBoost.OR"), forms, strict=True):
                    theirs, _ = values[part == "training"]
                    if not math.isnan(theirs):
                        found = lookup(pages, "reproduce-ordinal-boosting", base, [name, ranker], [place, place + 1])
                        form = "alone" if ranker == base else "boosted"
                        yield measured(f"{base}, {part} cost", f"{name}, {form}", f"{theirs:.2f}", found)
    for name, theirs in published.SVOR_BENCHMARK.items():
        found, other = (lookup(pages, "reproduce-ordinal-benchmark", "", [name, learner], ["ours", "verdict"])
                        for learner in ("SVORIM", "SVOREX"))
        yield measured("The benchmark, support vector ordinal regression: SVORIM", name, f"{theirs:.3f}", found, other)


def margin_cells(pages):
    for what, theirs in published.MARGINS.items():
        yield Cell("Ratings and vehicles", what, f"{theirs:g}", "", NOT_RUN, "these data are not to be had")


PAPERS = (
    Paper("cusum", "Milidiú and Rocha (2019)", "Cumulative Sum Ranking",
          "Mean absolute errors of CuSum on the hidden outputs of a network, beside a Gaussian-kernel support vector machine. There are "
          "nine sets, 20 official partitions, 5 and 10 bins.",
          ("reproduce-ordinal-nine", "reproduce-kernel"), "reproduce-ordinal", "CS", cusum_cells),
    Paper("interval", "Manwani and Chandra (2018)", "Exact Passive-Aggressive Algorithms for Learning to Rank Using Interval Labels",
          "Running means of the error over one pass, for exact labels and 50 or 75 % intervals. The text states which learner beats which; "
          "its numbers are only in figures. A claim over several comparisons holds where all of them do.",
          ("reproduce-interval", "support_classes"), "reproduce-interval", "IL", interval_cells),
    Paper("latent", "", "A Perceptron Algorithm for Latent Variables",
          "Precision at 1, 3, 5 and 10 on OHSUMED, five folds: the latent perceptron, the latent support vector machine and Ranking SVM.",
          ("reproduce-ranking", "latent_surrogate"), "reproduce-ranking", "LV", latent_cells, larger_is_better=True),
    Paper("boosting", "Lin and Li (2009)", "Combining Ordinal Preferences by Boosting",
          "Mean absolute costs of three base rankers without and with boosting, on rows to test with and to learn from. There are eight "
          "sets in ten ranks, 20 partitions, and the column of support vector ordinal regression.",
          ("reproduce-ordinal-boosting", "reproduce-ordinal-benchmark", "boosting_theory"), "reproduce-ordinal", "LL", boosting_cells),
    Paper("margins", "Shashua and Levin (2002)", "Taxonomy of Large Margin Principle Algorithms for Ordinal Regression Problems",
          "Planes in a plane, for a fixed margin and a sum of margins; users' ratings; kinds of vehicles. The planes are drawn here on "
          "other points, and ratings are made up. So no published number has a measurement beside it.",
          ("reproduce-ordinal-margins", "vehicle_pictures"), "reproduce-ordinal", "SL", margin_cells),
)


def counts(cells):
    """How many cells have each verdict, in the order of VERDICTS."""
    found = Counter(cell.verdict for cell in cells)
    return [found[verdict] for verdict in VERDICTS]
