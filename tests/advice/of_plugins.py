"""Messages of the bundled plugins."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from structperc_decisions import regret
from structperc_dual_kernel.nystroem import NystroemReader
from structperc_parsing.scores import attachment_scores
from structperc_prank.cumulative_logit import CumulativeLogitTrainer

from advice.followed import SENTENCES, TAGS, X, Y, messages_of
from structperc import Engine, hookimpl
from structperc.estimators import AdaBoostOR, BinaryReduction, DecisionMaker, PRank
from structperc.fitting.assembly import ask
from structperc.plugin_tools import options_alone
from structperc.solvers.integer_programs import ILP
from structperc.testing.case import make_case


class Logit:
    """Brings the trainer to a problem that has other weights."""

    @hookimpl
    def structperc_trainer(self, context):
        return CumulativeLogitTrainer(0.0)


def trained(problem, plugins=(), **options):
    """An engine, trained on the examples of its problem's own test suite."""
    given = {"preset": "paper", **options}
    case = make_case(problem, (), {"preset": "paper"}, 0)
    data = case.taught
    engine = Engine(problem, plugins=list(plugins), **{**case.options, **given})
    return engine.fit(data.X, data.y, **({} if data.offsets is None else {"offsets": data.offsets}))


def parser(template=None, X=(), **options):
    X = [[("dogs", "N"), ("bark", "V")]] * 2 if not len(X) else X
    return Engine("parsing", epochs=1, template=template, **options).fit(X, [[2, 0]] * len(X))


def vectors(**options):
    return Engine("parsing", epochs=1, tokens="vectors", **options).fit([np.eye(2)] * 2, [[(2, "a"), (0, "b")]] * 2)


def svor(**options):
    return Engine("prank", plugins=["large-margin"], trainer="svor", **options)


def ranker(**options):
    return Engine("latent-ranking", random_state=0, **options).fit(X, Y, lengths=[12, 12])


CUBE = {"constraints": ILP([[1.0, 1.0]], [1.0])}
SIBLINGS = "A:%h[0,0]/%d[0,0]\nS:%h[0,0]/%d[0,0]/%s[0,0]"
X_ENDS = np.column_stack([X, (Y == 2) & (X[:, 1] > 0)])
SCALE = [0, 1, 2, 3]


def logit(X=X, y=Y, **options):
    return Engine("prank", preset="paper", **{"trainer": "cumulative-logit", **options}).fit(X, y)


def weighted_logit(weight, unit=1.0):
    engine = Engine("prank", preset="paper", trainer="cumulative-logit", scale=False)
    return engine.fit(X * (1e150 * unit), Y, sample_weight=np.full(len(Y), weight))


MESSAGES = [
    *messages_of("plugins/structperc_batch/trainers.py",
        ("may leave something open, which makes the problem a latent one", lambda _: trained("latent-ranking", ["batch"], trainer="bcfw"),
         lambda _: trained("latent-ranking", ["batch"], trainer="cccp")),
        ("leave nothing open, so there is nothing to complete", lambda _: trained("multiclass", ["batch"], trainer="cccp"),
         lambda _: trained("multiclass", ["batch"], trainer="bcfw")),
    ),
    *messages_of("plugins/structperc_boosting/bases.py",
        ("Pass a cost for each label, or name labels that y lacks", lambda _: AdaBoostOR().fit(X, Y, costs=np.ones((24, 4))),
         lambda _: AdaBoostOR().fit(X, Y, costs=1 - np.eye(3)[Y]), lambda _: AdaBoostOR(classes=SCALE).fit(X, Y, costs=1 - np.eye(4)[Y])),
    ),
    *messages_of("plugins/structperc_boosting/falling.py",
        ("has no monotone constraints, which falling=True needs", lambda _: BinaryReduction(LogisticRegression(), falling=True).fit(X, Y),
         lambda _: BinaryReduction(HistGradientBoostingClassifier(max_iter=2), falling=True).fit(X, Y),
         lambda _: BinaryReduction(LogisticRegression()).fit(X, Y)),
    ),
    *messages_of("plugins/structperc_decisions/__init__.py",
        ("decide=None; pass a function", lambda _: DecisionMaker().fit([X[:3]] * 2, [[0], [1]]),
         lambda _: DecisionMaker(decide=lambda costs, x: [int(np.argmin(costs))]).fit([X[:3]] * 2, [[0], [1]])),
    ),
    *messages_of("plugins/structperc_decisions/regret.py",
        ("pass one of each for every example", lambda _: regret([[1.0, 3.0]], [[1]], []), lambda _: regret([[1.0, 3.0]], [[1]], [[0]]))),
    *messages_of("plugins/structperc_dual_kernel/nystroem.py",
        ("has learned from no data yet; call learn first", lambda _: NystroemReader().read(X),
         lambda _: learned(NystroemReader(), X).read(X))),
    *messages_of("plugins/structperc_graph/__init__.py",
        ("neighbours may repel for all that", lambda _: graph(attractive=True, pairs="full"),
         lambda _: graph(attractive=True, pairs="potts")),
        ("stops branch and bound, but", lambda _: graph(most_nodes=9, inference="expansion", attractive=True),
         lambda _: graph(most_nodes=9, inference="exact"), lambda _: graph(inference="expansion", attractive=True)),
    ),
    *messages_of("plugins/structperc_ilp/__init__.py",
        ("constraints=None; pass", lambda _: ilp(),
         lambda _: ilp(**CUBE),
         lambda _: ilp(constraints=lambda x: CUBE["constraints"])),
    ),
    *messages_of("plugins/structperc_large_margin/forms.py",
        ("Below it the sum of margins is unbounded", lambda _: svor(C=1e-4, method="sum-of-margins").fit(X, Y),
         lambda _: svor(C=1.0, method="sum-of-margins").fit(X, Y))),
    *messages_of("plugins/structperc_large_margin/training.py",
        ("learns from one rank per example, but", lambda _: trained("multiclass", ["large-margin"], trainer="svor"),
         lambda _: svor().fit(X, Y)),
        ("learns one direction and its thresholds, but", lambda _: trained("cusum", ["large-margin"], trainer="svor"),
         lambda _: svor().fit(X, Y)),
        ("partial_fit goes on from its solution; call fit", lambda _: svor().partial_fit(X, Y), lambda _: svor().fit(X, Y),
         lambda _: svor(warm_start=True, update="exact-pa1").partial_fit(X, Y)),
    ),
    *messages_of("plugins/structperc_latent_ranking/__init__.py",
        ("for which documents are relevant or not; set relevant", lambda _: ranker(loss="average-precision", gains=[0, 1, 3]),
         lambda _: ranker(loss="average-precision", relevant=2))),
    *messages_of("plugins/structperc_parsing/__init__.py",
        ("scores siblings by a template", lambda _: vectors(order=2), lambda _: vectors(order=1)),
        ("scores the labels of all arcs by a template", lambda _: vectors(labels="joint"), lambda _: vectors(labels="after"))),
    *messages_of("plugins/structperc_parsing/arc_templates.py",
        ("has lines for siblings, such as", lambda _: parser(SIBLINGS), lambda _: parser(SIBLINGS, order=2, projective=True),
         lambda _: parser(SIBLINGS.partition("\n")[0])),
        ("and the default template is for at most", lambda _: parser(X=[[("a",) * 1001, ("b",) * 1001]] * 2),
         lambda _: parser("A:%h[0,0]/%d[0,0]", X=[[("a",) * 1001, ("b",) * 1001]] * 2))),
    *messages_of("plugins/structperc_parsing/scores.py",
        ("pass trees of the same sentences", lambda _: attachment_scores([[2, 0]], [[0]]),
         lambda _: attachment_scores([[2, 0]], [[2, 0]]))),
    *messages_of("plugins/structperc_parsing/tokens.py",
        ("has learned from no data yet; call learn first", lambda _: tokens().read([[("a",)]]),
         lambda _: learned(tokens(), [[("a",)]]).read([[("a",)]])),
        ("pass one or the other", lambda _: parser_of_offsets([0, 1, 2]), lambda _: parser_of_offsets(None))),
    *messages_of("plugins/structperc_path/searches.py",
        ("also searches with a loss added", lambda _: trained("path", costs="non-negative", update="direct"),
         lambda _: trained("path", costs="non-negative", update="pa1")),
        ("the search would pay for wrong arcs", lambda _: trained("path", costs="non-negative", loss="hamming", loss_weight=1.0),
         lambda _: trained("path", costs="non-negative", loss="missed-arcs", loss_weight=1.0))),
    *messages_of("plugins/structperc_prank/all_thresholds.py",
        ("its steps see one example", lambda _: logit(trainer="online", penalty=1.0),
         lambda _: logit(trainer="all-threshold", penalty=1.0), lambda _: logit(penalty=1.0))),
    *messages_of("plugins/structperc_prank/cumulative_logit.py",
        ("learns one direction and its thresholds, but", lambda _: Engine("cusum", plugins=[Logit()]).fit(X, Y), lambda _: logit(),
         lambda _: Engine("interval-pa", trainer="cumulative-logit").fit(X, Y)),
        ("a direction separates the ranks without error", lambda _: logit([[0.0], [1], [2], [3]], [1, 1, 2, 2]),
         lambda _: logit([[0.0], [1], [2], [3]], [1, 1, 2, 2], penalty=1.0),
         lambda _: logit([[0.0], [1], [2], [3]], [1, 1, 2, 2], trainer="online", update="logistic")),
        ("(quasi-separation)", lambda _: logit(X_ENDS), lambda _: logit(X_ENDS, penalty=1.0), lambda _: logit(X_ENDS[:, :2])),
        ("no example of y is surely the", lambda _: logit(classes=SCALE), lambda _: logit(classes=SCALE[:3]),
         lambda _: logit(classes=SCALE, trainer="online", update="logistic"))),
    *messages_of("plugins/structperc_prank/proportional_odds.py",
        ("squares of X times sample_weight overflow", lambda _: weighted_logit(1e10), lambda _: weighted_logit(1e10, 1e-150),
         lambda _: weighted_logit(1.0))),
    *messages_of("structperc/fitting/dependence.py",
        ("values of X are too large to be squared", lambda _: logit(X * 1.2e154, scale=False), lambda _: logit(X, scale=False))),
    *messages_of("plugins/structperc_prank/training.py",
        ("all costs are 0, so any ranker is as good", lambda _: pocket(np.zeros((24, 3))), lambda _: pocket(1 - np.eye(3)[Y]))),
    *messages_of("plugins/structperc_segments/__init__.py",
        ("describe every segment that there may be", lambda _: segments(), lambda _: segments(max_length=2))),
    *messages_of("plugins/structperc_sequence/chain_features.py",
        ("is a list of objects that are no sentences", lambda _: Engine("sequence").fit([object(), object()], TAGS[:2]),
         lambda _: Engine("sequence").fit([np.eye(2)] * 2, TAGS[:2]), lambda _: Engine("sequence").fit(SENTENCES, TAGS),
         lambda _: Engine("sequence").fit([[{"a": 1.0}, {"b": 1.0}]] * 2, TAGS[:2]))),
]


def graph(**options):
    nodes, edges = np.eye(3), [[0, 1], [1, 2]]
    return Engine("graph", epochs=1, **{"pairs": "potts", **options}).fit([(nodes, edges, np.ones((2, 1)))] * 2, [["a", "b", "a"]] * 2)


def ilp(**options):
    return Engine("ilp", **options).fit([np.eye(2)] * 2, [np.array([True, False])] * 2)


def pocket(costs):
    return PRank(pocket=True, random_state=0).fit(X, Y, costs=costs)


def segments(**options):
    described = Engine("segments", epochs=1, segment_features=lambda sentence, start, stop: ["same"], **options)
    return described.fit([[["a"], ["b"]], [["b"], ["a"]]], [[(0, 1, "x")], [(1, 2, "x")]])


def tokens():
    engine = Engine("parsing", random_state=0)
    return ask(engine, "reader", options_alone(engine))


def learned(reader, X):
    reader.learn(X)
    return reader


def parser_of_offsets(offsets):
    return Engine("parsing", epochs=1).fit([[("a", "b"), ("c", "d")]] * 2, [[2, 0]] * 2,
    **({} if offsets is None else {"offsets": offsets}))
