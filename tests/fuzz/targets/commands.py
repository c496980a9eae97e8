"""Command lines, run in this process: hostile flags and files end in an exit code and one line of text, never in a traceback."""

import contextlib
import functools
import io
import re

import numpy as np
from plain import Engine

from fuzz import corpus
from fuzz.mutators import CELLS
from fuzz.promises import expect
from fuzz.targets.files import folder, spoiled, written
from structperc.cli import main

CODES = (0, 1, 2)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
FITS = {
    "ranks.csv": ("cusum", "--target", "level"),
    "names.csv": ("cusum", "--target", "level", "--classes", "low,high"),
    "intervals.csv": ("interval-pa", "--target", "low,high", "--set", "update=exact-pa1"),
    "marked.csv": ("latent-ranking", "--target", "shown", "--group", "day"),
    "classes.svmlight": ("multiclass",),
    "queries.svmlight": ("latent-ranking", "--group", "qid"),
    "chunks.conll": ("sequence", "--columns", "word,pos,chunk"),
    "tags.conllu": ("sequence", "--target", "upos"),
}
FLAGS = (
    "--set=epochs=2", "--set=average=true", "--set=update=pa1", "--set=C=0.1", "--set=epochs=nan", "--set=margin=1e400", "--set=x",
    "--set==",
    "--set=loss=[[0,1],[1,0]]", "--set=loss=[[", "--set=random_state=-1", "--set=classes=a", "--set=kernel=rbf", "--set=budget=2",
    "--plugin=dual-kernel",
    "--plugin=batch", "--plugin=none", "--plugin=", "--set=trainer=bcfw", "--classes=", "--classes=1,2,3", "--classes=low,,high",
    '--classes="a',
    "--weight=weight", "--weight=none", "--group=day", "--group=qid", "--group=", "--format=csv", "--format=svmlight", "--format=conll",
    "--format=conllu", "--format=x", "--separator=;", "--separator=tab", "--separator=", "--separator=\0", "--columns=a,b,c",
    "--columns=_,_,_",
    "--columns=", "--quiet", "--progress", "--target=", "--target=level,level", "--target=none", "--traceback=1", "--help", "-x", "",
)  # fmt: skip


def path_of(name):
    return str(folder() / name)


@functools.cache
def models():
    """Models of all files of the corpus: their paths, by the files' names."""
    found = {}
    for name, arguments in FITS.items():
        found[name] = path_of(f"{name}.model")
        code, _, said = run("fit", arguments[0], str(corpus.FOLDER / name), *arguments[1:], "--model", found[name], "--quiet")
        expect(code == 0, f"the corpus cannot be learned: {said}")
    return found


def run(*arguments):
    """Exit code, standard output and standard error of a command."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))
    return code, *texts


def hostile_commands(random):
    """One command."""
    name = random.choice(list(FITS))
    problem, *flags = FITS[name]
    act = random.randrange(10)
    trained = models()
    data = str(corpus.FOLDER / name)
    if random.random() < 0.9:
        data = str(written(random, name)) if random.random() < 0.9 else path_of(random.choice(("none", ".", "a\0b", "\ud800")))
    if act < 4:
        extra = random.choices(FLAGS, k=random.choice((0, 1, 1, 2)))
        model = random.choice((path_of("new.model"), path_of("new.model"), path_of("none/x"), path_of("."), "", path_of("a\0b")))
        template = ["--template", str(written(random, "windows.template"))] if random.random() < 0.1 else []
        arguments = ["fit", random.choice((problem,) * 8 + ("prank", "sequence", "dual-kernel", "x")), data, *flags, "--model", model,
                     *extra, *template]
    else:
        model = trained[name if random.random() < 0.9 else random.choice(list(FITS))]
        if random.random() < 0.1:
            (folder() / "damaged").write_bytes(spoiled(random, name))
            model = path_of("damaged")
        target = [flag for flag in flags if "--set" not in flags and not flag.startswith("--c")]
        extra = random.choices(FLAGS, k=random.choice((0, 0, 1)))
        if act < 7:
            group = flags[flags.index("--group"):][:2] if "--group" in flags else []
            output = ["--output", random.choice((path_of("out"), path_of("none/out"), path_of(".")))] if random.random() < 0.6 else []
            arguments = ["predict", model, data, *group, *output, *extra]
        elif act < 9:
            named = target if "--columns" not in flags else []
            arguments = random.choice((["evaluate", model, data, *named, *extra], ["compare", model, model, data, *named, *extra],
                                       ["explain", model, data, "--row", random.choice("123"), *extra],
                                       ["card", model, "--data", data, *named, *extra]))
        else:
            arguments = random.choice((["plugins"], ["plugins", "--json"], ["new", random.choice(CELLS), path_of("pkg")], [], ["x"],
                                       [random.choice(CELLS)],
                                       ["check", random.choice(("none", "", "a/b"))]))
    code, out, err = run(*arguments)
    words = " ".join(arguments)
    expect(code in CODES, f"exit code {code} of: {words!r}")
    expect("Traceback" not in err and "--traceback shows where" not in err, f"no sentence: {err!r} of: {words!r}")
    expect(code or not err.strip() or "--progress" in arguments or "--quiet" not in arguments, f"success, but standard error says {err!r}")
    expect(code == 0 or err.strip() or act >= 9, f"exit code {code} without a word of: {words!r}")
    expect("--progress" in arguments or not CONTROL.search(err), f"control characters reach the terminal: {err!r}")
    if code == 0 and arguments[:1] == ["fit"] and "--help" not in arguments and random.random() < 0.3:
        learned_in_parts(random, arguments)
    return code == 0


def learned_in_parts(random, arguments):
    """The same fit with the paper's algorithm has the same weights with --stream, or fails."""
    whole, parts = path_of("whole.model"), path_of("parts.model")
    arguments = [*arguments, "--set", "preset=paper"]
    if run(*arguments, "--model", whole)[0] == 0 and run(*arguments, "--model", parts, "--stream", "--rows", random.choice("123"))[0] == 0:
        expect(weights_of(whole) == weights_of(parts), f"--stream learns another model: {' '.join(arguments)!r}")


def weights_of(path):
    """The state of a model's weights. The numbers of kernel rows depend on how often rows are read, and no prediction on them."""
    state = Engine.load(path).parts_.weights.state()
    return {name: np.asarray(values).tobytes() for name, values in state.items() if name != "row_numbers"}
