"""JavaScript without dependencies, for browsers and Node: a script that makes one object."""

from __future__ import annotations

from structperc.engine.exports.text import numbers, script_safe

SOURCE = '''// {description}; exported by structperc. In a page: <script src="FILE"></script>, then {name}.order(rows).
// In Node: const {name} = require("./FILE").
"use strict";

const {name} = (() => {{
  const columns = {columns};
  const weights = [{weights}], bias = {bias!r};

  // The score of a row x of {n_columns} numbers.
  function score(x) {{
    if (x.length !== {n_columns}) throw new RangeError(`x has ${{x.length}} numbers; expected {n_columns}.`);
    return weights.reduce((sum, weight, j) => sum + weight * x[j], 0) + bias;
  }}

  // The places of a query's rows, the best first; equal ones in their order.
  function order(rows) {{
    const scores = rows.map(score);
    return rows.map((_, i) => i).sort((i, j) => scores[j] - scores[i]);
  }}

  return {{ columns, weights, bias, score, order }};
}})();

if (typeof module !== "undefined") module.exports = {name};
'''


def written(model, name) -> bytes:
    """The script; its object is called `name`. Parameters as of `structperc.engine.exports`."""
    return SOURCE.format(description=model.description, name=name, columns=script_safe(model.columns), weights=numbers(model.weights),
                         bias=model.bias, n_columns=len(model.weights)).encode()
