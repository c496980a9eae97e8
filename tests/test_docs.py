"""Tests of README and docs: their code runs, their tables agree with the code, and the files and names in them exist."""

import builtins
import contextlib
import doctest
import gzip
import importlib
import importlib.util
import inspect
import io
import pkgutil
import re
import shlex
import subprocess
import symtable
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest
from every_problem import BUNDLED
from plain import Engine
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structperc
from structperc.cli import main
from structperc.cli.parser import build
from structperc.core.adapters import ADAPTERS
from structperc.errors import PluginError
from structperc.fitting import hookspecs
from structperc.fitting import plugins as registry
from structperc.fitting.builtin import BuiltinParts
from structperc.fitting.trainers import Trainer
from structperc.reading.readers import Reader
from structperc.testing.case import make_case

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *(ROOT / "docs").glob("*.md"),
                *(path for folder in ("guide", "papers", "rooms") for path in (ROOT / "docs" / folder).glob("*.md")),
                *(ROOT / "examples").glob("*/README.md")])
ROOMS = sorted({path.parent.name for path in (ROOT / "structperc").glob("*/__init__.py")} | {"plugins"})


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def code_blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def table(page, header):
    """Rows of the table whose header line begins with `header`, as lists of cells."""
    lines = iter(page.read_text().split("\n"))
    for line in lines:
        if line.startswith(f"| {header} |"):
            break
    rows = [line]
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(line)
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return cells[:1] + cells[2:]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


# ---- code on pages ----


def run_blocks(page):
    """Runs the page's Python code from top to bottom; returns its output and the names that it defines."""
    names, printed = {"__name__": "page"}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in code_blocks(page, "python"):
            exec(compile(block, str(page), "exec"), names)
    return printed.getvalue(), names


def said(page):
    """The output that the page shows for its Python code."""
    return re.findall(r"# -> (.*?)(?:, where .*)?$", "\n".join(code_blocks(page, "python")), re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page, "python")], ids=name_of)
def test_python_on_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)                 # outside the clone
    printed, names = run_blocks(page)

    if page.parent.name == "guide" or page.stem in ("index", "start"):
        assert set(said(page)) <= set(printed.split("\n"))
    for function in filter(inspect.isfunction, names.values()):
        for test in doctest.DocTestFinder(recurse=False).find(function, globs=names):
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def lacking(code):
    """The names that a block of Python uses and does not define."""
    used, made, tables = set(), set(), [symtable.symtable(code, "block", "exec")]
    for scope in tables:
        tables += scope.get_children()
        for symbol in scope.get_symbols():
            if scope.get_type() == "module" and (symbol.is_assigned() or symbol.is_imported()):
                made.add(symbol.get_name())
            if symbol.is_referenced() and (scope.get_type() == "module" or symbol.is_global()):
                used.add(symbol.get_name())
    return used - made - set(dir(builtins))


def test_a_block_that_needs_another_says_that_it_continues():
    silent = []
    for page in PAGES:
        text = page.read_text()
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            before = text[:block.start()].rstrip().split("\n\n")[-1] + block[1].partition("\n")[0]
            if lacking(block[1]) and "continues" not in before.lower():
                silent.append((name_of(page), text[:block.start()].count("\n") + 1))
    assert silent == []


@pytest.mark.parametrize("page", ["write-a-problem", "replace-a-part", "parts"])
def test_each_block_of_the_pages_for_authors_runs_by_itself(page):
    for block in code_blocks(ROOT / f"docs/{page}.md", "python"):
        exec(compile(block, page, "exec"), {"__name__": page})


@pytest.mark.parametrize("page", ["write-a-problem", "replace-a-part"])
def test_a_page_for_authors_has_900_words_and_its_commands_on_the_first_screen(page):
    lines = (ROOT / f"docs/{page}.md").read_text().splitlines()

    assert len(" ".join(lines).split()) <= 900
    assert all(any(command in line for line in lines[:6]) for command in ("structperc new", "pip install -e", "structperc check"))


def test_the_readme_says_what_its_code_prints():
    printed, names = run_blocks(ROOT / "README.md")

    assert said(ROOT / "README.md") == ["0.83", "bmi", "['DET', 'NOUN', 'VERB']", "0.91", "0.35, then 0.22"]
    assert printed.split("\n")[:-1] == ["0.83", "bmi", "['DET', 'NOUN', 'VERB']", "0.91", "0.35", "0.22"]
    rival = make_pipeline(StandardScaler(), LogisticRegression())
    error = -cross_val_score(rival, names["X"], names["y"], cv=5, scoring="neg_mean_absolute_error").mean()
    assert f"regression has a mean absolute error of {error:.2f} here" in (ROOT / "README.md").read_text()


def test_the_losses_of_the_guide_are_those_of_its_code():
    page = ROOT / "docs/guide/uncertainty.md"
    rows = {name.strip("`"): [float(cell) for cell in cells if cell] for name, *cells in table(page, "log loss")[1:]}
    measured = run_blocks(page)[1]["measured"]

    assert measured.keys() == rows.keys()
    for name, losses in rows.items():
        assert measured[name] == pytest.approx(losses, abs=0.011), name         # last digits differ between versions of scikit-learn


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 160


@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page, "python")], ids=name_of)
def test_code_on_a_page_is_narrow(page):
    # New users read Start on a telephone. 79 columns fit between both bars of the site.
    columns = 60 if page.name == "start.md" else 79 if page.parent.name == "guide" else 88

    assert [line for block in code_blocks(page, "python") for line in block.splitlines() if len(line) > columns] == []


def test_replace_a_part_shows_the_loss_of_the_examples():
    module = ROOT / "examples/asymmetric_loss/structperc_asymmetric_loss.py"
    page = ROOT / "docs/replace-a-part.md"
    entry_point = code_blocks(page, "toml")

    assert module.read_text() in code_blocks(page, "python")
    assert len(entry_point) == 1 and entry_point[0] in module.with_name("pyproject.toml").read_text()


MISSING = tuple(f"structperc.{name}" for name in ("jax", "torch") if importlib.util.find_spec(name) is None)


def modules():
    """Every module of structperc and its bundled plugins, with the compiled ones."""
    for package in dict.fromkeys(["structperc", *(plugin.plugin.__name__.partition(".")[0] for plugin in BUNDLED)]):
        package = importlib.import_module(package)
        yield package
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and not module.name.startswith(MISSING):
                yield importlib.import_module(module.name)


def doctests(module):
    """The examples of a module. A list of names has those of the classes whose `__module__` is this package."""
    yield from doctest.DocTestFinder().find(module)
    for name in module.__all__ if hasattr(module, "MODULES") or hasattr(module, "MODULE_OF") else ():
        if getattr(getattr(module, name), "__module__", None) == module.__name__:
            yield from doctest.DocTestFinder().find(getattr(module, name), f"{module.__name__}.{name}", module)


DOCTESTS = {test.name: test for module in modules() for test in doctests(module) if test.examples}


@pytest.mark.parametrize("name", sorted(DOCTESTS))
def test_examples_in_docstrings(name):
    report = io.StringIO()
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(DOCTESTS[name], out=report.write)

    assert result.failed == 0, report.getvalue()


def test_docstrings_of_compiled_modules_are_read_too():
    compiled = [module for module in modules() if module.__file__.endswith((".so", ".pyd"))]
    read = {test.name for module in compiled for test in doctest.DocTestFinder(exclude_empty=False).find(module)}

    assert {"structperc.core.losses.CostLoss", "structperc.core.updates.Update.step"} <= read
    assert {"structperc.Engine", "structperc.engine.predictions.explain", "structperc.estimators.PRank"} <= set(DOCTESTS)


# ---- problems and update rules ----


PROBLEMS = ROOT / "docs/guide/problems.md"
OF_STRUCTURES = {plugin.name for plugin in BUNDLED if plugin.sample} - {"sequence", "latent-ranking"}      # their y determines the atoms


def promised():
    """The update rules, and the cells of each problem by update rule. A column of the table may name several rules."""
    header, *rows = table(PROBLEMS, "problem")
    columns = [column.split(", ") for column in header[2:]]
    answers = {quoted(row[0])[0]: {update: cell for column, cell in zip(columns, row[2:], strict=True) for update in column}
               for row in rows}
    return [update for column in columns for update in column], answers


def test_the_guide_lists_all_problems_and_update_rules():
    updates, rows = promised()

    problems = {plugin.name: plugin.hooks for plugin in BUNDLED if "structperc_argmax" in plugin.hooks}
    assert set(rows) == set(problems) - {"adaboost-or"}
    assert all(f"`{name}`" in PROBLEMS.read_text() for name in problems), "also those with a trainer of their own"
    everywhere = {*BuiltinParts.updates, *(update for plugin in BUNDLED for update in plugin.updates)} - {"perturbed"}  # of decision-rules
    assert set(updates) == everywhere and "`update=\"perturbed\"`" in PROBLEMS.read_text()
    assert {cell for row in rows.values() for cell in row.values()} == {"yes", "no"}


FORMS = (np.asarray, np.float32, sparse.csr_matrix, lambda X: sparse.csr_matrix(X, dtype=np.float32))
CELLS = [(problem, update, cell == "yes") for problem, row in promised()[1].items() for update, cell in row.items()]


@pytest.mark.filterwarnings("ignore:each row of X is a sentence of one token")
@pytest.mark.parametrize(("number", "problem", "update", "works"), [(i, *cell) for i, cell in enumerate(CELLS)],
                         ids=["-".join(map(str, cell)) for cell in CELLS])
def test_each_problem_works_with_the_update_rules_that_the_guide_lists(number, problem, update, works):
    """Each rule runs with two of four options and with two formats of X.

    The options and formats change from rule to rule, so each pair occurs with some rule.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = np.digitize(X[:, 0], [-1, 0, 1])
    plain = {"update": update, "epochs": 10, "average": True} | ({"loss_weight": 3.0} if update.startswith("direct") else {})
    plain |= {"step_size": 0.1} if update.startswith("adagrad") else {}
    plain |= {"step_size": 1.0} if update == "logistic" and problem in OF_STRUCTURES else {}
    augmented = {"loss_weight": 0.1} if update in ("perceptron", "latent", "pa", "pa1", "pa2") else {}
    if problem == "latent-ranking":
        other = {"loss": "recall"}
    elif problem in OF_STRUCTURES:
        other = {} if update in ("direct", "direct-better", "adagrad") else {"loss": "zero-one"}    # not every solver supports it
    else:
        other = {"loss": np.subtract.outer(np.arange(4), np.arange(4)) ** 2}
    groups = np.arange(200) // 20 if problem == "latent-ranking" else None
    if not works:
        with pytest.raises(PluginError, match=f"update='{update}'"):
            if problem in OF_STRUCTURES:
                assert not make_case(problem, (), plain, 0).asked
            Engine(problem, **plain).fit(X, y, groups=groups)
        return

    settings = list(enumerate((plain, plain | {"average": False}, plain | augmented, plain | other)))
    for i, options in settings[number % 2::2]:
        form = FORMS[(i + number // 2) % len(FORMS)]
        if problem == "latent-ranking":
            shown = Engine(problem, k=5, relevant=2, **options).fit(form(X), y, groups=groups).predict(form(X), groups=groups)
            right = y.reshape(10, 20)[np.arange(10)[:, None], np.stack(shown)] >= 2
        elif problem in OF_STRUCTURES:
            case = make_case(problem, (), options, 0)
            data = case.teach(case.data, case.answers(case.teacher(), case.examples))
            given = attrs.evolve(data, X=form(data.X)) if data.offsets is not None else data
            found = case.fit(data=given).predict(given.X, offsets=given.offsets)
            right = [list(a) == list(b) for a, b in zip(found, data.y, strict=True)]
        else:
            right = np.hstack(Engine(problem, **options).fit(form(X), y).predict(form(X))) == y     # chains: one token each
        assert np.mean(right) > 0.6


# ---- the architecture ----


ARCHITECTURE = ROOT / "docs/architecture.md"
HOOKS = {quoted(row[0])[0]: row for row in table(ARCHITECTURE, "hook")[1:]}


def test_every_hook_is_listed_with_its_arguments():
    hooks = [f"{name}({', '.join(inspect.signature(getattr(hookspecs, name)).parameters)})" for name in registry.HOOKS]

    assert list(HOOKS) == hooks


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_listed_with_its_base_class_and_methods(hook):
    _, base, python, cython, code = map(quoted, HOOKS[hook])
    answer = registry.COMPONENTS.get(hook.partition("(")[0])
    adapted = {base: methods for base, _, methods in ADAPTERS}

    assert base == ([answer.__name__] if answer else [])
    assert python == list(adapted.get(answer, {Reader: ["learn", "read"], Trainer: ["train"]}.get(answer, [])))
    assert cython == compiled_methods(answer)
    assert (ROOT / code[0]).is_file()


def compiled_methods(base):
    """The methods ending in _c that a base class declares, in order. Update rules call those of `Trial`."""
    declarations = "\n\n".join(file.read_text() for file in sorted((ROOT / "structperc/core").glob("*.pxd")))
    body = re.search(rf"^cdef class {base.__name__}\(\w+\):\n(.*?)(?=^\S|\Z)", declarations, re.MULTILINE | re.DOTALL) if base else None
    return re.findall(r"(\w+_c)\(", body[1]) if body else []


def test_the_picture_names_every_hook():
    drawn = re.findall(r"structperc_\w+", (ROOT / "docs/architecture.svg").read_text())

    assert sorted(drawn) == sorted(registry.HOOKS)


def test_importing_structperc_loads_nothing_that_stands_on_the_engine():
    code = "import sys, structperc; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    above = [f"structperc.{name}" for name in ("estimators", "cli", "plotting", "testing", "callbacks", "files")]

    assert [name for name in loaded if name.startswith("structperc")] == ["structperc"]
    code = "import sys; from structperc import Engine; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "structperc.engine.engine" in loaded
    assert [name for name in loaded if name.startswith(("sklearn", "structperc_", *above))] == []


# ---- names ----


def links(page):
    return re.findall(r"\]\(([^)#:]+)\)", page.read_text())


def prose(page):
    """The page without its fenced blocks and indented lines."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return "\n".join(line for line in text.split("\n") if not line.startswith("    "))


def commands(page):
    """Commands: indented lines, continued after a backslash, and inline code that begins with one; each command of a pipe."""
    text = re.sub(r" \\\n +", " ", page.read_text())
    shown = re.findall(r"^ {4,}((?:make|structperc|pip|python|\.) .*?)(?:  +#?.*)?$", text, re.MULTILINE)
    shown += [code for code in quoted(prose(page)) if re.match(r"(make|structperc|pip|python) ", code)]
    return [command for line in shown for command in line.split(" | ")]


def test_links_lead_somewhere():
    assert [(page, link) for page in PAGES for link in links(page) if not (page.parent / link).exists()] == []


def test_the_page_on_installing_lists_the_extras_that_messages_name():
    named = {extra for path in (ROOT / "structperc").rglob("*.py")
             for extra in re.findall(r'require\([^()]*, "([a-z]+)"\)', path.read_text(encoding="utf-8"))}
    assert {"databases", "onnx", "tables"} <= named <= set(quoted((ROOT / "docs/install.md").read_text(encoding="utf-8")))


def test_files_that_are_named_exist():
    named = [(page, code) for page in PAGES for code in quoted(prose(page))
             if re.fullmatch(r"[\w./-]+/[\w.-]+|[\w-]+\.(py|pyx|toml|md)", code)]

    assert [(page, name) for page, name in named if not any((folder / name).exists() for folder in (ROOT, page.parent))] == []


def test_each_promise_names_a_test_that_exists():
    page = (ROOT / "docs" / "reliability.md").read_text().partition("## Extremes")[0] + (ROOT / "SECURITY.md").read_text()
    rows = re.findall(r"^\| [A-Z`].* \| (.*) \|$", page, re.MULTILINE)
    for cell in rows:
        assert quoted(cell)
        for name in quoted(cell):
            path, _, function = name.partition("::")
            assert path == "make fuzz" or (f"def {function}(" if function else "") in (ROOT / path).read_text(), name
    promises = re.findall(r"^\| promise \| test \|\n\|---\|---\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert len(rows) == sum(table.count("\n") for table in promises) > 100


def test_workflows_pin_their_actions_and_install_what_a_build_requires():
    tests, wheels = ((ROOT / ".github/workflows" / name).read_text() for name in ("tests.yml", "wheels.yml"))
    used = re.findall(r"uses: (.*)", tests + wheels)
    assert used and [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v[\d.]+", action)] == []
    requires = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1].replace(",", "")
    assert f"pip install {requires}\n" in tests


def understood(arguments):
    """Whether the command line accepts these arguments, or prints help."""
    try:
        return bool(build().parse_args(arguments))
    except SystemExit as stop:
        return not stop.code


def test_commands_are_understood(capsys):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    for command in [command for page in PAGES for command in commands(page)]:
        first, *words = shlex.split(command, comments=True)
        if first == "make":
            assert words[0] in targets, command
        elif first == "structperc":
            arguments = words if words[1:] else [*words, "--help"]      # only the name, in prose
            assert understood(arguments), f"{command}: {capsys.readouterr().err}"
        elif first == "python" and words[0] != "-m":
            assert (ROOT / words[0]).is_file(), command
        elif first == "pip":
            path, _, extra = words[-1].partition("[")
            if ">=" in path:
                assert all(f'"{word}' in (ROOT / "pyproject.toml").read_text() for word in words[1:]), command
                continue
            assert (ROOT / path / "pyproject.toml").is_file() or path.startswith("structperc-"), command      # from `structperc new`
            assert not extra or {*extra.rstrip("]").split(",")} <= {*extras}, command


# What readers have when they come to a command of a page: files of their own, and what the page's Python writes.
LEVELS = ("none", "mild", "severe")
GRADES = "patient,sex,bmi,grade,severity\n" + "".join(
    f"p{i},{'fm'[i % 2]},{20 + i % 9},{1 + i % 9 // 3},{LEVELS[i % 9 // 3]}\n" for i in range(36))
NUMBERS = "bmi,age,level\n" + "".join(f"{20 + i % 9},{i},{1 + i % 9 // 3}\n" for i in range(30))
CHUNKS = "the DT B-NP\ndog NN I-NP\nsleeps VB B-VP\n. . O\n\nit PRP B-NP\nbarks VB B-VP\n\n"
TREE = "1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
ATTRIBUTES = "DET\tword=the\nNOUN\tword=dog\n\n"
OWN_FILES = {
    "docs/start.md": {"visits.csv": GRADES, "new.csv": GRADES, "train.txt": CHUNKS},
    "docs/presets.md": {"table.csv": NUMBERS},
    "docs/guide/effects.md": {"train.csv": GRADES, "new.csv": GRADES},
    "docs/guide/export.md": {"train.txt": ATTRIBUTES, "new.txt": ATTRIBUTES, "level.csv": NUMBERS},
    "docs/guide/odds.md": {},
    "docs/guide/sequences.md": {"train.txt": CHUNKS},
    "docs/guide/streams.md": {"large.csv.gz": NUMBERS},
    "docs/guide/tokens.md": {"train.txt": re.sub(" [A-Z.]+ ", " ", CHUNKS), "vectors.txt": "the 0.5 1\ndog -1 0.25\n"},
    "docs/guide/trees.md": {"train.conllu": TREE},
}
TRAINED = {             # models that a page has from another page
    "docs/guide/effects.md": "structperc fit prank train.csv --target grade --model grade.model --drop patient,sex,severity",
    "docs/guide/export.md": "structperc fit prank level.csv --target level --model level.model",
}
# What other tests run.
ELSEWHERE = ("--dask", "s3://", "duckdb", "import-crfsuite", "fit choice", "structperc new", "structperc check", "predict t")


def test_the_commands_of_the_pages_run_in_order(tmp_path, monkeypatch, capsys):
    ran = 0
    for page in (page for page in PAGES if page.parent.name in ("docs", "guide")):      # the test of the demo runs those of the README
        shown = [command for command in commands(page) if command.startswith("structperc ") and " " in command[11:]
                 and not any(part in command for part in ELSEWHERE)]
        if not shown:
            continue
        assert name_of(page) in OWN_FILES, f"{name_of(page)} has commands: OWN_FILES needs the files that its reader has"
        folder = tmp_path / page.stem
        folder.mkdir()
        monkeypatch.chdir(folder)
        for name, text in OWN_FILES[name_of(page)].items():
            folder.joinpath(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        if page.name == "odds.md":
            names = run_blocks(page)[1]
            for line in re.findall(r"`(people[^`]+)`", page.read_text()):
                exec(line, names)
        for command in [*filter(None, [TRAINED.get(name_of(page))]), *shown]:
            assert main(shlex.split(command, comments=True)[1:]) == 0, (page, command, capsys.readouterr().err)
            ran += 1
    capsys.readouterr()
    assert ran >= 16


def test_commands_are_found_and_wrong_ones_noticed(capsys):
    assert not understood(["fit", "cusum"]) and not understood(["train", "--help"])
    assert "structperc fit parsing train.conllu --model trees.model" in commands(ROOT / "README.md")
    assert "make test" in commands(ROOT / "CONTRIBUTING.md")


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {structperc.__version__}\n" in citation and re.search(r"\ndate-released: \d{4}-\d\d-\d\d\n", citation)


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_a_page_that_architecture_links(room):
    page = (ROOT / f"docs/rooms/{room}.md").read_text()

    assert "| start in | for |" in page and "## Rules" in page and "Tests are in `tests/" in page
    assert f"(rooms/{room}.md)" in (ROOT / "docs/architecture.md").read_text()
