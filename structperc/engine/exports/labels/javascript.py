"""JavaScript without dependencies, for browsers and Node: a script that makes one object."""

from __future__ import annotations

from structperc.engine.exports.text import numbers, script_labels, script_safe, table

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

{probabilities}

  return {{ labels, columns, temperature, bias, weights, scores, predict, probabilities }};
}})();

if (typeof module !== "undefined") module.exports = {name};
'''


SOFTMAX = """  // How probable each label is: proportional to exp(score / temperature).
  function probabilities(x) {
    const found = scores(x), highest = Math.max(...found);
    const parts = found.map((score) => Math.exp((score - highest) / temperature));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
  }"""

CUMULATIVE = """  // How probable each label is: P(y > k) = 1 / (1 + exp(-v_k / temperature)), v the differences of scores of neighbouring
  // labels, pooled into falling order. The spread, by which neighbours come apart around the place where v changes its sign, is added.
  const spread = SPREAD, spreadOfPooled = POOLED;
  function probabilities(x) {
    const s = scores(x), K = s.length, v = [];
    for (let k = 0; k + 1 < K; k++) {
      let least = Infinity;
      for (let i = 0; i <= k; i++) {
        let most = -Infinity;
        for (let j = k + 1; j < K; j++) most = Math.max(most, (s[j] - s[i]) / (j - i));
        least = Math.min(least, most);
      }
      v.push(least);
    }
    const rounding = 1e-12 * Math.max(...v.map(Math.abs));
    let place = 0, apart = spread;
    for (let k = 1; k < v.length; k++) {
      const step = v[k - 1] - v[k];
      if (step > 0) place += (Math.max(v[k - 1], 0) - Math.max(v[k], 0)) / step;
      else place += v[k] > 0 ? 1 : 0;
      if (step <= rounding) apart = spreadOfPooled;
    }
    const above = [1, ...v.map((value, k) => 1 / (1 + Math.exp(-value / temperature - apart * (place - k)))), 0];
    return s.map((_, l) => above[l] - above[l + 1]);
  }"""


def written(model, name) -> bytes:
    """The script; its object is called `name`. Parameters as of `structperc.engine.exports`."""
    apart, pooled = map(repr, model.spreads_of_labels)
    return SOURCE.format(
        probabilities=CUMULATIVE.replace("SPREAD", apart).replace("POOLED", pooled) if model.cumulative else SOFTMAX,
        description=model.description, name=name, labels=script_labels(model.labels), columns=script_safe(model.columns),
        temperature=repr(model.temperature), bias=numbers(model.bias), weights=table(model.weights), n_columns=model.weights.shape[1],
        tie="last" if model.last else "first", beats=">=" if model.last else ">").encode()
