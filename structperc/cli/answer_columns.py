"""What `structperc predict` writes of a table: columns of the data, the prediction, and how sure it is."""

from __future__ import annotations

import csv

import numpy as np

from structperc.basics.labels import plain_labels
from structperc.cli.files import row_answers
from structperc.errors import OptionError
from structperc.files.tables import as_cell

FLAGS = {"scores": "--scores", "margin": "--margin", "probabilities": "--probabilities", "interval": "--interval",
         "sets": "--sets"}


def covering(arguments):
    """The trained estimator that --interval or --sets asks for; None without these flags."""
    if not (arguments.interval or arguments.sets):
        return None
    from structperc import estimators

    model = estimators.load(arguments.model)
    for asked, flag, what, kind in ((arguments.interval, "--interval", "intervals", estimators.OrdinalConformal),
                                    (arguments.sets, "--sets", "sets", estimators.StructureConformal)):
        if asked and not isinstance(model, kind):
            raise OptionError(f"{flag} needs a model with {what}, and {arguments.model} has none. Expected a file that "
                              f"{kind.__name__}.save wrote; or leave the flag out.")
    return model


def columns_of(engine, arguments, table, estimator=None) -> dict:
    """Columns by name, an entry for each row of the table; the estimator is that of `covering`."""
    model = engine.model_
    rows = model.read(table.X, table.offsets)
    predicted = row_answers(engine, engine.predict_rows(rows), table.offsets)
    columns = {"prediction": predicted}
    single = bool(engine.parts_.outputs.n_labels)       # one label for each example
    if arguments.interval:
        columns |= dict(zip(("lowest", "highest"), estimator.predict_interval(table.X).T, strict=True))
    if arguments.sets:
        lengths = None if table.offsets is None else np.diff(table.offsets)
        columns |= of_sets(engine, rows, estimator.predict(table.X, lengths), single)
    if arguments.scores and single:
        columns |= of_labels("score", engine, model.label_scores(rows))
    elif arguments.scores:
        columns |= of_rows("score", rows, model.atom_scores(rows))
    if arguments.margin:
        columns["margin"] = np.repeat(model.margins(rows), rows.sizes()).tolist()
    if arguments.probabilities and single:
        columns |= of_labels("probability", engine, model.probabilities(rows))
    elif arguments.probabilities:
        columns |= of_rows("probability", rows, model.marginals(rows, "sum"))
    refuse_twice([*table.kept, *columns])
    return {**table.kept, **columns}


def of_sets(engine, rows, sets, single) -> dict:
    """A column for each label: 1 in the set, 0 outside. Or one column: 2 for rows that all outputs of the set have, 1 for some."""
    if single:
        return of_labels("set", engine, np.array([[int(label in one) for label in plain_labels(engine.classes_)] for one in sets]))
    states = [np.reshape(one.states, -1) for one in sets]
    if [len(one) for one in states] != rows.sizes().tolist():
        raise OptionError("the sets of this problem are no number for each row. Leave --sets out, and use StructureConformal.predict in "
                          "Python.")
    return {"set": np.concatenate(states).tolist()}


def sets_of_tokens(engine, estimator, X) -> list:
    """The labels of each token that some output of the set has, joined by |. The first is the prediction."""
    labels = engine.model_.context.labels
    if labels is not None and any("|" in str(label) for label in labels):
        raise OptionError("--sets joins labels by |, and a label has this character. Leave --sets out, and use StructureConformal.predict "
                          "in Python.")
    cells = []
    for sentence, one in zip(X, estimator.predict(X), strict=True):
        if labels is None or one.states.shape != (len(sentence), len(labels)):
            raise OptionError("the sets of this problem are no labels of tokens. Leave --sets out, and use StructureConformal.predict in "
                              "Python.")
        cells.append(["|".join([str(label), *(str(other) for other, state in zip(labels, states, strict=True) if state and other != label)])
                      for label, states in zip(one.prediction, one.states.tolist(), strict=True)])
    return cells


def of_labels(what, engine, values) -> dict:
    """A column for each label."""
    names = [f"{what} {as_cell(label)}" for label in engine.classes_]
    if len(set(names)) < len(names):
        raise OptionError(f"two labels have one text, so two columns would be {next(name for name in names if names.count(name) > 1)!r}. "
                          f"Leave the flag out, and use structperc.Engine in Python.")
    return dict(zip(names, values.T.tolist(), strict=True))


def of_rows(what, rows, values) -> dict:
    """One column, of what has a number for each row of an example."""
    arrays = [np.asarray(one, dtype=float).reshape(-1) for one in values]
    if [len(one) for one in arrays] != rows.sizes().tolist():
        raise OptionError(f"the {what} of this problem is no number for each row. Leave the flag out, and use atom_scores or "
                          f"predict_marginals of structperc.Engine.")
    return {what: np.concatenate(arrays).tolist()}


def kept(arguments) -> tuple:
    """The columns that --keep names."""
    names = [name.strip() for text in arguments.keep for name in next(csv.reader([text], skipinitialspace=True), [])]
    refuse_twice([*names, "prediction"])
    return tuple(names)


def refuse_twice(names) -> None:
    """Raises an error for a column of the data that has the name of another one of the output."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"--keep {twice!r}: the output would have two columns of this name; leave one out.")


def refuse_columns(arguments, what) -> None:
    """Raises an error for flags that add columns if the data have none to write. --sets writes into the cell of the prediction."""
    flags = [*(flag for name, flag in FLAGS.items() if name != "sets" and getattr(arguments, name)), *["--keep"] * bool(arguments.keep)]
    if arguments.safe_cells:
        raise OptionError(f"--safe-cells changes cells of CSV, but {what}; leave it out.")
    if flags:
        raise OptionError(f"{flags[0]} adds columns to a table, but {what}; leave it out, and use structperc.Engine in Python.")
