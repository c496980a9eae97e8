"""The primal and dual programs of the large-margin methods, for a general conic solver."""

import attrs
import clarabel
import numpy as np
from scipy import sparse


@attrs.frozen
class Optimum:
    """An optimal point: its value, and its variables by name."""

    value: float
    at: dict


class Program:
    """min 1/2 v'Pv + q'v over named variables, with rows of equalities and inequalities."""

    def __init__(self, **sizes):
        self.where, n = {}, 0
        for name, size in sizes.items():
            self.where[name], n = slice(n, n + size), n + size
        self.n, self.q, self.P = n, np.zeros(n), sparse.csc_matrix((n, n))
        self.zero, self.above = [], []      # (row, constant): row v + constant = 0, >= 0
        self.lengths = []                   # (row, constant, rows): ||rows v|| <= row v + constant

    def row(self, **parts):
        """A row of coefficients: for each variable an array, or pairs {index: coefficient}."""
        row = np.zeros(self.n)
        for name, values in parts.items():
            block = row[self.where[name]]
            if isinstance(values, dict):
                for k, value in values.items():
                    block[k] += value
            else:
                block[:] += values
        return row

    def solve(self) -> Optimum:
        """The optimum; None if there is none."""
        rows, constants, cones = [], [], []
        for kind, entries in ((clarabel.ZeroConeT, self.zero), (clarabel.NonnegativeConeT, self.above)):
            if entries:
                rows += [row for row, _ in entries]
                constants += [constant for _, constant in entries]
                cones.append(kind(len(entries)))
        for row, constant, within in self.lengths:
            rows += [row, *within]
            constants += [constant] + [0.0] * len(within)
            cones.append(clarabel.SecondOrderConeT(1 + len(within)))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        settings.max_iter = 300
        found = clarabel.DefaultSolver(sparse.csc_matrix(sparse.triu(self.P)), self.q, sparse.csc_matrix(-np.array(rows)),
                                       np.array(constants, dtype=float), cones, settings).solve()
        if found.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
            return None
        v = np.array(found.x)
        return Optimum(float(found.obj_val), {name: v[block] for name, block in self.where.items()})


def root(K):
    """X with X X' = K, for a positive semidefinite K: features with the same Gram matrix."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept = values > 1e-12 * max(values[-1], 1e-300)
    return vectors[:, kept] * np.sqrt(values[kept])


# ---- definitions of ranks and weights ----


def weights_of(method, ranks, n_ranks, costs=None, sample_weight=None):
    """W_ij times the sample weights, (n, K - 1), entry by entry."""
    W = np.zeros((len(ranks), n_ranks - 1))
    for i, y in enumerate(ranks):
        for j in range(1, n_ranks):
            if method == "implicit" or y in (j, j + 1):
                step = 1.0 if costs is None else abs(costs[i][j] - costs[i][j - 1])
                W[i, j - 1] = step * (1.0 if sample_weight is None else sample_weight[i])
    return W


def threshold_primal(X, ranks, W, C, ordered, margin=1.0):
    """min 1/2 ||w||^2 + C sum_ij W_ij (margin - z_ij (w . x_i - b_j))_+, the thresholds in order or free."""
    n, k = W.shape
    program = Program(w=X.shape[1], b=k, slack=n * k)
    program.P = sparse.diags([1.0] * X.shape[1] + [0.0] * (k + n * k)).tocsc()
    program.q[program.where["slack"]] = C * W.ravel()
    for i in range(n):
        for j in range(k):
            z = 1.0 if ranks[i] > j + 1 else -1.0
            program.above.append((program.row(slack={i * k + j: 1.0}), 0.0))
            if W[i, j] > 0:
                program.above.append((program.row(w=z * X[i], b={j: -z}, slack={i * k + j: 1.0}), -margin))
    if ordered:
        program.above += [(program.row(b={j: -1.0, j + 1: 1.0}), 0.0) for j in range(k - 1)]
    return program.solve()


def threshold_value(X, ranks, W, C, w, b, margin=1.0):
    """The primal objective at a point."""
    f, z = X @ w, np.where(np.asarray(ranks)[:, None] > np.arange(1, W.shape[1] + 1), 1.0, -1.0)
    return w @ w / 2 + C * (W * np.maximum(margin - z * (f[:, None] - b), 0)).sum()


def nu_primal(X, ranks, W, nu, ordered=False, total=None):
    """(31): min 1/2 ||w||^2 - nu rho + 1/n sum_ij W_ij slack_ij,  z_ij (w . x_i - b_j) >= rho - slack_ij,  rho >= 0."""
    n, k = W.shape
    total = n if total is None else total
    program = Program(w=X.shape[1], b=k, rho=1, slack=n * k)
    program.P = sparse.diags([1.0] * X.shape[1] + [0.0] * (k + 1 + n * k)).tocsc()
    program.q[program.where["slack"]], program.q[program.where["rho"]] = W.ravel() / total, -nu
    program.above.append((program.row(rho={0: 1.0}), 0.0))
    for i in range(n):
        for j in range(k):
            z = 1.0 if ranks[i] > j + 1 else -1.0
            program.above.append((program.row(slack={i * k + j: 1.0}), 0.0))
            if W[i, j] > 0:
                program.above.append((program.row(w=z * X[i], b={j: -z}, slack={i * k + j: 1.0}, rho={0: -1.0}), 0.0))
    if ordered:
        program.above += [(program.row(b={j: -1.0, j + 1: 1.0}), 0.0) for j in range(k - 1)]
    return program.solve()


def margins_primal(X, ranks, W, C):
    """(14)-(20): min sum_j (a_j - b_j) + C sum W slack, ||w|| <= 1, a_1 <= b_1 <= a_2 <= ...; None if it is unbounded."""
    n, k = W.shape
    program = Program(w=X.shape[1], a=k, b=k, slack=n * k)
    program.q[program.where["a"]], program.q[program.where["b"]] = 1.0, -1.0
    program.q[program.where["slack"]] = C * W.ravel()
    for i in range(n):
        for j in range(k):
            program.above.append((program.row(slack={i * k + j: 1.0}), 0.0))
            if W[i, j] > 0 and ranks[i] == j + 1:
                program.above.append((program.row(w=-X[i], a={j: 1.0}, slack={i * k + j: 1.0}), 0.0))
            if W[i, j] > 0 and ranks[i] == j + 2:
                program.above.append((program.row(w=X[i], b={j: -1.0}, slack={i * k + j: 1.0}), 0.0))
    for j in range(k):
        program.above.append((program.row(a={j: -1.0}, b={j: 1.0}), 0.0))
        if j + 1 < k:
            program.above.append((program.row(b={j: -1.0}, a={j + 1: 1.0}), 0.0))
    program.lengths.append((program.row(), 1.0, [program.row(w={d: 1.0}) for d in range(X.shape[1])]))
    return program.solve()


# ---- the dual of any chain ----


def chain_dual(chain, K, cap=None):
    """The optimum of a chain's dual, to be minimised: 1/2 ||w||^2 - p sum mu, or ||w|| if p is 0. None if it is infeasible."""
    n, cap = len(chain.node), chain.cap if cap is None else cap
    X = root(np.asarray(K, dtype=float))
    Q = -chain.sign[:, None] * X[chain.example]             # w = mu' Q
    norm = chain.gain == 0
    program = Program(mu=n, norm=int(norm), w=X.shape[1])
    if norm:
        program.q[program.where["norm"]] = 1.0
    else:
        program.q[program.where["mu"]] = -chain.gain
        program.P = sparse.diags([0.0] * n + [1.0] * X.shape[1]).tocsc()
    for d in range(X.shape[1]):
        program.zero.append((program.row(mu=Q[:, d], w={d: -1.0}), 0.0))
    for c in range(n):
        program.above += [(program.row(mu={c: 1.0}), 0.0), (program.row(mu={c: -1.0}), cap[c])]
    flow, due = np.zeros(n), 0.0
    for m in range(chain.n_nodes):
        flow, due = flow + np.where(chain.node == m, chain.sign, 0.0), due + chain.offset[m]
        last = m == chain.n_nodes - 1
        (program.above if chain.open_arcs and not last else program.zero).append((program.row(mu=flow), -due))
    if norm:
        program.lengths.append((program.row(norm={0: 1.0}), 0.0, [program.row(w={d: 1.0}) for d in range(X.shape[1])]))
    return program.solve()
