"""The reader of rows and objects, base of all readers."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.component import Component
from structperc.core.rows import Rows
from structperc.reading import matrices


@attrs.frozen
class Naming:
    """How tokens of text become columns."""
    # names: list of str. The feature of each column.
    # lines: tuple or None. Of a template: for each line its pieces, text or the numbers of a macro. None: tokens are lists or dicts of
    # features.
    # n_columns: int. Of a template: how many strings a token has.
    # words: pair or None. The number of a column, and the `WordVectors` of its words, whose coordinates are the last columns.

    names: list
    lines: tuple | None = None
    n_columns: int = 0
    words: tuple | None = None


@attrs.frozen
class InputColumns:
    """The columns of X as users pass it, and what they become."""
    # n_keys: int. Number of columns that are keys of the rows instead of features.
    # key_names: tuple of str. Names of these columns; empty if X has no names.
    # codes: tuple of ColumnCode or None. What each other column of the training table became; None if the features are the columns
    # themselves.
    # texts: tuple of str or None. Columns of a file that are read as text; None if the reader needs numbers in all columns.
    # missing: function of str or None. Returns the texts that mean in a column that nothing is known; None: the usual ones.
    # key_places: function of list, or None. Returns the places of the keys among the names of a table's columns; None: there are no keys.

    n_keys: int = 0
    key_names: tuple = ()
    codes: tuple | None = None
    texts: tuple | None = None
    missing: object = None
    key_places: object = None

    def count(self, n_features) -> int:
        """The number of columns of X."""
        return self.n_keys + (n_features if self.codes is None else len(self.codes))

    def names(self, feature_names) -> tuple:
        """The names of the columns of X, a tuple."""
        return *self.key_names, *(feature_names if self.codes is None else (code.name for code in self.codes))

    def places(self):
        """The code of each column of a table, and the number of its first feature."""
        place = 0
        for code in self.codes or ():
            yield code, place
            place += len(code.feature_names)


FEATURES_ONLY = InputColumns()         # columns that are the features


class Reader(Component):
    """Reads matrices, lists of matrices and lists of objects. It learns nothing.

    `read` is `structperc.reading.matrices.read`. A reader whose features are other columns than those of X overrides `input_columns`.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import Reader
    >>> from structperc.reading.matrices import read
    >>> class Squares(Reader):
    ...     def read(self, X, offsets=None):
    ...         return read([[x * x for x in row] for row in X], offsets)
    >>> Engine("multiclass", plugins=[Squares()]).fit([[-2], [1], [2]], ["far", "near", "far"]).predict([[-1]]).tolist()
    ['near']
    """

    _declared_by = dict.fromkeys(("n_keys", "key_names", "codes", "reads_tables", "n_inputs", "input_names"),
                                "input_columns(), which returns structperc.reading.readers.InputColumns")

    @property
    def takes_tables(self) -> bool:
        """Whether X may be a table of numbers, so that the plugin "table" may encode its columns first. With an own `read` it may not."""
        return type(self).read is Reader.read

    def input_columns(self) -> InputColumns:
        """The columns of X as users pass it."""
        return FEATURES_ONLY

    @property
    def has_open_levels(self) -> bool:
        """Whether further data may have levels of categories that the reader has to learn before training."""
        return False

    def without_keys(self, X):
        """A table without its columns of keys, which no other reader encodes.

        Parameters
        ----------
        X : object
            As users pass it.

        Returns
        -------
        table : object
        restore : function
            Returns the argument of `learn` and `read` for the encoded table.
        """
        return X, lambda table: table

    def _with_a_feature(self, X):
        """X with a column of zeros where rows have no feature, for scores from elsewhere."""
        return X

    def learn(self, X, offsets=None) -> Rows:
        """The rows of the first data of a fit; a reader with a vocabulary learns it from them.

        Parameters
        ----------
        X : object
            As users pass it.
        offsets : int array, optional
            Where each example begins, and the end.
        """
        return self.read(X, offsets)

    def learn_weighted(self, X, offsets=None, sample_weight=None) -> Rows:
        """The same of examples that have weights, for readers that learn statistics of them. Default: `learn`.

        Parameters
        ----------
        X : object
            As users pass it.
        offsets : int array, optional
            Where each example begins, and the end.
        sample_weight : array of shape (n_examples,) or number, optional
            As users pass it.
        """
        return self.learn(X, offsets)

    def learn_names(self, state) -> bool:
        """Adds the names that another reader of the same options has learned, in their order, before training.
        Returns a bool. False: this reader cannot. Data with new names are then collected in one process.

        Parameters
        ----------
        state : dict of arrays
            What `state()` of that reader returned.
        """
        return False

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
        Returns `Rows`. With one example.

        Parameters
        ----------
        x : object
            The example.
        objects : bool, default False
            Whether examples are objects.
        several_rows : bool, default False
            Whether an example has a block of rows.
        """
        if objects or isinstance(x, str):
            x = matrices.as_objects(x)              # X[:1] of an array of objects is one of them, as in `predict`
            return self.read(x if isinstance(x, list) else [x])
        if matrices.is_row(x):
            x = [x]
        elif getattr(x, "ndim", 2) == 1 and hasattr(x, "to_frame"):
            x = x.to_frame().T                      # one row of a data frame keeps its names
        elif getattr(x, "ndim", 2) == 1:
            x = (x if matrices.is_sparse(x) else np.asarray(x)).reshape((1, -1))
        return self.read([x if matrices.is_block(x) else matrices.as_dense(x)] if several_rows else x)

    def feature_name(self, j) -> str | None:
        """The reader's name of column j. Returns a str or None. None: the name is that of X.

        Parameters
        ----------
        j : int
        """
        return None

    def naming(self) -> Naming | None:
        """How tokens of text become columns, for exports; None where X has rows of numbers."""
        return None
