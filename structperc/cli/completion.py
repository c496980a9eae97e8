"""`structperc completion`: a script that completes commands, options, plugins, settings and files in bash, zsh and fish.

The script is made from the parser of the commands and the installed plugins. It starts no Python when you press Tab.
"""

from __future__ import annotations

import argparse
import re
import sys

import attrs

from structperc.cli.commands import FILE, SETTING, Command
from structperc.cli.parser import COMMANDS
from structperc.cli.plugins import kind
from structperc.cli.settings import ENGINE_OPTIONS, write_value
from structperc.fitting import plugins as registry
from structperc.fitting.builtin import BuiltinParts

WORD = re.compile(r"[\w.,=+-]+")            # no shell needs quotes around it


@attrs.frozen
class Argument:
    """An argument of a command: its flags (a positional one has none) and its values."""

    flags: tuple
    help: str
    takes: str | None               # the value's name; None: a flag without a value
    words: tuple = ()
    files: bool = False
    settings: bool = False
    repeated: bool = False


def completion(arguments) -> int:
    """Prints the script."""
    plugins = [plugin for plugin in registry.installed() if not plugin.broken]
    sys.stdout.write(SCRIPTS[arguments.shell](commands_of(arguments.parser(), plugins), settings(plugins)))
    return 0


# ---- commands, arguments, settings ----


def commands_of(parser, plugins) -> dict:
    """(summary, arguments) by the name of the command."""
    kinds = {plugin.name: kind(plugin) for plugin in plugins}
    names = {"plugin": tuple(kinds), "problem": tuple(name for name, one in kinds.items() if one == "problem"),
             "part": tuple(name for name, one in kinds.items() if one != "problem")}
    return {name: (COMMANDS[name][1], [argument_of(action, names) for action in command._actions])
            for name, command in parser.commands.items()}


def argument_of(action, names) -> Argument:
    completes = getattr(action, "completes", None)
    words = tuple(map(str, action.choices or ())) or names.get(completes, ())
    return Argument(tuple(action.option_strings), plain(action.help), None if action.nargs == 0 else str(action.metavar or action.dest),
                    tuple(filter(WORD.fullmatch, words)), completes == FILE, completes == SETTING,
                    isinstance(action, argparse._AppendAction))


def settings(plugins) -> dict:
    """The settings of --set, each with the list of its values, empty where any value goes."""
    options = dict(ENGINE_OPTIONS)
    for plugin in plugins:
        options |= plugin.options
    values_of = {name: option.choices or ((True, False) if isinstance(option.default, bool) else ()) for name, option in options.items()}
    for name, attribute in registry.NAMED.items():
        values_of[name] = [one for known_to in (BuiltinParts, *plugins) for one in getattr(known_to, attribute, ())]
    return {name: tuple(filter(WORD.fullmatch, map(write_value, values))) for name, values in values_of.items()}


def plain(text) -> str:
    """The first clause of a help text, without characters that shells act on."""
    return re.sub(r"[^\w ,.()/=+-]", "", (text or "").replace("%%", "%").split(";")[0])


# ---- bash ----


def bash(commands, settings) -> str:
    """Of bash 3.2 and later. bash parts words at "=", so that KEY=VALUE arrives as three."""
    valued, after, options, places = [], [], [], []
    for name, (_, arguments) in commands.items():
        flags = [argument for argument in arguments if argument.flags]
        valued.append(f'        {name}) valued=" {" ".join(flag for one in flags if one.takes for flag in one.flags)} " ;;')
        options.append(f'        {name}) _structperc_words "{" ".join(flag for one in flags for flag in one.flags)}" ;;')
        for one in flags:
            if one.takes:
                after.append(f'        {"|".join(f"{chr(34)}{name} {flag}{chr(34)}" for flag in one.flags)}) {bash_values(one)}; return ;;')
        for place, one in enumerate(argument for argument in arguments if not argument.flags):
            places.append(f'        "{name} {place}") {bash_values(one)} ;;')
    values = [f'        {name}) _structperc_words "{" ".join(words)}" ;;' for name, words in settings.items() if words]
    keys = " ".join(f"{name}=" for name in settings)
    return f"""# bash completion for structperc. Load it with: eval "$(structperc completion bash)"
_structperc_words() {{ COMPREPLY=($(compgen -W "$1" -- "$cur")); }}
_structperc_files() {{ local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); }}
_structperc_keys() {{ compopt -o nospace 2>/dev/null; _structperc_words "{keys}"; }}
_structperc_value() {{
    case "$1" in
{chr(10).join(values)}
    esac
}}
_structperc() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" valued="" i place=0
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then _structperc_words "{" ".join(commands)} --help --version"; return; fi
    if [[ $cur == "=" ]]; then cur=""; i=$((COMP_CWORD-1)); elif [[ $previous == "=" ]]; then i=$((COMP_CWORD-2)); else i=0; fi
    if [[ $i -gt 0 ]]; then
        previous="${{COMP_WORDS[i]}}"
        if [[ $previous != -* ]]; then _structperc_value "$previous"; return; fi
    fi
    case "$command $previous" in
{chr(10).join(after)}
    esac
    if [[ $cur == -* ]]; then
        case "$command" in
{chr(10).join(options)}
        esac
        return
    fi
    case "$command" in
{chr(10).join(valued)}
    esac
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} == "=" ]]; then ((i++))
        elif [[ $valued == *" ${{COMP_WORDS[i]}} "* ]]; then ((i++)); if [[ ${{COMP_WORDS[i]}} == "=" ]]; then ((i++)); fi
        elif [[ ${{COMP_WORDS[i]}} != -* ]]; then ((place++))
        fi
    done
    case "$command $place" in
{chr(10).join(places)}
    esac
}}
complete -F _structperc structperc
"""


def bash_values(argument) -> str:
    """The call that completes a value."""
    if argument.settings:
        return "_structperc_keys"
    return "_structperc_files" if argument.files else f'_structperc_words "{" ".join(argument.words)}"'


# ---- zsh ----


def zsh(commands, settings) -> str:
    cases = []
    for name, (_, arguments) in commands.items():
        specs = " \\\n".join(f"            {spec}" for one in arguments for spec in zsh_specs(one, settings))
        cases.append(f"        {name})\n        _arguments -s \\\n{specs} ;;")
    described = "\n".join(f"        '{name}:{plain(summary)}'" for name, (summary, _) in commands.items())
    return f"""#compdef structperc
# zsh completion for structperc. Load it with: eval "$(structperc completion zsh)", after compinit
_structperc() {{
    local -a commands=(
{described}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{chr(10).join(cases)}
    esac
}}
if [[ $funcstack[1] == _structperc ]]; then _structperc "$@"; else compdef _structperc structperc; fi
"""


def zsh_specs(argument, settings) -> list:
    """Specifications for `_arguments`, one for each flag."""
    value = ""
    if argument.takes:
        words = " ".join(f"{name}=" for name in settings) if argument.settings else " ".join(argument.words)
        value = f":{plain(argument.takes)}:{'_files' if argument.files else f'({words})' if words else ' '}"
    if not argument.flags:
        return [f"'{value}'"]
    return [f"'{'*' * argument.repeated}{flag}[{plain(argument.help)}]{value}'" for flag in argument.flags]


# ---- fish ----


def fish(commands, settings) -> str:
    lines = ['# fish completion for structperc. Load it with: structperc completion fish | source', "complete -c structperc -f"]
    first = "-n __fish_use_subcommand"
    lines += [f"complete -c structperc {first} -a {name} -d '{plain(summary)}'" for name, (summary, _) in commands.items()]
    lines += [f"complete -c structperc {first} -l help -s h -d 'show a help text'", f"complete -c structperc {first} -l version"]
    for name, (_, arguments) in commands.items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for one in arguments:
            words = [f"{key}={value}" for key, values in settings.items() for value in values or ("",)] if one.settings else one.words
            listed = f" -a '{' '.join(words)}'" if words else ""
            if one.flags:
                flags = "".join(f" {'-l' if flag.startswith('--') else '-s'} {flag.lstrip('-')}" for flag in one.flags)
                takes = "" if one.takes is None else " -r -F" if one.files else " -x"
                lines.append(f"complete -c structperc {seen}{flags}{takes}{listed} -d '{plain(one.help)}'")
            elif one.files:
                lines.append(f"complete -c structperc {seen} -F")
            elif listed:
                lines.append(f"complete -c structperc {seen}{listed}")
    return "\n".join(lines) + "\n"


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}


def completion_arguments(made) -> None:
    made.add_argument("shell", metavar="SHELL", choices=SCRIPTS, help=f"one of {', '.join(SCRIPTS)}")


COMPLETION = Command(completion, completion_arguments, """\
example:
  structperc completion bash     eval "$(structperc completion bash)" loads it

Add the eval line to ~/.bashrc, or with zsh to ~/.zshrc, after compinit. For
fish: structperc completion fish | source. Run it again after you have installed
a plugin.
""")
