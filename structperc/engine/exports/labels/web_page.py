"""A page for browsers: a form with the model's columns, its prediction and the reasons. It is one file that works without a network."""

from __future__ import annotations

import datetime
import json
import math

import numpy as np

from structperc.basics.errors import PluginError
from structperc.engine.exports.labels import javascript
from structperc.pages import page

MOST_INPUTS = 1000          # of a form that a person can use
ABOUT = "const about = {};\n\nif (typeof module !== \"undefined\") module.exports = about;\n"


def written(model, name) -> bytes:
    """The page, which is titled `name`. Parameters as of `structperc.engine.exports`."""
    if len(model.inputs) > MOST_INPUTS:
        raise PluginError(f"this model has {len(model.inputs)} columns, and the form of a page has room for {MOST_INPUTS}; export it to "
                          f"\"js\".")
    features = model.columns or [input.name for input in model.inputs]
    size = f"{len(model.labels)} labels, by {len(model.inputs)} inputs"
    about = {"description": f"{size}. Everything is computed in this page; nothing leaves your browser.",
             "ordered": model.ordered, "one_direction": model.one_direction, "last": model.last, "features": features,
             "means": [0.0] * len(features) if model.means is None else model.means.tolist(),
             "inputs": [about_input(input, features, model) for input in model.inputs]}
    return page("model.html", name.replace("_", " ").strip(), {"exported.js": javascript.written(model, "model").decode(),
                                     "about.js": ABOUT.format(json.dumps(about))}).encode()


def about_input(code, features, model) -> dict:
    """A column of the form: its kind and levels, the value of a missing cell, the first value, and a hint."""
    fill, hint, spread = None if math.isnan(code.fill) else code.fill, "", 0.0
    start = fill or 0.0
    if model.means is not None:
        first = features.index(code.feature_names[0])
        means = model.means[first:first + max(len(code.levels), 1)]
        start = float(np.argmax(means)) if code.kind == "one_hot" else float(means[0])
        if model.spreads is not None and not code.levels:
            spread = float(model.spreads[first])
            low, high = (text_of(code, start + sign * spread, spread) for sign in (-1, 1))
            hint = f"usually {low} to {high}"
    if code.levels:
        start = code.levels[min(max(round(start), 0), len(code.levels) - 1)]
    return {"name": code.name, "kind": code.kind, "levels": code.levels, "origin": code.origin, "fill": fill, "indicated": code.indicated,
            "start": start if code.levels else text_of(code, start, spread), "hint": hint}


def text_of(code, value, spread) -> str:
    """A value of a column as its control takes it: three digits of the column's spread, at most four of its own."""
    if code.kind == "date":
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(code.origin + value))).isoformat()
    digits = 2 - math.floor(math.log10(spread)) if spread > 0 else 9
    return f"{round(value, digits) + 0.0:.4g}"
