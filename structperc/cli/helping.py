"""`structperc help TOPIC`: commands, plugins with their options, and what several commands share."""

from __future__ import annotations

import inspect
import re
import textwrap

from structperc.cli import files
from structperc.cli import plugins as about_plugins
from structperc.cli.commands import WIDTH, Command, completed
from structperc.cli.parser import COMMANDS
from structperc.cli.settings import ENGINE_OPTIONS, FLAGS, TABLE_FLAGS, describe_options, describe_preset, flags_of
from structperc.cli.terminal import say
from structperc.engine.engine import Engine
from structperc.errors import PluginError, StructPercError, did_you_mean
from structperc.files import formats
from structperc.files.opening import OPENERS
from structperc.fitting import plugins as registry

DATA = """\
Formats of data. Without --format, the ending of the file chooses one.

{formats}

In files with named columns, --target names the column of labels. All other
columns, except that of --weight, are features: numbers, or columns with an
encoding (structperc help tables). With intervals of ranks, --target LOW,HIGH
names two columns. An empty cell is the end of the scale.

With --group COLUMN, neighbouring rows with the same entry are one example. The
target is a label for each row. In problems that choose rows, 1 marks a chosen
row and 0 any other. structperc help NAME has the form of other problems.

{compressed}
"""
COLUMNS = """\
Columns of conll and conllu files.

--columns names the columns of a conll file, with _ for a column to ignore. The
last named column is the target, unless --target names another one.

  structperc fit sequence train.txt --columns word,pos,chunk --model m
  structperc fit sequence train.txt --columns word,_,chunk,_ --model m

The columns of conllu are id, form, lemma, upos, xpos, feats, head, deprel, deps
and misc. --columns chooses those to learn from; the default is form. Comments,
multiword tokens and empty nodes are ignored.

  structperc fit sequence train.conllu --target upos --model m
"""
TEMPLATES = """\
Feature templates of taggers: fit --template FILE.

Each line of FILE makes one feature of every token. %x[OFFSET,COLUMN] is the
cell of the token at this offset. COLUMN is a name, or a number from 0. Lines
that begin with # are comments.

  U1:%x[0,word]                   the word
  U2:%x[-1,word]/%x[0,word]       the word and the one before it

Further macros are for words that training has not seen. %prefix[0,word,2] has
the first two letters, %suffix[0,word,3] the last three, %lower[0,word] small
letters. %digits[0,word] has 0 for each digit. %shape[0,word] is XxXx-d for
McCoy-75.

Without --template, every column has a window of five tokens and pairs of
neighbours. The first also has prefixes, suffixes, small letters and shapes.
Columns after the first also have triples.

fit --vectors FILE adds word vectors of the first column. A line of FILE has a
word and its coordinates, as word2vec and GloVe write them, compressed or not.
--set vector_column=lemma names another column. The model keeps all vectors of
FILE, so predict and evaluate do not need it. Words without a vector have zeros.

  structperc fit sequence train.txt --columns word,tag --vectors v.txt.gz
      --model m
"""
STREAMS = """\
Files larger than memory: fit --stream.

The file is read part by part. Later epochs read its rows from a temporary file,
which takes 8 bytes for each number. TMPDIR sets its folder. If less than twice
that is free there, the file is read again for each epoch.

The rows of each part are shuffled, so the file should not be sorted by label.
With --set preset=paper the model is the same, bit by bit, as without --stream.

  structperc fit cusum big.csv.gz --stream --target level --model m
  structperc fit cusum visits.duckdb --query "select * from visits" --stream
      --target level --model m
  zcat big.txt.gz | structperc fit sequence - --stream --columns word,chunk
      --classes B,I,O --set n_hashed=1048576 --model m

A first pass finds the labels and the features. Set --classes, and n_hashed for
taggers, to do without it. Pipes and standard input then work, for one epoch.

With --set n_shards=N each part is divided into N shards, which are mixed at its
end. The model is then a different one.

predict, evaluate, compare, plot and explain always read part by part. effects
reads all data at once, since it trains again and again.
"""
CHECKPOINTS = """\
Interrupted training: fit --checkpoint FILE --resume.

fit writes the training to FILE after each epoch, or after each part with
--stream. FILE.previous keeps the checkpoint before. After a crash, run the same
command again: --resume continues from FILE, or starts if there is none. The
final model is the same, bit by bit, as without a crash.

  structperc fit cusum train.csv --model m --checkpoint c --resume

Ctrl-C ends training and saves the model trained so far (exit code 130). So does
SIGTERM (exit code 143). --checkpoint-every 16 writes after every 16th epoch, or
part with --stream. --checkpoint-every 10min writes if ten minutes have passed.
A broken line in a later part of a stream ends training too, and saves the model
trained so far.
"""
DASK = """\
Several machines: fit --dask ADDRESS, with the extra structperc[dask].

DATA is a pattern of files, with paths that all machines know. Dask's workers
read them. --set n_shards=N trains N parts separately and mixes them after each
epoch. The model does not depend on the number of workers, nor on a worker that
dies.

  structperc fit cusum '/data/visits-*.csv' --target level --model m
      --set n_shards=4 --set epochs=10 --dask local:2
  structperc fit cusum '/data/*.parquet' --target level --model m
      --set n_shards=8 --dask tcp://scheduler:8786

With --stream each pass reads the files again, and a worker needs memory for two
parts.
"""
TABLES = """\
Tables with text, dates and missing values.

  --drop A,B               ignore columns
  --one-hot A,B            a column of 0 and 1 for each level. Names of levels,
                           as in --one-hot ward=A,B,C: for data read only once
  --ordinal A=LOW,...,HIGH ordered categories: the position of the level
  --date A,B               days since the earliest date
  --number A,B             numbers such as 1,000 or $5; A=, for a decimal comma
  --missing X,Y            further texts that mean that nothing is known, such
                           as ?. In column A only X: --missing A=X. No word:
                           --missing country=, where NA is Namibia
  --reference A=LEVEL      the level of A that log odds compare the others with;
                           default: the most frequent
  --fill VALUE             for missing values: median, mean, most-frequent, ...
  --missing-indicators     columns of 0 and 1: was the value missing?

  structperc fit cusum visits.csv --target severity --classes none,mild,severe
      --model visits.model --drop patient --one-hot sex,ward
      --ordinal smoker=never,former,current --date visit --fill median

Labels such as 007, 1E5 and 0.10 are text, and so are all labels beside them.
--labels numbers reads them as numbers. NA is a missing label, unless --classes
or --missing makes a word of it.

The model stores the encodings, and all other commands apply them. An unknown
level becomes 0 in all columns of --one-hot, with a warning.
"""
JSON = """\
Output for programs: --json prints one object on one line.

  fit       problem, data, model, examples, rows (null if not counted),
            features, labels (a list, or null), epochs, status. Also mistakes
            (a number per epoch), loss (a sum), next (a list of texts). Batch
            trainers add objective and gap.
  evaluate  problem, model, data, examples, measures (numbers by name), labels
            (a list, or null), constant (prediction and measures of the best
            constant, or null).
            Ranks and classes add "confusion matrix": a row for each true label,
            a column for each predicted one. Tokens add "unknown labels".
            Phrases add "phrases": true, predicted, correct, precision, recall
            and F1, for "all" and for each type.

Numbers that JSON lacks, such as infinity, are null.
"""
MEASURES = """\
Measures that evaluate prints.

  ranks     mean absolute error and macro mean absolute error (in ranks),
            accuracy, accuracy within one rank, quadratic weighted kappa.
            Intervals of ranks: mean distance to the interval, share inside.
  classes   accuracy, macro F1.
  rankings  precision at k, NDCG at k, mean average precision.
  tokens    accuracy, sentences without a mistake. Tags of phrases such as B-NP:
            precision, recall and F1 of phrases, as in conlleval.
  constant  the same measures of the best constant prediction.
  all       the mean of the training loss. Ranks and classes: the confusion
            matrix, with a row for each true label.
"""
TORCH = """\
Scores from a network, in Python.

structperc.torch has output layers for PyTorch: Chain (a CRF layer), Trees,
CusumHead for ordered labels, and StructuredLoss for any problem. structperc.jax
has the losses for JAX.

  pip install "structperc[torch]"

Frozen embeddings, such as those of transformers, are columns of X: an estimator
accepts tensors. Taggers accept vectors beside names, also on the command line:
structperc help templates.
"""
ODDS = """\
Odds ratios of ordered labels.

Train the proportional-odds model, then print its odds ratios with intervals and
p values. --proportional-odds tests its assumption (Brant, likelihood ratio).

  structperc fit prank data.csv --target grade --set trainer=cumulative-logit
      --model m
  structperc effects m data.csv --scale odds-ratio --interval wald
  structperc effects m data.csv --proportional-odds
"""
TOPICS = {"data": DATA, "columns": COLUMNS, "templates": TEMPLATES, "tables": TABLES, "streams": STREAMS, "checkpoints": CHECKPOINTS,
          "dask": DASK, "measures": MEASURES, "odds": ODDS, "torch": TORCH, "json": JSON}
TOPICS_CALLED = {"torch": ("pytorch", "crf layer", "embeddings", "transformers", "jax", "neural network"),
                 "odds": ("odds ratio", "odds ratios", "brant", "proportional odds", "parallel lines", "p value", "aic")}


def help_on(arguments) -> int:
    """Prints the help of a command, a plugin or a topic; without one the list of topics."""
    topic = arguments.topic
    parser = arguments.parser()
    if topic is None:
        say(*parser.format_help().rstrip().split("\n"), "", *listed())
    elif topic in COMMANDS:
        say(*parser.made[topic].format_help().rstrip().split("\n"))
    elif topic in TOPICS:
        text = formats_of_data() if topic == "data" else TOPICS[topic]
        say(*text.rstrip().split("\n"))
    elif topic == "options":
        say("Options of every problem, for fit --set KEY=VALUE:", "", *wrapped(describe_options(ENGINE_OPTIONS), 2))
    else:
        say(*about(topic))
    return 0


def formats_of_data() -> str:
    """The topic of data: every format with its endings and what reads it needs."""
    lines = []
    for name, format in formats.FORMATS.items():
        needs = f" Needs the extra structperc[{format.extra}]." if format.extra else ""
        endings = f" Endings: {', '.join(format.endings)}." if format.endings else f" No ending: pass --format {name}."
        lines.append(f"{name:<10}{format.noun[0].upper()}{format.noun[1:]}. {format.about}{endings}{needs}")
    names = [name for name, format in formats.FORMATS.items() if format.compressed]
    compressed = (f"{', '.join(names[:-1])} and {names[-1]} files may be compressed ({', '.join(OPENERS)}). The name - is standard "
                  f"input.")
    return DATA.format(formats="\n".join(wrapped(lines, 2)), compressed="\n".join(wrapped([compressed], 0)))


def listed() -> list[str]:
    """All topics, wrapped."""
    names = {kind: [plugin.name for plugin in registry.installed() if not plugin.broken and about_plugins.kind(plugin) == kind]
             for kind in ("problem", "part", "observer")}
    return ["topics of structperc help:",
            *(line for caption, words in (("shared", [*TOPICS, "options"]), ("problems", names["problem"]),
                                          ("parts", names["part"] + names["observer"]))
              for line in textwrap.wrap(", ".join(words), WIDTH, initial_indent=f"  {caption:<10}", subsequent_indent=" " * 12))]


def about(name) -> list[str]:
    """What a plugin is for, and its options."""
    plugins = {plugin.name: plugin for plugin in registry.installed() if not plugin.broken}
    if name not in plugins:
        hint = did_you_mean(name, [*TOPICS, "options", *plugins], registry.also_called() | TOPICS_CALLED)
        raise PluginError(f"there is no topic {name!r}.{hint} structperc help lists all topics.")
    plugin = plugins[name]
    flags = flags_of(plugin.options)
    options = {key: option for key, option in plugin.options.items() if key not in {**flags, **FLAGS, **TABLE_FLAGS}}
    kind = about_plugins.kind(plugin)
    use = f"structperc fit {name} DATA --model FILE" if kind == "problem" else f"structperc fit PROBLEM DATA --model FILE --plugin {name}"
    lines = [f"{name} ({kind})", *wrapped([plugin.summary], 0), "", f"  {use}", ""]
    if flags:
        lines += [f"learns from files of columns: {' and '.join(flags.values())}", ""]
    if kind == "problem" and (form := target_form(name)):
        lines += [*wrapped([f"target of a file: {form}"], 0), ""]
    if options:
        lines += ["options, for --set KEY=VALUE:", *wrapped(describe_options(options), 2), ""]
    if plugin.recommended:
        lines += ["recommended, unless --set preset=paper:", *wrapped(describe_preset(plugin.recommended), 2), ""]
    if plugin.paper:
        lines += ["with --set preset=paper:", *wrapped(describe_preset(plugin.paper), 2), ""]
    return [*lines, "structperc help options lists the options of every problem."]


def target_form(name) -> str:
    """The form of the target column, the first line of `read_cells`. Empty if outputs do not override it."""
    try:
        outputs = files.outputs_of(Engine(name))
    except StructPercError:
        return ""                       # they need data
    if not files.has_cells(outputs):
        return ""
    return inspect.cleandoc(type(outputs).read_cells.__doc__ or f"a form of its own. {type(outputs).__name__}.read_cells reads it, and has "
                            f"no docstring.").partition("\n")[0]


def wrapped(lines, indent) -> list[str]:
    """Lines of at most 80 characters; those of options are continued below their texts."""
    wide = []
    for line in lines:
        name = re.match(r"\S+ {2,}", line)
        further = " " * (indent + (len(name[0]) if name else 0))
        wide += textwrap.wrap(line, WIDTH, initial_indent=" " * indent, subsequent_indent=further, break_on_hyphens=False) or [""]
    return wide


def help_arguments(made) -> None:
    completed(made.add_argument("topic", metavar="TOPIC", nargs="?", help="a problem, part, command or topic"), "plugin")


HELP = Command(help_on, help_arguments, """\
examples:
  structperc help prank
  structperc help options
  structperc help data
""")
