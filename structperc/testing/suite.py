"""All checks of a plugin, one after the other, and their report."""

from __future__ import annotations

from structperc.fitting import plugins as registry
from structperc.testing.case import make_case
from structperc.testing.checks import CHECKS


class Report(list):
    """Results of all checks: a list of (name, "passed" or "not applicable: why") that prints as a table.

    Attributes
    ----------
    parts : str
        The parts that were tested, by their authors' names.

    Examples
    --------
    >>> import structperc_cusum
    >>> from structperc.testing import check_problem
    >>> report = check_problem(structperc_cusum)
    >>> report[0]
    ('plugin_is_used', 'passed')
    """

    parts = ""

    def __str__(self):
        return "\n".join(f"{name:36} {outcome}" for name, outcome in self)


def check_problem(plugin, *, plugins=(), checks=None, random_state=0, progress=None, **options) -> Report:
    """Run the test suite for plugins on a plugin.

    A plugin may have these attributes beside its hooks:

    sample(random, n_examples)
        Small examples to check with: (X, offsets), (X, None) or a list of blocks or objects. `random` is a numpy Generator. Problems over
        rows with one label for each example need none. The comparison with brute force enumerates Y(x), so keep examples small.
    observe(random, outputs)
        What users pass as y if these are the right outputs. Only needed if the two differ, as for partial labels.
    check_options
        Engine options to check with, such as {"classes": [...]}.
    problem
        For a plugin that replaces single parts: the name of the problem to check it with.

    Raises `AssertionError` at the first check that fails, with the plugin, the check and the difference.
    Raises `PluginError` if the plugin cannot be used at all, or no examples can be made for it.

    Parameters
    ----------
    plugin : str, plugin object or component
        The plugin to check.
    plugins : sequence of names, plugin objects or components, default ()
        Further plugins, as for `Engine`.
    checks : sequence of str, optional
        Names of the checks to run. Default: all of `CHECKS`; their docstrings describe them.
    random_state : int, default 0
        Seed of examples and weights.
    progress : function of two strings, optional
        Called with "parts" and the parts, then with the name and result of each check.
    **options
        Engine options. They have priority over the plugin's `check_options`.

    Examples
    --------
    >>> from structperc.testing import check_problem
    >>> check_problem("cusum", checks=["argmax_maximises"])
    [('argmax_maximises', 'passed')]
    """
    all_checks = {check.__name__: check for check in CHECKS}
    for name in checks or ():
        if name not in all_checks:
            raise ValueError(f"there is no check {name!r}; the checks are {', '.join(all_checks)}.")
    case = make_case(plugin, tuple(plugins), options, random_state)
    origin = registry.load(plugin).origin
    report = Report()
    report.parts = described(case, origin)
    progress = progress or (lambda name, outcome: None)
    progress("parts", report.parts)
    for name in checks or all_checks:
        try:
            reason = all_checks[name](case)
        except AssertionError as error:
            raise AssertionError(f"{origin} fails {name}: {error}") from error
        except Exception as error:
            places = f" ({', '.join(notes)})" if (notes := getattr(error, "__notes__", ())) else ""       # such as: in Lengths.read
            raise AssertionError(f"{origin} fails {name}: {type(error).__name__}: {error}{places}") from error
        report.append((name, f"not applicable: {reason}" if reason else "passed"))
        progress(*report[-1])
    return report


def described(case, origin) -> str:
    """The parts that are tested."""
    try:
        return case.described
    except Exception as error:
        raise AssertionError(f"{origin} cannot be put together: {type(error).__name__}: {error}") from error
