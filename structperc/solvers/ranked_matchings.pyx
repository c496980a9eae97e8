"""The best matchings of Murty's cells: one shortest alternating path for each, with the prices of the cell it was cut from.

Rows are matched with columns of least cost. In partial matchings row r may also take the column m + r, which only it may have, at cost 0. A
hub holds all columns that no row has: from a free column it passes to any other at no cost. So a column that loses its row may stay free,
and the prices of free columns stay equal.

A cell of row i agrees with the matching of its parent before row i, but not in row i. Prices v of columns suffice: the price of a row is
the cost of its pair less v.

Typical sizes: 5 .. 2000 rows. Cost: O(n m) for a path, and for the bounds of all cells cut from one. Memory: the costs and O(n + m).
"""
import numpy as np

from libc.math cimport INFINITY, fabs, fmax
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import raise_interruption
from structperc.basics.signatures import ClassSignature

__all__ = ["RankedMatchings"]

cdef enum:
    ANY = -1                # the end of a path: any free column
    LONGER = -1
    INTERRUPTED = -2

cdef double ROUNDING = 2.0 ** -49       # of each step along a path


cdef class RankedMatchings:
    """Best matchings of cells. A matching is an array of the column of each row, and its prices are those of all columns.

    Parameters
    ----------
    costs : float64 array of shape (n, m)
        inf forbids a pair.
    partial : bool
        Whether rows may stay free.
    """

    __signature__ = ClassSignature()

    cdef const double[:, ::1] costs
    cdef bint partial
    cdef int n, m, n_columns
    cdef int[::1] columns, owner        # the column of each row; the row of each column, n: free
    cdef int[::1] before                # the row from which a path enters each column; n: from the hub
    cdef double length
    cdef double[::1] prices, distance, waiting  # `waiting`: the distance of columns to be visited, else infinity

    def __init__(self, const double[:, ::1] costs not None, bint partial):
        self.costs, self.partial = costs, partial
        self.n, self.m = <int> costs.shape[0], <int> costs.shape[1]
        self.n_columns = self.m + self.n * partial
        self.columns = np.zeros(self.n, dtype=np.intc)
        self.owner, self.before = np.zeros(self.n_columns, dtype=np.intc), np.zeros(self.n_columns, dtype=np.intc)
        self.prices, self.distance, self.waiting = (np.zeros(self.n_columns) for _ in range(3))

    def prices_of(self, matching):
        """Prices that prove a best matching. Returns a float64 array of shape (n_columns,), or None if another one is better.

        Parameters
        ----------
        matching : int array of shape (n,)
        """
        cdef int r, k, n = self.n
        cdef int found = 0
        cdef double excess = 0
        cdef const int[::1] given = matching
        self.prices[:] = 0
        self.owner[:] = n
        with nogil:
            for r in range(n):
                found = self.path_c(r, ANY, 0, NULL, 0, INFINITY)
                if found != 0:
                    break
        if found == INTERRUPTED:
            raise_interruption()
        if found == LONGER:
            return None
        for r in range(n):          # the matching of the paths costs as much as the given one if this is a best one
            k = self.columns[r]
            excess += self.cost(r, given[r]) - self.prices[given[r]] - (self.cost(r, k) - self.prices[k])
        self.take(matching, self.prices)
        for k in range(self.n_columns):
            if self.owner[k] == n:
                excess -= self.prices[k]
                self.prices[k] = 0
        return np.array(self.prices) if excess <= n * self.rounding(self.scale()) else None

    def cut(self, matching, prices, int fixed, barred):
        """How much more than a matching of a cell costs at least each cell cut from it: those of the rows from `fixed` on.
        Returns a float64 array of shape (n - fixed,). inf: the cell is empty.

        Parameters
        ----------
        matching : int array of shape (n,)
        prices : float64 array of shape (n_columns,)
        fixed : int
            Rows before this one keep their columns.
        barred : sequence of int
            Columns that row `fixed` may not have.
        """
        cdef int i, k, b, n = self.n, m = self.m
        cdef double u, d, least, free = self.take(matching, prices), scale = self.scale()
        cdef const double *costs
        cdef const double *v = &self.prices[0]
        cdef const int[::1] listed = np.array(barred, dtype=np.intc)
        cdef int n_listed = <int> listed.shape[0]
        cdef const int *without = &listed[0] if n_listed else NULL
        cdef double[::1] into = self.distance
        cdef bint stop = False
        answer = np.zeros(n - fixed)
        cdef double[::1] more = answer
        for k in range(self.n_columns):
            into[k] = free - v[k] if self.n_columns > n else INFINITY       # what the hub pays for it
        with nogil:
            for i in range(n - 1, fixed - 1, -1):       # `into` has what rows after i pay
                b, costs = self.columns[i], &self.costs[i, 0] if m else NULL
                u, least, more[i - fixed] = self.cost(i, b) - v[b], INFINITY, into[b]
                for k in range(m):
                    d = fmax(costs[k] - u - v[k], 0)
                    if d < least and self.owner[k] > i and not (i == fixed and contains(without, n_listed, k)):
                        least = d
                    if d < into[k]:
                        into[k] = d
                if self.partial and b != m + i and not (i == fixed and contains(without, n_listed, m + i)):
                    least = min(least, fmax(-u - v[m + i], 0))
                more[i - fixed] += least
                stop = interrupted(3 * m)
                if stop:
                    break
            for i in range(n - fixed):
                more[i] -= self.rounding(more[i] + scale)
        if stop:
            raise_interruption()
        return answer

    def best(self, matching, prices, int row, barred, double most):
        """The best matching of a cell cut from another, and its prices. Returns a tuple of arrays.

        If it costs over `most` more, returns a float: how much more it costs at least, inf if the cell is empty.

        Parameters
        ----------
        matching : int array of shape (n,)
        prices : float64 array of shape (n_columns,)
            Of the cell that it is cut from.
        row : int
            Rows before this one keep their columns.
        barred : sequence of int
            Columns that this row may not have, its own among them.
        most : float
        """
        cdef const int[::1] without = np.array(barred, dtype=np.intc)
        cdef int found
        cdef double scale
        self.take(matching, prices)
        with nogil:
            scale = self.scale()
            most += 2 * self.rounding(most + scale)         # twice: a bound is then larger than `most`
            found = self.path_c(row, self.columns[row], row, &without[0], <int> without.shape[0], most)
        if found == INTERRUPTED:
            raise_interruption()
        return self.length - self.rounding(self.length + scale) if found else (np.array(self.columns), np.array(self.prices))

    cdef double scale(self) noexcept nogil:
        """The size of prices and costs of the current matching."""
        cdef int k
        cdef double answer = 0
        for k in range(self.n_columns):
            answer = fmax(answer, fabs(self.prices[k]))
        for k in range(self.n):
            answer = fmax(answer, fabs(self.cost(k, self.columns[k])))
        return 2 * answer

    cdef double rounding(self, double scale) noexcept nogil:
        """The largest error of a path between prices and costs of this scale."""
        return (self.n + 4) * ROUNDING * scale if scale < INFINITY else 0

    cdef double take(self, const int[::1] matching, const double[::1] prices) noexcept:
        """Makes a matching and its prices the current ones. Returns the price of free columns."""
        cdef int r, k
        cdef double free = 0
        self.columns[:], self.prices[:] = matching, prices
        self.owner[:] = self.n
        for r in range(self.n):
            self.owner[matching[r]] = r
        for k in range(self.n_columns):
            if self.owner[k] == self.n:
                free = prices[k]
        return free

    cdef inline double cost(self, int r, int k) noexcept nogil:
        return self.costs[r, k] if k < self.m else 0

    cdef int path_c(self, int row, int end, int fixed, const int *barred, int n_barred, double most) noexcept nogil:
        """Changes matching and prices along the shortest path from a row to a column. Returns 0, LONGER or INTERRUPTED."""
        # LONGER: the shortest path is longer than `most`, and at least as long as `length`; inf: there is none.
        cdef int n = self.n, m = self.m, r = row, k, nearest, own, gate = -1, outside = -1
        cdef int *owner = &self.owner[0]
        cdef int *before = &self.before[0]
        cdef double *distance = &self.distance[0]
        cdef double *waiting = &self.waiting[0]
        cdef double *v = &self.prices[0]
        cdef const double *costs
        cdef double at = 0, u = 0 if end == ANY else self.cost(row, end) - v[end], d, least
        for k in range(self.n_columns):
            distance[k], waiting[k] = INFINITY if owner[k] >= fixed else -INFINITY, INFINITY
        while True:
            if r < n:
                costs, own = &self.costs[r, 0] if m else NULL, m + r
                if r != row:
                    u = self.cost(r, self.columns[r]) - v[self.columns[r]]
                for k in range(m):
                    d = costs[k] - u - v[k]
                    d = at + (d if d > 0 or r == row else 0)        # less than 0 by rounding only
                    if d < distance[k]:
                        distance[k], waiting[k], before[k] = d, d, r
                if self.partial and owner[own] == n:
                    d = -u - v[own]
                    d = at + (d if d > 0 or r == row else 0)
                    if d < distance[own]:
                        distance[own], waiting[own], before[own] = d, d, r
                if r == row:
                    for k in range(n_barred):
                        distance[barred[k]] = waiting[barred[k]] = INFINITY
                if self.partial and gate < 0 and owner[own] == n and (outside < 0 or waiting[own] < waiting[outside]):
                    outside = own
            else:
                for k in range(self.n_columns):
                    if owner[k] == n:
                        distance[k], waiting[k] = at, INFINITY
                        continue
                    d = at + fmax(v[gate] - v[k], 0)
                    if d < distance[k]:
                        distance[k], waiting[k], before[k] = d, d, n
            nearest, least = -1, INFINITY
            for k in range(m if gate < 0 else self.n_columns):
                if waiting[k] < least or waiting[k] == least and owner[k] == n and least < INFINITY:
                    nearest, least = k, waiting[k]
            if gate < 0 and outside >= 0 and waiting[outside] <= least:
                nearest, least = outside, waiting[outside]
            if end != ANY and waiting[end] <= least:
                nearest, least = end, waiting[end]
            if least > most or least == INFINITY:
                self.length = least
                return LONGER
            if interrupted(2 * self.n_columns):
                return INTERRUPTED
            if nearest == end or end == ANY and owner[nearest] == n:
                break
            at, r = least, owner[nearest]
            waiting[nearest] = INFINITY
            if r == n:
                gate = nearest
        for k in range(self.n_columns):
            if -INFINITY < distance[k] < least:
                v[k] += distance[k] - least
        k = nearest
        while True:
            r = before[k]
            if r == n:                      # it stays free, and the row of this step takes the column by which the path entered the hub
                owner[k] = n
                k = gate
                continue
            nearest = self.columns[r]
            self.columns[r], owner[k] = k, r
            if r == row:
                break
            k = nearest
        if gate >= 0:
            at = v[gate]
            for k in range(self.n_columns):
                if owner[k] == n:
                    v[k] = at
        return 0


cdef bint contains(const int *numbers, int n, int number) noexcept nogil:
    cdef int i
    for i in range(n):
        if numbers[i] == number:
            return True
    return False
