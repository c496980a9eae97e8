"""Slow, readable twins of the algorithms of structperc, written from the papers. A twin does not import the algorithm that it checks.

    problems    joint features Phi(x, y) and the enumerated outputs of cusum, prank and multiclass
    costs       losses as tables of costs
    enumerated  the online structured perceptron and its passive-aggressive variants over enumerated outputs
    summation   the order in which the compiled kernels add
    atoms       the same learners over atoms, with the operations of the compiled loop: equal to the last bit
    chains      linear chains: all labellings, dynamic programmes, and the learners over joint features
    pranking    PRank as Crammer and Singer printed it
    projection  the quadratic programs behind a passive-aggressive step and a smallest separator
    bounds      the mistake bounds
    matchings   the k best matchings, each cell of Murty's partition solved from nothing
    layouts     the six ways to store X
    samples     data sets
"""
