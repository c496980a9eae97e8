"""The arguments of every command, with help that teaches."""

from __future__ import annotations

import argparse

from structperc import __version__
from structperc.cli import (
    carding,
    changing,
    comparing,
    completion,
    estimating,
    explaining,
    exporting,
    importing,
    table_flags,
    training,
    using,
    watching,
)
from structperc.cli import demo as demonstration
from structperc.cli import plugins as about_plugins
from structperc.cli.files import PART_ROWS
from structperc.cli.new import KINDS
from structperc.cli.settings import ENGINE_OPTIONS, FLAGS, TABLE_FLAGS, describe_options, describe_recommended, flags_of, unknown_argument
from structperc.cli.table_flags import split
from structperc.cli.terminal import printable
from structperc.engine import plugins as registry
from structperc.engine.exports import ENDINGS, FORMATS
from structperc.errors import did_you_mean
from structperc.files.conll import FORMATS as COLUMN_FORMATS
from structperc.files.tables import FORMATS as TABLE_FORMATS

OVERVIEW = """\
a first run:
  structperc plugins                                              what can be trained
  structperc fit cusum train.csv --target level --model level.model
  structperc evaluate level.model test.csv --target level         errors on other data
  structperc predict level.model new.csv --output answers.csv     one column of predictions
  structperc plot level.model --output level.png                  learning curve and weights
  structperc explain level.model new.csv --row 3                  why the third row got its prediction
  structperc export level.model level.c                           the model in C99; also Python, JavaScript, ONNX, a web page

labels for the tokens of sentences, from a file with one token per line:
  structperc fit sequence train.txt --columns word,pos,chunk --model chunks.model
  structperc evaluate chunks.model test.txt

write a problem or a part of your own:
  structperc new my-problem                                       a package with a passing test
  structperc check my-problem                                     the battery of checks that every plugin must pass

exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C, 143 SIGTERM
"""
DATA = """\
data:
  csv       a header line; the target column holds the labels, every other column (but --weight) is a feature and must hold numbers
            Where a problem learns from intervals of ranks, --target LOW,HIGH names two columns, the lowest and the highest admissible
            rank; an empty cell is the end of the scale
  svmlight  lines like "3 1:0.5 7:2" (label, then index:value); column i is what the file calls i
  parquet   the same from named columns of numbers and text, and so arrow (extra structperc[parquet])
  conll     one token per line, its cells parted by tabs or spaces, a blank line after each sentence; --columns names the cells
  conllu    the files of Universal Dependencies; their columns are id,form,lemma,upos,xpos,feats,head,deprel,deps,misc
  With --group an example is a run of rows. The target marks by 1 the rows that the right answer is made of, by 0 all others, or, where
  the problem labels every row of an example, holds these labels.
  All but Parquet and Arrow may be compressed (.gz, .bz2, .xz), and - stands for standard input. Without --format, .svm, .svmlight and
  .libsvm are svmlight, .parquet, .pq, .arrow, .feather, .conll and .conllu what they say, and all others csv, or conll where --columns
  is given or the model was trained on columns.
"""
COLUMNS = """\
columns:
  A file of columns has one token per line. --columns names its columns, _ for those to leave out, and the last one named is the target
  unless --target says another. In conllu it chooses columns by their known names; without it form alone is learned from. Comments,
  multiword tokens and empty nodes of conllu are left out.
"""
TEMPLATE = """\
templates:
  Each line of a template makes one feature of every token: a text in which %x[OFFSET,COLUMN] stands for a cell, so many tokens further
  on. A column is named, or counted from 0 among those that are learned from. Lines that begin with # are comments.
    U1:%x[0,word]                   the word itself
    U2:%x[-1,word]/%x[0,word]       the word together with the one before it
  Without --template, every column has a window of five tokens and pairs of neighbours, columns after the first also triples.
"""
FIT = """\
examples:
  structperc fit prank wine.csv --target quality --model wine.model
  structperc fit cusum visits.csv --target severity --classes low,middle,high --model visits.model --set epochs=50
  structperc fit multiclass news.svm --model news.model --set update=pa1 --set C=0.1
  structperc fit cusum visits.csv --target severity --model bent.model --plugin dual-kernel --set kernel=rbf --set gamma=0.1
  structperc fit interval-pa visits.csv --target least,most --model visits.model
  structperc fit disjoint-intervals talks.csv --target attended --group day --model plan.model
  structperc fit sequence train.txt --columns word,pos,chunk --model chunks.model
  structperc fit sequence train.txt --columns word,_,chunk,_ --template windows.txt --model chunks.model
  structperc fit sequence train.conllu --target upos --model tags.model

Options that are not set have values that predict well; --set preset=paper is the papers' plain algorithm. --set random_state=N is another
seed than 0, none a new one each time.

Ctrl-C ends training; the model trained so far is saved. SIGTERM, by which containers stop, does the same with exit code 143.

With --checkpoint FILE the training is written to FILE after each epoch, with --stream after each part, and the checkpoint before stays in
FILE.previous. After a crash, the same command with --resume goes on from there and ends with the same model, bit by bit; so it may stand in
a script from the beginning.

--json prints one object on one line: problem, data, model, examples, rows (null where nobody counts them), features, labels (a list, or
null), epochs (made), status, mistakes (a list, one number for each epoch), loss (a sum), next (a list of texts); batch trainers add
objective and gap. A number that JSON lacks, such as infinity, is null.
  structperc fit sequence train.txt --columns word,pos,chunk --model chunks.model --set epochs=50 --checkpoint chunks.checkpoint --resume
"""
STREAM = """\
larger than memory:
  With --stream the file is read part after part, and each epoch reads it anew. The rows of each part are shuffled; sort no file by its
  labels. With --set preset=paper the model is that of a fit without --stream, bit by bit. A pass before the training finds the labels,
  unless --classes names them, the number of features of svmlight, and the features of a template, unless --set n_hashed=N hashes
  them. Without such a pass standard input (-) and pipes can be learned from, in one epoch. predict always works part after part;
  evaluate and plot read all data at once.
  With --set n_shards=N each part is divided into N shards, which are mixed at its end; the model is then another one.
  With --checkpoint and --resume a stream goes on behind the last part that was written. Larger parts (--rows) cost fewer checkpoints.
    structperc fit cusum large.csv.gz --stream --target level --model level.model --set epochs=1
    structperc fit cusum large.csv.gz --stream --target level --model level.model --checkpoint c --resume
    zcat large.txt.gz | structperc fit sequence - --stream --columns word,chunk --classes B,I,O --set n_hashed=1048576 --model m
"""
DEMO = """\
example:
  structperc demo --output patients                               patients/demo.png, and CSV files for the other commands
"""
DASK = """\
more than one machine:
  With --dask the files that DATA matches are read by Dask's workers (extra structperc[dask]), at paths that all machines know, and
  --set n_shards=N says in how many parts they are trained apart, mixed after each epoch. The model does not depend on the workers, nor
  on the death of one. The caller reads the first file alone. With --stream each pass reads the files anew, part after
  part, and a worker needs memory for two parts, whatever the files' number and size.
    structperc fit cusum '/data/visits-*.csv' --target level --model level.model --set n_shards=4 --set epochs=10 --dask local:2
    structperc fit cusum '/data/*.parquet' --target level --model level.model --set n_shards=8 --dask tcp://scheduler:8786
"""
WATCH = """\
example:
  structperc watch --output watch.html                            one file, which works offline

Step, run and pause; ranks, a sentence and a tree; the steps are those of the update rules here, number for number.
"""
EXPORT = """\
examples:
  structperc export wine.model wine.c                             wine_predict(x) in C99, without libraries
  structperc export wine.model wine.html                          a page with a form, its answer and the reasons; works offline
  structperc export chunks.model chunks.js                        chunks.predict(sentence) in JavaScript

Labels of rows and of the tokens of sentences can be exported, if scores are linear: ranks, classes and taggers without kernels.
"""
IMPORT = """\
examples:
  structperc import-crfsuite chunks.crfsuite -o chunks.model      tags as CRFsuite does: Engine.load("chunks.model").predict(X)

Tokens are dicts or lists of attributes, as python-crfsuite takes them. partial_fit trains the model further.
"""
PREDICT = """\
examples:
  structperc predict wine.model new.csv                           to the terminal
  structperc predict wine.model new.csv --output answers.csv
  structperc predict visits.model new.csv --keep patient,visit --margin --probabilities
  structperc predict plan.model talks.csv --group day             1 for each row that the answer is made of, else 0
  structperc predict chunks.model new.txt                         every token with its cells and, last, its label
  structperc predict chunks.model odd.txt --columns _,word,_,pos  where its columns stand otherwise than in training

Columns are found by the names that the model was trained with; others, the target among them, may be there and are ignored.
In a file without names they are those of the training in the same order, and the target, if it is there, after them.
"""
EVALUATE = """\
examples:
  structperc evaluate wine.model test.csv --target quality
  structperc evaluate chunks.model test.txt
  structperc evaluate tags.model test.conllu --target upos

ranks:    mean absolute error and macro mean absolute error (in ranks), accuracy, accuracy within one rank, quadratic weighted kappa
          of intervals of ranks: the mean distance to the interval, and the share of predictions inside
classes:  accuracy, macro F1
rankings: precision at k, NDCG at k, mean average precision
tokens:   accuracy, whole sentences right; where labels are tags of phrases such as B-NP, precision, recall and F1 of phrases as conlleval
          counts them, in all and of each type
beside:   the same measures of the best constant answer: the label of least loss, of tokens the most frequent one
all:      the mean of the loss that the model was trained with; of ranks and classes the confusion matrix (row: right label)

--json prints one object on one line: problem, model, data, examples (their number), measures (numbers by name), labels (a list, or null),
constant (answer and measures of the best answer that is the same for all examples, or null).
Ranks and classes add "confusion matrix" (rows: right labels, columns: predicted ones, in the order of labels). Tokens add "unknown labels"
(numbers of tokens by label) and, for phrases, "phrases": for "all" and for each type true, predicted, correct, precision, recall and F1.
A number that JSON lacks, such as infinity, is null.
"""
PLOT = """\
examples:
  structperc plot wine.model --output wine.png
  structperc plot wine.model --data test.csv --target quality --output wine.pdf

Panels: mistakes per epoch; the largest weights by name, where the model keeps one per feature; with --data, for ranks, the density of the
latent score of each true rank and the cut points between ranks. The ending of FILE chooses the format: .png, .pdf, .svg.
"""
EFFECTS = """\
examples:
  structperc effects wine.model wine.csv --target quality
  structperc effects wine.model wine.csv --target quality --scale log-odds --output effects.csv

Each refit weighs the rows anew (Poisson bootstrap). An effect is the weight of a column times its standard deviation. Log odds need a model
of --set update=logistic or --set trainer=cumulative-logit.
"""
EXPLAIN = """\
examples:
  structperc explain wine.model test.csv --row 3                  bars for the columns, in the terminal
  structperc explain wine.model test.csv --row 3 --against 5 --output row3.html
  structperc explain chunks.model test.txt --row 2                of the second sentence

The score of the prediction minus that of its rival is split exactly by feature. Kernels have no weights of columns, and no explanation.
"""
COUNTERFACTUAL = """\
examples:
  structperc counterfactual grade.model patients.csv --row 3 --wanted 2
  structperc counterfactual grade.model patients.csv --row 3 --at-most 2 --fixed age,sex --bounds bmi=18:40 --whole visits
  structperc counterfactual pairs.model pairs.csv --group family --chosen "2 with 3"
  structperc counterfactual chunks.model test.txt --row 2 --not-chosen "token 3: B-NP" --alternatives bank=river,money

The smallest change after which the model predicts what is wanted, in standard deviations of the training rows, or the fewest tokens to
replace; with a proof that no smaller one does. Atoms are called as structperc explain calls them.
"""
COMPARE = """\
example:
  structperc compare wine.model bent.model test.csv

Differences are the second minus the first. Their standard errors are those of the jackknife over 20 blocks of examples, on which both
models are measured alike, and the intervals hold the difference in 95 % of such data. McNemar's exact test asks whether the examples that
one model alone has right are evenly divided between the two. Rows must be independent; measures are not corrected for their number.
"""
CARD = """\
examples:
  structperc card wine.model --data test.csv -o wine.md
  structperc card wine.model --data test.csv --output wine.html

The card holds the problem, labels, columns, options, mistakes of training, measures, largest weights, citation and SHA-256 of the model.
Its front matter is what model hubs read. The section "Intended use" is left to the owner.
"""
COMPLETION = """\
example:
  structperc completion bash                                      eval "$(structperc completion bash)" in ~/.bashrc loads it

  zsh: eval "$(structperc completion zsh)" in ~/.zshrc, after compinit. fish: structperc completion fish | source
  The script knows the plugins that are installed when it is made.
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
  structperc new careful-loss --kind loss

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
            error.message += f".{did_you_mean(value, action.choices)}"
            raise

    def error(self, message):
        link = " See" if message.endswith((".", "?")) else "; see"
        self.exit(2, printable(f"{self.prog}: {message}{link} {self.prog} --help") + "\n")


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


def build() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="structperc", description="Train and use structured predictors: ranks, classes and what plugins add.",
        epilog=OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"structperc {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parser.commands = subparsers.choices

    def command(name, run, summary, epilog):
        made = subparsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", epilog=epilog,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
        made.add_argument("--traceback", action="store_true", help="show where an error arose")
        made.set_defaults(run=run)
        return made

    def reading(made, examples=True):
        formats = (*TABLE_FORMATS, *COLUMN_FORMATS) if examples else TABLE_FORMATS
        made.add_argument("--format", choices=formats, help="of the data; guessed from the file's name")
        made.add_argument("--separator", metavar="CHAR", help="between the cells of a CSV file, default ','; 'tab' for a tab")
        made.add_argument("--decimal", metavar="CHAR", help="before the decimals of a CSV file, default '.'")
        made.add_argument("--encoding", metavar="NAME", help="of a CSV file, default utf-8; such as cp1252 or utf-16")
        if examples:
            made.add_argument("--group", metavar="COLUMN", help="neighbouring rows with the same entry are one example; svmlight: qid")
            made.add_argument("--columns", metavar="A,B,C", help="names for the columns of a conll file, _ for those to leave out; "
                                                                 "conllu: those to learn from")
        else:
            made.set_defaults(group=None, columns=None)

    demo = command("demo", demonstration.demo, "train on data of real patients that scikit-learn brings along, with a picture", DEMO)
    demo.add_argument("--output", metavar="FOLDER", type=path, default="demo-output", help="for the picture and the data; demo-output")

    watch = command("watch", watching.watch, "open a page in the browser on which a perceptron learns, step by step", WATCH)
    watch.add_argument("--output", metavar="FILE", type=path, help="write the page there, and open nothing")

    plugins = command("plugins", about_plugins.plugins, "list the installed plugins, and the broken ones with reasons", PLUGINS)
    plugins.add_argument("--json", action="store_true", help="for programs")

    fit = command("fit", training.fit, "train a model on a file", fit_epilog)
    completed(fit.add_argument("problem", metavar="PROBLEM", help="what to learn, listed below and by structperc plugins"), "problem")
    fit.add_argument("data", metavar="DATA", type=path, help="training data, in one of the formats below")
    fit.add_argument("--target", metavar="NAME", help="the column to predict, or LOW,HIGH for the two of an interval; default: the "
                                                        "last of --columns; svmlight lines begin with it")
    fit.add_argument("--model", metavar="FILE", type=path, required=True, help="where the model is written")
    completed(fit.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="an option, listed below; may be repeated"),
              completion.SETTING)
    completed(fit.add_argument("--plugin", metavar="NAME", action="append", default=[],
                               help="a further plugin, replacing parts; may be repeated"), "part")
    fit.add_argument("--classes", metavar="A,B,C", help="the labels in order, lowest first; needed when ranks are named by text")
    fit.add_argument("--weight", metavar="COLUMN", help="a column of sample weights; 0 leaves a row out")
    reading(fit)
    fit.add_argument("--stream", action="store_true", help="read the data part after part, with memory for one part; see below")
    fit.add_argument("--dask", metavar="ADDRESS", help="train on Dask's workers: a scheduler's address, or local:N for N workers here; "
                                                       "DATA is a pattern of files")
    fit.add_argument("--rows", metavar="N", type=positive, default=PART_ROWS,
                     help=f"examples in a part, default {PART_ROWS}; less where they need more than about 32 MB")
    fit.add_argument("--template", metavar="FILE", type=path, help="windows of columns that become features, as described below")
    fit.add_argument("--checkpoint", metavar="FILE", type=path, help="where the training is written after each epoch or part; see below")
    fit.add_argument("--resume", action="store_true", help="go on from the checkpoint, or begin where there is none")
    table_flags.add(fit)
    bar = fit.add_mutually_exclusive_group()
    bar.add_argument("--progress", action="store_true", help="show progress also without a terminal: a line for every tenth")
    bar.add_argument("--quiet", action="store_true", help="print nothing but errors")
    fit.add_argument("--json", action="store_true", help="print what was learned as one JSON object, for programs")

    export = command("export", exporting.export, "write a trained model as a file of another language", EXPORT)
    export.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    export.add_argument("output", metavar="FILE", type=path, help="what to write; functions are called by its name")
    export.add_argument("--to", choices=FORMATS, help="default: what the ending of FILE says, one of "
                                                      f"{', '.join(ENDINGS)}")

    crfsuite = command("import-crfsuite", importing.import_crfsuite, "make a model of one that CRFsuite has trained", IMPORT)
    crfsuite.add_argument("model", metavar="MODEL", type=path, help="a binary model file of CRFsuite")
    crfsuite.add_argument("-o", "--output", metavar="FILE", type=path, required=True, help="where the model is written")

    predict = command("predict", using.predict, "predict with a trained model", f"{PREDICT}\n{DATA}\n{COLUMNS}")
    predict.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    predict.add_argument("data", metavar="DATA", type=path, help="in one of the formats below")
    predict.add_argument("--output", metavar="FILE", type=path, help="a CSV file with the column prediction, or a file of columns with "
                                                                     "one more; standard output without it")
    predict.add_argument("--keep", metavar="A,B", action="append", default=[], help="columns of the data to write before the prediction")
    predict.add_argument("--scores", action="store_true", help="add the score of each label, or of each row of a ranking")
    predict.add_argument("--margin", action="store_true", help="add by how much the prediction leads the next best answer")
    predict.add_argument("--probabilities", action="store_true", help="add the probability of each label, or that a row is in the answer")
    reading(predict)

    evaluate = command("evaluate", using.evaluate, "measure a trained model on data with known answers", f"{EVALUATE}\n{DATA}\n{COLUMNS}")
    evaluate.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    evaluate.add_argument("data", metavar="DATA", type=path, help="in one of the formats below")
    evaluate.add_argument("--target", metavar="NAME", help="the column of right answers, or the two of an interval; in a conll file the "
                                                             "last without it")
    evaluate.add_argument("--json", action="store_true", help="print the measures as one JSON object, for programs")
    reading(evaluate)

    plot = command("plot", using.plot, "draw what a model has learned", f"{PLOT}\n{DATA}")
    plot.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    plot.add_argument("--data", metavar="DATA", type=path, help="draw the thresholds on these examples, CSV or svmlight")
    plot.add_argument("--target", metavar="NAME", help="the column of right answers in DATA; CSV only")
    plot.add_argument("--output", metavar="FILE", type=path, required=True, help="the picture")
    reading(plot, examples=False)

    explain = command("explain", explaining.explain, "say why an example got its prediction", f"{EXPLAIN}\n{DATA}\n{COLUMNS}")
    explain.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    explain.add_argument("data", metavar="DATA", type=path, help="in one of the formats below")
    explain.add_argument("--row", metavar="N", type=positive, default=1, help="which example of DATA, a row, group or sentence, from 1; 1")
    explain.add_argument("--against", metavar="LABEL", help="the rival of the prediction; the next best answer without it")
    explain.add_argument("--baseline", choices=("mean", "zero"), help="what columns are compared with; the mean of the training rows, "
                         "or zero where rows have named features")
    explain.add_argument("--target", metavar="NAME", help="the column of right answers; the row's own is printed too")
    explain.add_argument("--output", metavar="FILE", type=path, help="a page or a picture: .html, .png, .svg or .pdf")
    reading(explain)

    changed = command("counterfactual", changing.change, "find the smallest change that gets a wanted prediction",
                      f"{COUNTERFACTUAL}\n{DATA}\n{COLUMNS}")
    changed.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    changed.add_argument("data", metavar="DATA", type=path, help="in one of the formats below")
    changed.add_argument("--row", metavar="N", type=positive, default=1, help="which example of DATA, a row, group or sentence, from 1; 1")
    changed.add_argument("--wanted", metavar="LABEL", action="append", help="the label to predict; repeated: any of them")
    changed.add_argument("--at-least", metavar="LABEL", help="the lowest label to predict, of ordered ones")
    changed.add_argument("--at-most", metavar="LABEL", help="the highest one")
    changed.add_argument("--chosen", metavar="ATOM", action="append", help="a part that the answer is to have; may be repeated")
    changed.add_argument("--not-chosen", metavar="ATOM", action="append", help="a part that it is to lack; may be repeated")
    changed.add_argument("--fixed", metavar="A,B", type=split, default=[], help="columns that stay as they are")
    changed.add_argument("--bounds", metavar="COLUMN=LOW:HIGH", action="append", help="of a column; an end may be empty; may be repeated")
    changed.add_argument("--whole", metavar="A,B", type=split, default=[], help="columns of whole numbers")
    changed.add_argument("--alternatives", metavar="WORD=A,B", action="append", help="in files of tokens: what may replace a word")
    changed.add_argument("--norm", choices=("l1", "l2"), default="l1", help="the sum of changes, or the root of the sum of squares; l1")
    changed.add_argument("--time-limit", metavar="SECONDS", type=float, default=60.0, help="of the search; 60")
    changed.add_argument("--target", metavar="NAME", help="the column of right answers, where DATA has one that is no feature")
    changed.add_argument("--output", metavar="FILE", type=path, help="a page or a table: .html or .csv")
    reading(changed)

    effects = command("effects", estimating.estimate, "say how much each column weighs, with intervals", f"{EFFECTS}\n{DATA}\n{COLUMNS}")
    effects.add_argument("model", metavar="MODEL", type=path, help="a file written by fit, of ranks with one direction such as prank")
    effects.add_argument("data", metavar="DATA", type=path, help="the training data, in one of the formats below")
    effects.add_argument("--target", metavar="NAME", help="the column of right answers")
    effects.add_argument("--scale", choices=("direction", "log-odds"), default="direction",
                         help="relative weights whose squares add up to 1, or log odds of a higher rank; direction")
    effects.add_argument("--n-boot", metavar="N", type=positive, default=199, help="refits on resampled rows; 199")
    effects.add_argument("--level", metavar="SHARE", type=float, default=0.95, help="of the intervals; 0.95")
    effects.add_argument("--seed", metavar="N", type=int, default=0, help="of the resampling; 0")
    effects.add_argument("--output", metavar="FILE", type=path, help="a page, a table or a picture: .html, .csv, .png, .svg or .pdf")
    reading(effects)

    compare = command("compare", comparing.compare, "measure two trained models on the same data", f"{COMPARE}\n{DATA}\n{COLUMNS}")
    compare.add_argument("first", metavar="FIRST", type=path, help="a file written by fit")
    compare.add_argument("second", metavar="SECOND", type=path, help="another model with the same labels")
    compare.add_argument("data", metavar="DATA", type=path, help="held-out examples, in one of the formats below")
    compare.add_argument("--target", metavar="NAME", help="the column of right answers, where the models do not know it")
    reading(compare)

    card = command("card", carding.card, "write a model card: problem, training, measures, weights", f"{CARD}\n{DATA}\n{COLUMNS}")
    card.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    card.add_argument("--data", metavar="DATA", type=path, help="held-out examples for the measures")
    card.add_argument("--target", metavar="NAME", help="the column of right answers in DATA, where the model does not know it")
    card.add_argument("-o", "--output", metavar="FILE", type=path, help="the card, .md or .html; without it Markdown is printed")
    reading(card)

    new = command("new", about_plugins.new, "write a plugin package to start from", NEW)
    new.add_argument("name", metavar="NAME", help="of the plugin")
    new.add_argument("folder", metavar="FOLDER", type=path, nargs="?", default=".", help="where its folder is made; here")
    new.add_argument("--kind", choices=KINDS, default="problem", help="what it holds: a problem, a part of one, or a compiled solver")

    complete = command("completion", completion.completion, "print a script that completes commands in a shell", COMPLETION)
    complete.add_argument("shell", metavar="SHELL", choices=completion.SCRIPTS, help=f"one of {', '.join(completion.SCRIPTS)}")
    complete.set_defaults(parser=build)

    check = command("check", about_plugins.check, "run the battery of checks on a plugin", CHECK)
    completed(check.add_argument("name", metavar="NAME", help="of an installed plugin"), "plugin")
    for made in subparsers.choices.values():
        for action in made._actions:
            if action.type is path:
                completed(action, completion.FILE)
    return parser


def completed(action, what) -> None:
    """Says what shells complete an argument by."""
    action.completes = what


def fit_epilog() -> str:
    """Examples, the format of data, and the options of everything that is installed."""
    lines = [FIT, STREAM, DASK, DATA, table_flags.HELP, COLUMNS, TEMPLATE]
    lines += ["options of every problem (--set KEY=VALUE):", *indented(describe_options(ENGINE_OPTIONS), 2), ""]
    found = [plugin for plugin in registry.installed() if not plugin.broken]
    for kind, title in (("problem", "problems"), ("part", "parts (--plugin NAME)"), ("observer", "observers (--plugin NAME)")):
        chosen = [plugin for plugin in found if about_plugins.kind(plugin) == kind]
        width = max((len(plugin.name) for plugin in chosen), default=0)
        if chosen:
            lines.append(f"{title}, with options of their own:")
        for plugin in chosen:
            flags = flags_of(plugin.options)
            options = {name: option for name, option in plugin.options.items() if name not in {**flags, **FLAGS, **TABLE_FLAGS}}
            recommends = [f"recommends {line}" for line in describe_recommended(plugin.recommended)]
            lines += [f"  {plugin.name:<{width}}  {plugin.summary}", *indented([*describe_options(options), *recommends], width + 4)]
            lines += [" " * (width + 4) + f"learns from files of columns: {' and '.join(flags.values())}"] * bool(flags)
    return "\n".join(lines)


def indented(lines, by) -> list[str]:
    return [" " * by + line for line in lines]
