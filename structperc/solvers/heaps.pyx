"""A binary heap of numbered items with keys that change.

Typical sizes: 10 to 10^6 items. O(log n) a change.
"""
import numpy as np


cdef class KeyHeap:
    """Items 0..n-1, the one of largest key on top; among equals, the one of lowest tie."""

    def __init__(self, Py_ssize_t n):
        self.size = 0
        self.key, self.tie = np.zeros(n), np.zeros(n, dtype=np.intc)
        self.heap, self.place = np.zeros(n, dtype=np.intc), np.full(n, -1, dtype=np.intc)

    cdef inline bint before(self, int a, int b) noexcept nogil:
        return self.key[a] > self.key[b] or (self.key[a] == self.key[b] and self.tie[a] < self.tie[b])

    cdef void put(self, int item, double key, int tie) noexcept nogil:
        self.key[item], self.tie[item] = key, tie
        if self.place[item] < 0:
            self.heap[self.size], self.place[item] = item, <int> self.size
            self.size += 1
        self.rise(self.place[item])
        self.sink(self.place[item])

    cdef int top(self) noexcept nogil:
        return self.heap[0]

    cdef void remove(self, int item) noexcept nogil:
        cdef Py_ssize_t i = self.place[item]
        cdef int last
        if i < 0:
            return
        self.place[item] = -1
        self.size -= 1
        last = self.heap[self.size]
        if last != item:
            self.heap[i], self.place[last] = last, <int> i
            self.rise(i)
            self.sink(self.place[last])

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.size):
            self.place[self.heap[i]] = -1
        self.size = 0

    cdef void rise(self, Py_ssize_t i) noexcept nogil:
        cdef int item = self.heap[i], other
        while i > 0:
            other = self.heap[(i - 1) // 2]
            if not self.before(item, other):
                break
            self.heap[i], self.place[other] = other, <int> i
            i = (i - 1) // 2
        self.heap[i], self.place[item] = item, <int> i

    cdef void sink(self, Py_ssize_t i) noexcept nogil:
        cdef int item = self.heap[i]
        cdef Py_ssize_t child
        while 2 * i + 1 < self.size:
            child = 2 * i + 1
            if child + 1 < self.size and self.before(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.before(self.heap[child], item):
                break
            self.heap[i], self.place[self.heap[child]] = self.heap[child], <int> i
            i = child
        self.heap[i], self.place[item] = item, <int> i
