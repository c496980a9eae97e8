"""JavaScript without dependencies, for browsers and Node, of labels in chains."""

from __future__ import annotations

from structperc.engine.exports.chains.features import feature_lines
from structperc.engine.exports.text import numbers, script_labels, script_safe, table
from structperc.pages import in_page

SOURCE = '''// {description}; exported by structperc. In a page: <script src="FILE"></script>, then {name}.predict(sentence).
// In Node: const {name} = require("./FILE").
"use strict";

const {name} = (() => {{
  const inf = Infinity;
  const labels = {labels};
  const columns = {columns};
  const bias = [{bias}];
  const transitions = [    // row: the label before, column: the label after; -inf: forbidden
{transitions},
  ];
  const start = [{start}];
  const end = [{end}];
{tokens}
  // The labels of largest score for one sentence, {sentence}; the lowest of equals, from the last token back.
  function predict(sentence) {{
    if (sentence.length === 0) return [];
    const origins = [];
    let sums = null;
    sentence.forEach((token, t) => {{
      const own = tokenScores(sentence, t);
      if (sums === null) {{
        sums = own.map((score, l) => start[l] + score);
        return;
      }}
      const before = sums, from = new Array(labels.length).fill(0);
      sums = own.map((score, l) => {{
        let best = before[0] + transitions[0][l];
        for (let k = 1; k < labels.length; k++) {{
          const way = before[k] + transitions[k][l];
          if (way > best) {{
            best = way;
            from[l] = k;
          }}
        }}
        return best + score;
      }});
      origins.push(from);
    }});
    const totals = sums.map((sum, l) => sum + end[l]);
    const found = [totals.reduce((best, total, l) => (total > totals[best] ? l : best), 0)];
    if (totals[found[0]] === -inf) throw new RangeError("the constraints leave this sentence no labels");
    for (let t = origins.length - 1; t >= 0; t--) found.push(origins[t][found[found.length - 1]]);
    return found.reverse().map((l) => labels[l]);
  }}

  return {{ labels, columns, bias, weights, transitions, start, end, predict }};
}})();

if (typeof module !== "undefined") module.exports = {name};
'''
ROWS = '''  const weights = [
{weights},
  ];

  // The score of every label for a token, a row of {n_columns} numbers.
  function tokenScores(sentence, t) {{
    const x = sentence[t];
    if (x.length !== {n_columns}) throw new RangeError(`token ${{t}} has ${{x.length}} numbers; expected {n_columns}.`);
    return weights.map((row, l) => row.reduce((sum, weight, j) => sum + weight * x[j], 0) + bias[l]);
  }}
'''
NAMED = '''  const weights = new Map([    // of each feature: a label, its weight, and so on
{features}
  ].map(([name, ...entries]) => [name, entries]));

  // The score of every label for a token.
  function tokenScores(sentence, t) {{
    const scores = new Array(labels.length).fill(0);
    for (const [name, value] of features(sentence, t)) {{
      const entries = weights.get(name) || [];
      for (let i = 0; i < entries.length; i += 2) scores[entries[i]] += value * entries[i + 1];
    }}
    return scores.map((score, l) => score + bias[l]);
  }}
'''
BAGS = '''
  // The names of a token's features and their values; a token is a list of names or an object, {"word": "the", "length": 3}.
  function features(sentence, t) {
    const token = sentence[t];
    return Array.isArray(token) ? token.map((name) => [name, 1]) : named(token, "");
  }

  function named(token, prefix) {
    return Object.entries(token).flatMap(([key, value]) => {
      const name = prefix + key;
      if (typeof value === "string") return [[`${name}:${value}`, 1]];
      if (Array.isArray(value)) return value.map((one) => [`${name}:${one}`, 1]);
      return typeof value === "object" ? named(value, `${name}:`) : [[name, Number(value)]];
    });
  }
'''
WINDOWS = '''  const lines = {lines};

  // The names of a token's features, each a line of the template, and their values.
  function features(sentence, t) {{
    const read = (piece) => (typeof piece === "string" ? piece : cell(sentence, t + piece[0], ...piece.slice(1)));
    return lines.map((line) => [line.map(read).join(""), 1]);
  }}

  function cell(sentence, t, column, spelling, letters) {{
    if (t < 0) return `_B${{t}}`;
    if (t >= sentence.length) return `_B+${{t - sentence.length + 1}}`;
    return spelling === undefined ? sentence[t][column] : spelled([...sentence[t][column]], spelling, letters);
  }}

  // A part of a text, its small letters, its shape, or the text with 0 for each digit.
  function spelled(text, spelling, letters) {{
    const isDigit = (one) => /\\p{{Nd}}/u.test(one);
    const sign = (one) => (/\\p{{Uppercase}}/u.test(one) ? "X" : /\\p{{Lowercase}}/u.test(one) ? "x" : isDigit(one) ? "d" : one);
    if (spelling === "prefix") return text.slice(0, letters).join("");
    if (spelling === "suffix") return text.slice(-letters).join("");
    if (spelling === "lower") return text.map((one) => [...one.toLowerCase()][0]).join("");
    if (spelling === "digits") return text.map((one) => (isDigit(one) ? "0" : one)).join("");
    return text.map(sign).filter((one, i, signs) => one !== signs[i - 1]).join("");
  }}
'''


def written(model, name) -> bytes:
    """The script; its object is called `name`. Parameters as of `structperc.engine.exports`."""
    if model.names is None:
        tokens = ROWS.format(weights=table(model.weights), n_columns=model.weights.shape[1])
        sentence = f"rows of {model.weights.shape[1]} numbers"
    else:
        tokens = NAMED.format(features=in_page(",\n".join(f"    {line}" for line in feature_lines(model))))
        tokens += BAGS if model.lines is None else WINDOWS.format(lines=script_safe(model.lines))
        sentence = "a list of tokens, " + ("each a list of names or an object" if model.lines is None
                                           else f"each a list of {model.n_columns} strings")
    return SOURCE.format(
        description=model.description, name=name, labels=script_labels(model.labels), columns=script_safe(model.columns),
        bias=numbers(model.bias), transitions=table(model.transitions), start=numbers(model.start), end=numbers(model.end), tokens=tokens,
        sentence=sentence).encode()
