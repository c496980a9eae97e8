"""The reader of rows and objects, base of all readers."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.component import Component
from structperc.core.rows import Rows
from structperc.reading import matrices


@attrs.frozen
class Naming:
    """How tokens of text become columns.

    Attributes
    ----------
    names : list of str
        The feature of each column.
    lines : tuple or None
        Of a template: for each line its pieces, text or (offset, column) of a macro. None: tokens are lists or dicts of features.
    n_columns : int
        Of a template: how many strings a token has.
    """

    names: list
    lines: tuple | None = None
    n_columns: int = 0


class Reader(Component):
    """Reads matrices, lists of matrices and lists of objects, as `structperc.reading.matrices.read` does; learns nothing.

    Attributes
    ----------
    n_keys : int
        How many of the first columns of X are keys of the rows and no features.
    key_names : tuple of str
        What X calls them; empty where X has no names.
    reads_tables : bool
        Whether columns of a data frame may hold other things than numbers.
    codes : tuple of ColumnCode or None
        What each column of the training's table has become; None where X had none, or is taken as it is.

    Examples
    --------
    >>> from structperc import Engine, hookimpl
    >>> from structperc.components import Reader
    >>> class Squares(Reader):
    ...     def read(self, X, offsets=None):
    ...         return super().read([[x * x] for x in X], offsets)
    >>> class Plugin:
    ...     @hookimpl
    ...     def structperc_reader(self, context):
    ...         return Squares()
    >>> engine = Engine("multiclass", plugins=[Plugin()], epochs=9, preset="paper").fit([-2.0, 0.0, 2.0], ["far", "near", "far"])
    >>> engine.predict([-3.0]).tolist()
    ['far']
    """

    n_keys = 0
    key_names = ()
    reads_tables = False
    codes = None

    def n_inputs(self, n_features) -> int:
        """How many columns X has as users bring it, from the number of features.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        int
            Number of columns of the users' X.
        """
        return n_features + self.n_keys

    def input_names(self, feature_names) -> tuple:
        """Their names, from those of the features.

        Parameters
        ----------
        feature_names : tuple of str
            Names of the features.

        Returns
        -------
        tuple of str
            Names of the columns of the users' X.
        """
        return (*self.key_names, *feature_names)

    def learn(self, X, offsets=None) -> Rows:
        """The rows of the first data of a fit; a reader with a vocabulary learns it from them.

        Parameters
        ----------
        X : object
            As users pass it.
        offsets : int array, optional
            Where each example begins, and the end.

        Returns
        -------
        Rows
        """
        return self.read(X, offsets)

    def learn_more(self, X, offsets=None) -> None:
        """Learns from further data of the first fit, before training. A reader with a vocabulary adds their names.

        Parameters
        ----------
        X : object
            As users pass it.
        offsets : int array, optional
            Where each example begins, and the end.
        """
        self.read(X, offsets)

    read = staticmethod(matrices.read)      # the rows of later data; 0.1 us matter to one-row calls

    def read_one(self, x, objects=False, several_rows=False) -> Rows:
        """One example, as users pass it to `explain`: an object, a row, or with several_rows a block of rows.

        Parameters
        ----------
        x : object
            The example.
        objects : bool, default False
            Whether examples are objects.
        several_rows : bool, default False
            Whether an example has a block of rows.

        Returns
        -------
        Rows
            With one example.
        """
        if objects:
            return self.read(x if isinstance(x, list) else [x])
        if matrices.is_row(x):
            x = [x]
        elif getattr(x, "ndim", 2) == 1 and hasattr(x, "to_frame"):
            x = x.to_frame().T                      # one row of a data frame keeps its names
        elif getattr(x, "ndim", 2) == 1:
            x = (x if matrices.is_sparse(x) else np.asarray(x)).reshape((1, -1))
        return self.read([x if matrices.is_block(x) else matrices.as_dense(x)] if several_rows else x)

    def feature_name(self, j) -> str | None:
        """The name that this reader has given to column j, or None.

        Parameters
        ----------
        j : int
            Number of the column.

        Returns
        -------
        str or None
        """
        return None

    def naming(self) -> Naming | None:
        """How tokens of text become columns, for exports; None where X has rows of numbers.

        Returns
        -------
        Naming or None
        """
        return None
