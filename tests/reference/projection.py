"""The quadratic programs of the papers, handed to a conic solver that knows nothing of their closed forms."""

import clarabel
import numpy as np
from scipy import sparse


def solve(P, q, A, b):
    """min 1/2 v'Pv + q'v subject to A v >= b, or None where no v is feasible."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.max_iter = 100
    cones = [clarabel.NonnegativeConeT(len(b))]
    found = clarabel.DefaultSolver(sparse.csc_matrix(P), np.asarray(q, dtype=float), sparse.csc_matrix(-np.asarray(A, dtype=float)),
                                   -np.asarray(b, dtype=float), cones, settings).solve()
    feasible = found.status not in (clarabel.SolverStatus.PrimalInfeasible, clarabel.SolverStatus.AlmostPrimalInfeasible)
    return np.array(found.x) if feasible else None


def passive_aggressive(update, w, delta, margin, aggressiveness):
    """The w' of one passive-aggressive step.

    min 1/2 ||w' - w||^2 [+ aggressiveness * slack | + aggressiveness * slack^2]  subject to  w' . delta >= margin - slack, slack >= 0
    """
    n = len(w)
    P, q = np.eye(n + 1), np.append(-w, 0.0)
    P[n, n] = 2 * aggressiveness if update == "pa2" else 0.0
    q[n] = aggressiveness if update == "pa1" else 0.0
    A = np.vstack([np.append(delta, 0.0 if update == "pa" else 1.0), np.append(np.zeros(n), 1.0)])
    return solve(P, q, A, [margin, 0.0])[:n]


def smallest_separator(differences, margins):
    """The u of smallest norm with u . delta >= margin for all rows delta, made exactly feasible; None where there is none."""
    differences, margins = np.asarray(differences), np.asarray(margins)
    u = solve(np.eye(differences.shape[1]), np.zeros(differences.shape[1]), differences, margins)
    return None if u is None else made_feasible(u, differences, margins)


def made_feasible(u, differences, margins):
    """u stretched until u . delta >= margin for all rows; None where no stretching helps."""
    reached = differences @ u / margins
    return u / reached.min() if reached.min() > 1e-6 else None
