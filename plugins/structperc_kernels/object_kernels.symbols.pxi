# Numbers of symbols, each known for as long as something holds it: streams of ever new symbols take no more memory than what is kept.
#
# Typical sizes: 10^2..10^6 symbols. Cost: 0.1 us to hold a symbol or to let it go.


@cython.no_gc_clear             # objects that are collected together with the table let go of their symbols
cdef class SymbolTable:
    """Symbols that are held, with their numbers from 0 on. The number of a symbol that nothing holds any more is used again."""

    def __cinit__(self):
        self.numbers, self.symbols, self.unused = {}, [], []
        self.n_holders = np.zeros(64, dtype=np.int64)

    cdef int hold(self, symbol) except -1:
        """The number of a symbol, which is held once more; a TypeError for one that cannot be hashed."""
        cdef int number
        old_number = self.numbers.get(symbol)
        number = self.add(symbol) if old_number is None else old_number
        self.n_holders[number] += 1
        return number

    cdef int add(self, symbol) except -1:
        cdef int number = self.unused.pop() if self.unused else self.further()
        cdef int kept_number = self.numbers.setdefault(symbol, number)  # another thread may have been faster
        if kept_number != number:
            self.unused.append(number)
        else:
            self.symbols[number] = symbol
        return kept_number

    cdef int further(self) except -1:
        """A number that was never used."""
        cdef Py_ssize_t n = len(self.symbols)
        if n == self.n_holders.shape[0]:
            self.n_holders = np.concatenate([self.n_holders, np.zeros(n, dtype=np.int64)])
        self.symbols.append(None)
        return <int> n

    cdef int let_go(self, int number) except -1:
        """Holds a symbol once less."""
        self.n_holders[number] -= 1
        if self.n_holders[number] == 0 and number < len(self.symbols):      # the garbage collector may have emptied the list before
            symbol, self.symbols[number] = self.symbols[number], None
            self.numbers.pop(symbol, None)
            self.unused.append(number)
        return 0
