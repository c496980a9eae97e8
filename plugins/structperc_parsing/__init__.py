"""Dependency parsing: the head of every word, and the label of its arc, by features of arcs and the tree of largest score."""

from structperc import Option, hookimpl
from structperc.plugin_tools import COLLINS
from structperc_parsing.arc_features import ArcFeatures
from structperc_parsing.arc_templates import default_template, read_lines
from structperc_parsing.tokens import TokenReader
from structperc_parsing.trees import ArcLoss, TreeArgmax, TreeOutputs

citation = COLLINS

options = {
    "one_root": Option(True, (False, True), "exactly one word has the root for head"),
    "n_hashed": Option(1 << 22, help="rows of eight weights that features of arcs are hashed to; those that steps touch take memory"),
    "template": Option(None, help="features of arcs, one a line, such as A:%h[0,tag]/%d[0,tag]; none: McDonald's of first order"),
    "columns": Option(None, help="names of the tokens' columns, for the template"),
}
losses = ("hamming",)


@hookimpl
def structperc_reader(context):
    return TokenReader(context.options["columns"])


@hookimpl
def structperc_outputs(context):
    return TreeOutputs(one_root=context.options["one_root"])


@hookimpl
def structperc_features(context):
    template = context.options["template"]
    lines = read_lines(default_template(context.n_features) if template is None else template, context.options["columns"],
                       context.n_features)
    return ArcFeatures(lines, context.n_features, max(context.n_labels, 1), context.options["n_hashed"])


@hookimpl
def structperc_argmax(context):
    return TreeArgmax(max(context.n_labels, 1), context.options["one_root"])


@hookimpl
def structperc_loss(context):
    return ArcLoss() if context.loss == "hamming" else None


check_options = {"n_hashed": 20}


def sample(random, n_examples):
    return [random.integers(0, 3, size=(n, 2)).astype(float) for n in random.integers(1, 4, n_examples)]
