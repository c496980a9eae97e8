"""Messages of the command line."""

import contextlib
import io

from advice.followed import TAGS, messages_of
from structperc import Engine
from structperc.cli import main
from structperc.errors import DataError

ROWS = [(i % 7, i * 5 % 11, i % 3) for i in range(24)]
FILES = {
    "t.csv": "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS),
    "t.svmlight": "".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in ROWS),
    "named.txt": "".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in ROWS),
    "t.crf": "x\ta\ny\tb\n\n",
    "t.conll": "".join(f"{'ab'[a % 2]} {'xy'[y % 2]}\n" + "\n" * (i % 4 == 3) for i, (a, _, y) in enumerate(ROWS)),
}


def command(*words):
    """Runs a command on the files, in an empty folder; its message as an error."""
    def run(folder):
        for name, text in FILES.items():
            (folder / name).write_text(text)
        for call in " ".join(words).split(" && "):
            err = io.StringIO()
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                code = main([word.replace("@", f"{folder}/") for word in call.split()])
            if code:
                raise DataError(err.getvalue())
    return run


def named_tokens(then):
    def run(folder):
        model = Engine("sequence", random_state=0).fit([[{"a": 1.0}, {"b": 1.0}]] * 2, TAGS[:2])
        model.save(folder / "named.model")
        return then(folder)
    return run


FIT_CSV = "fit multiclass @t.csv --target y --model @m"
FIT_CONLL = "fit sequence @t.conll --columns word,tag --model @m"
MESSAGES = [
    *messages_of("structperc/cli/files.py",
        ("but the model was trained on", command(FIT_CONLL, "&& predict @m @t.csv --output @out.csv"), command(FIT_CONLL,
         "&& predict @m @t.conll --format conll --output @out.conll"))),
    *messages_of("structperc/cli/item_files.py",
        ("Data files of CRFsuite have such; pass --format", named_tokens(command("predict @named.model @t.conll --output @out.conll")),
         named_tokens(command("predict @named.model @t.crf --format crfsuite --output @out.crf")))),
    *messages_of("structperc/cli/source.py",
        ("means nothing; leave it out, or pass --format", command(FIT_CONLL, "--weight w"), command(FIT_CONLL),
         command(FIT_CSV, "--format csv --weight b")),
        ("means nothing; leave it out, or pass --format", command("fit multiclass @t.svmlight --target y --model @m"),
         command("fit multiclass @t.svmlight --model @m"), command(FIT_CSV.replace("t.csv", "t.csv --format csv"))),
        ("means nothing; leave it out, or pass --format", command("fit multiclass @t.svmlight --separator ; --model @m"),
         command("fit multiclass @t.svmlight --model @m"), command(FIT_CSV, "--format csv --separator ,"))),
]
