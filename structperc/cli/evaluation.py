"""Measures of a model on data that come in parts. What is kept of a part is small beside its rows.

Of single labels that is a count of each pair of a right label and a prediction. Of other outputs it is these themselves.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from structperc.basics.errors import StructPercError
from structperc.basics.labels import plain, plain_labels
from structperc.cli.column_files import Tokens, sizes
from structperc.cli.files import PART_ROWS, answers, counted_in, parts_for
from structperc.files.opening import can_be_read_again
from structperc.metrics.constants import Constant, best_constant_of, best_label, constant_of_pairs, everywhere, most_frequent
from structperc.metrics.engines import Judged, Pairs, by_example, judged, labels_of


class Evaluation:
    """A model beside the right outputs of a file, read part after part."""
    # arguments: namespace. Of the command, with `data`.
    # check: function of a table. Raises an error for one that cannot be measured.
    # judged: Pairs or Judged
    # of_tokens: bool. Whether rows are the tokens of sentences.

    def __init__(self, engine, arguments, check):
        self.engine, self.arguments, self.model = engine, arguments, engine.model_
        self.n_examples = self.n_rows = self.n_parts = 0
        self.of_tokens = False
        self.gold_counts, self.only, parts = Counter(), None, []
        for table in self.tables():
            with counted_in(table, arguments.data):
                check(table)
                rows, y = self.model.read(table.X, table.offsets), answers(engine, table)
                parts.append(judged(self.model, rows, y, engine.predict_rows(rows)))
                if parts[-1].losses is None:
                    parts[-1].measures()            # faults of outputs that no loss has looked at are found here, with their place
            self.count(table, rows, y)
            if isinstance(parts[0], Pairs):
                parts = [Pairs.joined(parts)]
        self.judged = parts[0] if len(parts) == 1 else Judged.joined(parts)

    def tables(self):
        """The parts of the file; all of it where constants need a second pass and there is none."""
        again = can_be_read_again(self.arguments.data)
        return parts_for(self.engine, self.arguments, rows=PART_ROWS if again or Pairs.suit(self.model) else None)

    def count(self, table, rows, y) -> None:
        """Adds up what is not judged."""
        self.n_parts += 1
        self.n_examples += table.n_examples
        self.of_tokens = isinstance(table, Tokens)
        self.n_rows += table.file.n_tokens if self.of_tokens else table.X.shape[0]
        self.only = (rows, y) if self.n_parts == 1 else None
        outputs = self.model.parts.outputs
        if outputs.n_labels and not Pairs.suit(self.model):
            self.gold_counts.update(outputs.encode(y, rows))

    def measures(self) -> dict:
        return self.judged.measures()

    def constant(self) -> Constant | None:
        """The best constant prediction. Of other outputs than single labels, the file is read again."""
        if isinstance(self.judged, Pairs):
            return constant_of_pairs(self.model, self.judged)
        if self.only is not None:
            return best_constant_of(self.model, *self.only)
        outputs, labels = self.model.parts.outputs, self.model.context.labels
        if labels is None or outputs.n_labels and self.model.parts.loss.training_only:
            return None
        answer = best_label(self.model, self.gold_counts) if outputs.n_labels else most_frequent(labels_of(outputs, self.judged.gold))
        if answer not in plain_labels(labels):
            return None
        try:
            return Constant(plain(answer), Judged.joined([self.always(answer, table) for table in self.tables()]).measures())
        except StructPercError:             # constraints forbid it
            return None

    def always(self, answer, table) -> Judged:
        """One prediction for all of a part."""
        rows, y = self.model.read(table.X, table.offsets), answers(self.engine, table)
        outputs = self.model.parts.outputs
        predicted = np.full(rows.n_examples, answer) if outputs.n_labels else everywhere(answer, by_example(outputs, rows, y))
        return Judged.of(self.model, rows, y, predicted, scored=False)

    def __str__(self):
        """How much there is, in words."""
        return sizes(self.n_examples, self.n_rows) if self.of_tokens else f"{self.n_rows} rows"
