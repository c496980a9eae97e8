"""`structperc plugins | new | check`: what is installed, and how to add to it."""

from __future__ import annotations

import json
import shlex
import sys

from structperc.cli.commands import Command, completed, path
from structperc.cli.new import KINDS
from structperc.cli.settings import describe_options, describe_preset
from structperc.cli.terminal import say
from structperc.engine.engine import REQUIRED
from structperc.fitting import plugins as registry


def kind(plugin) -> str:
    """Whether a plugin is a whole problem, a part of one, or an observer."""
    if set(REQUIRED) <= set(plugin.hooks):
        return "problem"
    return "observer" if plugin.only_observes else "part"


def plugins(arguments) -> int:
    installed = registry.installed()
    if arguments.json:
        print(json.dumps([as_record(plugin) for plugin in installed], indent=2, default=str))
        return 0
    for plugin in installed:
        if not plugin.broken:
            say(f"{plugin.name}  ({kind(plugin)}, {plugin.distribution} {plugin.version})")
            say(f"    {plugin.summary}")
            say(f"    hooks    {', '.join(hook.removeprefix('structperc_') for hook in plugin.hooks)}")
            for i, line in enumerate(describe_options(plugin.options)):
                say(f"    {'' if i else 'options':<8} {line}")
            for line in describe_preset(plugin.recommended):
                say(f"    recommends {line}")
            for line in describe_preset(plugin.paper):
                say(f"    paper    {line}")
    broken = [plugin for plugin in installed if plugin.broken]
    if broken:
        say("broken")
    for plugin in broken:
        say(f"    {plugin.name}  ({plugin.distribution} {plugin.version}): {' '.join(plugin.broken.split())}")
    if not installed:
        say("no plugin is installed")
    return 0


def as_record(plugin) -> dict:
    """A plugin for programs; of a broken one only where it comes from and why it is broken."""
    record = {"name": plugin.name, "distribution": plugin.distribution, "version": plugin.version, "broken": plugin.broken or None}
    if not plugin.broken:
        options = {name: {"default": o.default, "choices": o.choices, "help": o.help} for name, o in plugin.options.items()}
        record.update(kind=kind(plugin), summary=plugin.summary, hooks=list(plugin.hooks), options=options,
                      recommends=describe_preset(plugin.recommended), paper=describe_preset(plugin.paper))
    return record


def new(arguments) -> int:
    from structperc.cli import new as scaffold

    path = scaffold.new(arguments.name, arguments.folder, arguments.kind)
    install = "pip install --no-build-isolation" if arguments.kind == "cython" else "pip install -e"
    say(f"{path} is a plugin package that works; next", f"  {install} {shlex.quote(str(path))}", f"  structperc check {arguments.name}")
    return 0


def check(arguments) -> int:
    from structperc import testing

    try:
        testing.check_problem(arguments.name, progress=lambda name, outcome: say(f"{name:36} {outcome}"))
    except AssertionError as failure:
        say(*f"structperc check: {failure}".split("\n"), file=sys.stderr)
        return 1
    return 0


def plugins_arguments(made) -> None:
    made.add_argument("--json", action="store_true", help="for programs")


PLUGINS = Command(plugins, plugins_arguments, """\
examples:
  structperc plugins
  structperc plugins --json

A problem defines the outputs, the features and the argmax. A part replaces
single hooks of a problem (fit --plugin NAME).
""")


def new_arguments(made) -> None:
    made.add_argument("name", metavar="NAME", help="of the plugin")
    made.add_argument("folder", metavar="FOLDER", type=path, nargs="?", default=".", help="the parent folder; default: this one")
    made.add_argument("--kind", choices=KINDS, default="problem", help="a problem, a part, or a compiled solver")


NEW = Command(new, new_arguments, """\
examples:
  structperc new ranked-pairs
  structperc new ranked-pairs ~/code
  structperc new careful-loss --kind loss

Then install the package with pip and run its test, or: structperc check NAME
""")


def check_arguments(made) -> None:
    completed(made.add_argument("name", metavar="NAME", help="of an installed plugin"), "plugin")


CHECK = Command(check, check_arguments, """\
examples:
  structperc check cusum

The exit code is 1 if a check fails. The first counterexample is printed.
""")
