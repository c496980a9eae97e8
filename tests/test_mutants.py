"""Tests of the sample of mutants: changed and unchanged code, the order of tests, and killed mutants."""

import ast
from pathlib import Path

import pytest
from mutants import concerned, main, modules, mutants_of

ROOT = Path(__file__).parents[1]


def changed(tmp_path, source):
    """(before, after) of each mutant of a source."""
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    mutants = mutants_of(Path("module.py"), tmp_path)
    for mutant in mutants:
        ast.parse(mutant.source)
        assert mutant.source != source
    return [(mutant.before, mutant.after) for mutant in mutants]


@pytest.mark.parametrize(("source", "expected"), [
    ("x = a < b <= c", [("a < b <= c", "a <= b <= c"), ("a < b <= c", "a < b < c")]),
    ("x = 2 * (a + b)", [("2 * (a + b)", "2 / (a + b)"), ("2", "3"), ("a + b", "a - b")]),
    ("if not a and True: pass", [("not a and True", "not a or True"), ("not a", "a"), ("True", "False")]),
    ("y = np.argmin(x) if -x else min(x)", [("-x", "x"), ("np.argmin", "np.argmax"), ("min", "max")]),
    ('é = "ö" * 1 + f(0)', [("0", "1")]),
])
def test_an_operator_a_number_or_a_name_is_changed(tmp_path, source, expected):
    found = changed(tmp_path, source)

    assert [pair for pair in found if pair != ("1", "2")] == expected


def test_texts_annotations_and_the_inside_of_messages_are_left_alone(tmp_path):
    assert changed(tmp_path, '"""1 + 1."""\ndef f(x: "1 | 2") -> int | None:\n    """2."""\n    raise E(f"{x + 1} of {-x:3.1f}")\n') == []


def test_a_change_keeps_the_rest_of_the_file(tmp_path):
    (tmp_path / "module.py").write_text("# ä\nx = (a +\n     b) * c       # why\n", encoding="utf-8")

    assert [mutant.source for mutant in mutants_of(Path("module.py"), tmp_path)] == [
        "# ä\nx = ((a + b) / c)       # why\n".replace("(a + b) / c", "(a + b) / c"),
        "# ä\nx = ((a - b)) * c       # why\n".replace("((a - b))", "((a - b))"),
    ]


def test_the_tests_of_a_module_come_first():
    assert concerned(Path("structperc/fitting/scaling.py"), ROOT)[0].name == "test_scaling.py"
    assert "test_pocket.py" in [test.name for test in concerned(Path("plugins/structperc_prank/training.py"), ROOT)]
    assert all(concerned(path, ROOT) for path in modules(ROOT)[::7] if (ROOT / path).stat().st_size > 2000)


def test_a_mutant_is_killed_by_a_test_that_passes_without_it(tmp_path, capsys):
    for name, text in {
        "structperc/__init__.py": "", "structperc/seen.py": "def opposite(x):\n    return -x\n",
        "structperc/unseen.py": "def negative(x):\n    return -x\n",
        "tests/test_seen.py": "from structperc.seen import opposite\n\n\ndef test_it():\n    assert opposite(3) == -3\n",
        "tests/test_unseen.py": "from structperc.unseen import negative\n\n\ndef test_it():\n    assert negative(0) == 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    survivors = main(["--count", "9", "--jobs", "1"], tmp_path)

    assert sorted(str(mutant.path.name) for mutant in survivors) == ["unseen.py"]
    printed = capsys.readouterr().out
    assert "1 of 2 killed, of 2 mutants; seed 0." in printed and "tests/test_unseen.py fails without a mutant" in printed
    assert (tmp_path / "structperc/seen.py").read_text() == "def opposite(x):\n    return -x\n"
