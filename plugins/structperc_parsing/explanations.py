"""Why an arc scores what it scores: its features and their weights, which add up to the score."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import as_sentences, plain_labels
from structperc_parsing.arc_templates import MACRO, column_number

DISTANCES = {5: "5 to 6", 6: "7 to 10", 7: "more than 10"}


@attrs.frozen
class ArcExplanation:
    """The score of an arc, split by features.

    Attributes
    ----------
    head, dependent : int
        Numbers of words; 0 is the root.
    label : object or None
    score : float
    contributions : list of (str, float)
        Features with their weights, the largest absolute value first; weights of 0 are left out.
    """

    head: int
    dependent: int
    label: object
    score: float
    contributions: list

    def __str__(self):
        label = "" if self.label is None else f" ({self.label})"
        return "\n".join([f"{self.head} -> {self.dependent}{label} scores {self.score:.6g}",
                          *(f"  {value:+.6g}  {feature}" for feature, value in self.contributions)])


def explain_arc(engine, sentence, dependent, head=None, label=None) -> ArcExplanation:
    """Splits the score of one arc. The default is the predicted head of the dependent, counted from 1, and the label of largest score."""
    model = engine.model_
    x, rows = model.read_one(sentence)
    (sentence,) = as_sentences([sentence], engine.plugin_options["columns"] or ("form",))
    n = len(sentence)
    outputs, features, weights = model.parts.outputs, model.parts.features, model.parts.weights.vector()
    if not is_position(dependent, 1, n):
        raise OptionError(f"dependent={shortened(dependent)}; expected the number of a word, from 1 to {n}.")
    if head is None:
        head = outputs.heads(outputs.encode(engine.predict([sentence]), rows)[0])[dependent - 1]
    if not is_position(head, 0, n) or head == dependent:
        raise OptionError(f"head={shortened(head)}; expected 0 for the root, or another word than {dependent}, from 1 to {n}.")
    names = [] if outputs.labels is None else plain_labels(outputs.labels)
    if label is not None and label not in names:
        raise DataError(f"label={shortened(label)} is none of the labels {', '.join(map(str, names)) or '(there are none)'}.")
    slot, direction = features.slot(head, dependent), "to the right" if dependent > head else "to the left"
    distance = f"{direction}, distance {DISTANCES.get(slot, slot)}"
    entries = []
    for line, between, row in features.rows_of(x, head, dependent):
        text = written_out(line, sentence, engine.plugin_options["columns"], head, dependent, between)
        entries += [(f"{text} {direction}", 8 * row), (f"{text} {distance}", 8 * row + slot)]
    if names:
        of_labels = features.rows_of(x, head, dependent, True)
        if label is None:
            sums = [sum(weights[[8 * row + k for _, _, row in of_labels]]) for k in range(len(names))]
            label = names[int(np.argmax(sums))]
        for line, between, row in of_labels:
            text = written_out(line, sentence, engine.plugin_options["columns"], head, dependent, between)
            entries.append((f"{text} {direction}: {label}", 8 * row + names.index(label)))
    values = weights[[index for _, index in entries]].tolist()
    parts = [(text, value) for (text, _), value in zip(entries, values, strict=True) if value]
    return ArcExplanation(int(head), int(dependent), label, float(sum(values)), sorted(parts, key=lambda entry: -abs(entry[1])))


def is_position(value, low, high) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high


def written_out(line, sentence, columns, head, dependent, between) -> str:
    """A line with the cells that its macros read."""
    def cell(macro):
        side, offset, column = macro.groups()
        word = {"h": head, "d": dependent, "b": between}[side] + int(offset or 0)
        if word == 0:
            return "(root)"
        if not 0 < word <= len(sentence):
            return f"({word - len(sentence) if word > 0 else word:+d} outside)"
        token = sentence[word - 1]
        return str(token[column] if isinstance(token, dict) else token[column_number(column, "the template", columns, len(token))])

    return MACRO.sub(cell, line.text)
