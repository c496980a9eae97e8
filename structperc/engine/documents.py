"""What an engine writes for others: model cards and exports. Each function is the method of `Engine` with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structperc.engine.model_card import ModelCard


def card(self, X=None, y=None, *, offsets=None, lengths=None, groups=None, name=None, data=None) -> ModelCard:
    """The model card: problem, labels, columns, training, measures, largest weights, citation, version and checksum.
    Raises `NotFittedError` before `fit`. Raises `DataError` if examples do not fit the model.

    Parameters
    ----------
    X, y, offsets, lengths, groups : optional
        Held-out examples, as in `fit`, for the section of measures. Default: no measures.
    name : str, optional
        Name of the model. Default: that of its problem.
    data : str, optional
        Name of the held-out examples.

    Returns
    -------
    structperc.engine.model_card.ModelCard
        `str(card)` is Markdown with the front matter of model hubs; `card.save(path)` writes .md or .html. Write the section
        "Intended use" yourself.

    Examples
    --------
    >>> from structperc import Engine
    >>> card = Engine("cusum", epochs=9).fit([[0.0], [1.0], [2.0]], [1, 2, 3]).card(name="grader")
    >>> [line for line in str(card).splitlines() if line.startswith("## ")][:4]
    ['## Intended use', '## What it predicts', '## Training', '## Measures']
    """
    from structperc.engine.model_card import card_of

    return card_of(self, X, y, offsets, lengths, groups, name, data)


def export(self, path, to=None) -> None:
    """Export a trained model as one file of another language, which needs no structperc.
    Raises `PluginError` if the model has no export: see Notes. Raises `OptionError` if `to` or the ending names no format.
    Raises `MissingExtra` if "onnx" is chosen and the package onnx is not installed.

    Parameters
    ----------
    path : path
        File to write. Its name is the prefix of functions in languages that need one.
    to : {"numpy", "c", "js", "onnx", "onnx-float32", "safetensors", "html"}, optional
        "numpy": a Python module. "c": a C99 source file. "js": a script for browsers and Node. "onnx": a graph of core operators in
        float64. "onnx-float32": the same with an input of float32. "safetensors": the weights only. "html": a page with a form, the
        prediction and its reasons (ordered labels and classes). Default: by the ending of `path`.

    Notes
    -----
    - Outputs must be one label for each row, a chain of labels, or the best rows of a query. Scores must be linear. ONNX also holds the
      network of `structperc.torch.Net`.
    - The problem's own outputs, features and argmax must be in use, with `argmax` and `decode` in compiled code.
    - Hashed feature names, names beside vectors, and "onnx" for tokens of text are not supported.
    - The functions compute W x + b for every label. For chains they compute scores for every token and for neighbouring labels, -inf if
      these are forbidden.
    - Tokens have the form that `predict` reads: rows of numbers, features in lists or dicts, or strings for a template.
    - Features without weights are left out. Names of columns, labels and the tie rule are kept.
    - Sums have another order than in structperc. Scores agree to rounding, and so do labels unless two scores are that close.
    - A model of tables needs the columns of numbers that a table becomes. The form of the page has the columns of the table.

    Examples
    --------
    >>> import pathlib, runpy, tempfile
    >>> from structperc import Engine
    >>> engine = Engine("cusum", epochs=9).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     engine.export(pathlib.Path(folder) / "grader.py", to="numpy")
    ...     grader = runpy.run_path(f"{folder}/grader.py")
    >>> grader["predict"]([[0.0], [2.0]]).tolist()
    [1, 3]
    """
    from structperc.engine.exports import export

    export(self, path, to)
