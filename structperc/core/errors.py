"""What goes wrong, said in sentences: where, what came, what was expected, what to do.

`structperc.errors` is the public address of this module.
"""

import difflib
import re


class StructPercError(Exception):
    """Base of all errors that structperc raises on purpose."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


class DataError(StructPercError, ValueError):
    """X, y or another argument that holds data cannot be used; names the row, column or key."""


class DataTypeError(DataError, TypeError):
    """X holds an object that can never become a number."""


class OptionError(StructPercError, ValueError):
    """An option has a value that it cannot have, or none that it could have any effect with."""


class UnusedOption(OptionError):
    """An option that has no effect beside the other options; `option` is its name. Estimators leave such an option out instead."""

    def __init__(self, message, option=""):
        super().__init__(message)
        self.option = option


class ReplacedOption(UnusedOption):
    """An option that has no effect since a plugin has put a part that ignores it where another part would use it."""


class PluginError(StructPercError, TypeError):
    """A plugin is unknown, broken, incomplete or does not fit the others; names it and the hook."""


class ConflictingOption(PluginError):
    """An option that the other parts cannot go with; `option` is its name. A value that the preset has given it is left out instead."""

    def __init__(self, message, option=""):
        super().__init__(message)
        self.option = option


class ModelFormatError(StructPercError, ValueError):
    """A model file is damaged, truncated, foreign or from another version; names the file."""


class MissingData(StructPercError, OSError):
    """The files of a data set are not on this machine, and could not be fetched; says what to put where."""


class BusyError(StructPercError, RuntimeError):
    """The engine is being trained, by an observer's caller or in another thread."""


class NotFittedError(StructPercError, ValueError, AttributeError):
    """The engine has not been trained yet."""


class MissingExtra(StructPercError, ImportError):
    """A library that only some functions need is not installed."""


class DataWarning(UserWarning):
    """Data that can be used, though something about them is seldom meant."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


class WeightWarning(DataWarning):
    """Sample weights that hardly change what is learned."""


class ScaleWarning(DataWarning):
    """Columns differ much in size, and nothing scales them."""


def add_note(error: BaseException, sentence: str) -> None:
    """Adds a sentence below an error's message; before Python 3.11 it is kept but not shown."""
    error.__notes__ = [*getattr(error, "__notes__", ()), sentence]


ADDRESSED = re.compile(r"<(?:\w+ )??(?:[\w<>]+\.)*(\w+)(?: object)? at 0x[0-9a-fA-F]+>")      # <module.Name object at 0x7f..>


def shortened(value, most: int = 60) -> str:
    """What a message shows of a value: the beginning of its repr, without addresses; its type, where the repr fails as of deep lists."""
    try:
        return ADDRESSED.sub(r"\1", repr(value))[:most]
    except Exception:
        return f"of type {type(value).__name__}"


OTHER_NAMES = {             # names here, and what other libraries, textbooks and commands call the same
    "epochs": "max_iter n_iter n_epochs num_epochs max_epochs iterations n_estimators num_boost_round",
    "step_size": "learning_rate lr eta eta0 rate",
    "coverage": "alpha confidence",
    "decay": "alpha l2 weight_decay reg_lambda lambda penalty",
    "random_state": "seed random_seed",
    "c": "regularization regularisation aggressiveness",
    "scale": "standardize standardise normalize normalise",
    "average": "averaged averaging",
    "absolute": "mae l1 mean_absolute_error mean-absolute-error",
    "squared": "mse l2 mean_squared_error",
    "zero-one": "0-1 01 0/1 accuracy",
    "mean-absolute-error": "mae neg_mean_absolute_error",
    "quadratic-weighted-kappa": "qwk kappa",
    "average-precision": "map ap",
    "perceptron": "sgd",
    "rbf": "gaussian gauss",
    "iob2": "bio iob",
    "mean": "average avg",
    "most-frequent": "mode majority",
    "cusum": "ordinal regression ordinal-regression ordinal_regression ranks",
    "prank": "proportional-odds ordered-logit cumulative-link",
    "multiclass": "classification classifier",
    "pa1": "hinge",
    "sequence": "crf tagger tagging ner pos chunking sequence-labelling",
    "segments": "segmentation semi-markov semi-crf",
    "parsing": "parser dependency-parsing treebank",
    "matching": "assignment record-linkage linkage",
    "clusters": "clustering coreference deduplication entity-resolution",
    "graph": "mrf ising potts",
    "path": "shortest-path routing",
    "decisions": "spo predict-then-optimise predict-then-optimize",
    "latent-ranking": "ranking rankings ranker ltr learning-to-rank",
    "large-margin": "svor svm",
    "disjoint-intervals": "intervals",
    "fit": "train learn",
    "evaluate": "test score",
    "drop": "ignore exclude skip",
    "csv": "tsv txt",
    "numpy": "python py",
    "qid": "qids query_id",
    "lengths": "group",
    "predict_proba": "predict_probability predict_probabilities",
    "sample_weight": "weight weights sample_weights",
}


def did_you_mean(value, known) -> str:
    """The end of a message about an unknown name: the known one that means the same or is nearest to it, or nothing."""
    near = nearest(value, known)
    return f" Did you mean {near!r}?" if near else ""


def no_attribute(owner, name) -> AttributeError:
    """The error of an attribute that an object does not have, with the one that is meant."""
    public = [known for known in dir(type(owner)) if known[:1] != "_"] if name[:1] != "_" else []
    hint = did_you_mean(name, public)
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}{hint and '.'}{hint}")


def nearest(value, known) -> str | None:
    """The known name that means the same as an unknown one, or is written almost like it, capitals or not; None where there is none."""
    text, names = str(value), {str(name).lower(): str(name) for name in known}
    if text in names.values():
        return None
    lower = text.lower()
    meant = [name for name, others in OTHER_NAMES.items() if lower in others.split()]
    near = [lower] if lower in names else [name for name in meant if name in names] if meant else difflib.get_close_matches(lower, names, 1)
    return names[near[0]] if near else None
