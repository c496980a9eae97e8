"""`structperc effects`: how much each column of a model of ordered labels weighs, with bootstrap intervals."""

from __future__ import annotations

from pathlib import Path

from structperc import Engine, effects
from structperc.cli.explaining import DOTS_PER_INCH, PICTURES
from structperc.cli.files import answers, check_writable, read_for
from structperc.cli.safe_cells import safe_frame
from structperc.cli.terminal import say, say_table
from structperc.engine.writing import replace_file
from structperc.errors import OptionError
from structperc.extras import require
from structperc.pictures.markup import page


def estimate(arguments) -> int:
    """Prints the table, or writes it."""
    kind = None
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
        kind = Path(arguments.output).suffix[1:].lower()
        if kind not in ("html", "csv", *PICTURES):
            raise OptionError(f"--output {arguments.output!r}: expected a name that ends with .html, .csv, .png, .svg or .pdf.")
    engine = Engine.load(arguments.model)
    dropped = list(engine.plugin_options.get("drop", ()))       # refits read the table as `fit` did, so it has all columns
    data = read_for(engine, arguments, keep=[*filter(None, [arguments.groups]), *dropped])
    X, groups = data.X.assign(**{name: data.kept[name] for name in dropped}) if dropped else data.X, data.kept.get(arguments.groups)
    estimates = effects(engine, X, answers(engine, data), groups, n_boot=arguments.n_boot, level=arguments.level,
                        scale=arguments.scale, random_state=arguments.seed)
    if kind is None:
        say_table([estimates.head(), *estimates.cells()])
        say("", *estimates.notes())
        return 0
    if kind in PICTURES:
        figure = require("matplotlib.figure", "a picture", "plot").Figure(figsize=estimates.size(), layout="constrained")
        estimates.plot(figure.subplots())
        replace_file(arguments.output, lambda file: figure.savefig(file, format=kind, dpi=DOTS_PER_INCH))
    elif kind == "html":
        replace_file(arguments.output, lambda file: file.write(page(f"Effects of {arguments.model}", estimates.html()).encode()))
    else:
        frame = estimates.to_frame()
        table = (safe_frame(frame) if arguments.safe_cells else frame).to_csv(index_label="column")
        replace_file(arguments.output, lambda file: file.write(table.encode()))
    say(f"{arguments.output} shows the effects of {arguments.model}", *estimates.notes())
    return 0
