"""`structperc effects`: how much each column of a model of ordered labels weighs, and tests of proportional odds."""

from __future__ import annotations

from structperc import Engine, effects, proportional_odds
from structperc.basics.writing import replace_file
from structperc.cli.explaining import DOTS_PER_INCH, PICTURES
from structperc.cli.files import answers, check_writable, checked_ending, read_for
from structperc.cli.safe_cells import safe_frame
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
        result, about = proportional_odds(engine, X, y, arguments.level), "whether the odds are proportional in"
        notes = result.conclusion()
    else:
        result = effects(engine, X, y, groups, n_boot=arguments.n_boot, level=arguments.level, scale=arguments.scale,
                         random_state=arguments.seed, per=rises(arguments.per), interval=arguments.interval)
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
