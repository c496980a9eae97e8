"""The parser of the command line, with help that teaches. Each command declares its arguments in its own module.

Only the module of the command that runs is imported: `structperc --help` needs none.
"""

from __future__ import annotations

import argparse
import functools
import re
import shutil
from importlib import import_module

from structperc import __version__
from structperc.cli.commands import FILE, WIDTH, completed, path
from structperc.cli.terminal import say_fault
from structperc.errors import did_you_mean

COMMANDS = {            # by name: `module:COMMAND` in this package, and a line of the overview, which is in this order
    "demo": ("demo:DEMO", "train on real patients, with baselines and a picture"),
    "watch": ("watching:WATCH", "watch a perceptron learn, on a page in the browser"),
    "plugins": ("plugins:PLUGINS", "list the installed plugins"),
    "fit": ("training:FIT", "train a model on a file"),
    "export": ("exporting:EXPORT", "write a model in C, JavaScript, ONNX, HTML, ..."),
    "import-crfsuite": ("importing:IMPORT_CRFSUITE", "convert a model of CRFsuite"),
    "predict": ("predicting:PREDICT", "predict with a trained model"),
    "evaluate": ("using:EVALUATE", "measure a model on data with known labels"),
    "plot": ("using:PLOT", "draw what a model has learned"),
    "explain": ("explaining:EXPLAIN", "show why an example got its prediction"),
    "counterfactual": ("changing:COUNTERFACTUAL", "find the smallest change that gets a wanted prediction"),
    "effects": ("estimating:EFFECTS", "show how much each column matters, with intervals"),
    "compare": ("comparing:COMPARE", "compare two models on the same data"),
    "card": ("carding:CARD", "write a model card"),
    "new": ("plugins:NEW", "write a plugin package to start from"),
    "completion": ("completion:COMPLETION", "print a script that completes commands in a shell"),
    "check": ("plugins:CHECK", "run the test suite for plugins"),
    "help": ("helping:HELP", "show a problem with its options, or a topic"),
}
ALSO_CALLED = {"fit": ("train", "learn"), "evaluate": ("test", "score")}
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

    def _get_values(self, action, arg_strings):
        # argparse drops -- also where it is a flag's value, as in --missing=--
        return "--" if action.option_strings and arg_strings == ["--"] else super()._get_values(action, arg_strings)

    def _check_value(self, action, value):
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += f".{did_you_mean(value, action.choices, also_called())}"
            raise

    def error(self, message):
        flag = re.match(r"argument (--[\w-]+).*: expected one argument$", message)
        if flag is not None:            # argparse takes a value such as -1,0,1 for another flag
            message += f". A value that begins with - needs an equals sign: {flag[1]}=-1,0,1"
        link = " See" if message.endswith((".", "?")) else "; see"
        say_fault(self.prog, f"{message}{link} {self.prog} --help")
        self.exit(2)


class CommandParser(Parser):
    """The parser of one command, without its arguments before they are needed."""

    def __init__(self, address, **settings):
        super().__init__(**settings)
        self.address = address

    def declared(self) -> CommandParser:
        """The same parser with its arguments: it imports the module of the command, once."""
        address, self.address = self.address, None
        if address is None:
            return self
        module, _, name = address.partition(":")
        command = getattr(import_module(f"structperc.cli.{module}"), name)
        self.epilog = command.examples
        self.add_argument("--traceback", action="store_true", help="show where an error arose")
        self.set_defaults(run=command.run, parser=build)
        command.declare(self)
        needed = [f"{action.option_strings[-1]} {action.metavar}" for action in self._actions if action.option_strings and action.required]
        values = [f"[{action.metavar}]" if action.nargs == "?" else action.metavar for action in self._actions if not action.option_strings]
        self.usage = " ".join([self.prog, *values, *needed, "[options]"])
        for action in self._actions:
            if action.type is path:
                completed(action, FILE)
        return self

    def parse_known_args(self, args=None, namespace=None):
        self.declared()
        return super().parse_known_args(args, namespace)

    def format_help(self):
        self.declared()
        return super().format_help()


class CommandLine(Parser):
    """The parser of the whole command line."""

    @property
    def commands(self) -> dict:
        """The parsers of all commands with their arguments, by name."""
        return {name: made.declared() for name, made in self.made.items()}

    def parse_args(self, args=None, namespace=None):
        """As argparse does; an unknown argument is explained by the command that got it."""
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            from structperc.cli.settings import unknown_arguments

            command = self.made[arguments.command]
            flags = [flag for action in command._actions for flag in action.option_strings]
            command.error(unknown_arguments(unknown, flags, settable="--set" in flags))
        return arguments


def also_called() -> dict:
    """What users may call commands, formats of data and of exports."""
    from structperc.engine.exports.formats import ALSO_CALLED as OF_EXPORTS
    from structperc.files.formats import FORMATS

    return ALSO_CALLED | OF_EXPORTS | {name: format.also_called for name, format in FORMATS.items()}


def build() -> CommandLine:
    """The parser of the whole command line. Its help has at most 80 columns, less on a narrower terminal."""
    width = min(WIDTH, shutil.get_terminal_size().columns)          # argparse makes a formatter for each flag
    formatter = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=25, width=width)
    parser = CommandLine(
        prog="structperc", description="Train and use structured predictors: ranks, classes and what plugins add.",
        epilog=OVERVIEW, formatter_class=formatter,
    )
    parser.add_argument("--version", action="version", version=f"structperc {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=CommandParser)
    parser.made = subparsers.choices
    for name, (address, summary) in COMMANDS.items():
        subparsers.add_parser(name, address=address, help=summary, description=f"{summary[0].upper()}{summary[1:]}.",
                              formatter_class=formatter)
    return parser
