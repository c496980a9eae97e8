"""The pages that structperc makes, with small models."""

import numpy as np
import pandas as pd
from plain import Engine

from structperc.pages import page

FRAME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{name}</title>
<style>:root{{color-scheme:light dark}}body{{margin:1rem}}</style></head><body><main><h1>{name}</h1>{content}</main></body></html>
"""


def visits(n=300):
    """A table of made-up patients, with hostile names, and their grades."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({
        "age": random.integers(20, 90, n).astype(float), "bmi": np.where(random.random(n) < 0.1, np.nan, random.normal(27, 4, n).round(1)),
        "sex": random.choice(["f", "m"], n), "smoker": random.choice(["never", "former", "current"], n),
        "visit": pd.date_range("2023-01-01", periods=n).strftime("%Y-%m-%d"),
        "<b>blood</b></script> \"pressure\" & more": random.normal(size=n)})
    latent = table["age"] / 20 + 2 * (table["smoker"] == "current") + random.normal(size=n) * 0.3
    return table, np.array(["none", "mild", "severe", "critical"])[np.digitize(latent, [2, 3, 4.5])]


def patients():
    """An engine that grades them."""
    table, grades = visits()
    columns = {"one_hot": ["sex"], "ordinal": {"smoker": ["never", "former", "current"]}, "date": ["visit"]}
    return Engine("prank", epochs=30, plugins=["table"], **columns, fill="median", missing_indicators=True, scale=True,
                  classes=["none", "mild", "severe", "critical"]).fit(table, grades)


def wide(d=136):
    """An engine of ranks with as many columns as a learning-to-rank set has."""
    random = np.random.default_rng(1)
    X = random.normal(size=(400, d))
    return Engine("cusum", epochs=3, average=True, scale=True).fit(X, np.digitize(X[:, 0] - X[:, 1], [-1, 0, 1]) + 1)


def tagger():
    """A tagger of short sentences, and a sentence."""
    sentences = [[["word=the"], ["word=dog"], ["word=barks"]], [["word=a"], ["word=cat"], ["word=sleeps"]]]
    engine = Engine("sequence", epochs=10, average=True).fit(sentences, [["DET", "NOUN", "VERB"]] * 2)
    return engine, [["word=the"], ["word=cat"]]


def made(folder) -> list:
    """Writes the pages into a folder: triples of a name, an address, and what to click before looking."""
    engine, table = patients(), visits()[0]
    engine.export(folder / "grades.html", "html")
    wide().export(folder / "wide.html", "html")
    chains, sentence = tagger()
    texts = {
        "watch": page("watch.html"),
        "notebook-engine": framed("An engine", engine),
        "notebook-grade": framed("A grade explained", engine.explain(table.head(1))),
        "notebook-tags": framed("Tags explained", chains.explain(sentence)),
    }
    for name, text in texts.items():
        folder.joinpath(f"{name}.html").write_text(text, encoding="utf-8")
    address = {name: folder.joinpath(f"{name}.html").resolve().as_uri() for name in ("grades", "wide", *texts)}
    steps = ["#epoch", "#step", "#step"]
    watched = [("watch-tags", f"{address['watch']}#tags", ["#epoch", "#averaged"]), ("watch-tree", f"{address['watch']}#tree", ["#step"])]
    return [*((name, at, steps if name == "watch" else []) for name, at in address.items()), *watched]


def framed(name, shown) -> str:
    return FRAME.format(name=name, content=shown._repr_html_())
