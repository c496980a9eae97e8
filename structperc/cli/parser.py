"""The arguments of every command, with help that teaches."""

from __future__ import annotations

import argparse

from structperc import __version__, registry
from structperc.cli import plugins as about_plugins
from structperc.cli import training, using
from structperc.cli.settings import ENGINE_OPTIONS, describe_options
from structperc.tables import FORMATS

OVERVIEW = """\
a first session:
  structperc plugins                                              what can be trained
  structperc fit cusum train.csv --target level --model level.model --set epochs=20 --set average=true
  structperc evaluate level.model test.csv --target level         errors on other data
  structperc predict level.model new.csv --output answers.csv     one column of predictions
  structperc plot level.model --output level.png                  learning curve and weights

write a problem or a part of your own:
  structperc new my-problem                                       a package with a passing test
  structperc check my-problem                                     the battery of checks that every plugin must pass

exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C
"""
DATA = """\
data:
  csv       a header line; the target column holds the labels, every other column (but --weight) is a feature and must hold numbers
  svmlight  lines like "3 1:0.5 7:2" (label, then index:value); column i is what the file calls i
  With --group an example is a run of rows, and the target marks by 1 the rows that the right answer is made of, by 0 all others.
  Both may be compressed (.gz, .bz2). Without --format, .svm, .svmlight and .libsvm are svmlight and all others csv.
"""
FIT = """\
examples:
  structperc fit prank wine.csv --target quality --model wine.model
  structperc fit cusum visits.csv --target severity --classes low,middle,high --model visits.model --set epochs=50 --set average=true
  structperc fit multiclass news.svm --model news.model --set update=pa1 --set C=0.1 --set shuffle=true --set random_state=0
  structperc fit intervals talks.csv --target attended --group day --model plan.model --set epochs=20

Ctrl-C ends training; the model trained so far is saved.
"""
PREDICT = """\
examples:
  structperc predict wine.model new.csv                           to the terminal
  structperc predict wine.model new.csv --output answers.csv
  structperc predict plan.model talks.csv --group day             1 for each row that the answer is made of, else 0

Columns are found by the names that the model was trained with; others, the target among them, may be there and are ignored.
"""
EVALUATE = """\
examples:
  structperc evaluate wine.model test.csv --target quality

ranks:    mean absolute error and macro mean absolute error (in ranks), accuracy, accuracy within one rank, quadratic weighted kappa
classes:  accuracy, macro F1
all:      the mean of the loss that the model was trained with; the confusion matrix (row: right label)
"""
PLOT = """\
examples:
  structperc plot wine.model --output wine.png
  structperc plot wine.model --data test.csv --target quality --output wine.pdf

Panels: mistakes per epoch; the largest weights by name, where the model keeps one per feature; with --data, for ranks, the density of the
latent score of each true rank and the cut points between ranks. The ending of FILE chooses the format: .png, .pdf, .svg.
"""
PLUGINS = """\
examples:
  structperc plugins
  structperc plugins --json

A problem brings the output space, the features and the argmax; a part replaces single hooks of it (fit --plugin NAME).
"""
NEW = """\
examples:
  structperc new ranked-pairs
  structperc new ranked-pairs ~/code

Then install the package with pip and run its test, or: structperc check ranked-pairs
"""
CHECK = """\
examples:
  structperc check cusum

Exit code 1 when a check fails, with the first counterexample.
"""


class Parser(argparse.ArgumentParser):
    """An error is one line; an epilog may be a function, called only when the help is shown."""

    def format_help(self):
        if callable(self.epilog):
            self.epilog = self.epilog()
        return super().format_help()

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def build() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="structperc", description="Train and use structured predictors: ranks, classes and what plugins add.",
        epilog=OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"structperc {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name, run, summary, epilog):
        made = subparsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", epilog=epilog,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
        made.add_argument("--traceback", action="store_true", help="show where an error arose")
        made.set_defaults(run=run)
        return made

    def reading(made, groups=True):
        made.add_argument("--format", choices=FORMATS, help="of the data; guessed from the file's name")
        made.add_argument("--separator", default=",", metavar="CHAR", help="between the cells of a CSV file, default ','; 'tab' for a tab")
        if groups:
            made.add_argument("--group", metavar="COLUMN", help="neighbouring rows with the same entry are one example; svmlight: qid")
        else:
            made.set_defaults(group=None)

    plugins = command("plugins", about_plugins.plugins, "list the installed plugins, and the broken ones with reasons", PLUGINS)
    plugins.add_argument("--json", action="store_true", help="for programs")

    fit = command("fit", training.fit, "train a model on a file", fit_epilog)
    fit.add_argument("problem", metavar="PROBLEM", help="what to learn, listed below and by structperc plugins")
    fit.add_argument("data", metavar="DATA", help="training data, CSV or svmlight")
    fit.add_argument("--target", metavar="NAME", help="the column to predict; CSV only, svmlight lines begin with it")
    fit.add_argument("--model", metavar="FILE", required=True, help="where the model is written")
    fit.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="an option, listed below; may be repeated")
    fit.add_argument("--plugin", metavar="NAME", action="append", default=[], help="a further plugin, replacing parts; may be repeated")
    fit.add_argument("--classes", metavar="A,B,C", help="the labels in order, lowest first; needed when ranks are named by text")
    fit.add_argument("--weight", metavar="COLUMN", help="a column of sample weights; 0 leaves a row out")
    reading(fit)
    bar = fit.add_mutually_exclusive_group()
    bar.add_argument("--progress", action="store_true", help="show a progress bar also where standard error is no terminal")
    bar.add_argument("--quiet", action="store_true", help="print nothing but errors")

    predict = command("predict", using.predict, "predict with a trained model", f"{PREDICT}\n{DATA}")
    predict.add_argument("model", metavar="MODEL", help="a file written by fit")
    predict.add_argument("data", metavar="DATA", help="CSV or svmlight")
    predict.add_argument("--output", metavar="FILE", help="a CSV file with one column, prediction; standard output without it")
    reading(predict)

    evaluate = command("evaluate", using.evaluate, "measure a trained model on data with known answers", f"{EVALUATE}\n{DATA}")
    evaluate.add_argument("model", metavar="MODEL", help="a file written by fit")
    evaluate.add_argument("data", metavar="DATA", help="CSV or svmlight")
    evaluate.add_argument("--target", metavar="NAME", help="the column of right answers; CSV only")
    reading(evaluate)

    plot = command("plot", using.plot, "draw what a model has learned", f"{PLOT}\n{DATA}")
    plot.add_argument("model", metavar="MODEL", help="a file written by fit")
    plot.add_argument("--data", metavar="DATA", help="draw the thresholds on these examples, CSV or svmlight")
    plot.add_argument("--target", metavar="NAME", help="the column of right answers in DATA; CSV only")
    plot.add_argument("--output", metavar="FILE", required=True, help="the picture")
    reading(plot, groups=False)

    new = command("new", about_plugins.new, "write a plugin package to start from", NEW)
    new.add_argument("name", metavar="NAME", help="of the plugin")
    new.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="where its folder is made; here")

    check = command("check", about_plugins.check, "run the battery of checks on a plugin", CHECK)
    check.add_argument("name", metavar="NAME", help="of an installed plugin")
    return parser


def fit_epilog() -> str:
    """Examples, the format of data, and the options of everything that is installed."""
    lines = [FIT, DATA, "options of every problem (--set KEY=VALUE):", *indented(describe_options(ENGINE_OPTIONS), 2), ""]
    found = [plugin for plugin in registry.installed() if not plugin.broken]
    for kind, title in (("problem", "problems"), ("part", "parts (--plugin NAME)"), ("observer", "observers (--plugin NAME)")):
        chosen = [plugin for plugin in found if about_plugins.kind(plugin) == kind]
        width = max((len(plugin.name) for plugin in chosen), default=0)
        if chosen:
            lines.append(f"{title}, with options of their own:")
        for plugin in chosen:
            lines += [f"  {plugin.name:<{width}}  {plugin.summary}", *indented(describe_options(plugin.options), width + 4)]
    return "\n".join(lines)


def indented(lines, by) -> list[str]:
    return [" " * by + line for line in lines]
