"""Sequence labelling: a label for every token of a sentence, by the tokens' features and the pairs of neighbouring labels."""

from functools import partial

import numpy as np

from structperc import Option, hookimpl
from structperc.components import NamedReader, TokenLoss
from structperc.files import read_vectors
from structperc.plugin_tools import COLLINS
from structperc_sequence.chain_features import ChainFeatures
from structperc_sequence.constraints import SCHEMES, read_constraints
from structperc_sequence.outputs import ChainOutputs
from structperc_sequence.solver import Viterbi

also_called = ("crf", "tagger", "tagging", "ner", "pos", "chunking", "sequence-labelling")
citation = COLLINS

options = {
    "start": Option(False, (False, True), "a weight for each label that begins a sentence"),
    "end": Option(False, (False, True), "a weight for each label that ends a sentence"),
    "forbidden_transitions": Option((), help=f"pairs of labels [a, b]: b never follows a (null: the boundary); or {', '.join(SCHEMES)}"),
    "required_transitions": Option((), help="pairs of labels [a, b]: after a only the b of such pairs (null: the boundary)"),
    "n_hashed": Option(None, help="columns of signed hashing for named features; none: a vocabulary of the first data"),
    "min_count": Option(1, help="leave out named features that are seen less often in the first data"),
    "template": Option(None, help="window features of tokens given as columns of text, one a line, such as U1:%x[-1,0]/%x[0,0]"),
    "columns": Option(None, help="names of these columns; without a template each is a feature"),
    "vectors": Option(None, types=(str, type(None)), help="file of word vectors, as of word2vec or GloVe, for a column of the tokens"),
    "vector_column": Option(None, types=(str, type(None)), help="the column whose words have vectors; none: the first"),
}
# Held-out parts of two corpora (chunks of CoNLL-2000, parts of speech of UD English EWT). Averaging is worth 0.8 points, twice the epochs
# 0.1. All update rules, with loss_weight or without, are within 0.4 points of each other. Small noisy sets level off after 16 epochs.
recommended = {"start": True, "end": True, "trainer": "until-level", "epochs": 20}
losses = ("hamming",)
task = "token-classification"


@hookimpl
def structperc_reader(context):
    options = context.options
    named = {name: options[name] for name in ("n_hashed", "min_count", "template", "columns", "vector_column")}
    return NamedReader(**named, word_vectors=None if options["vectors"] is None else partial(read_vectors, options["vectors"]))


@hookimpl
def structperc_outputs(context):
    options = context.options
    return ChainOutputs(options["start"], options["end"], options["forbidden_transitions"], options["required_transitions"])


@hookimpl
def structperc_features(context):
    options = context.options
    return ChainFeatures(context.n_labels, context.n_features, context.fit_intercept, context.sparse, options["start"], options["end"])


@hookimpl
def structperc_argmax(context):
    options = context.options
    return Viterbi(context.n_labels, options["start"], options["end"],
                   read_constraints(context.labels, options["forbidden_transitions"], options["required_transitions"]))


@hookimpl
def structperc_loss(context):
    if isinstance(context.loss, np.ndarray):
        return TokenLoss(context.loss)
    return TokenLoss() if context.loss == "hamming" else None


check_options = {"classes": ["a", "b", "c"], "start": True, "end": True}


def sample(random, n_examples):
    return [random.normal(size=(n, 2)) for n in random.integers(1, 5, n_examples)]
