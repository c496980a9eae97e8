"""Dependency parsing: the head of every word and the label of its arc, by the tree of largest score."""

from structperc import Option, hookimpl
from structperc.errors import OptionError, UnusedOption
from structperc.plugin_tools import COLLINS
from structperc_parsing import arc_templates
from structperc_parsing.arc_features import ArcFeatures
from structperc_parsing.arc_templates import read_lines
from structperc_parsing.biaffine import BiaffineFeatures
from structperc_parsing.tokens import TokenReader
from structperc_parsing.trees import ArcLoss, ProjectiveArgmax, TreeArgmax, TreeOutputs

also_called = ("parser", "dependency-parsing", "treebank")
citation = COLLINS

options = {
    "projective": Option(False, (False, True), "arcs do not cross"),
    "lift": Option(False, (False, True), "with projective: learn from trees with crossing arcs made projective, instead of an error"),
    "one_root": Option(True, (False, True), "exactly one word has the root for head"),
    "order": Option(1, (1, 2), "2: with projective, neighbouring siblings have scores too"),
    "labels": Option("after", ("after", "joint"), "labels are found after the tree, for its arcs, or jointly: slower, a little better"),
    "tokens": Option("cells", ("cells", "vectors"), "numbers of tokens are names of cells, as texts are, or coordinates of vectors"),
    "n_hashed": Option(1 << 22, low=1, below=1 << 32,
                       help="rows of eight weights for hashed features of arcs; only rows in use need memory"),
    "template": Option(None, help="features of arcs, one a line, such as A:%h[0,tag]/%d[0,tag]; none: McDonald's of first order"),
    "columns": Option(None, help="names of the tokens' columns, for the template"),
    "target": Option(None, help="names of the columns that the commands predict: heads, or heads and labels"),
}
recommended = {"update": "pa1", "C": 0.02, "loss_weight": 1.0, "epochs": 8, "scale": False, ("projective", True): {"lift": True}}
losses = ("hamming",)
conllu = {"columns": ("form", "lemma", "xpos", "feats", "upos"), "target": ("head", "deprel")}


def default_template(n_columns, columns, options):
    """The template of the commands."""
    return arc_templates.default_template(n_columns, options.get("order", 1), columns)


@hookimpl
def structperc_reader(context):
    return TokenReader(context.options["columns"])


@hookimpl
def structperc_outputs(context):
    options = context.options
    return TreeOutputs(options["projective"], options["one_root"], options["lift"], options["labels"] == "joint", options["order"])


@hookimpl
def structperc_features(context):
    options = context.options
    if options["tokens"] == "vectors":
        refuse_with_vectors(options, context.n_labels)
        return BiaffineFeatures(context.n_features, context.n_labels)
    template = arc_templates.default_template(context.n_features, options["order"]) if options["template"] is None else options["template"]
    lines = read_lines(template, options["columns"], context.n_features, options["order"])
    return ArcFeatures(lines, context.n_features, context.n_labels, options["n_hashed"], options["labels"] == "joint", options["order"])


def refuse_with_vectors(options, n_labels):
    """Options that only templates have a meaning for."""
    if options["template"] is not None:
        raise UnusedOption("template names cells, but tokens='vectors' are coordinates; leave it out.", "template")
    if options["order"] == 2:
        raise OptionError("order=2 scores siblings by a template, and tokens='vectors' have none; set order=1.")
    if options["labels"] == "joint" and n_labels:
        raise OptionError("labels='joint' scores the labels of all arcs by a template, and tokens='vectors' have none; set labels='after'.")


@hookimpl
def structperc_argmax(context):
    options = context.options
    solver = ProjectiveArgmax if options["projective"] else TreeArgmax
    return solver(context.n_labels, options["one_root"], options["labels"] == "joint", options["order"])


@hookimpl
def structperc_loss(context):
    options = context.options
    return ArcLoss(context.n_labels, options["labels"] == "joint", options["order"]) if context.loss == "hamming" else None


check_options = {"n_hashed": 20}


def sample(random, n_examples):
    return [random.integers(0, 3, size=(n, 2)).astype(float) for n in random.integers(1, 4, n_examples)]
