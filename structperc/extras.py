"""Optional libraries, imported where they are used. The error of a missing one names the extra that installs it."""

from __future__ import annotations

from structperc.basics.errors import MissingExtra
from structperc.later import module_at


def require(module: str, purpose: str, extra: str):
    """The imported module. Without it `MissingExtra`: the purpose begins its sentence, and the extra installs it."""
    # Ctrl-C stays KeyboardInterrupt, also where compiled modules turn it into an ImportError of their own.
    try:
        return module_at(module)
    except ImportError as error:
        cause = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            cause = cause.__context__
        library = module.partition(".")[0].replace("sklearn", "scikit-learn")
        raise MissingExtra(f"{purpose} needs {library}; install structperc[{extra}].") from None
