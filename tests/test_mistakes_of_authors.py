# ruff: noqa: E501 (a row of the table is a line)
"""Mistakes that authors of plugins make, one row each: what they wrote, and the sentence that names the culprit.

A: an error of this library. B: Python's own error, with a note that names part, method and example. S: only the test suite finds it.
Nothing is silent, names another culprit or ends the interpreter.
"""

import itertools

import numpy as np
import pytest
from mistaken_parts import (
    BLOCKS,
    CHOSEN,
    Bare,
    BatchMean,
    Best,
    Choice,
    Deaf,
    Estimator,
    Fails,
    HalfState,
    HalfStep,
    LambdaState,
    Listed,
    Measured,
    NeedsArguments,
    One,
    Outside,
    Plain,
    Random,
    Remembers,
    Rewrites,
    SameNames,
    Scored,
    Shuffled,
    Spent,
    Twice,
    Unscaled,
    WithoutSelf,
    X,
    Y,
    argmax,
    choice,
    damaged,
    features,
    fit,
    hooks,
    labels,
    listed,
    loss,
    named,
    outputs,
    reader,
    refuse,
    rule,
    several,
    sort_scores,
    store,
    suite,
    trainer,
    whole_store,
    with_method,
    written,
)
from scipy.sparse import csr_array

from structperc import Engine, Option, hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    ClassOutputs,
    Features,
    HammingLoss,
    KeyedReader,
    LabelOutputs,
    Loss,
    Reader,
    RowFeatures,
    Rows,
    Structures,
    Trainer,
    Update,
    VectorFeatures,
)  # fmt: skip
from structperc.errors import PluginError, StructPercError
from structperc.testing import check_problem

MISTAKES = [
    # the solver
    ("argmax returns None", argmax(lambda self, s, x: None), "A", "MyBest.argmax: None for example"),
    ("argmax returns a float", argmax(lambda self, s, x: (0.5,)), "A", "MyBest.argmax: (0.5,) for example"),
    ("argmax returns an int for a set", argmax(lambda self, s, x: 0), "A", "MyBest.argmax: 0 for example"),
    ("argmax counts atoms from 1", argmax(lambda self, s, x: (len(s),)), "A", "MyBest.argmax: atom 3 in the structure (3,)"),
    ("argmax returns an atom twice", argmax(lambda self, s, x: (0, 0)), "A", "MyBest.argmax: the structure (0, 0) of example"),
    ("argmax returns a 0/1 vector", argmax(lambda self, s, x: [1] * len(s)), "A", "MyBest.argmax: the structure (1, 1, 1) of example"),
    ("argmax fails", argmax(lambda self, s, x: 1 / 0), "B", "MyBest.argmax, example"),
    ("argmax lacks an argument", argmax(lambda self, s: 0), "B", "MyBest.argmax, example"),
    ("argmax of labels from 0", labels(with_method(Argmax, "argmax", lambda self, s, x: int(np.argmax(s)))()), "A", "is not a label of example"),
    ("argmax of labels returns a tuple", labels(with_method(Argmax, "argmax", lambda self, s, x: (1,))()), "A", "is not a label; expected an int"),
    ("no argmax at all", choice(argmax=Argmax), "A", "Argmax does not implement argmax()"),
    ("k_best without scores", lambda: fit(Choice(argmax=Scored)).predict_k_best(BLOCKS, 2), "A", "pairs that begin with 0 for example 0"),
    ("k_best returns too many", lambda: fit(Choice(argmax=with_method(Best, "k_best", lambda self, s, x, k: [((0,), 0.0)] * 9)))
     .predict_k_best(BLOCKS, 2), "A", "MyBest.k_best returned 9 structures"),
    ("k_best worst first", lambda: fit(Choice(argmax=with_method(Best, "k_best", lambda self, s, x, k: [((0,), 0.0), ((1,), 1.0)][:k])))
     .predict_k_best(BLOCKS, 2), "A", "expected the best structures first"),
    ("marginals return one number", lambda: fit(Choice(argmax=with_method(Best, "marginals", lambda self, s, x: 1.0)), update="log-loss"),
     "A", "MyBest.marginals returned 1.0"),
    ("log-loss without marginals", lambda: fit(Choice(), update="log-loss"), "A", "Write its method marginals(scores, x)"),
    ("exact, but not", suite(Choice(argmax=with_method(Best, "argmax", lambda self, s, x: (0,)))), "S", "MyBest returned (0,) of score"),
    ("inexact, outside Y(x)", suite(Choice(argmax=Outside)), "S", "which One.enumerate does not list"),
    ("random ties", suite(Choice(argmax=Random)), "S", "and later"),
    ("argmax_augmented ignores the loss", suite(Choice(argmax=Deaf)), "S", "Deaf.argmax_augmented: with the loss from"),
    ("argmax keeps the Example", lambda: kept_example(), "A", "is no longer in use"),
    ("argmax returns a bool", argmax(lambda self, s, x: True), "A", "MyBest.argmax: True for example"),
    ("argmax returns a nested list", argmax(lambda self, s, x: [[0]]), "A", "MyBest.argmax: [[0]] for example"),
    ("argmax returns a dict", argmax(lambda self, s, x: {0: 1.0}), "A", "MyBest.argmax: {0: 1.0} for example"),
    ("argmax returns a text", argmax(lambda self, s, x: "0"), "A", "MyBest.argmax: '0' for example"),
    ("argmax returns a negative atom", argmax(lambda self, s, x: (-1,)), "A", "MyBest.argmax: atom -1 in the structure"),
    ("argmax returns the scores", argmax(lambda self, s, x: s), "A", "is not a structure; expected a collection of ints"),
    ("argmax of labels returns a name", labels(with_method(Argmax, "argmax", lambda self, s, x: "a")()), "A", "'a' for example"),
    ("argmax of labels returns a float", labels(with_method(Argmax, "argmax", lambda self, s, x: 1.0)()), "A", "1.0 for example"),
    ("argmax of labels beyond the last", labels(with_method(Argmax, "argmax", lambda self, s, x: 9)()), "A", "expected an int from 1 to 3"),
    ("argmax keeps something from call to call", suite(Choice(argmax=type("Counting", (Best,), {"calls": [], "argmax": lambda self, s, x:
     self.calls.append(1) or (int(np.argmax(s)) if len(self.calls) < 40 else 0,)})), "answers_are_structures"), "S", "and later"),
    ("argmax_augmented returns None", lambda: fit(Choice(argmax=with_method(
        Best, "argmax_augmented", lambda self, s, x, gold, loss, scale: None)), loss_weight=1.0), "A", "argmax_augmented: None for example"),
    ("argmax_augmented lacks arguments", lambda: fit(Choice(argmax=with_method(Best, "argmax_augmented", lambda self, s, x: (0,))),
                                                     loss_weight=1.0), "B", "MyBest.argmax_augmented, example"),
    ("exact is a text", choice(argmax=type("MyBest", (Best,), {"exact": "no"})), "A", "MyBest.exact = 'no'; expected True or False"),
    ("start of a solver forgets its base", choice(argmax=with_method(Best, "start", lambda self, parts, context: None)), "A",
     "MyBest does not know the outputs yet"),
    ("k_best returns texts", listed(lambda self, s, x, k: ["a", "b"]), "A", "MyBest.k_best returned ['a', 'b']"),
    ("k_best returns one structure", listed(lambda self, s, x, k: (0,)), "A", "MyBest.k_best returned (0,)"),
    ("k_best has a score that is not finite", listed(lambda self, s, x, k: [((0,), float("nan"))]), "A", "MyBest.k_best returned the score nan"),
    ("k_best has an atom that is none", listed(lambda self, s, x, k: [((9,), 1.0)]), "A", "MyBest.k_best: atom 9 in the structure"),
    ("k_best has a structure twice", suite(Choice(argmax=with_method(Best, "k_best", lambda self, s, x, k: [
        ((int(np.argmax(s)),), float(s.max()))] * k)), "further_answers_agree"), "S", "k_best"),
    ("k_best has other scores", suite(Choice(argmax=with_method(Best, "k_best", lambda self, s, x, k: [
        ((int(a),), float(s[a]) / 2) for a in np.argsort(-s)[:k]])), "further_answers_agree"), "S", "k_best"),
    ("marginals of another length", lambda: fit(Choice(argmax=with_method(Best, "marginals", lambda self, s, x: (0.0, np.zeros(9)))),
                                                update="log-loss"), "A", "MyBest.marginals returned an array of shape (9,)"),
    ("marginals not finite", lambda: fit(Choice(argmax=with_method(Best, "marginals", lambda self, s, x: (float("nan"), np.ones(len(s))))),
                                         update="log-loss"), "A", "MyBest.marginals returned log Z = nan"),
    ("marginals are others", suite(Choice(argmax=with_method(Best, "marginals", lambda self, s, x: (0.0, np.ones(len(s)) / len(s)))),
                                   "further_answers_agree"), "S", "marginals"),
    # the outputs
    ("outputs hook returns a class", choice(outputs=lambda: None), "A", "expected a structperc.components.Outputs"),
    ("count of another length", outputs(count=lambda self, x, y: np.zeros(9)), "A", "MyOutputs.count returned an array of shape (9,)"),
    ("count returns None", outputs(count=lambda self, x, y: None), "A", "MyOutputs.count returned None"),
    ("count is not finite", outputs(count=lambda self, x, y: np.full(3, np.nan)), "A", "MyOutputs.count returned nan"),
    ("check_structure returns a reason", outputs(check_structure=lambda self, x, y: "bad"), "A", "expected None. Raise an error"),
    ("encode returns a list", outputs(encode=lambda self, y, rows: [1]), "A", "MyOutputs.encode returned [1]"),
    ("encode of fewer", outputs(encode=lambda self, y, rows: Structures.ragged([[0]])), "A", "MyOutputs.encode made 1 gold outputs for 12"),
    ("decode fails", outputs(decode=lambda self, y, x: y.missing), "B", "MyOutputs.decode, example 0"),
    ("agrees returns a text", outputs(agrees=lambda self, gold, y, x: "yes"), "A", "MyOutputs.agrees returned 'yes'"),
    ("gold outside the example", lambda: fit(Choice(), y=[(7,)] * 12), "A", "y[0] cannot be used: atom 7"),
    ("y of another length", lambda: fit(Choice(), y=[(0,)] * 5), "A", "y has 5 outputs but X has 12 examples"),
    ("labels called classes_", outputs(decode=lambda self, y, x: self.classes_), "B", "MyOutputs.decode, example 0"),
    ("n_labels set in the class", outputs(n_labels=3), "A", "declare it by find_labels"),
    ("ordered set on Outputs", outputs(ordered=True), "A", "only LabelOutputs has this attribute"),
    ("find_labels forgets its base", lambda: fit(hooks(structperc_outputs=hookimpl(lambda self, context: with_method(
        ClassOutputs, "find_labels", lambda self, y, classes: np.array([1, 2, 3]))())), X, Y, "multiclass"), "A", "does not know its labels"),
    ("agrees always true", suite(Choice(outputs=with_method(One, "agrees", lambda self, gold, y, x: True))), "S", "but they count different"),
    ("enumerate leaves out a structure", suite(Choice(outputs=with_method(One, "enumerate", lambda self, x: [(0,)]))), "S", "does not list"),
    ("decode cannot be undone", suite(Choice(outputs=with_method(One, "decode", lambda self, y, x: (0,)))), "S", "which is encoded as"),
    ("decode returns nothing", suite(Choice(outputs=with_method(One, "decode", lambda self, y, x: None)), "decoding_is_undone"), "S", "None"),
    ("decode lacks the example", outputs(decode=lambda self, y: y), "B", "MyOutputs.decode, example 0"),
    ("enumerate fails", several(lambda self, x: 1 / 0), "B", "MyOutputs.enumerate, example 0"),
    ("enumerate returns None", several(lambda self, x: None), "A", "Implement enumerate(x) there"),
    ("enumerate lists ints", several(lambda self, x: range(x.n_rows)), "A", "0 for example 0 is not a structure"),
    ("enumerate lists atoms that are none", several(lambda self, x: [(99,)]), "A", "atom 99 in the structure (99,)"),
    ("count fails", outputs(count=lambda self, x, y: y.missing), "B", "MyOutputs.count, example"),
    ("count is negative", suite(Choice(outputs=with_method(One, "count", lambda self, x, y: -1.0 * np.isin(range(x.n_rows), y)))), "S", "choice"),
    ("check_structure refuses what is right", outputs(check_structure=refuse), "A", "y[0] cannot be used: never"),
    ("encode fails", outputs(encode=lambda self, y, rows: 1 / 0), "B", "MyOutputs.encode"),
    ("encode makes fractions", outputs(encode=lambda self, y, rows: Structures.ragged([[0.5]] * 12)), "A", "expected a collection of whole numbers"),
    ("gold is a text of digits", lambda: fit(Choice(), y=["0"] * 12), "A", "y[0] is '0'; expected a collection of atom numbers"),
    ("gold is a fraction", lambda: fit(Choice(), y=[(0.5,)] * 12), "A", "y[0] is (0.5,); expected a collection of atom numbers"),
    ("partial gold without what it needs", outputs(partial_gold=True), "A", "a gold output of MyOutputs may leave some open"),
    ("agrees fails", outputs(agrees=lambda self, gold, y, x: 1 / 0), "B", "MyOutputs.agrees, example"),
    ("agrees returns None", outputs(agrees=lambda self, gold, y, x: None), "A", "MyOutputs.agrees returned None"),
    ("agrees never true", suite(Choice(outputs=with_method(One, "agrees", lambda self, gold, y, x: False)), "agreeing_is_counting_the_same"),
     "S", "agrees"),
    ("max_code_length too small", outputs(max_code_length=lambda self, n: 0), "A", "Outputs.max_code_length allows 0"),
    ("max_code_length a text", outputs(max_code_length=lambda self, n: "3"), "A", "MyOutputs.max_code_length returned '3'"),
    ("write_cells returns too few", lambda: written(lambda self, answer, n_rows: [1]), "A", "MyOne.write_cells returned [1]; expected 3 cells"),
    ("another part from the hook", choice(outputs=Best), "A", "structperc_outputs of plugin 'choice' returned Best of type Best"),
    ("display returns a text", lambda: str(fit(Choice(outputs=with_method(One, "display", lambda self: "x"))).explain(BLOCKS[0])), "A",
     "MyOne.display returned 'x'"),
    # the map
    ("vectors one row short", features(vectors=lambda self, x: x.rows[:-1]), "A", "which has the atoms 0..1 by MyMap.vectors"),
    ("vectors of another width", features(vectors=lambda self, x: x.rows[:, :1]), "A", "MyMap.vectors returned shape (3, 1)"),
    ("vectors not finite", features(vectors=lambda self, x: x.rows * np.inf), "A", "MyMap.vectors returned"),
    ("vectors fails", features(vectors=lambda self, x: x.missing), "B", "MyMap.vectors, example 0"),
    ("no vectors", features(), "A", "does not implement vectors()"),
    ("no shape", choice(features=lambda context: type("MyMap", (Features,), {})()), "A", "MyMap has no weights; call self.shape"),
    ("scores of another length", choice(features=lambda context: shaped(scores=lambda self, w, x: np.zeros(9))), "A", "MyMap.scores returned"),
    ("scores not finite", choice(features=lambda context: shaped(scores=lambda self, w, x: np.full(3, np.nan))), "A", "MyMap.scores returned nan"),
    ("add returns a copy", choice(features=lambda context: shaped(add=lambda self, w, x, c: w + 1)), "A", "MyMap.add returned"),
    ("add writes beyond", choice(features=lambda context: shaped(add=lambda self, w, x, c: w.__setitem__(99, 1.0))), "B", "MyMap.add, example"),
    ("another number of columns", choice(features=lambda context: RowFeatures(99)), "A", "was made for 99 features, but X has 2"),
    ("weights of float32", lambda: RowFeatures(2).scores(np.zeros(2, "f4"), Rows(np.ones((1, 2))).example(0)), "A",
     "expected one contiguous float64 array"),
    ("negative norm", lambda: fit(Choice(features=lambda context: shaped(norm=lambda self, x, c: -1.0)), update="pa"), "A", "MyMap.norm returned -1.0"),
    ("column_of out of range", lambda: fit(Choice(features=lambda context: shaped(column_of=lambda self, j: np.full(len(j), 99))))
     .explain(BLOCKS[0]), "A", "MyMap.column_of returned"),
    ("scores and add differ", suite(Choice(features=lambda context: shaped(add=lambda self, w, x, c: np.add(w, c @ x.rows * 2, out=w) is None or None
                                                                           ))), "S", "MyMap.scores is not w . phi"),
    ("project excludes 0", suite(Choice(features=lambda context: shaped(project=lambda self, w, x=None: w.fill(1.0)))), "S", "moves w = 0"),
    ("vectors in three dimensions", features(vectors=lambda self, x: x.rows[None]), "A", "MyMap.vectors returned shape (1, 3, 2)"),
    ("vectors None", features(vectors=lambda self, x: None), "A", "MyMap.vectors returned"),
    ("vectors a text", features(vectors=lambda self, x: "abc"), "A", "MyMap.vectors returned 'abc'"),
    ("vectors of several lengths", features(vectors=lambda self, x: [[1.0], [1.0, 2.0]]), "A", "MyMap.vectors returned [[1.0], [1.0, 2.0]]"),
    ("vectors complex", features(vectors=lambda self, x: x.rows * 1j), "A", "real numbers"),
    ("vectors a damaged matrix", features(vectors=lambda self, x: damaged(x.rows)), "A", "MyMap.vectors returned a matrix for example 0 that is damaged"),
    ("vectors lacks the example", features(vectors=lambda self: None), "B", "MyMap.vectors, example 0"),
    ("a map writes into the rows", features(vectors=lambda self, x: np.multiply(x.rows, 2, out=x.rows)), "B", "MyMap.vectors, example 0"),
    ("n_atoms negative", choice(features=lambda context: shaped(n_atoms=lambda self, x: -1)), "A", "MyMap.n_atoms returned -1"),
    ("n_atoms a fraction", choice(features=lambda context: shaped(n_atoms=lambda self, x: 2.5)), "A", "MyMap.n_atoms returned 2.5"),
    ("n_atoms None", choice(features=lambda context: shaped(n_atoms=lambda self, x: None)), "A", "MyMap.n_atoms returned None"),
    ("scores None", choice(features=lambda context: shaped(scores=lambda self, w, x: None)), "A", "MyMap.scores returned None"),
    ("scores fails", choice(features=lambda context: shaped(scores=lambda self, w, x: 1 / 0)), "B", "MyMap.scores, example"),
    ("add changes nothing", suite(Choice(features=lambda context: shaped(add=lambda self, w, x, c: None)), "features_add_up"), "S", "MyMap.scores"),
    ("inner is another product", suite(Choice(features=lambda context: shaped(inner=lambda self, x, a, z, b: 7.0)), "features_add_up"),
     "S", "MyMap.inner"),
    ("norm is another one", suite(Choice(features=lambda context: shaped(norm=lambda self, x, c: 7.0)), "features_add_up"), "S", "MyMap.norm"),
    ("norm a text", lambda: fit(Choice(features=lambda context: shaped(norm=lambda self, x, c: "1")), update="pa"), "A", "MyMap.norm returned '1'"),
    ("no weights", choice(features=lambda context: VectorFeatures(0)), "A", "n_weights=0; expected a whole number from 1"),
    ("a number of columns as text", choice(features=lambda context: RowFeatures("3")), "A", "n_features='3'"),
    ("the constructor forgets its base", choice(features=lambda context: type("MyMap", (VectorFeatures,), {"__init__": lambda self: None})()),
     "A", "MyMap has no weights; call self.shape"),
    ("bounds in the other order", choice(features=lambda context: RowFeatures(2, bounds=(1, -1))), "A", "bounds=(1, -1)"),
    ("bounds without 0", choice(features=lambda context: RowFeatures(2, bounds=(1, 2))), "A", "since training begins at 0"),
    ("rescaled of another length", lambda: fit(Choice(features=lambda context: type("MyMap", (VectorFeatures,), {
        "vectors": lambda self, x: x.rows, "rescaled": lambda self, w, shift, spread: w[:1]})(2)), scale=True), "A", "MyMap.rescaled returned"),
    ("feature_name a number", lambda: named(lambda self, j: 3), "A", "MyMap.feature_name returned 3 for weight"),
    ("feature_name fails", lambda: named(lambda self, j: [][j]), "B", "MyMap.feature_name"),
    # losses
    ("loss without value", loss(), "A", "MyLoss does not implement value()"),
    ("loss negative", loss(value=lambda self, gold, y, x=None: -1.0), "A", "MyLoss.value returned -1.0"),
    ("loss None", loss(value=lambda self, gold, y, x=None: None), "A", "MyLoss.value returned None"),
    ("loss not finite", loss(value=lambda self, gold, y, x=None: float("nan")), "A", "MyLoss.value returned nan"),
    ("loss fails", loss(value=lambda self, gold, y, x=None: {}[gold]), "B", "MyLoss.value, example"),
    ("value takes no example", loss(value=lambda self, gold, y: 1.0), "B", "MyLoss.value, example"),
    ("augment of another length", loss(value=lambda self, gold, y, x=None: 1.0 * (gold != y), augment=lambda self, gold, s, scale, x=None: s[:1]),
     "A", "MyLoss.augment returned an array of shape (1,)"),
    ("augment returns None", loss(value=lambda self, gold, y, x=None: 1.0 * (gold != y), augment=lambda self, gold, s, scale, x=None: None),
     "A", "MyLoss.augment returned None"),
    ("start forgets its base", loss(start=lambda self, parts, context: None, value=lambda self, gold, y, x=None: 1.0), "A", "does not know the outputs"),
    ("a search with a loss that is measured", lambda: fit(Choice(), loss=Measured(), loss_weight=1.0), "A", "cannot be written over atoms"),
    ("Hamming on labels", labels(HammingLoss()), "A", "the outputs of this problem are single labels"),
    ("a loss above its largest", lambda: fit(Choice(argmax=Listed), loss=Twice(), loss_weight=1.0), "A", "correct `largest`"),
    ("costs that the loss does not use", lambda: Engine("multiclass").fit(X, Y, costs=np.ones((12, 3))), "A", "set loss='costs'"),
    ("loss not 0 at gold", suite("multiclass", "loss_is_zero_at_gold", plugins=[with_method(Loss, "value", lambda self, g, y, x=None: 1.0)()]),
     "S", "is right is 1.0; expected 0"),
    ("augment forgets the scale", suite("cusum", "augmented_argmax_maximises", plugins=[Unscaled()]), "S", "Unscaled.augment"),
    ("value returns an array", loss(value=lambda self, gold, y, x=None: np.zeros(2)), "A", "MyLoss.value returned array([0., 0.])"),
    ("value returns a text", loss(value=lambda self, gold, y, x=None: "1"), "A", "MyLoss.value returned '1'"),
    ("value returns inf", loss(value=lambda self, gold, y, x=None: float("inf")), "A", "MyLoss.value returned inf"),
    ("augment of the wrong sign", suite("cusum", "augmented_argmax_maximises", plugins=[with_method(
        AbsoluteLoss, "augment", lambda self, gold, s, scale, x=None: AbsoluteLoss.augment(self, gold, s, -scale, x))()]), "S", "augment"),
    ("largest negative", lambda: fit(Choice(argmax=Listed), loss=type("L", (Measured,), {"largest": -1.0})(), loss_weight=1.0), "A",
     "but its `largest` is -1.0; correct `largest`"),
    ("largest a text", lambda: fit(Choice(argmax=Listed), loss=type("L", (Measured,), {"largest": "1"})(), loss_weight=1.0), "A", "L.largest is '1'"),
    ("largest, and nobody lists", lambda: fit(Choice(outputs=Bare), loss=type("L", (Measured,), {"largest": 1.0})(), loss_weight=1.0), "A",
     "and a method `k_best` of Best"),
    ("a function for a loss", lambda: Engine("cusum", loss=lambda gold, y: 1.0), "A", "expected a name, an (r, r) matrix of costs, or an object"),
    ("a rule for a loss", lambda: Engine("cusum", loss=HalfStep()), "A", "expected a name, or an object of a subclass of structperc.components.Loss"),
    ("a loss that nobody knows", lambda: fit(Best(), X, Y, "multiclass", loss="abs"), "A", "loss='abs' is unknown"),
    ("a name that its hook leaves out", lambda: fit(hooks(losses=("mine",), structperc_loss=hookimpl(lambda self, context: None)), X, Y,
                                                    "multiclass", loss="mine"), "A", "loss='mine' is unknown"),
    # rules
    ("step of another length", rule(step=lambda self, trial: np.zeros(9)), "A", "MyRule.step returned an array of shape (9,)"),
    ("step not finite", rule(step=lambda self, trial: trial.difference() * np.nan), "A", "MyRule.step returned nan"),
    ("step fails", rule(step=lambda self, trial: trial.missing), "B", "MyRule.step, example"),
    ("no step", rule(), "A", "MyRule does not implement step()"),
    ("inner of arrays", rule(step=lambda self, trial: trial.inner(trial.difference(), trial.difference())), "A", "trial.inner was given"),
    ("inner of an atom that is none", rule(step=lambda self, trial: trial.inner(0, 99)), "A", "trial.inner was given 0 and 99"),
    ("needs misspelt", rule(needs={"marginal"}, step=lambda self, trial: None), "A", "Did you mean 'marginals'"),
    ("when misspelt", rule(when="allways", step=lambda self, trial: None), "A", "has when='allways'"),
    ("searches returns one value", rule(searches=lambda self, weight: "plain", step=lambda self, trial: None), "A", "MyRule.searches returned"),
    ("the trial is kept", lambda: kept_trial(), "A", "no visit of a pass under way"),
    ("a list in the class", suite("multiclass", "fits_are_alike", plugins=[Remembers()]), "S", "A part, or its class, keeps something"),
    ("weights of examples have no effect", suite("multiclass", "sample_weights_act", plugins=[with_method(
        Update, "step", lambda self, trial: trial.difference())()]), "S", "weight"),
    ("step a number", rule(step=lambda self, trial: 1.0), "A", "MyRule.step returned 1.0"),
    ("step a text", rule(step=lambda self, trial: "x"), "A", "MyRule.step returned 'x'"),
    ("step in two dimensions", rule(step=lambda self, trial: np.zeros((3, 1))), "A", "MyRule.step returned an array of shape (3, 1)"),
    ("step lacks the trial", rule(step=lambda self: None), "B", "MyRule.step, example"),
    ("step of the wrong sign", suite("multiclass", plugins=[HalfStep(-1.0)]), "S", "multiclass"),
    ("searches fails", rule(searches=lambda self, weight: 1 / 0, step=lambda self, trial: None), "B", "MyRule.searches"),
    ("searches for what is none", rule(searches=lambda self, weight: ("all", 1.0), step=lambda self, trial: None), "A", "the search 'all'"),
    ("needs a text", rule(needs="search", step=lambda self, trial: None), "A", "MyRule.needs = 'search'; expected a set"),
    ("options_used a text", rule(options_used="epochs", step=lambda self, trial: None), "A", "MyRule.options_used = 'epochs'"),
    ("options_used misspelt", rule(options_used=("epoch",), step=lambda self, trial: None), "A", "Did you mean 'epochs'"),
    ("the loss of a trial is not finite", rule(step=lambda self, trial: setattr(trial, "loss", float("nan"))), "A", "MyRule.step left the loss nan"),
    ("the y of a trial is set", rule(step=lambda self, trial: setattr(trial, "y", 1)), "B", "MyRule.step, example"),
    ("the norm of other coefficients", rule(step=lambda self, trial: trial.norm(np.ones(99))), "A", "(99,) coefficients for example"),
    ("marginals that nobody computes", lambda: fit(Choice(), update=type("MyRule", (Update,), {
        "step": lambda self, trial: trial.marginals() and None})()), "A", "Best does not implement marginals()"),
    # stores
    ("a store without scores", store(), "A", "MyStore does not implement"),
    ("a store forgets its base", store(start=lambda self, parts, context: None), "A", "does not know the feature map"),
    ("a store scores too few", store(scores=lambda self, x: np.zeros(1), update=lambda self, x, c: None), "A", "MyStore.scores returned"),
    ("a store passes float32", store(scores=lambda self, x: self.features.scores(np.zeros(self.features.n_weights, "f4"), x),
                                     update=lambda self, x, c: None), "A", "expected one contiguous float64 array"),
    ("update returns weights", store(scores=lambda self, x: np.zeros(x.n_atoms), update=lambda self, x, c: c, state=lambda self: {},
                                     restore=lambda self, state: None), "A", "MyStore.update returned"),
    ("a state with a gap", suite("multiclass", "saving_keeps_everything", plugins=[HalfState()]), "S", "a loaded model predicts differently"),
    ("a store without update", store(scores=lambda self, x: np.zeros(x.n_atoms)), "A", "MyStore does not implement update()"),
    ("update of a store fails", whole_store(update=lambda self, x, c: 1 / 0), "B", "MyStore.update, example"),
    ("scores of a store not finite", whole_store(scores=lambda self, x: np.full(x.n_atoms, np.nan)), "A", "MyStore.scores returned nan"),
    ("averaged returns None", whole_store(averaged=lambda self: None), "A", "MyStore.averaged returned None; expected a weight store"),
    # readers
    ("read returns a list", reader(read=lambda self, X, offsets=None: X), "A", "MyReader.learn returned"),
    ("read fails", reader(read=lambda self, X, offsets=None: X.missing), "B", "MyReader.read"),
    ("read is asked for objects", reader(read=lambda self, X, offsets=None: Reader.read(list(map(str, X)), offsets)), "A", "list of objects"),
    ("keys that are not there", choice(argmax=with_method(Best, "argmax", lambda self, s, x: x.keys)), "A", "have no keys; return a KeyedReader"),
    ("more keys than columns", labels(KeyedReader(9)), "A", "expected rows of 9 columns that identify"),
    ("read of fewer examples", reader(read=lambda self, X, offsets=None: Reader.read(X[:5], None)), "A", "y has 12 labels but X has 5 examples"),
    ("learn returns None", reader(learn=lambda self, X, offsets=None: None), "A", "MyReader.learn returned None; expected Rows"),
    ("read of what is not finite", reader(read=lambda self, X, offsets=None: Reader.read(np.full((12, 3), np.nan), offsets)), "A", "X[0, 0] is nan"),
    ("read lacks the offsets", reader(read=lambda self, X: Reader.read(X, None)), "B", "MyReader.learn"),
    ("read of other columns later", reader(learn=lambda self, X, offsets=None: Reader.read(np.ones((12, 2)), offsets)), "A",
     "X has 3 features, but this model was trained with 2"),
    ("no key", lambda: KeyedReader(0), "A", "KeyedReader: n_keys=0"),
    # trainers and observers
    ("train returns None", trainer(lambda self, run: None), "A", "MyTrainer.train returned None"),
    ("train fails", trainer(lambda self, run: run.missing), "B", "missing"),
    ("begin_epoch twice", trainer(lambda self, run: (run.begin_epoch(), run.begin_epoch())), "A", "called begin_epoch twice"),
    ("run before begin_epoch", trainer(lambda self, run: run.run(run.order())), "A", "begin_epoch"),
    ("end_epoch without a pass", trainer(lambda self, run: (run.begin_epoch(), run.end_epoch(None))), "A", "called end_epoch with None"),
    ("an order of strangers", trainer(lambda self, run: (run.begin_epoch(), run.run([99]))), "A", "99"),
    ("an observer fails", labels(Fails()), "B", "structperc_epoch_end"),
    ("train returns a number", trainer(lambda self, run: (run.begin_epoch(), run.end_epoch(run.run(run.order())), 3)[2]), "A",
     "MyTrainer.train returned 3; expected a word for status_"),
    ("end_epoch twice", trainer(lambda self, run: (run.begin_epoch(), passed := run.run(run.order()), run.end_epoch(passed),
                                                   run.end_epoch(passed))), "A", "called end_epoch outside of an epoch"),
    ("an epoch is left open", trainer(lambda self, run: (run.begin_epoch(), run.run(run.order()), "done")[2]), "A", "MyTrainer.train returned within epoch 1"),
    ("an order of fractions", trainer(lambda self, run: (run.begin_epoch(), run.run([0.5]))), "A", "the order of a pass is [0.5]"),
    ("an order in two dimensions", trainer(lambda self, run: (run.begin_epoch(), run.run([[0, 1]]))), "A", "the order of a pass is [[0, 1]]"),
    ("a negative order", trainer(lambda self, run: (run.begin_epoch(), run.run([-1]))), "A", "has example -1 at position 0"),
    ("an observer has another argument", lambda: fit(hooks(structperc_epoch_end=hookimpl(lambda self, model: None)), X, Y, "multiclass"), "A",
     "has an argument 'model'"),
    ("an observer trains its engine", lambda: fit(hooks(structperc_epoch_end=hookimpl(lambda self, engine, record: engine.fit(X, Y))), X, Y,
                                                  "multiclass"), "A", "while this engine is being trained"),
    # plugins
    ("a hook forgotten", lambda: Engine(hooks(structperc_outputs=hookimpl(lambda self, context: One()),
                                              structperc_argmax=hookimpl(lambda self, context: Best()))), "A", "A problem implements"),
    ("no hook", lambda: Engine(Plain()), "A", "implements no hook of structperc"),
    ("an unmarked hook", lambda: Engine(hooks(structperc_argmax=lambda self, context: Best())), "A", "without the marker @structperc.hookimpl"),
    ("a misspelt hook", lambda: Engine(hooks(structperc_argmx=hookimpl(lambda self, context: Best()))), "A", "did you mean structperc_argmax"),
    ("a misspelt argument", lambda: Engine("cusum", plugins=[hooks(structperc_loss=hookimpl(lambda self, ctx: None))]), "A", "rename it"),
    ("a hook returns a text", lambda: fit(Choice(argmax="best")), "A", "expected a structperc.components.Argmax"),
    ("a hook fails", lambda: fit(Choice(features=lambda context: 1 / 0)), "A", "structperc_features of plugin 'choice' failed"),
    ("a context has no classes", lambda: fit(Choice(features=lambda context: context.classes)), "A", "Did you mean 'labels'"),
    ("a context has no n_classes", lambda: fit(Choice(features=lambda context: context.n_classes)), "A", "Did you mean 'n_labels'"),
    ("an option that is none", lambda: fit(Choice(features=lambda context: context.options["size"])), "A", "have no option 'size'"),
    ("options is a list", lambda: Engine(Choice(options=["size"])), "A", "expected a dict from names to structperc.Option"),
    ("an option without Option", lambda: Engine(Choice(options={"size": 2})), "A", "expected a dict from names to"),
    ("an option of the engine", lambda: Engine(Choice(options={"epochs": Option(2)})), "A", "is an option of the engine itself"),
    ("a value of another type", lambda: Engine(Choice(options={"size": Option(2)}), size="two"), "A", "size='two'"),
    ("an unknown option", lambda: Engine(Choice(options={"size": Option(2)}), sise=2), "A", "Did you mean 'size'"),
    ("losses is a text", lambda: Engine(Choice(losses="edges")), "A", "expected a tuple or list of texts"),
    ("a plugin named twice", lambda: Engine("cusum", plugins=[shared := hooks(structperc_loss=hookimpl(lambda self, context: None)), shared]),
     "A", "is named twice"),
    ("a class with arguments", lambda: Engine(Choice, plugins=[NeedsArguments]), "A", "need arguments"),
    ("an estimator as a plugin", lambda: Engine(Estimator()), "A", "is an estimator, not a plugin"),
    ("no plugin", lambda: Engine(None), "A", "an engine needs a problem first"),
    ("a number for a plugin", lambda: Engine(3), "A", "3 implements no hook of structperc"),
    ("plugins is a text", lambda: Engine("cusum", plugins="dual-kernel"), "A", "such as ['dual-kernel']"),
    ("plugins is a part", lambda: Engine("cusum", plugins=Best()), "A", "expected a list of names or plugin objects"),
    ("a misspelt name", lambda: Engine("cusom"), "A", "Did you mean 'cusum'"),
    ("a name that is no text", lambda: Engine(Choice(name=3)), "A", "has name = 3; expected a text"),
    ("an option with a blank", lambda: Engine(Choice(options={"my size": Option(2)})), "A", "expected a Python name"),
    ("a default that is no choice", lambda: Option("a", choices=("b", "c")), "A", "an option has the default 'a'; expected one of 'b', 'c'"),
    ("choices is a text", lambda: Option("a", choices="abc"), "A", "an option has choices='abc'"),
    ("recommended has no such option", lambda: fit(Choice(recommended={"epoch": 3})), "A", "Did you mean 'epochs'"),
    ("recommended is a list", lambda: Engine(Choice(recommended=["epochs"])), "A", "expected a dict from names of options to values"),
    ("recommended of another type", lambda: Engine(Choice(recommended={"epochs": "three"})), "A", "epochs='three'"),
    ("a citation is a number", lambda: Engine(Choice(citation=3)), "A", "has citation = 3; expected a text"),
    ("a hook without self", lambda: Engine("multiclass", plugins=[WithoutSelf()]), "A", "write structperc_loss(self, ...)"),
    ("a hook with more arguments", lambda: Engine("multiclass", plugins=[hooks(structperc_loss=hookimpl(lambda self, context, rows: None))]), "A",
     "has an argument 'rows'"),
    ("a hook returns a class", lambda: fit(hooks(structperc_loss=hookimpl(lambda self, context: Measured)), X, Y, "multiclass"), "A",
     "expected a structperc.components.Loss"),
    ("one object for two engines", lambda: [fit(shared) for shared in [Choice(argmax=Best())] * 2], "A", "returned the same Best object to two engines"),
    ("an option that nobody reads", lambda: fit(Choice(options={"size": Option(2)}), size=3), "A", "no part in use reads it"),
    ("an option of two plugins", lambda: Engine(Choice(options={"size": Option(2)}), plugins=[hooks(
        options={"size": Option(1)}, structperc_loss=hookimpl(lambda self, context: None))]), "A", "so one value would set both"),
    ("sample returns None", suite(Choice(sample=lambda random, n: None)), "A", "the sample of plugin 'choice' cannot be read"),
    ("sample fails", suite(Choice(sample=lambda random, n: 1 / 0)), "A", "sample of plugin 'choice' failed: ZeroDivisionError"),
    ("sample of several widths", suite(Choice(sample=lambda random, n: [np.ones((2, 2)), np.ones((2, 3))])), "A", "X[1] has 3 columns"),
    ("check_options has no such option", suite(Choice(check_options={"epoch": 3})), "S", "unknown option 'epoch'. Did you mean 'epochs'"),
    ("check_options is a list", suite(Choice(check_options=["epochs"])), "A", "expected a dict of engine options"),
    ("problem is unknown", suite(hooks(problem="cusom", structperc_argmax=hookimpl(lambda self, context: Best()))), "A", "Did you mean 'cusum'"),
    ("updates is a text", lambda: Engine(Choice(updates="mine")), "A", "expected a tuple or list of texts"),
    ("sample without n_examples", suite(Choice(sample=lambda random: [])), "A", "Expected a function sample(random, n_examples)"),
    ("sample of a wrong length", suite(Choice(sample=lambda random, n: (random.normal(size=(4, 2)), [1, 2]))), "A", "2 labels for 4 examples"),
    ("sample returns five things", suite(Choice(sample=lambda random, n: (1, 2, 3, 4, 5))), "A", "returned a tuple of 5"),
    ("an unknown check", suite(Choice(), "argmax"), "B", "there is no check 'argmax'"),
    ("parts without a problem", suite(Best()), "A", "a whole problem implements"),
    ("read_cells fails", lambda: cells(lambda self, cells: int("x")), "A", "read_cells cannot read the target"),
    # custom labels
    ("labels counted from 0", suite(own_labels := type("P", (Choice,), {"sample": None})(outputs=with_method(
        LabelOutputs, "count", lambda self, x, y: np.eye(3)[y]), features=lambda context: BlockFeatures(3, context.n_features),
        argmax=with_method(Argmax, "argmax", lambda self, s, x: int(np.argmax(s)) + 1)), classes=[1, 2, 3]), "S", "out of bounds"),
    # what the pages do not say
    ("argmax sorts its scores", suite(Choice(argmax=with_method(Best, "argmax", sort_scores))), "S", "changed the atom scores that it was given"),
    ("decode returns a generator", outputs(decode=lambda self, y, x: (a for a in y)), "A", "MyOutputs.decode returned a generator for example 0"),
    ("decode returns a map", outputs(decode=lambda self, y, x: map(str, y)), "A", "MyOutputs.decode returned a map for example 0"),
    ("count sorts y", outputs(count=lambda self, x, y: y.sort()), "B", "MyOutputs.count, example 0"),
    ("labels are tuples", lambda: fit(HalfStep(), X, [("a", 1), ("b", 2), ("c", 3)] * 4, "multiclass"), "A", "y has the label ('a', 1) of type tuple"),
    ("labels are lists", lambda: fit(HalfStep(), X, [["a"], ["b"], ["c"]] * 4, "multiclass"), "A", "y holds lists or the like"),
    ("state has a lambda", lambda: fit(LambdaState(), X, Y, "multiclass").save("never"), "A", "LambdaState has state() without restore(state)"),
    ("enumerate is read once", lambda: fit(Choice(outputs=Spent)), "A", "Spent.enumerate lists no structure of example"),
    ("a reader centres each batch", suite("multiclass", "predictions_follow_from_scores", plugins=[BatchMean()]), "S", "BatchMean uses other examples"),
    ("vectors depend on the place", suite(Choice(features=lambda context: type("MyMap", (VectorFeatures,), {"vectors": lambda self, x: x.rows * (1 + x.index)})(2))), "S", "MyMap or Reader uses other examples, or the place"),
    ("a generator in the class", suite("multiclass", plugins=[Shuffled()]), "S", "A part, or its class, keeps something"),
    ("start in the other order", labels(type("MyRule", (HalfStep,), {"start": lambda self, context, parts: context.epochs})()), "B", "MyRule.start"),
    ("check in the other order", labels(type("MyRule", (HalfStep,), {"check": lambda self, parts, context: parts.outputs})()), "B", "MyRule.check"),
    ("argmax returns an array of floats", argmax(lambda self, s, x: np.array([np.argmax(s)], dtype=float)), "A", "MyBest.argmax: array("),
    ("vectors transposed", features(vectors=lambda self, x: x.rows.T), "A", "MyMap.vectors returned shape (2, 3) for example 0"),
    ("encode adds a constant", choice(outputs=type("MyOutputs", (One,), {"encode": lambda self, y, rows: Structures.ragged([[a + 3] for (a,) in y])})), "A", "atom"),
    ("gold is a set of names", lambda: fit(Choice(), y=[{"a"}] * 12), "A", "y[0] is {'a'}; expected a collection of atom numbers"),
    ("gold is a dict", lambda: fit(Choice(), y=[{0: 1}] * 12), "A", "y[0] is {0: 1}; expected a collection of atom numbers"),
    ("an option called problem", lambda: Engine(Choice(options={"problem": Option(1)})), "A", "declares an option 'problem', but that is an option of the engine"),
    ("an observer changes the record", lambda: fit(Rewrites(), X, Y, "multiclass"), "B", "structperc_epoch_end"),
    ("a loss of sizes on labels", loss(value=lambda self, gold, y, x=None: float(abs(len(gold) - len(y)))), "B", "MyLoss.value"),
    ("a loss that is the accuracy", suite("multiclass", plugins=[type("MyLoss", (Loss,), {"value": lambda self, gold, y, x=None: float(gold == y)})()]), "S", "MyLoss: the loss of 1 where 1 is right"),
]


def shaped(**methods):
    class MyMap(Features):
        def __init__(self):
            self.shape(2)

        def n_atoms(self, x):
            return x.n_rows

        def scores(self, w, x):
            return x.rows @ w

        def add(self, w, x, c):
            w += c @ x.rows

    return type("MyMap", (MyMap,), methods)()


def kept_example():
    examples = []
    fit(Choice(argmax=with_method(Best, "argmax", lambda self, s, x: examples.append(x) or (0,))))
    return examples[0].rows


def kept_trial():
    trials = []
    labels(with_method(Update, "step", lambda self, trial: trials.append(trial))())()
    return trials[0].scores


def cells(read):
    from structperc.cli.files import read_cells

    return read_cells(with_method(One, "read_cells", read)(), ["x"])


@pytest.mark.parametrize(("call", "grade", "sentence"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
@pytest.mark.filterwarnings("ignore")
def test_a_mistake_ends_in_a_sentence_that_names_it(call, grade, sentence):
    with pytest.raises(Exception) as caught:
        call()

    error = caught.value
    said = " ".join([str(error), *getattr(error, "__notes__", ())])
    assert sentence in said
    assert {"A": isinstance(error, StructPercError), "B": not isinstance(error, StructPercError), "S": isinstance(error, AssertionError)}[grade]


def test_atoms_of_one_name_are_told_apart():
    explanation = fit(Choice(outputs=type("Same", (One,), {"display": lambda self: SameNames(self)}))).explain(BLOCKS[0])
    assert sum(explanation.atoms.values()) == pytest.approx(explanation.margin)
    assert len(explanation.atoms) == 2 and all(name.startswith("row (atom ") for name in explanation.atoms)


def test_what_is_right_passes():
    assert set(dict(check_problem(Choice(), checks=["answers_are_structures", "fits_are_alike", "argmax_maximises"])).values()) == {"passed"}


def test_the_grades():
    counts = {grade: sum(row[2] == grade for row in MISTAKES) for grade in "ABS"}

    assert sum(counts.values()) == len({row[0] for row in MISTAKES}) >= 170


@pytest.mark.filterwarnings("ignore")
def test_hooks_share_no_defaults():
    class Growing(Choice):
        options = {"size": Option([1, 2])}

        @hookimpl
        def structperc_features(self, context):
            sizes.append(list(context.options["size"]))
            context.options["size"].append(3)
            return RowFeatures(context.n_features)

    sizes = []
    for _ in range(2):
        engine = Engine(Growing(), epochs=1)
        engine.fit(BLOCKS, CHOSEN).fit(BLOCKS, CHOSEN)
    assert sizes == [[1, 2]] * 4 and engine.plugin_options["size"] == [1, 2]


def test_a_row_with_a_column_twice_is_read():
    class Doubled(Reader):
        def read(self, X, offsets=None):
            rows = np.asarray(X, dtype=float)
            n, d = rows.shape
            return Reader.read(csr_array((np.repeat(rows, 2, axis=1).ravel() / 2, np.tile(np.repeat(np.arange(d), 2), n),
                                          np.arange(n + 1) * 2 * d), shape=(n, d)), offsets)

    assert dict(check_problem("multiclass", plugins=[Doubled()], checks=["features_add_up"])) == {"features_add_up": "passed"}


def test_names_of_the_arguments_are_public():
    from structperc import components

    for name in ("FitContext", "TrainingRun", "Trial", "Example"):
        assert name in components.__all__ and getattr(components, name).__doc__


def test_every_order_is_an_array():
    orders = []

    class Backwards(Trainer):
        options_used = ("shuffle",)

        def train(self, run):
            run.begin_epoch()
            orders.append(run.order()[::-1])
            run.end_epoch(run.run(orders[-1]))
            return "done"

    for shuffle in (False, True):
        fit(Backwards(), X, Y, "multiclass", epochs=1, preset="paper", shuffle=shuffle)
    assert orders[0].tolist() == list(range(11, -1, -1)) and sorted(orders[1].tolist()) == list(range(12))


def test_one_whole_set_of_structures_is_used():
    assert list(itertools.chain(*fit(Choice()).predict(BLOCKS))) and PluginError
