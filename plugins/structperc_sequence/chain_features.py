"""The feature map of a linear chain: a token's row in the block of its label, a weight per pair of neighbouring labels."""

from structperc.components import RowPart, SumFeatures, TablePart
from structperc.errors import DataError


class ChainFeatures(SumFeatures):
    """Atoms (t, l): x_t in block l and a constant; (l, l'): one weight; also the first and the last label, where wanted.

    The atoms of T tokens and L labels are numbered t * L + l. After them come T * L + l * L + l', then the starts and the ends. An atom (l,
    l') occurs as often as l' follows l.
    """
    # intercept: bool. A constant feature in every token: a weight per label.
    # feature_major: bool. Lay the weights out for sparse X.
    # start, end: bool. Whether the first and the last label have weights of their own.

    def __init__(self, n_labels, n_features, intercept=True, feature_major=False, start=False, end=False):
        tables = [TablePart((n_labels, n_labels), "transition_scores_")]
        tables += [TablePart(n_labels, name) for name, wanted in (("start_scores_", start), ("end_scores_", end)) if wanted]
        super().__init__(RowPart(n_labels, n_features, intercept, feature_major), *tables)

    def check(self, context, parts):
        if context.objects:
            raise DataError("X is a list of objects that are no sentences. Pass an array (tokens, features) for each sentence, or a list "
                            "of tokens. Each is a dict or a list of feature names.")

    def check_rows(self, rows):
        if rows.objects:
            raise DataError(f"X is a list of {type(rows.X[0]).__name__}; expected sentences as rows of numbers, or lists of tokens. Each "
                            f"is a dict or a list of feature names.")
