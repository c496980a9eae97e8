"""`structperc effects`: how much each column of a model of ordered labels weighs, and tests of proportional odds."""

from __future__ import annotations

import structperc
from structperc import Engine
from structperc.basics.writing import replace_file
from structperc.cli.commands import Command, path, positive, reading
from structperc.cli.explaining import DOTS_PER_INCH, PICTURES
from structperc.cli.files import answers, check_writable, checked_ending, read_for
from structperc.cli.safe_cells import add_flag, safe_frame
from structperc.cli.terminal import say, say_table
from structperc.errors import OptionError
from structperc.extras import require
from structperc.pictures.markup import page


def estimate(arguments) -> int:
    """Prints the table, or writes it."""
    kind = None
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
        kind = checked_ending(arguments.output, "html", "csv", "tex", *PICTURES)
        if arguments.proportional_odds and kind in PICTURES:
            raise OptionError(f"--output {arguments.output!r}: --proportional-odds writes a table; expected .html, .csv or .tex.")
    engine = Engine.load(arguments.model)
    dropped = list(engine.plugin_options.get("drop", ()))       # refits read the table as `fit` did, so it has all columns
    data = read_for(engine, arguments, keep=[*filter(None, [arguments.groups]), *dropped])
    X, groups = data.X.assign(**{name: data.kept[name] for name in dropped}) if dropped else data.X, data.kept.get(arguments.groups)
    y = answers(engine, data)
    if arguments.proportional_odds:
        if groups is not None:
            raise OptionError("--proportional-odds takes rows for independent, and --groups shows that they are not; leave one out.")
        result = structperc.proportional_odds(engine, X, y, arguments.level, sample_weight=data.weights)
        notes, about = result.conclusion(), "whether the odds are proportional in"
    else:
        result = structperc.effects(engine, X, y, groups, n_boot=arguments.n_boot, level=arguments.level, scale=arguments.scale,
                                    random_state=arguments.seed, sample_weight=data.weights, per=rises(arguments.per),
                                    interval=arguments.interval)
        notes, about = result.notes(), "the effects of"
    if kind is None:
        say_table([result.head(), *result.cells()])
        say("", *notes)
        return 0
    if kind in PICTURES:
        figure = require("matplotlib.figure", "a picture", "plot").Figure(figsize=result.size(), layout="constrained")
        result.plot(figure.subplots())
        replace_file(arguments.output, lambda file: figure.savefig(file, format=kind, dpi=DOTS_PER_INCH))
    else:
        replace_file(arguments.output, lambda file: file.write(written(result, kind, arguments).encode()))
    say(f"{arguments.output} shows {about} {arguments.model}", *notes)
    return 0


def written(result, kind, arguments) -> str:
    """The content of a file."""
    if kind == "html":
        return page(f"Effects of {arguments.model}", result.html())
    if kind == "tex":
        return result.latex()
    frame = result.to_frame()
    return (safe_frame(frame) if arguments.safe_cells else frame).to_csv(index_label="column")


def rises(text):
    """What --per means: a word, or numbers by column."""
    if text in (None, "unit", "deviation"):
        return text
    numbers = {}
    for item in text.split(","):
        name, _, rise = item.rpartition("=")
        try:
            numbers[name] = float(rise)
        except ValueError:
            raise OptionError(f"--per {text!r}: expected unit, deviation, or numbers by column such as age=10,bmi=5.") from None
    return numbers


def effects_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit, such as of prank")
    made.add_argument("data", metavar="DATA", type=path, help="the training data")
    made.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    made.add_argument("--weight", metavar="COLUMN", help="the column of sample weights; default: that of fit")
    made.add_argument("--scale", choices=("direction", "log-odds", "odds-ratio"), default="direction",
                      help="relative weights, log odds or odds ratios; default direction")
    made.add_argument("--per", metavar="RISE", help="unit, deviation, or A=10,B=5: the rise of a column that its effect belongs to")
    made.add_argument("--interval", choices=("bootstrap", "wald", "robust"), default="bootstrap",
                      help="by refits, by the Hessian or by the sandwich estimate; default bootstrap")
    made.add_argument("--proportional-odds", action="store_true",
                      help="test whether the odds ratio of each column is the same at every threshold")
    made.add_argument("--groups", metavar="COLUMN", help="rows with the same entry, such as a patient's, are drawn together")
    made.add_argument("--n-boot", metavar="N", type=positive, default=199, help="refits on resampled rows; default 199")
    made.add_argument("--level", metavar="SHARE", type=float, default=0.95, help="coverage of the intervals; default 0.95")
    made.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the resampling; default 0")
    made.add_argument("--output", metavar="FILE", type=path, help="a file: .html, .csv, .tex, .png, .svg or .pdf")
    add_flag(made)
    reading(made, examples=False)


EFFECTS = Command(estimate, effects_arguments, """\
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
""")
