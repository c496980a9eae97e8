"""The arguments of every command, with help that teaches."""

from __future__ import annotations

import argparse
import functools
import shutil

from structperc import __version__
from structperc.cli import (
    carding,
    changing,
    comparing,
    completion,
    estimating,
    explaining,
    exporting,
    helping,
    importing,
    table_flags,
    training,
    using,
    watching,
)
from structperc.cli import demo as demonstration
from structperc.cli import plugins as about_plugins
from structperc.cli.files import PART_ROWS
from structperc.cli.helping import WIDTH
from structperc.cli.new import KINDS
from structperc.cli.safe_cells import add_flag
from structperc.cli.settings import unknown_argument
from structperc.cli.table_flags import split
from structperc.cli.terminal import say_fault
from structperc.engine.exports import ENDINGS, FORMATS
from structperc.engine.exports.formats import ALSO_CALLED as EXPORTS_ALSO_CALLED
from structperc.errors import did_you_mean
from structperc.files import formats

ALSO_CALLED = {"fit": ("train", "learn"), "evaluate": ("test", "score"), **EXPORTS_ALSO_CALLED,
               **{name: format.also_called for name, format in formats.FORMATS.items()}}
LOOKS = 1 / 16              # of an epoch, after which it is asked whether so many minutes have passed
OVERVIEW = """\
a first run:
  structperc fit cusum train.csv --target level --model level.model
  structperc evaluate level.model test.csv
  structperc predict level.model new.csv --output predictions.csv
  structperc explain level.model new.csv --row 3

tag sentences, from a file with one token per line:
  structperc fit sequence train.txt --columns word,pos,chunk --model m
  structperc evaluate m test.txt

structperc help TOPIC shows a problem, a command or a topic such as data.

exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C,
143 SIGTERM
"""
FIT = """\
examples:
  structperc fit prank wine.csv --target quality --model wine.model
  structperc fit cusum v.csv --target level --classes low,high --model v.model
  structperc fit prank wine.csv --target quality --model m --set epochs=50
  structperc fit interval-pa v.csv --target least,most --model v.model
  structperc fit sequence train.txt --columns word,pos,chunk --model m

more: structperc help cusum (or another problem), options, data, columns,
templates, tables, streams, checkpoints, dask, json
"""
DEMO = """\
example:
  structperc demo --output patients     patients/demo.png, and CSV files
"""
WATCH = """\
example:
  structperc watch --output watch.html  one file, which works offline

Step, run and pause; ranks, a sentence and a tree. The steps equal those of the
update rules of this library.
"""
EXPORT = """\
examples:
  structperc export wine.model wine.c       wine_predict(x) in C99
  structperc export wine.model wine.html    a page with a form; works offline
  structperc export chunks.model chunks.js  chunks.predict(sentence)

Models of ranks, classes and tags can be exported if they have no kernel.
"""
IMPORT = """\
examples:
  structperc import-crfsuite chunks.crfsuite -o chunks.model

The model predicts the same tags as CRFsuite. Tokens are dicts or lists of
attributes, as in python-crfsuite. partial_fit trains the model further.
"""
PREDICT = """\
examples:
  structperc predict wine.model new.csv
  structperc predict wine.model new.csv --output predictions.csv
  structperc predict visits.model new.csv --keep patient --probabilities
  structperc predict conformal.model new.csv --interval
  structperc predict structures.model new.csv --sets
  structperc predict plan.model talks.csv --group day
  structperc predict chunks.model new.txt

Columns are found by the names of the training data. Other columns, such as the
target, are ignored. A file without names needs the order of the training data.

more: structperc help data, columns
"""
EVALUATE = """\
examples:
  structperc evaluate wine.model test.csv --target quality
  structperc evaluate chunks.model test.txt
  structperc evaluate tags.model test.conllu --target upos

more: structperc help measures, data, columns, json
"""
PLOT = """\
examples:
  structperc plot wine.model --output wine.png
  structperc plot wine.model --data test.csv --target quality --output wine.pdf

Panels: mistakes per epoch; the largest weights by name; with --data, the scores
of each true rank and the thresholds. The ending of FILE chooses the format:
.png, .pdf or .svg.
"""
EFFECTS = """\
examples:
  structperc effects wine.model wine.csv --target quality
  structperc effects wine.model wine.csv --scale odds-ratio --interval wald
  structperc effects wine.model wine.csv --scale odds-ratio --output effects.tex
  structperc effects wine.model wine.csv --proportional-odds
  structperc effects visits.model visits.csv --target stage --groups patient

An effect is the weight of a column times its standard deviation. The intervals
come from a Poisson bootstrap. Log odds and odds ratios need a model of
--set update=logistic or --set trainer=cumulative-logit. The latter has a
likelihood: p values, AIC, BIC and intervals without refits.

more: structperc help data, columns
"""
EXPLAIN = """\
examples:
  structperc explain wine.model test.csv --row 3
  structperc explain wine.model test.csv --row 3 --against 5 --output row3.html
  structperc explain chunks.model test.txt --row 2

The margin of the prediction over its rival is split exactly by feature. Levels
along one direction show the way from the mean row's score to this one instead.
With --against they have a rival too. Kernels name training rows.

more: structperc help data, columns
"""
COUNTERFACTUAL = """\
examples:
  structperc counterfactual wine.model test.csv --row 3 --wanted 5
  structperc counterfactual wine.model test.csv --at-most 4 --bounds acid=0:2
  structperc counterfactual m pairs.csv --group family --chosen "2 with 3"
  structperc counterfactual m test.txt --row 2 --alternatives bank=river,money

Distances are in standard deviations of the training rows, or in tokens. Atoms
have the names that structperc explain shows.

more: structperc help data, columns
"""
COMPARE = """\
example:
  structperc compare wine.model kernel.model test.csv

Differences are the second minus the first. Standard errors come from a
jackknife over 20 blocks of examples. McNemar's exact test compares the numbers
of examples that only one model predicts correctly. Rows must be independent.

more: structperc help measures, data, columns
"""
CARD = """\
examples:
  structperc card wine.model --data test.csv -o wine.md
  structperc card wine.model --data test.csv --output wine.html

The card has the problem, labels, columns, options, mistakes of training,
measures, largest weights, citation and SHA-256 of the model. The owner of the
model writes the section "Intended use".

more: structperc help measures, data, columns
"""
COMPLETION = """\
example:
  structperc completion bash     eval "$(structperc completion bash)" loads it

Add the eval line to ~/.bashrc, or with zsh to ~/.zshrc, after compinit. For
fish: structperc completion fish | source. Run it again after you have installed
a plugin.
"""
PLUGINS = """\
examples:
  structperc plugins
  structperc plugins --json

A problem defines the outputs, the features and the argmax. A part replaces
single hooks of a problem (fit --plugin NAME).
"""
NEW = """\
examples:
  structperc new ranked-pairs
  structperc new ranked-pairs ~/code
  structperc new careful-loss --kind loss

Then install the package with pip and run its test, or: structperc check NAME
"""
CHECK = """\
examples:
  structperc check cusum

The exit code is 1 if a check fails. The first counterexample is printed.
"""
HELP = """\
examples:
  structperc help prank
  structperc help options
  structperc help data
"""


class Parser(argparse.ArgumentParser):
    """An error is one line."""

    mixing = False

    def parse_known_args(self, args=None, namespace=None):
        """As argparse does; an argument that may be missing may stand behind flags, which older Pythons call one too many."""
        if self.mixing or not any(action.nargs == "?" and not action.option_strings for action in self._actions):
            return super().parse_known_args(args, namespace)
        self.mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixing = False

    def parse_args(self, args=None, namespace=None):
        """As argparse does; an unknown argument is explained by the command that got it."""
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command = self.commands[arguments.command]
            flags = [flag for action in command._actions for flag in action.option_strings]
            command.error(unknown_argument(unknown, flags, settable="--set" in flags))
        return arguments

    def _check_value(self, action, value):
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += f".{did_you_mean(value, action.choices, ALSO_CALLED)}"
            raise

    def error(self, message):
        link = " See" if message.endswith((".", "?")) else "; see"
        say_fault(self.prog, f"{message}{link} {self.prog} --help")
        self.exit(2)


def path(text) -> str:
    """A path that can be."""
    if "\0" in text or not text:
        raise argparse.ArgumentTypeError(f"{text!r} is no path")
    return text


def positive(text) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def interval(text) -> tuple:
    """How far checkpoints are apart: a number of epochs or parts, and of minutes if that is what the text has."""
    number = text.removesuffix("min")
    try:
        return (float(text), None) if number == text else (LOOKS, float(number))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of epochs or parts, such as 16, nor of minutes, such as 10min") from None


def build() -> Parser:
    """The parser of the whole command line. Its help has at most 80 columns, less on a narrower terminal."""
    width = min(WIDTH, shutil.get_terminal_size().columns)          # argparse makes a formatter for each flag
    formatter = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=25, width=width)
    parser = Parser(
        prog="structperc", description="Train and use structured predictors: ranks, classes and what plugins add.",
        epilog=OVERVIEW, formatter_class=formatter,
    )
    parser.add_argument("--version", action="version", version=f"structperc {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parser.commands = subparsers.choices

    def command(name, run, summary, epilog):
        made = subparsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", epilog=epilog,
                                     formatter_class=formatter)
        made.add_argument("--traceback", action="store_true", help="show where an error arose")
        made.set_defaults(run=run)
        return made

    def reading(made, examples=True):
        choices = list(formats.FORMATS) if examples else formats.that_hold(formats.COLUMNS, formats.FEATURES)
        made.add_argument("--format", choices=choices, help="of the data; default: by the ending of the file")
        made.add_argument("--separator", metavar="CHAR", help="between cells of a CSV file; default ','; or 'tab'")
        made.add_argument("--decimal", metavar="CHAR", help="decimal mark of a CSV file; default '.'")
        made.add_argument("--encoding", metavar="NAME", help="of a CSV file, such as cp1252; default utf-8")
        made.add_argument("--query", metavar="SQL", help=f"rows of a database: {formats.endings_of('duckdb', 'sqlite')}")
        if examples:
            made.add_argument("--group", metavar="COLUMN", help="rows with the same entry are one example; svmlight: qid")
            made.add_argument("--columns", metavar="A,B,C", help="names of the columns of a conll file, _ to ignore one")
        else:
            made.set_defaults(group=None, columns=None)

    demo = command("demo", demonstration.demo, "train on real patients, with baselines and a picture", DEMO)
    demo.add_argument("--output", metavar="FOLDER", type=path, default="demo-output", help="for the picture and the data; demo-output")

    watch = command("watch", watching.watch, "watch a perceptron learn, on a page in the browser", WATCH)
    watch.add_argument("--output", metavar="FILE", type=path, help="write the page to this file, and do not open it")

    plugins = command("plugins", about_plugins.plugins, "list the installed plugins", PLUGINS)
    plugins.add_argument("--json", action="store_true", help="for programs")

    fit = command("fit", training.fit, "train a model on a file", FIT)
    completed(fit.add_argument("problem", metavar="PROBLEM", help="what to learn: cusum, prank, sequence, ..."), "problem")
    fit.add_argument("data", metavar="DATA", type=path, help="training data; - for standard input")
    fit.add_argument("--target", metavar="NAME", help="the column to predict; LOW,HIGH for intervals")
    fit.add_argument("--model", metavar="FILE", type=path, required=True, help="the model to write")
    completed(fit.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="an option, as epochs=50; may be repeated"),
              completion.SETTING)
    completed(fit.add_argument("--plugin", metavar="NAME", action="append", default=[],
                               help="a plugin that replaces parts; may be repeated"), "part")
    fit.add_argument("--classes", metavar="A,B,C", help="the labels in order, lowest first, if they are texts")
    fit.add_argument("--labels", choices=("text", "numbers"), help="what labels such as 007 are; default: text")
    fit.add_argument("--weight", metavar="COLUMN", help="a column of sample weights")
    reading(fit)
    fit.add_argument("--stream", action="store_true", help="read the data part by part, if memory is short")
    fit.add_argument("--dask", metavar="ADDRESS", help="train on Dask's workers: an address, or local:N")
    fit.add_argument("--rows", metavar="N", type=positive, default=PART_ROWS,
                     help=f"examples in a part, at most; default {PART_ROWS}")
    fit.add_argument("--template", metavar="FILE", type=path, help="feature template of a tagger")
    fit.add_argument("--checkpoint", metavar="FILE", type=path, help="file for the state of training after each epoch")
    fit.add_argument("--checkpoint-every", metavar="N", type=interval, default=(1, None),
                     help="epochs between two checkpoints, or parts with --stream (default: 1), or minutes, such as 10min")
    fit.add_argument("--resume", action="store_true", help="continue from the checkpoint, if there is one")
    table_flags.add(fit)
    bar = fit.add_mutually_exclusive_group()
    bar.add_argument("--progress", action="store_true", help="show progress without a terminal too")
    bar.add_argument("--quiet", action="store_true", help="print only errors")
    fit.add_argument("--json", action="store_true", help="print a summary as one JSON object")

    export = command("export", exporting.export, "write a model in C, JavaScript, ONNX, HTML, ...", EXPORT)
    export.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    export.add_argument("output", metavar="FILE", type=path, help="the file to write; functions get its name")
    export.add_argument("--to", choices=FORMATS, help=f"default: by the ending, {', '.join(ENDINGS)}")

    crfsuite = command("import-crfsuite", importing.import_crfsuite, "convert a model of CRFsuite", IMPORT)
    crfsuite.add_argument("model", metavar="MODEL", type=path, help="a binary model file of CRFsuite")
    crfsuite.add_argument("-o", "--output", metavar="FILE", type=path, required=True, help="the model to write")

    predict = command("predict", using.predict, "predict with a trained model", PREDICT)
    predict.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    predict.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    predict.add_argument("--output", metavar="FILE", type=path, help="the file to write; default: standard output")
    predict.add_argument("--target", metavar="NAME", help="the column of a file of tokens to fill in; in CoNLL-U that of fit")
    predict.add_argument("--keep", metavar="A,B", action="append", default=[], help="columns of the data to copy to the output")
    predict.add_argument("--scores", action="store_true", help="add the score of each label, or of each document")
    predict.add_argument("--margin", action="store_true", help="add the margin over the runner-up")
    predict.add_argument("--probabilities", action="store_true", help="add the probability of each label or row")
    predict.add_argument("--interval", action="store_true", help="add the lowest and highest label (models of OrdinalConformal)")
    predict.add_argument("--sets", action="store_true", help="add what is in the set of outputs (models of StructureConformal)")
    add_flag(predict)
    reading(predict)

    evaluate = command("evaluate", using.evaluate, "measure a model on data with known labels", EVALUATE)
    evaluate.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    evaluate.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    evaluate.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    evaluate.add_argument("--json", action="store_true", help="print the measures as one JSON object")
    reading(evaluate)

    plot = command("plot", using.plot, "draw what a model has learned", PLOT)
    plot.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    plot.add_argument("--data", metavar="DATA", type=path, help="examples for the panel of thresholds")
    plot.add_argument("--target", metavar="NAME", help="the column of true labels in DATA")
    plot.add_argument("--output", metavar="FILE", type=path, required=True, help="the picture")
    reading(plot, examples=False)

    explain = command("explain", explaining.explain, "show why an example got its prediction", EXPLAIN)
    explain.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    explain.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    explain.add_argument("--row", metavar="N", type=positive, default=1, help="the example: a row, group or sentence; default 1")
    explain.add_argument("--against", metavar="LABEL", help="the rival of the prediction; default: the runner-up")
    explain.add_argument("--baseline", choices=("mean", "zero"), help="compare columns with the training mean or with zero")
    explain.add_argument("--target", metavar="NAME", help="the column of true labels, to print them too")
    explain.add_argument("--output", metavar="FILE", type=path, help="a page or picture: .html, .png, .svg or .pdf")
    reading(explain)

    changed = command("counterfactual", changing.change, "find the smallest change that gets a wanted prediction", COUNTERFACTUAL)
    changed.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    changed.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    changed.add_argument("--row", metavar="N", type=positive, default=1, help="the example: a row, group or sentence; default 1")
    changed.add_argument("--wanted", metavar="LABEL", action="append", help="the label to predict; repeat for any of several")
    changed.add_argument("--at-least", metavar="LABEL", help="the lowest ordered label to predict")
    changed.add_argument("--at-most", metavar="LABEL", help="the highest ordered label to predict")
    changed.add_argument("--chosen", metavar="ATOM", action="append", help="a part that the output must have; may be repeated")
    changed.add_argument("--not-chosen", metavar="ATOM", action="append", help="a part that it must lack; may be repeated")
    changed.add_argument("--fixed", metavar="A,B", type=split, default=[], help="columns that cannot change")
    changed.add_argument("--bounds", metavar="A=LOW:HIGH", action="append", help="bounds of a column; may be repeated")
    changed.add_argument("--whole", metavar="A,B", type=split, default=[], help="columns of whole numbers")
    changed.add_argument("--alternatives", metavar="W=A,B", action="append", help="in files of tokens: replacements of a word")
    changed.add_argument("--norm", choices=("l1", "l2"), default="l1", help="sum of changes, or root of the sum of squares; default l1")
    changed.add_argument("--time-limit", metavar="S", type=float, default=60.0, help="seconds of the search; default 60")
    changed.add_argument("--target", metavar="NAME", help="the column of true labels, which is no feature")
    changed.add_argument("--output", metavar="FILE", type=path, help="a page or table: .html or .csv")
    add_flag(changed)
    reading(changed)

    effects = command("effects", estimating.estimate, "show how much each column matters, with intervals", EFFECTS)
    effects.add_argument("model", metavar="MODEL", type=path, help="a file written by fit, such as of prank")
    effects.add_argument("data", metavar="DATA", type=path, help="the training data")
    effects.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    effects.add_argument("--scale", choices=("direction", "log-odds", "odds-ratio"), default="direction",
                         help="relative weights, log odds or odds ratios; default direction")
    effects.add_argument("--per", metavar="RISE", help="unit, deviation, or A=10,B=5: the rise of a column that its effect belongs to")
    effects.add_argument("--interval", choices=("bootstrap", "wald", "robust"), default="bootstrap",
                         help="by refits, by the Hessian or by the sandwich estimate; default bootstrap")
    effects.add_argument("--proportional-odds", action="store_true",
                         help="test whether the odds ratio of each column is the same at every threshold")
    effects.add_argument("--groups", metavar="COLUMN", help="rows with the same entry, such as a patient's, are drawn together")
    effects.add_argument("--n-boot", metavar="N", type=positive, default=199, help="refits on resampled rows; default 199")
    effects.add_argument("--level", metavar="SHARE", type=float, default=0.95, help="coverage of the intervals; default 0.95")
    effects.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the resampling; default 0")
    effects.add_argument("--output", metavar="FILE", type=path, help="a file: .html, .csv, .tex, .png, .svg or .pdf")
    add_flag(effects)
    reading(effects, examples=False)

    compare = command("compare", comparing.compare, "compare two models on the same data", COMPARE)
    compare.add_argument("first", metavar="FIRST", type=path, help="a file written by fit")
    compare.add_argument("second", metavar="SECOND", type=path, help="another model with the same labels")
    compare.add_argument("data", metavar="DATA", type=path, help="held-out examples")
    compare.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    reading(compare)

    card = command("card", carding.card, "write a model card", CARD)
    card.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    card.add_argument("--data", metavar="DATA", type=path, help="held-out examples for the measures")
    card.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    card.add_argument("-o", "--output", metavar="FILE", type=path, help="a file .md or .html; default: print Markdown")
    reading(card)

    new = command("new", about_plugins.new, "write a plugin package to start from", NEW)
    new.add_argument("name", metavar="NAME", help="of the plugin")
    new.add_argument("folder", metavar="FOLDER", type=path, nargs="?", default=".", help="the parent folder; default: this one")
    new.add_argument("--kind", choices=KINDS, default="problem", help="a problem, a part, or a compiled solver")

    complete = command("completion", completion.completion, "print a script that completes commands in a shell", COMPLETION)
    complete.add_argument("shell", metavar="SHELL", choices=completion.SCRIPTS, help=f"one of {', '.join(completion.SCRIPTS)}")
    complete.set_defaults(parser=build)

    check = command("check", about_plugins.check, "run the test suite for plugins", CHECK)
    completed(check.add_argument("name", metavar="NAME", help="of an installed plugin"), "plugin")

    topics = command("help", helping.help_on, "show a problem with its options, or a topic", HELP)
    completed(topics.add_argument("topic", metavar="TOPIC", nargs="?", help="a problem, part, command or topic"), "plugin")
    topics.set_defaults(parser=build)

    for name, made in subparsers.choices.items():
        needed = [f"{action.option_strings[-1]} {action.metavar}" for action in made._actions if action.option_strings and action.required]
        values = [f"[{action.metavar}]" if action.nargs == "?" else action.metavar for action in made._actions if not action.option_strings]
        made.usage = " ".join(["structperc", name, *values, *needed, "[options]"])
        for action in made._actions:
            if action.type is path:
                completed(action, completion.FILE)
    return parser


def completed(action, what) -> None:
    """Sets what shells complete an argument by."""
    action.completes = what
