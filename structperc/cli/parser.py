"""The parser of the command line, with help that teaches. Each command declares its arguments in its own module."""

from __future__ import annotations

import argparse
import functools
import shutil
from importlib import import_module

from structperc import __version__
from structperc.cli.commands import FILE, completed, path
from structperc.cli.helping import WIDTH
from structperc.cli.settings import unknown_argument
from structperc.cli.terminal import say_fault
from structperc.engine.exports.formats import ALSO_CALLED as EXPORTS_ALSO_CALLED
from structperc.errors import did_you_mean
from structperc.files import formats

COMMANDS = (            # `module:COMMAND` in this package, in the order of the overview
    "demo:DEMO", "watching:WATCH", "plugins:PLUGINS", "training:FIT", "exporting:EXPORT", "importing:IMPORT_CRFSUITE", "using:PREDICT",
    "using:EVALUATE", "using:PLOT", "explaining:EXPLAIN", "changing:COUNTERFACTUAL", "estimating:EFFECTS", "comparing:COMPARE",
    "carding:CARD", "plugins:NEW", "completion:COMPLETION", "plugins:CHECK", "helping:HELP",
)
ALSO_CALLED = {"fit": ("train", "learn"), "evaluate": ("test", "score"), **EXPORTS_ALSO_CALLED,
               **{name: format.also_called for name, format in formats.FORMATS.items()}}
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
    for address in COMMANDS:
        module, _, name = address.partition(":")
        command = getattr(import_module(f"structperc.cli.{module}"), name)
        made = subparsers.add_parser(command.name, help=command.summary, description=f"{command.summary[0].upper()}{command.summary[1:]}.",
                                     epilog=command.examples, formatter_class=formatter)
        made.add_argument("--traceback", action="store_true", help="show where an error arose")
        made.set_defaults(run=command.run, parser=build)
        command.declare(made)
        needed = [f"{action.option_strings[-1]} {action.metavar}" for action in made._actions if action.option_strings and action.required]
        values = [f"[{action.metavar}]" if action.nargs == "?" else action.metavar for action in made._actions if not action.option_strings]
        made.usage = " ".join(["structperc", command.name, *values, *needed, "[options]"])
        for action in made._actions:
            if action.type is path:
                completed(action, FILE)
    return parser
