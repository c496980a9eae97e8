# Minimum cuts of one graph again and again, with other capacities.
#
# Sizes: 10 to 10^6 nodes, 2 to 26 edges a node. A grid of 30 x 30 nodes takes 0.1 to 0.5 ms. One of 100 x 100 takes 2 to 10 ms.


# ---- minimum cuts ----

cdef struct Cut:
    Py_ssize_t n_nodes, n_edges
    int *first                      # the arcs of node v are first[v]:first[v + 1]
    int *head                       # of each arc: where it leads,
    int *sister                     # and the arc back
    int *place                      # of each edge: its arc from its first node to its second
    double *residual                # what each arc can still carry
    double *terminal                # what the source can still send to a node, or (negative) the node to the sink
    int *parent                     # the arc of a node to its parent in its tree
    int *level                      # arcs between a node and its terminal
    int *current                    # where the search for another parent at this level goes on
    int *orphans                    # a ring of n_nodes + 1
    int *listed                     # up to which level a node has been listed in each tree
    int *lists                      # the nodes of the last level of each tree and of the next one
    signed char *tree
    Py_ssize_t first_orphan, n_orphans
    int source_end, sink_end        # the ends of the last path that carried flow


cdef class CutGraph:
    cdef readonly Py_ssize_t n_nodes, n_edges
    cdef Cut cut
    cdef object held                # the arrays that it points to
    cdef readonly object edges
    cdef object lock                # of what changes while a cut is searched; `solve_c` does not ask for it

    cdef double solve_c(self, const double *terminals, const double *forward, const double *backward, unsigned char *labels) noexcept nogil
