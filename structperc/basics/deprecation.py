"""What goes in a later version warns its users from now on."""

import functools
import inspect
import warnings


# `instead` is what users write now, such as "call predict". Without `parameter` the whole function goes. A test reads these calls from the
# sources, and fails once the version has come. Clones and searches of scikit-learn pass all parameters, so a default raises no warning.
# Write it below @classmethod and @property.
def deprecated(since, gone_in, instead, parameter=None):
    """Has a function, or one of its parameters, raise a `FutureWarning` from version `since` on."""
    def decorate(function):
        what = f"{parameter!r} of {function.__qualname__}" if parameter else function.__qualname__
        signature = inspect.signature(function)
        default = signature.parameters[parameter].default if parameter else None

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if parameter is None or signature.bind_partial(*args, **kwargs).arguments.get(parameter, default) is not default:
                warnings.warn(f"{what} is deprecated since version {since} and will be gone in {gone_in}: {instead}.", FutureWarning,
                              stacklevel=2)
            return function(*args, **kwargs)

        return wrapper

    return decorate
