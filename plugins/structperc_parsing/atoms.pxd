# The atoms of a sentence of n words, one behind the other:
#
#     arcs        `(h * (n + 1) + m) * tags + k`  from head h to dependent m, with label k of those that compete within arcs
#     labels      `m * later + k`                 label k of word m + 1, given its head
#     siblings    `(h * (n + 1) + m) * (n + 1) + s` of the arc from h to m, and the next dependent s of h between them (h: none)
#
# Arcs into the root and loops are atoms that no tree has.

ctypedef struct Layout:
    Py_ssize_t tags             # labels of an arc; 1: none
    Py_ssize_t later            # labels of a word given its head; 0: none
    bint siblings


cdef inline Py_ssize_t first_label(const Layout *atoms, Py_ssize_t n) noexcept nogil:
    return (n + 1) * (n + 1) * atoms.tags


cdef inline Py_ssize_t first_sibling(const Layout *atoms, Py_ssize_t n) noexcept nogil:
    return first_label(atoms, n) + n * atoms.later


cdef inline Py_ssize_t count_atoms(const Layout *atoms, Py_ssize_t n) noexcept nogil:
    return first_sibling(atoms, n) + ((n + 1) * (n + 1) * (n + 1) if atoms.siblings else 0)


cdef inline Py_ssize_t count_words(const Layout *atoms, Py_ssize_t n_atoms) noexcept nogil:
    """The most words that so many atoms have room for, 0 where even none has."""
    cdef Py_ssize_t low = 0, high = 1, middle
    while count_atoms(atoms, high) <= n_atoms:
        high *= 2
    while low + 1 < high:
        middle = (low + high) // 2
        if count_atoms(atoms, middle) <= n_atoms:
            low = middle
        else:
            high = middle
    return low


cdef inline Layout layout_of(Py_ssize_t n_labels, bint joint, int order) noexcept nogil:
    """The atoms of n_labels labels, which compete within arcs if `joint`."""
    cdef Layout atoms
    atoms.tags = n_labels if joint and n_labels else 1
    atoms.later = 0 if joint else n_labels
    atoms.siblings = order == 2
    return atoms
