"""The errors of structperc, with place, value, expectation and remedy.

`structperc.errors` is the public address of this module.
"""

import difflib
import importlib
import re


class StructPercError(Exception):
    """Base class of all errors that structperc raises on purpose."""

    together = ()               # the errors that this one joins

    def __init__(self, *args: object) -> None:
        super().__init__(*args)

    def __init_subclass__(cls):
        if cls.__module__.startswith("structperc.") and cls.__module__ != __name__:      # private: users see the name of the public one
            public = next(base for base in cls.__mro__ if base.__module__ == "structperc.errors")
            cls._address = cls.__module__, cls.__name__
            cls.__module__, cls.__name__, cls.__qualname__ = "structperc.errors", public.__name__, public.__qualname__

    def __reduce__(self):
        kind, arguments, *state = super().__reduce__()
        address = vars(kind).get("_address")
        return (kind, arguments, *state) if address is None else (rebuilt, (*address, arguments), *state)


def rebuilt(module, name, arguments):
    """An error from a pickle, of a private kind."""
    return getattr(importlib.import_module(module), name)(*arguments)


class OfOption(StructPercError):
    """An error about an option, which it names."""

    def __init__(self, message, option=""):
        super().__init__(message)
        self.option = option


class DataError(StructPercError, ValueError):
    """X, y or another data argument cannot be used. The message names the row, column or key."""


class DataTypeError(DataError, TypeError):
    """X contains an object that can never become a number."""


class OptionError(StructPercError, ValueError):
    """An option has a value that is not allowed, or one without any effect."""


class UnusedOption(OfOption, OptionError):
    """An option has no effect beside the other options. Estimators leave such an option out instead.

    Parameters
    ----------
    message : str
    option : str, default ""
        Name of the option.
    """


class ReplacedOption(UnusedOption):
    """An option has no effect because a plugin has replaced the part that would use it.

    Parameters
    ----------
    message : str
    option : str, default ""
        Name of the option.
    """


class PluginError(StructPercError, TypeError):
    """A plugin is unknown, broken, incomplete or does not fit the others. The message names it and the hook."""


class ConflictingOption(OfOption, PluginError):
    """An option conflicts with the other parts. If the preset has set it, it is left out instead.

    Parameters
    ----------
    message : str
    option : str, default ""
        Name of the option.
    """


class ModelFormatError(StructPercError, ValueError):
    """A model file is damaged, truncated, foreign or from another version. The message names the file."""


class MissingData(StructPercError, OSError):
    """The files of a data set are missing and could not be downloaded. The message names the place for them."""


class BusyError(StructPercError, RuntimeError):
    """The engine is being trained, by an observer's caller or in another thread."""


class NotFittedError(StructPercError, ValueError, AttributeError):
    """The engine has not been trained yet."""


class MissingExtra(StructPercError, ImportError):
    """A library that only some functions need is not installed."""


class DataWarning(UserWarning):
    """Data can be used, but are rarely meant that way."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


class WeightWarning(DataWarning):
    """Sample weights hardly change what is learned."""


class ScaleWarning(DataWarning):
    """Columns differ much in size, and scaling is off."""


class OptionErrors(list):
    """Errors of several options, raised as one. `with errors:` catches an `OptionError` or a `PluginError`, and what follows goes on.

    Parameters
    ----------
    iterable : iterable of OptionError or PluginError, optional
        Errors that are known already.

    Examples
    --------
    >>> from structperc.errors import OptionError
    >>> from structperc.plugin_tools import OptionErrors
    >>> errors = OptionErrors()
    >>> for name, value in {"low": -1, "high": 3}.items():
    ...     with errors:
    ...         if not 0 <= value <= 2:
    ...             raise OptionError(f"{name}={value}; expected a number from 0 to 2.")
    >>> errors.raise_all()
    Traceback (most recent call last):
    structperc.errors.OptionError: low=-1; expected a number from 0 to 2. Also high=3; expected a number from 0 to 2.
    """

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, (OptionError, PluginError)):
            self.append(error)
            return True
        return False

    def raise_all(self) -> None:
        """Raise the only error, or one with the sentences of all, of the class that they share. Without errors it does nothing."""
        if len(self) == 1:
            raise self[0]
        if self:
            alike = [kind for kind in type(self[0]).__mro__ if all(isinstance(error, kind) for error in self)]
            kind = alike[0] if issubclass(alike[0], (OptionError, PluginError)) else type(self[0])
            joined = kind(" Also ".join(map(str, self)))
            joined.together = tuple(self)
            raise joined


for kind in [value for value in vars().values() if isinstance(value, type)]:
    kind.__module__ = "structperc.errors"       # the address that users see and pickles have


def add_note(error: BaseException, sentence: str) -> None:
    """Adds a sentence below an error's message; before Python 3.11 it is kept but not shown."""
    error.__notes__ = [*getattr(error, "__notes__", ()), sentence]


ADDRESSED = re.compile(r"<(?:\w+ )??(?:[\w<>]+\.)*(\w+|<lambda>)(?: object)? at 0x[0-9a-fA-F]+>")      # <module.Name object at 0x7f..>


def shortened(value, most: int = 60) -> str:
    """A value as messages show it: the beginning of its repr, without addresses.
    Returns a str. The type's name if repr fails, as for deeply nested lists.

    Parameters
    ----------
    value : object
    most : int, default 60
        Largest number of characters.

    Examples
    --------
    >>> from structperc.errors import shortened
    >>> shortened(list(range(100)), 20)
    '[0, 1, 2, 3, 4, 5, 6'
    """
    try:
        return ADDRESSED.sub(r"\1", repr(value))[:most]
    except Exception:
        return f"of type {type(value).__name__}"


OTHER_NAMES = {             # options, arguments and their values, and what other libraries and textbooks call the same
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
    "average-precision": "map ap",
    "perceptron": "sgd",
    "rbf": "gaussian gauss",
    "polynomial": "poly",
    "iob2": "bio iob",
    "mean": "average avg",
    "most-frequent": "mode majority",
    "pa1": "hinge",
    "drop": "ignore exclude skip",
    "qid": "qids query_id",
    "lengths": "group",
    "predict_proba": "predict_probability predict_probabilities",
    "sample_weight": "weight weights sample_weights",
}


def listing(names, most) -> str:
    """Names with commas between them, and ", ..." if there are more than `most`."""
    names = list(map(str, names))
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def unreadable(name, error) -> Exception:
    """The error for an array that numpy cannot read, in its library's words; our own errors stay as they are."""
    if isinstance(error, StructPercError):
        return error
    return DataTypeError(f"numpy cannot read {name}: {str(error).rstrip('.')}. Pass an array of numpy, such as "
                         f"X.detach().float().numpy() of a tensor.")


def did_you_mean(value, names, also_called=None) -> str:
    """A hint for the end of a message about an unknown name.
    Returns a str. Names the nearest known name or a synonym; empty if there is none.

    Parameters
    ----------
    value : str
        The unknown name.
    names : iterable of str
        The names that exist.
    also_called : mapping from str to sequence of str, optional
        Synonyms of some names, in small letters. Those of options are known.

    Examples
    --------
    >>> from structperc.errors import did_you_mean
    >>> did_you_mean("epoch", ["epochs", "margin"])
    " Did you mean 'epochs'?"
    """
    near = nearest(value, names, also_called)
    return f" Did you mean {near!r}?" if near else ""


def no_attribute(owner, name) -> AttributeError:
    """The error of an attribute that an object does not have, with the one that is meant."""
    public = [attribute for attribute in dir(type(owner)) if attribute[:1] != "_"] if name[:1] != "_" else []
    fitted = f"{name}_"
    hint = f" Did you mean {fitted!r}?" if public and hasattr(owner, fitted) else did_you_mean(name, public)
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}{hint and '.'}{hint}")


def no_name(module, name, candidates) -> AttributeError:
    """The error of a name that a module does not have, with the one that is meant."""
    hint = did_you_mean(name, candidates) if name[:1] != "_" else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint and '.'}{hint}")


def nearest(value, candidates, also_called=None) -> str | None:
    """The known name that means the same as an unknown one, or is written almost like it, capitals or not. None if there is none."""
    text, names = str(value) if isinstance(value, str) else shortened(value), {str(name).lower(): str(name) for name in candidates}
    if text in names.values():
        return None
    lower = text.lower()
    meant = [name for name, others in OTHER_NAMES.items() if lower in others.split()]
    meant += [name.lower() for name, others in (also_called or {}).items() if lower in others]
    near = [lower] if lower in names else [name for name in meant if name in names] if meant else difflib.get_close_matches(lower, names, 1)
    return names[near[0]] if near else None
