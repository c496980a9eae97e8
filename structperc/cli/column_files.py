"""Files of columns for the commands: one token per line, windows of columns as features, one column as the target."""

from __future__ import annotations

import csv
import inspect
import re
from contextlib import closing
from itertools import islice

import attrs

from structperc.cli.settings import flags_of
from structperc.errors import DataError, OptionError, did_you_mean
from structperc.files import formats
from structperc.files.conll import CONLLU, EMPTY, SKIPPED, ColumnFile, write_filled
from structperc.files.crfsuite_data import ItemFile, write_labels
from structperc.files.opening import can_be_read_again
from structperc.fitting import plugins as registry
from structperc.fitting.options import plugin_defaults
from structperc.reading.tokens import default_template

CONLLU_DEFAULT = ("form",)              # the features of CoNLL-U by default
NAMED_EXAMPLE = re.compile(r"\b[Xy]\[(\d+)\](?:\[(\d+)\])?")       # as errors of the library name it
LOOKED_AT = 1000                        # sentences that show which columns a file fills


@attrs.frozen(eq=False)
class Tokens:
    """What a command needs of a file of columns, with the names that `structperc.files.tables.Table` has."""
    # file: ColumnFile or ItemFile
    # X: list of list of tuple of str, or of dict. Sentences of tokens, with only the columns of features. Of a data file of CRFsuite, the
    # attributes.
    # y: list of list of str or tuple of str, or None. The column of the target, or the cells of several.
    # plain: bool. Whether the file has just these columns, the target last, so that no other command needs their names.
    # filled: list of int. Which cells predictions take the place of; none: they are added.

    file: ColumnFile | ItemFile
    X: list
    y: list | None = None
    plain: bool = False
    filled: list = attrs.field(factory=list)
    weights: None = None
    offsets: None = None
    kept: dict = attrs.field(factory=dict)

    @property
    def n_examples(self) -> int:
        return len(self.X)

    @property
    def first(self) -> int:
        return self.file.first

    @property
    def n_unlabelled(self) -> int:
        """Tokens of which the file does not say the label."""
        return sum(cell is None for cells in self.y or () for cell in cells)

    def located(self, message) -> str:
        """A message about an example or its token, such as y[2][0], with its place in the file."""
        match = NAMED_EXAMPLE.search(message)
        if match is None or int(match[1]) >= self.n_examples:
            return message
        return f"{message} {match[0].strip()} is in {self.file.place(int(match[1]), int(match[2] or 0))}."

    def write(self, file, predicted) -> None:
        """Writes the file again with the predictions in their place."""
        if isinstance(self.file, ItemFile):
            write_labels(file, self.file, predicted)
        else:
            write_filled(file, self.file, self.filled, predicted)

    def __str__(self):
        return sizes(self.n_examples, self.file.n_tokens)


def sizes(n_sentences, n_tokens) -> str:
    """Numbers of sentences and tokens, in words."""
    return ", ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in ((n_sentences, "sentence"), (n_tokens, "token")))


# ---- fit ----


def with_usual_columns(source, plugins):
    """The source with names for the columns of CoNLL-U that plugins learn from by default, those that the file fills."""
    usual = (said(list(map(registry.load, plugins)), "conllu") or {}).get("columns")
    if not source.conllu or source.columns is not None or usual is None:
        return source
    target = [] if source.target is None else target_names(source)
    names = [name for name in usual if name not in target]
    if can_be_read_again(source.path):
        with closing(formats.stream(source.path, format=source.format, rows=LOOKED_AT)) as files:
            for file in islice(files, 1):
                filled = [name for name, place in file.places(names).items()
                          if any(cell != EMPTY for sentence in file.column(place) for cell in sentence)]
                names = filled or names
    return attrs.evolve(source, columns=",".join(names))


def training_options(source, plugins, settings) -> dict:
    """What the engine is told of the columns: the template and the names, without the target; `settings` are the user's options."""
    if not flags_of(plugin_defaults([registry.load(name) for name in plugins])):
        able = [plugin.name for plugin in registry.installed() if not plugin.broken and flags_of(plugin.options)]
        raise OptionError(f"{plugins[0]} does not learn from files of columns, having no options template and columns; "
                          f"{'these do: ' + ', '.join(able) if able else 'no installed plugin does'}.")
    plugins = [registry.load(name) for name in plugins]
    _, used, target = training_names(source, plugins)
    makes = said(plugins, "default_template") or default_template
    options = {"columns": used, "options": settings}
    options = {name: value for name, value in options.items() if name in inspect.signature(makes).parameters}
    template = makes(len(used), **options) if source.template is None else read_template(source.template)
    remembered = {"target": target} if "target" in plugin_defaults(plugins) else {}
    return {"template": template, "columns": used, **remembered}


def vectors_of(arguments) -> dict:
    """The option of word vectors, if there is a file of them."""
    if arguments.vectors is None:
        return {}
    if "vectors" not in plugin_defaults([registry.load(name) for name in (arguments.problem, *arguments.plugin)]):
        raise OptionError(f"--vectors {arguments.vectors}: {arguments.problem} has no option for word vectors; sequence has. Leave it out.")
    return {"vectors": arguments.vectors}


def said(plugins, attribute):
    """The result of the last loaded plugin whose hook returns one."""
    return next((value for value in (getattr(plugin, attribute) for plugin in reversed(plugins)) if value), None)


def usual_target(engine) -> list:
    """The columns that a trained engine remembers to predict; of most problems none."""
    return list(engine.plugin_options.get("target") or ())


def noted_target(source, plugins) -> dict:
    """What a model keeps of the columns that it predicts."""
    return {"target": ",".join(training_names(source, list(map(registry.load, plugins)))[2])}


def filled_places(engine, source, places) -> list:
    """Which cells of a file the predictions take the place of: in CoNLL-U the column of the target, in other files one that is named."""
    if not source.conllu and source.target is None:
        return []
    places = {**({name: i for i, name in enumerate(CONLLU)} if source.conllu else {}), **places}
    names = usual_target(engine) if source.target is None else target_names(source)
    if not names or not set(names) <= set(places):
        missing = f"of {', '.join(map(repr, names))}, which the model predicts" if names else "that the model predicts"
        raise OptionError(f"{source.path} has no column {missing}; name the one to fill in with --target, such as --target upos. Its "
                          f"columns are {', '.join(places)}.")
    return [places[name] for name in names]


def training_names(source, plugins) -> tuple[list, list, list]:
    """The names of all columns, of the features, and of the target: the plugins' own or the last column, unless --target is set."""
    usual = said(plugins, "conllu") or {}
    target = list(usual.get("target", ())) if source.target is None else target_names(source)
    names = given_names(source, target)
    if names is None and not source.conllu:
        with closing(formats.stream(source.path, format=source.format, rows=1)) as files:
            raise OptionError(f"a file of columns needs --columns, a name for each of them, such as --columns word,pos,chunk; "
                              f"{source.path} has {next(files).layout}.")
    if names is None:
        if not target:
            raise OptionError(f"{source.path} is CoNLL-U; name the column to predict with --target, one of {', '.join(CONLLU)}. "
                              f"Columns other than {', '.join(CONLLU_DEFAULT)} to learn from need --columns.")
        for name in target:
            check_known(name, CONLLU, "--target", f"the columns of CoNLL-U are {', '.join(CONLLU)}")
        names = [*(name for name in usual.get("columns", CONLLU_DEFAULT) if name not in target), *target]
    kept = [name for name in names if name not in SKIPPED]
    if source.target is not None:
        for name in target:
            check_known(name, kept, "--target", f"--columns names {', '.join(kept)}")
    elif kept and not set(target) <= set(kept) or not target:
        target = kept[-1:]
    used = [name for name in kept if name not in target]
    if not used:
        only = f", only the target {', '.join(map(repr, target))}" if kept else ""
        raise OptionError(f"there is no column to learn from{only}; name one at least with --columns.")
    return names, used, target


def parts(source, plugins):
    """The training data, in parts of as many sentences as the source sets."""
    names, used, target = training_names(source, [registry.load(name) for name in plugins])
    with closing(formats.stream(source.path, format=source.format, rows=source.rows)) as files:
        for file in files:
            places = file.places(names)
            wanted = [places[name] for name in target]
            plain = not source.conllu and list(places.values()) == [*range(file.width)] and wanted == [file.width - 1]
            tokens = Tokens(file, file.choose(places[name] for name in used), file.answers(wanted), plain)
            if source.rows is None:
                refuse_empty(tokens, target)
            yield tokens


def read_template(path) -> str:
    """The text of a template file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no template in UTF-8 ({error.reason}); expected lines such as U01:%x[-1,0]/%x[0,0].") from None


# ---- predict and evaluate ----


def reads_columns(engine) -> bool:
    """Whether a trained engine reads files of columns."""
    return bool(flags_of(engine.plugin_options)) and engine.plugin_options["template"] is not None


def parts_for(engine, source, needs_target=True):
    """The columns of the engine's features, and the target if it is needed. The first part shows where they are."""
    if any(name in (engine.plugin_options["columns"] or ()) for name in split(source.target or "")):
        raise OptionError(f"--target {source.target!r}: the model learned from this column to predict another; name the column of right "
                          f"labels, or leave --target out.")
    used = None
    with closing(formats.stream(source.path, format=source.format, rows=source.rows)) as files:
        for file in files:
            if used is None:
                used, target, filled = places_for(engine, source, file, needs_target)
            yield Tokens(file, file.choose(used), None if target is None else file.answers(target), filled=filled)


def places_for(engine, source, file, needs_target):
    """The numbers of a file's columns: the engine's features, the target, those to fill in. None if not needed."""
    used, path, conllu = engine.plugin_options["columns"], source.path, source.conllu
    usual = usual_target(engine)
    target = None if source.target is None else target_names(source)
    names = given_names(source, target or usual)
    if used is None and names is None:
        raise OptionError(f"the model does not know the names of its columns; name those of {path} with --columns.")
    names = names or (CONLLU if conllu else plain_names(engine, file, list(used), source.target))
    places = file.places(names)
    if used is None:
        used = [name for name in places if name not in (target or ())]
    for name in used:
        check_known(name, places, "the model reads the column", f"the columns of {path} are {', '.join(names)}; --columns names them")
    used_places = [places[name] for name in used]
    if not needs_target:
        return used_places, None, filled_places(engine, source, places)
    if target is None and usual and set(usual) <= set(places):
        target = list(usual)
    if target is None and not (conllu and source.columns is None):
        target = next(([name] for name in reversed(places) if name not in used), None)
    if target is None:
        raise OptionError(f"{path} has the columns {', '.join(places)}; name the one with the right labels by --target.")
    for name in target:
        check_known(name, places, "--target", f"the columns of {path} are {', '.join(names)}")
    target_places = [places[name] for name in target]
    if share_of_labels(engine, file.answers(target_places)) == 0:
        columns, first = ", ".join(map(repr, target)), file.choose(target_places)[0][0]
        first = first[0] if len(first) == 1 else first
        raise OptionError(f"the column {columns} of {path} begins with {first!r:.60} and has no label that the model knows. Name the "
                          f"columns of the file with --columns, or the right one with --target.")
    return used_places, target_places, []


def plain_names(engine, file, used, target) -> list:
    """The names of columns without names: those of training, then the target."""
    if file.width == len(used):
        return used
    if file.width == len(used) + 1 and share_of_labels(engine, file.column(-1)) > 0.5:
        return [*used, target or "target"]
    raise OptionError(f"{file.path} has {file.layout}, but the model reads the columns {', '.join(used)}. One more column may have "
                      f"labels that it knows. Name all columns of the file with --columns, _ for those to leave out.")


def refuse_empty(tokens, names) -> None:
    """Raises an error for a column of the target without any entry."""
    if tokens.n_unlabelled == tokens.file.n_tokens > 0:
        raise DataError(f"the column {names[0]!r} of {tokens.file.path} has _ in every line. Name the column of right labels with "
                        f"--target.")


def share_of_labels(engine, y) -> float:
    """The share of these labels that the model knows; 1 if there are none."""
    labels = getattr(engine, "classes_", None)
    if labels is None:
        return 1.0
    trained, labels_here = set(labels.tolist()), [label for label in engine.parts_.outputs.labels_in(y) if label is not None]
    return sum(label in trained for label in labels_here) / max(len(labels_here), 1)


# ---- both ----


def given_names(source, target) -> list | None:
    """The names in --columns; in CoNLL-U, whose columns are known, those of the target are added."""
    if source.columns is None:
        return None
    names = split(source.columns)
    if source.conllu and set(target or ()) <= set(CONLLU) and set(names) <= set(CONLLU):
        return [*names, *(name for name in target or () if name not in names)]
    return names


def split(text) -> list[str]:
    """Names parted by commas."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def target_names(source) -> list[str]:
    """The columns that --target names; the empty name, which is no column's, where it is empty."""
    return split(source.target) or [""]


def check_known(name, names, what, knowledge) -> None:
    """Raises an error for a column without a name."""
    if name not in names:
        hint = did_you_mean(name, names)
        raise OptionError(f"{what} {name!r}: there is no such column; {knowledge}.{hint}")
