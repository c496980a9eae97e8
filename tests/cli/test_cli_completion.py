"""`structperc completion`: what bash offers, and scripts that zsh and fish take."""

import contextlib
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from structperc.cli import main
from structperc.cli.parser import build

TRY = """
source ./script
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _structperc; (IFS=,; echo "${COMPREPLY[*]}"); }
"""


@pytest.fixture(scope="module")
def texts():
    """The scripts by shell."""
    found = {}
    for shell in ("bash", "zsh", "fish"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["completion", shell]) == 0
        found[shell] = out.getvalue()
    return found


@pytest.fixture
def scripts(tmp_path, monkeypatch, texts):
    """The scripts in files bash, zsh and fish, and some data."""
    monkeypatch.chdir(tmp_path)
    for shell, text in texts.items():
        Path(shell).write_text(text)
    Path("my data.csv").touch()
    Path("wine.csv").touch()


def offered(*lines) -> list:
    """What bash offers after each line, a tuple of words as bash parts it."""
    Path("script").write_text(Path("bash").read_text())
    calls = "\n".join("try " + " ".join(f"'{word}'" for word in line) for line in lines)
    done = subprocess.run(["bash", "--norc", "-c", TRY + calls], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.split(",") if line else [] for line in done.stdout.split("\n")[:-1]]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_plugins_settings_and_files(scripts):
    assert offered(
        ("structperc", "exp"), ("structperc", "fit", "cus"), ("structperc", "fit", "cusum", "wi"), ("structperc", "fit", "cusum", "my"),
        ("structperc", "fit", "--plugin", "dual"), ("structperc", "fit", "cusum", "wine.csv", "--tar"),
        ("structperc", "fit", "cusum", "wine.csv", "--set", "upd"), ("structperc", "fit", "--set", "update", "=", "exact-"),
        ("structperc", "fit", "--set", "average", "="), ("structperc", "fit", "--set", "epochs", "=", "3", "--quiet", "interval"),
        ("structperc", "export", "m", "o", "--to", "nu"), ("structperc", "new", "x", "--kind", "=", "cy"), ("structperc", "explain", "w"),
        ("structperc", "fit", "cusum", "wine.csv", "--target", ""), ("structperc", "check", "adaboost"), ("structperc", "nothing", "x"),
    ) == [["export", "explain"], ["cusum"], ["wine.csv"], ["my data.csv"], ["dual-kernel"], ["--target"], ["update="],
          ["exact-pa", "exact-pa1", "exact-pa2"], ["true", "false"], ["interval-pa"], ["numpy"], ["cython"], ["wine.csv"], [],
          ["adaboost-or"], []]  # fmt: skip


def test_every_command_and_option_is_in_every_script(scripts):
    for shell in ("bash", "zsh", "fish"):
        text = Path(shell).read_text()
        for name, command in build().commands.items():
            assert name in text
            for flag in command._option_string_actions:
                assert (flag if shell != "fish" else f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}") in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", shell], capture_output=True, text=True).stderr == ""


def test_another_shell_is_refused(run):
    code, out, err = run("completion", "tcsh")
    assert code == 2 and "invalid choice: 'tcsh'" in err and err.count("\n") == 1
