"""Dependency parsing: the head of every word, and the label of its arc, by features of arcs and the tree of largest score."""

from structperc import Option, hookimpl
from structperc.plugin_tools import COLLINS
from structperc_parsing.arc_features import ArcFeatures
from structperc_parsing.arc_templates import default_template, read_lines
from structperc_parsing.tokens import TokenReader
from structperc_parsing.trees import ArcLoss, ProjectiveArgmax, TreeArgmax, TreeOutputs

citation = COLLINS

options = {
    "projective": Option(False, (False, True), "arcs do not cross"),
    "lift": Option(False, (False, True), "with projective: learn from trees with crossing arcs made projective, instead of refusing them"),
    "one_root": Option(True, (False, True), "exactly one word has the root for head"),
    "n_hashed": Option(1 << 22, low=1, below=1 << 32,
                       help="rows of eight weights that features of arcs are hashed to; those that steps touch take memory"),
    "template": Option(None, help="features of arcs, one a line, such as A:%h[0,tag]/%d[0,tag]; none: McDonald's of first order"),
    "columns": Option(None, help="names of the tokens' columns, for the template"),
    "target": Option(None, help="names of the columns that the commands predict: heads, or heads and labels"),
}
losses = ("hamming",)
conllu = {"columns": ("form", "xpos", "upos"), "target": ("head", "deprel")}


@hookimpl
def structperc_reader(context):
    return TokenReader(context.options["columns"])


@hookimpl
def structperc_outputs(context):
    given = context.options
    return TreeOutputs(given["projective"], given["one_root"], given["lift"])


@hookimpl
def structperc_features(context):
    template = context.options["template"]
    lines = read_lines(default_template(context.n_features) if template is None else template, context.options["columns"],
                       context.n_features)
    return ArcFeatures(lines, context.n_features, max(context.n_labels, 1), context.options["n_hashed"])


@hookimpl
def structperc_argmax(context):
    solver = ProjectiveArgmax if context.options["projective"] else TreeArgmax
    return solver(max(context.n_labels, 1), context.options["one_root"])


@hookimpl
def structperc_loss(context):
    return ArcLoss() if context.loss == "hamming" else None


check_options = {"n_hashed": 20}


def sample(random, n_examples):
    return [random.integers(0, 3, size=(n, 2)).astype(float) for n in random.integers(1, 4, n_examples)]
