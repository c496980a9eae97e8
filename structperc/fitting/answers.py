"""More than the best structure: the k best and the marginals, from the solver's own method or by looking at every structure."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import PluginError
from structperc.core.argmax import forbidden, marginals_of, ranked_by
from structperc.core.outputs import LabelOutputs, RankOutputs, as_structure, listed_structures
from structperc.core.probabilities import cumulative_probabilities

MOST_STRUCTURES = 100_000


def k_best(parts, scores, x, k) -> list:
    """The k structures of largest score with their scores, best first, the argmax's before all. Those of the same atoms count once."""
    if k > 1:
        refuse_hidden(parts, "the k best outputs and margins")
    ranked = ranked_by(parts.argmax, scores, x, k)
    if ranked is not None:
        return [(as_structure(parts.outputs, y, x), score) for y, score in ranked]
    winner = best(parts, scores, x)
    candidates = [(winner, np.asarray(parts.outputs.count(x, winner), dtype=float) + 0.0)]      # + 0.0: no bytes of -0.0
    if k > 1:
        structures, counts = listed(parts, x, "the k best structures")
        counts, seen = counts + 0.0, {candidates[0][1].tobytes()}
        order = totals(counts, scores)
        for i in np.argsort(-order, kind="stable"):
            if len(candidates) == k or order[i] == -np.inf:
                break
            if counts[i].tobytes() not in seen:
                seen.add(counts[i].tobytes())
                candidates.append((structures[i], counts[i]))
    ranked = [(y, float(totals(count, scores))) for y, count in candidates]
    if ranked[0][1] == -np.inf:
        raise forbidden(x.index)
    return ranked


def totals(counts, scores):
    """The scores of structures with these counts, where scores of -inf forbid their atoms."""
    forbidden = np.isneginf(scores)
    if not forbidden.any():
        return counts @ scores
    return np.where(counts[..., forbidden].any(axis=-1), -np.inf, counts[..., ~forbidden] @ scores[~forbidden])


def best(parts, scores, x):
    """The structure of largest score, an int or a tuple of ints."""
    return as_structure(parts.outputs, parts.argmax.argmax(scores.copy(), x), x)


def refuse_hidden(parts, wanted) -> None:
    """Raises an error where an output is many structures, so that numbers of structures are none of outputs."""
    if parts.outputs.hidden:
        raise PluginError(f"{wanted} are those of outputs, but one output of {type(parts.outputs).__name__} is many hidden structures. Use "
                          f"a solver without them.")


def log_partition(parts, scores, x) -> float:
    """log of the sum of exp(score of y) over all structures y."""
    refuse_hidden(parts, "probabilities")
    result = marginals_of(parts.argmax, scores, x)
    if result is not None:
        return result[0]
    _, all_scores = scored(parts, scores, x, "probabilities of outputs")
    return float(all_scores.max() + np.log(np.exp(all_scores - all_scores.max()).sum()))


def marginals(parts, scores, x) -> np.ndarray:
    """How often each atom is expected in y where p(y) is proportional to exp(score of y)."""
    result = marginals_of(parts.argmax, scores, x)
    if result is not None:
        return result[1]
    counts, all_scores = scored(parts, scores, x, "marginals")
    p = np.exp(all_scores - all_scores.max())
    return (p / p.sum()) @ counts


def max_marginals(parts, scores, x) -> np.ndarray:
    """The score of the best structure that contains each atom; -inf where none does."""
    largest = parts.argmax.max_marginals(scores, x)
    if largest is not None:
        return largest
    _, counts = listed(parts, x, "max-marginals")
    return np.where(counts > 0, totals(counts, scores)[:, None], -np.inf).max(axis=0, initial=-np.inf)


def log_probabilities(parts, scores, b, spread) -> np.ndarray:
    """log P of every label from the labels' scores, (n_examples, n_labels), at the temperature 1 / b and with this spread."""
    return probability_model(parts).log_probabilities(parts.outputs, scores, b, spread, floor(parts))


def probabilities(parts, scores, b, spread) -> np.ndarray:
    """P of every label, (n_examples, n_labels). Ordered labels need no exponential of a logarithm, which takes three times as long."""
    if has_cumulative_probabilities(parts):
        return cumulative_probabilities(scores, b, floor(parts), spread)
    return np.exp(log_probabilities(parts, scores, b, spread))


def floor(parts) -> float:
    """The least spread of rows with pooled atoms: it falls with the examples that training has visited."""
    return 1 / (parts.weights.n_visited + 2)


def has_one_direction(parts) -> bool:
    """Whether only thresholds separate the atoms "rank > k" apart: they share the one row of x and its weights."""
    layout, outputs = parts.features.layout, parts.outputs
    return (isinstance(outputs, RankOutputs) and layout.atoms_per_example == outputs.n_labels - 1 and layout.rows_per_example == 1
            and (outputs.n_labels == 2 or layout.n_blocks == 1))


def has_cumulative_probabilities(parts) -> bool:
    """Whether labels have the probabilities of ordered ones."""
    return probability_model(parts).log_probabilities is RankOutputs.log_probabilities


def calibration(parts, scores, right, weights, share) -> tuple:
    """1 / temperature and the spread; see `LabelOutputs.calibration`."""
    return probability_model(parts).calibration(parts.outputs, scores, right, weights, share)


def probability_model(parts) -> type:
    """The class of outputs whose probabilities labels have: their own, but a softmax after a rule that has fitted one from marginals."""
    return LabelOutputs if parts.trainer.online and "marginals" in parts.update.needs else type(parts.outputs)


def scored(parts, scores, x, wanted):
    """The atom counts of all structures of x, (n_structures, n_atoms), and their scores. Raises an error if all are -inf."""
    counts = listed(parts, x, wanted)[1]
    all_scores = totals(counts, scores)
    if all_scores.max(initial=-np.inf) == -np.inf:
        raise forbidden(x.index)
    return counts, all_scores


def listed(parts, x, wanted):
    """All structures of x and their atom counts, (n_structures, n_atoms)."""
    refuse_hidden(parts, wanted)
    structures = listed_structures(parts.outputs, x, MOST_STRUCTURES + 1)
    if structures is None:
        raise PluginError(f"{type(parts.argmax).__name__} cannot find {wanted}, and {type(parts.outputs).__name__} cannot "
                          f"enumerate its structures. Implement enumerate(x) there, or a method of the solver.")
    if len(structures) > MOST_STRUCTURES:
        raise PluginError(f"{wanted} were looked for among all structures of example {x.index}, which are more than {MOST_STRUCTURES}; "
                          f"give it a smaller one.")
    return structures, np.array([parts.outputs.count(x, y) for y in structures], dtype=float).reshape(len(structures), x.n_atoms)
