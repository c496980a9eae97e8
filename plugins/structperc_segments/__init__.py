"""Segments of sentences: chunks, names, words; what is learned are features of their tokens by place, lengths and neighbouring labels."""

from structperc import Option, hookimpl
from structperc.components import NamedReader, RowPart, SumFeatures, TablePart
from structperc.errors import DataError, OptionError, shortened
from structperc_segments.outputs import SegmentOutputs
from structperc_segments.reader import SegmentReader
from structperc_segments.solver import Atoms, SegmentArgmax, SegmentLoss, TokenLoss

also_called = ("segmentation", "semi-markov", "semi-crf")
citation = """@inproceedings{sarawagi2004semi,
  author    = {Sarawagi, Sunita and Cohen, William W.},
  title     = {Semi-{Markov} Conditional Random Fields for Information Extraction},
  booktitle = {Advances in Neural Information Processing Systems 17},
  year      = {2004}
}"""

options = {
    "max_length": Option(None, types=(int, type(None)), low=1, below=1 << 31,
                         help="the most tokens of a segment; none: of each label those that it has in the data"),
    "outside": Option(True, (True, False), "whether tokens may belong to no segment"),
    "places": Option("iobes", ("iobes", "iob2"), "which places of a token have weights: first, inside, last, only; or first and others"),
    "segment_features": Option(None, help="function of (sentence, start, stop) naming features of a segment; needs max_length"),
    "n_hashed": Option(None, help="columns of signed hashing for named features; none: a vocabulary of the first data"),
    "min_count": Option(1, help="leave out named features that are seen less often in the first data"),
    "template": Option(None, help="window features of tokens given as columns of text, one a line, such as U1:%x[-1,0]/%x[0,0]"),
    "columns": Option(None, help="names of these columns, for the template"),
}
losses = ("hamming", "segments")
task = "token-classification"


class SegmentFeatures(SumFeatures):
    """Weights of tokens by their place and label, of neighbouring labels, and of labels and lengths."""
    # intercept, feature_major: bool. As of `RowPart`.

    def __init__(self, atoms, n_features, intercept, feature_major):
        n_labels = len(atoms.limits)
        super().__init__(RowPart(atoms.n_blocks, n_features, intercept, feature_major),
                         TablePart((n_labels, n_labels), "transition_scores_"), TablePart((n_labels, 12), "length_scores_"))

    def check_rows(self, rows):
        if rows.objects:
            raise DataError(f"X is a list of {type(rows.X[0]).__name__}; expected sentences as rows of numbers, or lists of tokens. Each "
                            f"is a dict or a list of feature names.")


def described(context):
    """Up to how many tokens segments have features of their own."""
    describe, longest = (context.options[name] for name in ("segment_features", "max_length"))
    if describe is None:
        return 0
    if not callable(describe):
        raise OptionError(f"segment_features={shortened(describe)}; expected a function of (sentence, start, stop).")
    if longest is None:
        raise OptionError("segment_features describe every segment that there may be. Set max_length to the most tokens of a segment.")
    return longest


@hookimpl
def structperc_reader(context):
    options = {name: context.options[name] for name in ("n_hashed", "min_count", "template", "columns")}
    describe = context.options["segment_features"]
    return NamedReader(**options) if describe is None else SegmentReader(describe, described(context), **options)


@hookimpl
def structperc_outputs(context):
    return SegmentOutputs(*(context.options[name] for name in ("outside", "max_length", "places")), described(context))


@hookimpl
def structperc_features(context):
    outside = context.options["outside"]
    atoms = Atoms(context.n_labels + outside, outside, context.options["places"], described(context))
    return SegmentFeatures(atoms, context.n_features, context.fit_intercept, context.sparse)


@hookimpl
def structperc_argmax(context):
    return SegmentArgmax()


@hookimpl
def structperc_loss(context):
    return {"hamming": TokenLoss, "segments": SegmentLoss}[context.loss]() if context.loss in losses else None


check_options = {"classes": ["a", "b"], "max_length": 3}


def sample(random, n_examples):
    return [random.normal(size=(n, 4)) for n in random.integers(1, 4, n_examples)]
