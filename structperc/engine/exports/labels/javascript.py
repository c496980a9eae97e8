"""JavaScript without dependencies, for browsers and Node: a script that makes one object."""

from __future__ import annotations

from structperc.engine.exports.text import numbers, script_safe, table

SOURCE = '''// {description}; exported by structperc. In a page: <script src="FILE"></script>, then {name}.predict(x).
// In Node: const {name} = require("./FILE").
"use strict";

const {name} = (() => {{
  const labels = {labels};
  const columns = {columns};
  const temperature = {temperature};
  const bias = [{bias}];
  const weights = [
{weights},
  ];

  // The score of every label for a row x of {n_columns} numbers.
  function scores(x) {{
    if (x.length !== {n_columns}) throw new RangeError(`x has ${{x.length}} numbers; expected {n_columns}.`);
    return weights.map((row, l) => row.reduce((sum, weight, j) => sum + weight * x[j], 0) + bias[l]);
  }}

  // The label of largest score; the {tie} of equals.
  function predict(x) {{
    return labels[scores(x).reduce((best, score, l, all) => (score {beats} all[best] ? l : best), 0)];
  }}

  // How probable each label is: proportional to exp(score / temperature).
  function probabilities(x) {{
    const found = scores(x), highest = Math.max(...found);
    const parts = found.map((score) => Math.exp((score - highest) / temperature));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
  }}

  return {{ labels, columns, temperature, bias, weights, scores, predict, probabilities }};
}})();

if (typeof module !== "undefined") module.exports = {name};
'''


def written(model, name) -> bytes:
    """The script; its object is called `name`. Parameters as of `structperc.engine.exports`."""
    return SOURCE.format(
        description=model.description, name=name, labels=script_safe(model.labels), columns=script_safe(model.columns),
        temperature=repr(model.temperature), bias=numbers(model.bias), weights=table(model.weights), n_columns=model.weights.shape[1],
        tie="last" if model.last else "first", beats=">=" if model.last else ">").encode()
