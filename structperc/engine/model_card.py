"""Model cards: problem, training, measures and weights of a model. They are Markdown with the front matter of model hubs, or HTML."""

from __future__ import annotations

import hashlib
import json
import os
import re

import attrs
import numpy as np

from structperc.basics.errors import OptionError, shortened
from structperc.basics.writing import replace_file
from structperc.core.outputs import is_ordered
from structperc.engine import model_file
from structperc.engine.cards import Curve, name_of, weight_rows
from structperc.files.opening import ending_of
from structperc.fitting.options import changed_options
from structperc.pictures.markup import Markup, block, details, element, excerpt, page, table
from structperc.reading.groups import Groups
from structperc.version import __version__

COLUMNS, LABELS = 60, 60        # named at most
CONFUSED = 15                   # labels of a confusion matrix, at most
FILL_IN = "*To be filled in by the owner:* "
FORMS = re.compile(r"\\(&#?\w+;|[^\w\s]|_)|`([^`]*)`|\*((?:\\.|[^*\\])+)\*")         # literal characters, code, stressed words
USE = (f"{FILL_IN}what the model is meant for, by whom, and what it must not decide.",
       f"{FILL_IN}where the training data come from, whom they are about, and who may use them.",
       f"{FILL_IN}for whom or what it is known to err, and who is responsible for it.")


@attrs.frozen
class Section:
    """A part of a card: paragraphs, a table with its head first, a picture and code, each of which may be missing."""

    title: str
    text: tuple = ()
    rows: list = attrs.field(factory=list)
    code: str = ""
    language: str = ""
    picture: object = None


@attrs.frozen
class ModelCard:
    """The result of `Engine.card`. `str` returns Markdown, and a notebook shows it.

    Attributes
    ----------
    name : str
    front : dict
        The front matter.
    sections : list of Section
    sha256 : str
        Of the model's file.
    """

    name: str
    front: dict
    sections: list
    sha256: str

    def __str__(self):
        return self.markdown()

    def markdown(self) -> str:
        """The card as Markdown."""
        lines = ["---", "# license: to be filled in by the owner", *yaml(self.front), "---", "", f"# {literal(self.name)}", ""]
        for section in self.all_sections():
            lines += [f"## {section.title}", ""]
            for text in section.text:
                lines += [text, ""]
            if section.rows:
                head, *rows = section.rows
                lines += [row_of(head), row_of("---" for _ in head), *map(row_of, (map(literal, row) for row in rows)), ""]
            if section.code:
                lines += [f"```{section.language}", section.code, "```", ""]
        return "\n".join(lines)

    def html(self) -> str:
        """The card as a whole page."""
        return page(self.name, element("h1", self.name), self._repr_html_())

    def _repr_html_(self):
        parts_of = []
        for section in self.all_sections():
            parts = [element("p", Markup(emphasised(text))) for text in section.text]
            if section.rows:
                parts.append(table(section.rows[1:], section.rows[0], numbers=range(1, len(section.rows[0]))))
            if section.picture is not None:
                parts.append(section.picture.svg())
            if section.code:
                parts.append(element("pre", Markup("\n".join(element("span", line) for line in section.code.split("\n")))))
            parts_of += [element("h2", section.title), *parts] if len(section.rows) < CONFUSED + 2 else [details(section.title, *parts)]
        return block(*parts_of)

    def save(self, path) -> None:
        """Writes the card to a file. The ending, .md or .html, sets the form. Raises `OptionError` for another ending."""
        ending = ending_of(path)
        if ending not in (".md", ".html"):
            raise OptionError(f"the card cannot be written to {os.fspath(path)!r}: expected a name that ends with .md or .html.")
        content = (self.html() if ending == ".html" else self.markdown()).encode()
        replace_file(path, lambda file: file.write(content))

    def all_sections(self) -> list:
        """The sections, and last the checksum of the model's file."""
        return [*self.sections, Section("File", (f"Written by structperc {__version__}. SHA-256 of the model's file: `{self.sha256}`",))]


def card_of(engine, X, y, offsets, lengths, groups, name, data) -> ModelCard:
    """See `Engine.card`."""
    content = model_file.dumps(engine)
    name = name_of(engine.problem) if name is None else str(name)
    measured = None if X is None else measures_on(engine, X, y, offsets, lengths, groups)
    sections = [Section("Intended use", USE), predicts(engine), training(engine), measures_section(measured, data)]
    if measured is not None and measured.confusion:
        sections.append(Section("Right and predicted labels", ("A row for each right label, a column for each predicted one.",),
                                measured.confusion))
    rows = weight_rows(engine)
    if rows:
        directed = any(row[1] for row in rows)
        head = ["column", *["direction of"] * directed, "weight"]
        sections.append(Section("Largest weights", (), [head, *([one, *[of] * directed, value] for one, of, value in rows)]))
    sections += [usage(name), *cited(engine)]
    return ModelCard(name, front_matter(engine, name, measured, data), sections, hashlib.sha256(content).hexdigest())


# ---- sections ----


@attrs.frozen
class OnData:
    """Measures by name, those of the best constant or None, the number of examples, and a confusion matrix or nothing."""

    measures: dict
    constant: object
    n_examples: int
    confusion: list


def measures_on(engine, X, y, offsets, lengths, groups) -> OnData:
    from structperc import metrics

    model, groups_of = engine.model_, Groups(X, offsets, lengths, groups)
    rows = model.read(groups_of.X, groups_of.offsets)
    predicted, y = model.predict(rows), groups_of.by_rows(y)
    outputs, labels = model.parts.outputs, model.context.labels
    confusion = []
    if outputs.n_labels and not outputs.partial_gold and outputs.n_labels <= CONFUSED:
        counts = metrics.confusion_matrix(y, predicted, labels).tolist()
        confusion = [["right", *map(str, labels)], *([str(label), *map(str, row)] for label, row in zip(labels, counts, strict=True))]
    return OnData(metrics.measures_of(model, rows, y, predicted), metrics.best_constant_of(model, rows, y), rows.n_examples, confusion)


def predicts(engine) -> Section:
    """The problem, the labels and the columns."""
    model, plugin = engine.model_, engine.loaded_plugins[1]
    labels, names = model.context.labels, model.context.feature_names
    rows = [["property", "value"], ["problem", f"{name_of(engine.problem)}: {plugin.summary}"]]
    noted = engine.notes.get("data", {}) if isinstance(engine.notes.get("data"), dict) else {}
    if isinstance(noted.get("target"), str):
        rows.append(["predicts", noted["target"]])
    if labels is not None:
        between = " < " if is_ordered(model.parts.outputs) else ", "
        rows.append([f"{len(labels)} labels", between.join(excerpt(label, 40) for label in labels[:LABELS])
                     + " …" * (len(labels) > LABELS)])
    if not model.context.objects:
        columns = getattr(engine, "feature_names_in_", None) if names is not None else None
        listed = "" if columns is None else (": " + ", ".join(excerpt(one, 40) for one in columns[:COLUMNS])
                                             + " …" * (len(columns) > COLUMNS))
        rows.append(["columns", f"{engine.n_features_in_}{listed}"])
    return Section("What it predicts", (), rows)


def training(engine) -> Section:
    """The preset, the options that it or the user has set, and how training went."""
    mistakes, rows = engine.mistakes_, [["property", "value"]]
    options = {"preset": engine.preset, **engine.preset_values, **changed_options(engine)}
    rows += [[name, shortened(value, 80)] for name, value in options.items()]
    rows.append(["epochs done", f"{len(mistakes)}{f', {engine.status_}' if engine.status_ else ''}"])
    if mistakes:
        rows.append(["mistakes", f"{mistakes[0]} in the first epoch, {mistakes[-1]} in the last"])
    rows.append(["examples visited", str(engine.parts_.weights.n_visited)])
    if hasattr(engine, "n_support_"):
        rows.append(["support rows", str(engine.n_support_)])
    return Section("Training", (), rows, picture=Curve(mistakes, "mistakes in each epoch") if mistakes else None)


def measures_section(measured, data) -> Section:
    if measured is None:
        return Section("Measures", ("No data were given, so there are no measures.",))
    constant, about = measured.constant, f"On {measured.n_examples} examples{'' if data is None else f' of {literal(data)}'}."
    rows = [["measure", "value"], *([name, f"{value:.4f}"] for name, value in measured.measures.items())]
    if constant is not None:
        of_constants = [f"{constant.measures[name]:.4f}" if name in constant.measures else "" for name in measured.measures]
        rows = [[*row, of_constant] for row, of_constant in zip(rows, ["constant", *of_constants], strict=True)]
        about += f" The constant is the best prediction that is the same for all: {literal(excerpt(constant.answer, 40))}."
    return Section("Measures", (about,), rows)


def usage(name) -> Section:
    code = f"from structperc import Engine\n\nengine = Engine.load({f'{name}.model'!r})\nanswers = engine.predict(X)"
    return Section("How to use it", (), code=code, language="python")


def cited(engine) -> list:
    entries = engine.citation()
    return [Section("Citation", (), code=entries, language="bibtex")] if entries else []


# ---- front matter and Markdown ----


def front_matter(engine, name, measured, data) -> dict:
    """What model hubs read."""
    outputs, problem = engine.parts_.outputs, name_of(engine.problem)
    single = bool(outputs.n_labels) and not engine.model_.context.objects
    task = "tabular-classification" if single else engine.loaded_plugins[1].task or None
    entries = {"library_name": "structperc", "tags": ["structperc", "structured-prediction", problem]}
    if outputs.n_labels and is_ordered(outputs):
        entries["tags"].append("ordinal-regression")
    if task is not None:
        entries["pipeline_tag"] = task
    if measured is not None:
        metrics = [{"type": re.sub(r"\W+", "_", one).strip("_").lower(), "name": one, "value": round(value, 6)}
                   for one, value in measured.measures.items() if np.isfinite(value)]
        title = "held-out data" if data is None else str(data)
        entries["model-index"] = [{"name": name, "results": [{"task": {"type": task or "other"},
                                                           "dataset": {"type": "other", "name": title}, "metrics": metrics}]}]
    return entries


def yaml(value, indent=0) -> list[str]:
    """Dicts, lists, texts and numbers as lines of YAML; a text is written as in JSON, which is YAML too."""
    margin, lines = "  " * indent, []
    for key, inner in value.items() if isinstance(value, dict) else ((None, inner) for inner in value):
        head = f"{margin}-" if key is None else f"{margin}{key}:"
        if isinstance(inner, (dict, list)):
            lines += [head, *yaml(inner, indent + 1)]
        else:
            lines.append(f"{head} {json.dumps(inner)}")
    return lines


def row_of(cells) -> str:
    return f"| {' | '.join(cells)} |"


def literal(text) -> str:
    """A text in which nothing acts in Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|~&#])", r"\\\1", excerpt(text, 2000))


def emphasised(text) -> str:
    """The few forms of Markdown in paragraphs as HTML: `code`, *stress*, and a backslash before what is meant literally."""
    def as_html(match):
        character, code, stressed = match.groups()
        return character or (f"<code>{code}</code>" if code is not None else f"<em>{FORMS.sub(as_html, stressed)}</em>")

    return FORMS.sub(as_html, str(element("p", text))[3:-4])
