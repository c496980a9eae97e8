"""Every command's help has an example, and the first example runs unchanged."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.cli import main
from structperc.cli.helping import TOPICS
from structperc.cli.parser import build
from structperc.fitting import plugins as registry

COMMANDS = build().commands
ELSEWHERE = {"demo": "tests/test_demo.py"}
CRFSUITE = Path(__file__).parents[1] / "files/crfsuite/words.crfsuite"


def examples(command) -> list:
    """The command lines below "example" or "examples" in the help, without their remarks."""
    found = re.search(r"^examples?:\n((?:  .*\n?)+)", COMMANDS[command].format_help(), re.MULTILINE)
    return [] if found is None else [re.split(r" {2,}", line.strip())[0] for line in found[1].splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("help")
    X = np.random.default_rng(1).normal(size=(60, 3)).round(2)
    frame = pd.DataFrame(X, columns=["acid", "sugar", "alcohol"]).assign(quality=3 + np.digitize(X @ [1, -1, 2], [-1, 1]))
    frame[:40].to_csv(folder / "wine.csv", index=False)
    frame[40:].to_csv(folder / "test.csv", index=False)
    frame[40:].drop(columns="quality").to_csv(folder / "new.csv", index=False)
    shutil.copy(CRFSUITE, folder / "chunks.crfsuite")
    for name, epochs in (("wine.model", 5), ("kernel.model", 9)):
        engine = Engine("prank", epochs=epochs)
        engine.notes["data"] = {"format": "csv", "target": "quality"}
        engine.fit(frame[:40].drop(columns="quality"), frame["quality"][:40]).save(folder / name)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_example_of_a_commands_help_works(folder, monkeypatch, capsys, command):
    monkeypatch.chdir(folder)
    first = shlex.split(examples(command)[0])
    assert first[:2] == ["structperc", command]
    if command not in ELSEWHERE:
        assert main(first[1:]) == 0, capsys.readouterr().err
    else:
        assert build().parse_args(first[1:]).command == command


@pytest.mark.parametrize("command", COMMANDS)
def test_all_examples_are_understood(command):
    for line in examples(command):
        assert build().parse_args(shlex.split(line)[1:]).command == command


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(command, capsys):
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 80


TOPICS_OF_HELP = [*TOPICS, "options", *(plugin.name for plugin in registry.installed() if plugin.distribution == "structperc")]


@pytest.mark.parametrize("topic", TOPICS_OF_HELP)
def test_a_topic_fits_a_terminal(topic, capsys):
    assert main(["help", topic]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("topic", TOPICS)
def test_the_commands_of_a_topic_are_understood(topic):
    for line in re.findall(r"^  (?:zcat .*\| )?(structperc (?:.*\n)(?:      .*\n)*)", TOPICS[topic], re.MULTILINE):
        _, command, *flags = shlex.split(line)
        assert build().parse_args([command, *flags]).command == command


def test_every_format_is_in_the_help_on_data(capsys):
    formats = {name for command in COMMANDS.values() for action in command._actions if "--format" in action.option_strings
               for name in action.choices or ()}
    main(["help", "data"])
    printed = capsys.readouterr().out

    assert len(formats) > 5 and {name for name in formats if not re.search(rf"\b{name}\b", printed)} == set()


def test_help_without_a_topic_lists_all_of_them(capsys):
    assert main(["help"]) == 0
    words = set(re.findall(r"[\w-]+", capsys.readouterr().out.partition("topics of structperc help:")[2]))
    assert set(TOPICS_OF_HELP) <= words


def test_help_on_a_command_is_its_help(capsys):
    assert main(["help", "predict"]) == 0
    assert capsys.readouterr().out == COMMANDS["predict"].format_help()


@pytest.mark.parametrize(("other", "here"), [("crf", "sequence"), ("ordinal-regression", "cusum"), ("linkage", "matching"),
                                             ("coreference", "clusters"), ("ltr", "latent-ranking"), ("mrf", "graph"), ("NER", "sequence"),
                                             ("PyTorch", "torch"), ("CRF layer", "torch"), ("transformers", "torch"),
                                             ("embeddings", "torch"), ("Brant", "odds"), ("odds ratio", "odds")])
def test_a_usual_name_leads_to_the_topic_here(other, here, capsys):
    assert main(["help", other]) == 2 and f"Did you mean {here!r}?" in capsys.readouterr().err


def test_exit_codes_are_told(capsys):
    assert main(["--help"]) == 0
    assert "exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C" in capsys.readouterr().out
    assert main(["evaluate", "absent.model", "absent.csv"]) == 2
    assert main(["fit"]) == 2 and capsys.readouterr().err.count("\n") == 2
