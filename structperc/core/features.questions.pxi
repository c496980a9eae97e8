# What other parts ask a feature map.

def is_constrained(Features features):
    """Whether a feature map allows only some weights: it overrides `project`, or has bounds.

    Parameters
    ----------
    features : Features

    Examples
    --------
    >>> from structperc.components import RowFeatures
    >>> from structperc.core.features import is_constrained
    >>> is_constrained(RowFeatures(3)), is_constrained(RowFeatures(3, bounds=(-1, 1)))
    (False, True)
    """
    return features.constrained()


def has_constant_gram(Features features):
    """Whether a feature map has `constant_gram`, its own or compiled."""
    if overrides(features, "constant_gram"):
        return True
    if isinstance(features, TablePart) and (<TablePart> features).per_row:      # rows of one example share the weights
        return False
    return <void *> features.constant_gram_c != <void *> Features.constant_gram_c


cdef int raise_error(Component part) except -1:
    """Raises and forgets the error that a compiled method has stored, if there is one."""
    if part.error is not None:
        part.raised()
    return 0


cdef bint explicit_only(Features features):
    """Whether no atom of this map belongs to a row of x."""
    if isinstance(features, SumFeatures):
        return explicit_only((<SumFeatures> features).left) and explicit_only((<SumFeatures> features).right)
    return isinstance(features, (TablePart, Unweighted))
