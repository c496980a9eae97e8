"""Kernels on objects that are no rows of numbers: trees, strings.

An object is encoded once: checked, its symbols numbered, its arrays laid out for the kernel. Symbols are numbered by a table of the kernel
for as long as an encoded object uses them. Do not compare objects that different kernels have encoded. Values are computed
without the GIL, in scratch space of the caller.

Typical sizes: 10^2..10^5 objects of 10..200 nodes or symbols; encoding takes 10 to 100 us, a value 0.3 to 100 us.
"""
import hashlib
import inspect
import json
import numbers
import re
import reprlib

cimport cython
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN, ceil, sqrt
from libc.stdint cimport int64_t
from structperc.basics.signals cimport interrupted
from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import read_array


include "object_kernels.symbols.pxi"


LOWEST, HIGHEST = 1e-150, 1e150     # of a kernel of an object with itself, so that products of two are finite and not 0
PLAIN = (str, int, float, type(None))                # symbols that a model file holds


@cython.no_gc_clear             # __dealloc__ needs the table
cdef class Encoded:
    """An object in the form that its kernel computes with.

    Attributes
    ----------
    original : object
        The object of the user.
    size : int
        Sets the scratch space of an evaluation: two objects have at most as many pairs of equal symbols as the product of their sizes.
    symbols : tuple
        All labels and words, or all tokens.
    learned : bool
        Whether the kernel keeps the numbers of the symbols as long as this object exists.

    Examples
    --------
    >>> from structperc_kernels import SubsequenceKernel
    >>> SubsequenceKernel(length=2).encode("cat").symbols
    ('c', 'a', 't')
    """

    __signature__ = inspect.Signature()

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_held):
            self.table.let_go(self.numbers[i])

    cdef int number(self, SymbolTable table, tuple symbols, bint learn) except -1:
        """Fills `numbers`, to be held with `learn`; without it, symbols that the table does not know get negative ones."""
        cdef dict new = {}
        cdef Py_ssize_t i
        self.numbers, self.table, self.learned = np.zeros(len(symbols) + 1, dtype=np.intc), table, learn
        for i, symbol in enumerate(symbols):
            PyErr_CheckSignals()
            try:
                if learn:
                    self.numbers[i] = table.hold(symbol)
                    self.n_held += 1
                else:
                    number = table.numbers.get(symbol)
                    self.numbers[i] = new.setdefault(symbol, -1 - len(new)) if number is None else number
            except TypeError:
                raise DataError(f"symbol {i} is {shortened(symbol)} of {type(symbol).__name__}, which cannot be hashed; use strings, "
                                f"numbers or tuples.") from None
        return 0

    def key(self):
        """Identifies the object. Returns a tuple. Hashable; the same for equal objects and only for these."""
        return self.symbols


cdef class ObjectKernel(Component):
    """Base of kernels on objects.

    A subclass overrides `encode`, `room_c`, and `plain_c` or `value_c`. The value of two objects must not depend on the numbers of their
    symbols. `Measured.order` puts objects in an order that is the same in every process.

    Parameters
    ----------
    decay : float
        Above 0 and at most 1: the weight of each further symbol of a fragment that two objects share.
    normalise : bool
        Divide by the root of the values of both objects with themselves, so that the kernel is a cosine. If one of these is 0 (an
        object without fragments), the kernel is 0.

    Attributes
    ----------
    n_symbols : int
        The number of different symbols in all encoded objects that exist: productions of trees, symbols of strings.

    Examples
    --------
    >>> from structperc_kernels import ObjectKernel, SubsequenceKernel
    >>> kernel = SubsequenceKernel(length=2, decay=0.5)
    >>> isinstance(kernel, ObjectKernel), round(kernel("cat", "car"), 3)
    (True, 0.444)
    """

    def __init__(self, decay, normalise=True):
        if not isinstance(decay, numbers.Real) or isinstance(decay, bool) or not 0 < decay <= 1:
            raise OptionError(f"decay={shortened(decay)}; expected a number above 0 and at most 1.")
        if not isinstance(normalise, (bool, np.bool_)):
            raise OptionError(f"normalise={shortened(normalise)}; expected True or False.")
        self.decay, self.normalise, self.table = decay, normalise, SymbolTable()

    @property
    def n_symbols(self):
        return len(self.table.numbers)

    def __repr__(self):
        return f"{type(self).__name__}(decay={self.decay:g}, normalise={self.normalise})"

    def __call__(self, a, b):
        """The kernel between two objects as users have them, a float; nothing is learned from them."""
        kernel = self.clone()
        return float(kernel.values([kernel.encode(a)], [kernel.encode(b)])[0, 0])

    def encode(self, obj, learn=True):
        """An object as this kernel computes with it. Returns `Encoded`.
        Raises `DataError` if the object is invalid. The caller adds which object it is.

        Parameters
        ----------
        obj : object
        learn : bool, default True
            Whether new symbols become known to this kernel, until the last object with them is gone. If not, compare the result
            only with itself and with objects that were encoded before with learn=True.
        """
        raise self.missing("encode")

    def values(self, rows, columns):
        """The kernel between encoded objects. Returns a float64 array of shape (len(rows), len(columns)).
        Raises `DataError` if two different objects were both encoded with learn=False.

        Parameters
        ----------
        rows, columns : sequence of Encoded

        Examples
        --------
        >>> from structperc_kernels.object_kernels import SubsequenceKernel
        >>> kernel = SubsequenceKernel(length=2, decay=0.5)
        >>> words = [kernel.encode(word) for word in ("cat", "car", "bat")]
        >>> kernel.values(words, words).round(3).tolist()
        [[1.0, 0.444, 0.444], [0.444, 1.0, 0.0], [0.444, 0.0, 1.0]]
        """
        table = np.zeros((len(rows), len(columns)))
        cdef double[:, ::1] values = table
        cdef double[::1] work
        cdef Encoded a, b
        cdef Py_ssize_t i, j
        work = self.scratch(max([encoded.size for encoded in rows], default=0), max([encoded.size for encoded in columns], default=0))
        for i, a in enumerate(rows):
            for j, b in enumerate(columns):
                if a is not b and not (a.learned or b.learned):
                    raise DataError("two objects were encoded with learn=False, so their equal symbols have different numbers. Encode "
                                    "one of them with learn=True.")
                values[i, j] = self.value_c(a.at, b.at, &work[0])
                if values[i, j] != values[i, j]:
                    self.raised()
        return table

    def state(self, encodeds):
        """Encoded objects as arrays for a model file; `restore` takes them back.

        symbols (uint8): the distinct symbols as a JSON list in UTF-8; codes (int32): their places in it, object after object; ends
        (int64): where the codes of each object end.
        """
        place = {}
        codes = [place.setdefault(kind_of(symbol), len(place)) for encoded in encodeds for symbol in encoded.symbols]
        symbols = [symbol for _, symbol in place]
        for symbol in symbols:
            if not isinstance(symbol, PLAIN):
                raise DataError(f"the symbol {shortened(symbol)} cannot be written to a model file; use strings or numbers.")
        return {"symbols": np.frombuffer(json.dumps(symbols).encode(), dtype=np.uint8), "codes": np.array(codes, dtype=np.int32),
                "ends": np.cumsum([len(encoded.symbols) for encoded in encodeds], dtype=np.int64)}

    def restore(self, state):
        """The list of `Encoded` of this state, with their symbols learned. Raises DataError if it is invalid."""
        raise self.missing("restore")

    def saved_symbols(self, state):
        """Reads the symbols of each object from a saved state. Returns a list of lists.
        Raises `DataError` if an array is missing or invalid.

        Parameters
        ----------
        state : dict of arrays
            "symbols", "codes" and "ends", as `state` returns them.
        """
        text, codes, ends = (read_array(state, name, dtype, (None,)) for name, dtype in (
            ("symbols", np.uint8), ("codes", np.int32), ("ends", np.int64)))
        try:
            symbols = json.loads(text.tobytes())
        except (ValueError, RecursionError) as error:
            raise DataError(f"the saved symbols are no JSON: {error}.") from None
        if not isinstance(symbols, list) or not all(isinstance(symbol, PLAIN) for symbol in symbols):
            raise DataError("the saved symbols are no list of strings and numbers.")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(symbols):
            raise DataError(f"the saved codes of symbols are {codes.min()} to {codes.max()}; expected 0 to {len(symbols) - 1}.")
        bounds, codes = [0, *ends.tolist(), len(codes)], codes.tolist()
        if sorted(bounds) != bounds or (len(ends) and ends.max() != len(codes)):
            raise DataError(f"the saved objects do not end in order, the last one at {len(codes)}.")
        return [[symbols[code] for code in codes[start:end]] for start, end in zip(bounds, ends, strict=False)]

    def scratch(self, Py_ssize_t size_a, Py_ssize_t size_b):
        """Allocates the scratch space of an evaluation. Returns a float64 array. Raises `DataError` if there is not enough memory.

        Parameters
        ----------
        size_a, size_b : int
            The largest `Encoded.size` on each side.
        """
        cdef Py_ssize_t n = self.room_c(size_a, size_b) + 1
        try:
            return np.empty(n)
        except MemoryError:
            raise DataError(f"its kernel needs {8 * n / 2**30:.1f} GiB of scratch space, more than there is; leave it out or divide "
                            f"it.") from None

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil:
        """Doubles of scratch space for an evaluation between objects of at most these sizes."""
        with gil:
            self.error = self.missing("room")
        return 0

    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil:
        """The kernel, not normalised; NaN where it was interrupted."""
        with gil:
            self.error = self.missing("plain")
        return 0

    cdef double value_c(self, const void *a, const void *b, double *work) noexcept nogil:
        """The kernel between two objects; the same bits for (a, b) and (b, a), and NaN where it was interrupted."""
        cdef double value = self.plain_c(a, b, work)
        if not self.normalise or value == 0:
            return value
        return value / sqrt((<const Measured *> a).square * (<const Measured *> b).square)

    cdef Encoded measured(self, Encoded encoded, Measured *at, bint empty):
        """The object with its value with itself, or why it has none that numbers can hold; empty: whether it has no fragments."""
        cdef double[::1] work = self.scratch(encoded.size, encoded.size)
        text = repr(encoded.key()).encode("utf-8", "surrogatepass")
        at.order = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
        with nogil:
            at.square = self.plain_c(at, at, &work[0])
        encoded.at = at
        if self.error is not None or at.square != at.square:
            self.raised()
        if not empty and not LOWEST <= at.square <= HIGHEST:
            raise DataError(f"its kernel with itself is {at.square:.3g} with decay={self.decay:g}, beyond what floating point can compare; "
                            f"{'lower' if at.square > 1 else 'raise'} the decay.")
        return encoded


def kind_of(symbol):
    """The symbol as JSON has it, and its type: 1, 1.0 and True are different texts."""
    symbol = symbol.item() if isinstance(symbol, np.generic) else symbol
    return type(symbol), symbol


include "object_kernels.strings.pxi"
include "object_kernels.trees.pxi"
