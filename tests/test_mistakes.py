"""Mistakes that users make, each with the sentence that names the way out: in Python, and on the command line."""

import shlex
import warnings

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from scipy import sparse
from sklearn.model_selection import cross_val_score
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_large_margin.estimators import SVOR
from structperc_parsing.estimators import DependencyParser

import structperc
from structperc import estimators, files, metrics, plotting, solvers
from structperc.callbacks import EarlyStopping
from structperc.cli import main
from structperc.errors import DataWarning, ScaleWarning
from structperc.estimators import CuSumRank, LatentRanker, PRank, StructuredClassifier

random = np.random.default_rng(0)
X = random.normal(size=(60, 3))
y = 1 + np.digitize(X @ [1.0, -2.0, 0.5], [-1.0, 0.0, 1.0])
relevance, queries = (X[:, 0] > 0).astype(int), np.repeat(np.arange(6), 10)
named = pd.DataFrame(X, columns=["a", "b", "c"])
colours = named.assign(colour=["red", "green", "blue"] * 20)
gaps = colours.assign(colour=[None, *colours["colour"][1:]])
texts = ["good", "bad"] * 30
intervals = np.column_stack([y, y])
trained, trained_by_name = PRank(epochs=1).fit(X, y), PRank(epochs=1).fit(named, y)
engine, engine_by_name = Engine("cusum").fit(X, y), Engine("cusum").fit(named, y)



class Problem:
    """A custom plugin."""


NAMES = {name: getattr(estimators, name) for name in estimators.__all__} | {
    "Engine": Engine, "EarlyStopping": EarlyStopping, "estimators": estimators, "metrics": metrics, "plotting": plotting,
    "files": files, "structperc": structperc, "solvers": solvers,
    "X": X, "y": y, "relevance": relevance, "queries": queries, "named": named, "colours": colours, "gaps": gaps,
    "texts": texts, "intervals": intervals, "trained": trained, "trained_by_name": trained_by_name, "engine": engine,
    "engine_by_name": engine_by_name, "SVOR": SVOR, "AdaBoostOR": AdaBoostOR, "ORStump": ORStump,
    "Problem": Problem, "DependencyParser": DependencyParser, "cross_val_score": cross_val_score,
}  # fmt: skip

IN_PYTHON = [       # the call, and its message
    # parameters that other libraries call otherwise
    ("CuSumRank(max_iter=5)", "Did you mean 'epochs'?"),
    ("CuSumRank(n_iter=5)", "Did you mean 'epochs'?"),
    ("CuSumRank(seed=5)", "Did you mean 'random_state'?"),
    ("CuSumRank(alpha=0.1)", "Did you mean 'decay'?"),
    ("CuSumRank(Epochs=5)", "Did you mean 'epochs'?"),
    ("LatentRanker(learning_rate=0.1)", "Did you mean 'step_size'?"),
    ("StructuredEstimator(eta=0.1)", "Did you mean 'step_size'?"),
    ("OrdinalConformal(CuSumRank(), alpha=0.1)", "Did you mean 'coverage'?"),
    ("CuSumRank().set_params(n_epochs=5)", "Did you mean 'epochs'?"),
    ("Engine('multiclass', loss='absolute').fit(X, texts)", "loss='absolute' depends on the order of the labels. y holds the strings"),
    ("Engine('multiclass', loss='squared').fit(X, texts)", "name it with classes=[lowest, ..., highest], or pass an ordered categorical."),
    ("StructuredClassifier(loss='absolute').fit(X, texts)", "name it with classes=[lowest, ..., highest], or pass an ordered categorical."),
    ("StructuredEstimator(Problem())", "StructuredEstimator takes its parameters by name, but got Problem without one; write "
                                       "StructuredEstimator(problem=Problem)"),
    ("Engine('cusum', learning_rate=0.1)", "Did you mean 'step_size'?"),
    ("Engine('cusum', max_iter=5)", "Did you mean 'epochs'?"),
    ("CuSumRank(loss='mae').fit(X, y)", "Did you mean 'absolute'?"),
    ("CuSumRank(loss='mse').fit(X, y)", "Did you mean 'squared'?"),
    ("CuSumRank(loss='0-1').fit(X, y)", "Did you mean 'zero-one'?"),
    ("CuSumRank(update='sgd').fit(X, y)", "Did you mean 'perceptron'?"),
    ("CuSumRank(kernel='gaussian').fit(X, y)", "Did you mean 'rbf'?"),
    ("LabelScorer('mae')(trained, X, y)", "Did you mean 'mean-absolute-error'?"),
    ("LabelScorer('kappa')(trained, X, y)", "Did you mean 'quadratic-weighted-kappa'?"),
    ("Engine('CuSumRank')", "Did you mean 'cusum'?"),
    ("Engine('ranking')", "Did you mean 'latent-ranking'?"),
    ("engine.export('model.c', to='C')", "Did you mean 'c'?"),
    # options of plugins
    ("CuSumRank(plugins=['table'], one_hot=['colour'], fill='median')",
     "pass plugin_options={'one_hot': ['colour'], 'fill': 'median'}."),
    ("CuSumRank(budget=10)", "an option of the plugin 'dual-kernel': pass kernel='linear', plugin_options={'budget': 10}."),
    ("CuSumRank().set_params(one_hot=['colour'])", "It is an option of the plugin 'table': pass plugin_options={'one_hot': ['colour']}."),
    ("Engine('cusum', kernel='rbf')", "It comes with plugins=['dual-kernel']."),
    ("Engine('cusum', one_hot=['colour'])", "It comes with plugins=['table']."),
    ("CuSumRank(plugin_options={'one_hots': ['colour']}).fit(colours, y)", "unknown option 'one_hots'."),
    ("Engine('cusum', plugins=[EarlyStopping])", "pass an object, EarlyStopping(...)."),
    ("StructuredEstimator(problem=CuSumRank).fit(X, y)", "CuSumRank is an estimator, not a plugin"),
    # tables
    ("Engine('cusum').fit(colours, y)", "Pass plugins=['table'], one_hot=['colour']."),
    ("Engine('cusum', plugins=['table'], one_hot=['colour']).fit(gaps, y)", "Pass fill={'colour': 'most-frequent'}."),
    ("CuSumRank().fit(colours, y)", "Pass plugin_options={'one_hot': ['colour']}."),
    ("CuSumRank().fit(named.mask(named > 1.5), y)", "plugin_options={'fill': 'median'} to an estimator."),
    ("CuSumRank().partial_fit(colours, y)", "Pass plugin_options={'one_hot': ['colour']}."),
    ("CuSumRank().fit(gaps, y)", "plugin_options={'one_hot': ['colour'], 'fill': {'colour': 'most-frequent'}}."),
    ("CuSumRank(plugins=['table'], plugin_options={'one_hot': ['colour']}).fit(gaps, y)",
     "Pass plugin_options={'fill': {'colour': 'most-frequent'}}."),
    ("CuSumRank(plugins=['table'], plugin_options={'one_hot': ['colour'], 'fill': 'meadian'}).fit(colours, y)", "Did you mean 'median'?"),
    ("CuSumRank(plugins=['table'], plugin_options={'one_hot': ['colour'], 'fill': {'colour': 'mode'}}).fit(colours, y)",
     "Did you mean 'most-frequent'?"),
    ("OrdinalConformal(CuSumRank()).fit(colours, y)", "plugin_options={'one_hot': ['colour']}."),
    ("ScoreCard(PRank()).fit(colours, y)", "Make columns of 0 and 1 of 'colour', for instance by pandas.get_dummies."),
    ("RankingSVM().fit(colours, relevance, groups=queries)", "Make columns of 0 and 1 of 'colour', for instance by pandas.get_dummies."),
    ("CuSumRank().fit({'a': [1, 2]}, [1, 2])", "Pass pandas.DataFrame(X) if these are columns"),
    ("CuSumRank().fit(texts, y)", "make a matrix of them (texts: scikit-learn's TfidfVectorizer"),
    ("CuSumRank().fit(texts, y)", "or use a kernel on such objects (texts: kernel='subsequence'"),
    ("SVOR().fit(colours, y)", "'colour': 3 texts ('red', 'green', 'blue'). Make columns of 0 and 1 of 'colour', for instance by"),
    ("SVOR().fit(named, y).predict(named.assign(c='x'))", "'c': 1 text ('x')."),
    ("AdaBoostOR().fit(colours, y)", "'colour': 3 texts ('red', 'green', 'blue'). Make columns of 0 and 1 of 'colour', for instance by"),
    ("ORStump().fit(colours, y)", "Make columns of 0 and 1 of 'colour', for instance by pandas.get_dummies."),
    # columns that are missing or further ones
    ("engine_by_name.predict(colours)", "this model was trained with 3 features: it has further 'colour'; pass the same columns"),
    ("engine.predict(colours)", "X has 4 features, but this model was trained with 3 features; pass the same columns"),
    ("engine_by_name.predict(named.assign(c='x'))", "X has 1 column that is not numbers throughout: 'c'"),
    ("trained_by_name.predict(named[['a', 'b']])", "X has 2 features, but PRank is expecting 3 features as input: it lacks 'c'. Pass"),
    ("trained_by_name.predict(colours)", "it has further 'colour'. Pass the columns "),
    ("trained_by_name.predict(colours.drop(columns=['a', 'b']))", "it lacks 'a', 'b' and has further 'colour'. Pass the columns"),
    ("trained.predict(X[:, :2])", "X has 2 features, but PRank is expecting 3 features as input. Pass the columns"),
    ("engine_by_name.predict(named[['a', 'b']])", "this model was trained with 3 features: it lacks 'c'; pass the same columns"),
    ("engine_by_name.predict(named.assign(d=1))", "it has further 'd'; pass the same columns"),
    # classes where objects are expected, and arguments of other libraries' fit
    ("OrdinalConformal(CuSumRank).fit(X, y)", "estimator is the class CuSumRank; pass an instance, CuSumRank()."),
    ("ScoreCard(PRank).fit(X, y)", "estimator is the class PRank; pass an instance, PRank()."),
    ("LeafFeatures(PRank).fit(X, y)", "estimator is the class PRank; pass an instance, PRank()."),
    ("OrdinalConformal(CuSumRank()).fit(X, intervals)", "the lowest and the highest label of each row, use IntervalPA."),
    ("ScoreCard()", "ScoreCard needs the parameter estimator, which has no default: write ScoreCard(estimator=...)"),
    ("BinaryReduction(cost='absolute')", "BinaryReduction needs the parameter estimator, which has no default"),
    ("BinaryReduction(None).fit(X, y)", "estimator=None has no get_params and cannot be cloned; expected an estimator such as PRank()."),
    ("OrdinalConformal(coverage=0.8)", "OrdinalConformal needs the parameter estimator"),
    ("CuSumRank(5)", "CuSumRank takes its parameters by name, but got 5 without one; write CuSumRank(NAME=5)"),
    ("StructuredEstimator('cusum')", "StructuredEstimator takes its parameters by name, but got 'cusum' without one"),
    ("CuSumRank().fit(X, y, epochs=5)", "It is a parameter of the estimator: CuSumRank(epochs=5)."),
    ("CuSumRank().fit(X, y, eval_set=[(X, y)])", "plugins=[structperc.callbacks.EarlyStopping(X, y)]."),
    ("CuSumRank().fit(X, y, sample_weights=y)", "Did you mean 'sample_weight'?"),
    ("LatentRanker().fit(X, relevance, group=[30, 30], lengths=[30, 30])", "they mean the same, so pass one of them"),
    ("LatentRanker().fit(X, relevance, eval_set=[])", "plugins=[structperc.callbacks.EarlyStopping(X, y, groups=groups)]."),
    ("RankingSVM().fit(X, relevance, group=[30, 30], lengths=[30, 30])", "they mean the same, so pass one of them"),
    ("RankingSVM().fit(X, relevance, query_id=queries)", "Did you mean 'qid'?"),
    ("SequenceTagger().fit([[['the']]], [['D']], epochs=5)", "It is a parameter of the estimator: SequenceTagger(epochs=5)."),
    ("StructuredEstimator(problem='cusum').fit(X, y, weights=y)", "Did you mean 'sample_weight'?"),
    ("LatentRanker().fit(X, relevance)", "sklearn.set_config(enable_metadata_routing=True), then params={'groups': groups}."),
    ("Engine('cusum').partial_fit(X, y, epochs=3)", "partial_fit has no argument 'epochs'. It is an option of the engine"),
    ("Engine('cusum').partial_fit(X, y, sample_weights=y)", "Did you mean 'sample_weight'?"),
    ("CuSumRank().partial_fit(X, y, sample_weights=y)", "It has X, y, classes, sample_weight."),
    ("PRank().partial_fit(X, y, epochs=3)", "It is a parameter of the estimator: PRank(epochs=3)."),
    ("PRank().fit(X, y, eval_set=[(X, y)])", "plugins=[structperc.callbacks.EarlyStopping(X, y)]."),
    ("PRank().fit(X, y, 5, 6)", "expected an array (n_samples, n_labels) with the cost of predicting each label for each row."),
    ("IntervalPA().fit(X, y, sample_weights=y)", "Did you mean 'sample_weight'?"),
    ("LatentRanker().partial_fit(X, relevance, group=[30, 30], lengths=[30, 30])", "they mean the same, so pass one of them"),
    ("SequenceTagger().partial_fit([[['the']]], [['D']], epochs=5)", "It is a parameter of the estimator: SequenceTagger(epochs=5)."),
    ("StructuredEstimator(problem='cusum').partial_fit(X, y, weights=y)", "Did you mean 'sample_weight'?"),
    ("cross_val_score(LatentRanker(), X, relevance)", "sklearn.set_config(enable_metadata_routing=True), then params={'groups': groups}."),
    ("cross_val_score(RankingSVM(), X, relevance)", "sklearn.set_config(enable_metadata_routing=True), then params={'groups': groups}."),
    ("DependencyParser(projektive=True)", "DependencyParser has no parameter 'projektive'. Did you mean 'projective'?"),
    ("SVOR(kernal='linear')", "SVOR has no parameter 'kernal'. Did you mean 'kernel'?"),
    ("SVOR(epochs=5)", "SVOR has no parameter 'epochs'. Its parameters are C, cache_size, calibrate, class_weight, classes"),
    ("AdaBoostOR(estimators=5)", "Did you mean 'estimator'?"),
    ("ORStump(costs='absolute')", "Did you mean 'cost'?"),
    ("CuSumRank(kernel='rbf', plugin_options={'budgt': 3}).fit(X, y)", "unknown option 'budgt'. Did you mean 'budget'?"),
    ("CuSumRank(kernel='rbf').set_params(plugin_options__budgt=3)", "plugin_options names 'budgt', which is no option of a plugin. Did"),
    ("CuSumRank().set_params(plugin_options__budgt=3)", "Did you mean 'budget'?"),
    ("Engine('cusum', budgt=3)", "unknown option 'budgt'. Did you mean 'budget'? It comes with plugins=['dual-kernel']."),
    ("Engine()", "an engine needs a problem first: Engine('cusum'), for instance; `structperc plugins` lists them all."),
    ("CuSumRank(plugin_options__fill='median')", "Pass plugin_options={'fill': 'median'}; set_params has plugin_options__fill."),
    ("CuSumRank(plugin_options=['one_hot']).fit(X, y)", "plugin_options=['one_hot']; expected a dict from names of options"),
    ("CuSumRank(kernel='poly').fit(X, y)", "Did you mean 'polynomial'?"),
    ("CuSumRank().fit(X, y, class_weight='balanced')", "It is a parameter of the estimator: CuSumRank(class_weight='balanced')."),
    ("CuSumRank().fit(X, y, costs=X)", "PRank.fit and StructuredEstimator.fit have costs."),
    ("trained.predict(X, k=2)", "predict has no argument 'k'. It has X."),
    ("trained.predict(X, groups=queries)", "Each row has a label of its own; SequenceTagger, LatentRanker and"),
    ("trained.predict_proba(X, epochs=2)", "It is a parameter of the estimator: PRank(epochs=2)."),
    ("trained.explain(X[0], agains=1)", "Did you mean 'against'?"),
    ("trained.score(X)", "score was called without y. Its arguments are X, y, sample_weight."),
    ("trained.export()", "export was called without path. Its arguments are path, to."),
    ("trained.save(5)", "the path is 5; expected a text or a pathlib.Path."),
    ("SVOR().fit(X, y, epochs=5)", "fit has no argument 'epochs'."),
    ("OrdinalConformal(CuSumRank()).fit(X, y, coverages=0.5)", "fit has no argument 'coverages'."),
    ("Engine('cusum', 5)", "Engine got 5 without a name; write Engine('cusum', NAME=5)."),
    ("Engine('prank', trainer='svor').fit(X, y)", "It comes with plugins=['large-margin']."),
    ("Engine('cusum', trainer='bcfw').fit(X, y)", "It comes with plugins=['batch']."),
    ("Engine('path', update='perturbed').fit(X, y)", "It comes with plugins=['decision-rules']."),
    ("Engine.load(None)", "the path is None; expected a text or a pathlib.Path."),
    ("Engine('sequence', forbidden_transitions='bio').fit([[['a'], ['b']]], [['B-x', 'O']])", "Did you mean 'iob2'?"),
    # names that are nearly right
    ("trained.coef", "Did you mean 'coef_'?"),
    ("trained.thresholds", "Did you mean 'thresholds_'?"),
    ("estimators.CusumRank", "Did you mean 'CuSumRank'?"),
    ("estimators.Svor", "Did you mean 'SVOR'?"),
    ("structperc.Engin", "Did you mean 'Engine'?"),
    ("solvers.best_paths", "Did you mean 'best_path'?"),
    # models without a fit, and results that a model does not have
    ("plotting.plot_steps(Engine('prank'), X, y)", "regions are drawn of models of two columns"),
    ("plotting.plot_thresholds(Engine('prank'), X, y)", "this Engine is not fitted yet"),
    ("plotting.plot_weights(Engine('prank'))", "this Engine is not fitted yet"),
    ("plotting.plot_learning_curve(Engine('prank'))", "this Engine is not fitted yet"),
    ("trained.explain(X[0], against=9)", "against=9 is no output of this model. Expected one of 1, 2, 3, 4."),
    ("engine.explain(X)", "explain takes one example, but got 60; pass one of them: X[:1]"),
    ("estimators.load('ranks.csv')", "'ranks.csv' is not a structperc model"),
    # calls with too little, and names that are written otherwise
    ("Engine('cusum').fit(X, y, batch_size=3)", "fit has no argument 'batch_size'. It has X, y, offsets"),
    ("Engine('cusum').fit(X, y, 3)", "fit got 3 without a name; write NAME=VALUE. It has X, y, offsets, lengths, groups, allowed,"),
    ("Engine('cusum').partial_fit(X, y, 3)", "partial_fit got 3 without a name; write NAME=VALUE. It has X, y, offsets"),
    ("engine.predict(X, 3)", "predict got 3 without a name; write NAME=VALUE. It has X, offsets, lengths, groups, allowed, k."),
    ("engine.predict(X, group=[1] * 60)", "predict has no argument 'group'. Did you mean 'lengths'? It has X, offsets"),
    ("engine.predict(X, epochs=3)", "It is an option of the engine: Engine(..., epochs=...)."),
    ("engine.predict_proba(X, group=[1] * 60)", "predict_proba has no argument 'group'. Did you mean 'lengths'?"),
    ("engine.citation(5)", "citation got 5 without a name; leave it out. It has none."),
    ("engine.margins()", "margins was called without X. Its arguments are X, offsets, lengths, groups, allowed."),
    ("engine.explain(X[:1], x=X[:1])", "explain got x twice, with its name and without it; pass it once."),
    ("Engine('cusum').fit(X, y, epochs=3)", "It is an option of the engine: Engine(..., epochs=...)."),
    ("Engine('cusum').fit(X, y, sample_weights=y)", "Did you mean 'sample_weight'?"),
    ("Engine('cusum').fit(X, y).export('model.txt')", "the ending of model.txt names no format; pass `to`"),
    ("EarlyStopping((X, y))", "EarlyStopping got X without y; pass both, EarlyStopping(*data)."),
    ("EarlyStopping(X)", "EarlyStopping got X without y; pass both, EarlyStopping(X, y)."),
    ("engine.predict_probability(X)", "Did you mean 'predict_proba'?"),
    ("trained.partialfit(X, y)", "Did you mean 'partial_fit'?"),
    ("metrics.confusion_matrix([1, 2], [1, 3], classes=[1, 2])", "y_pred[1] is 3, which is not one of the labels known so far (1, 2)"),
    # files
    ("files.read('bad.svm')", "bad.svm is no svmlight file at line 2"),
    ("files.read('ranks.csv', target='Level')", "Did you mean 'level'?"),
    ("files.read('ranks.csv', target=5)", "target=5: expected the name of a column, or a pair of names."),
    ("files.read('ranks.csv', separator='tab')", "separator='tab': expected one character between cells; a tab is '\\t'."),
    ("files.read('head.csv')", "write the rows below the header."),
]

FIT = "fit cusum ranks.csv --target level --model m "
ON_THE_COMMAND_LINE = [     # the command, and its message
    (FIT + "--epochs 5", "there is no flag --epochs. Options are set: --set epochs=5. See structperc fit --help"),
    (FIT + "--epochs=5", "--set epochs=5."),
    (FIT + "--max-iter 5", "--set epochs=5."),
    (FIT + "--learning-rate 0.1", "--set step_size=0.1."),
    (FIT + "--shuffle", "--set shuffle=true."),
    (FIT + "--kernel rbf", "--plugin dual-kernel --set kernel=rbf."),
    (FIT + "--ignore a", "there is no flag --ignore. Did you mean --drop?"),
    (FIT + "--weigth a", "Did you mean --weight?"),
    (FIT + "--lr 0.1", "there is no flag --lr. Options are set: --set step_size=0.1. See structperc fit --help"),
    (FIT.replace("cusum ", "ner ", 1) + "--quiet",
     "Did you mean 'sequence'?"),
    ("help crf", "there is no topic 'crf'. Did you mean 'sequence'? structperc help lists all topics."),
    (FIT + "--nonsense", "there is no flag --nonsense. See structperc fit --help"),
    (FIT + "--shuffle --zzz=3", "--set shuffle=true. Also there is no flag --zzz. See structperc fit --help"),
    (FIT + "--set epochs=x --set rate=1 --set zzz=2", "--set epochs=x: expected a whole number. Also --set rate=1: there is no option "
     "'rate'. Did you mean 'step_size'? Also --set zzz=2: there is no option 'zzz'. structperc help cusum"),
    (FIT + "more.csv", "'more.csv' is one argument too many. See structperc fit --help"),
    ("evaluate cusum.model ranks.csv --epochs 5", "there is no flag --epochs. See structperc evaluate --help"),
    (FIT + "--set max_iter=5", "Did you mean 'epochs'?"),
    (FIT + "--set kernel=rbf", "It comes with --plugin dual-kernel."),
    (FIT + "--set loss=mae", "Did you mean 'absolute'?"),
    (FIT + "--format tsv", "Did you mean 'csv'?"),
    ("train cusum ranks.csv", "Did you mean 'fit'?"),
    ("score cusum.model ranks.csv", "Did you mean 'evaluate'?"),
    ("fit cusum ranks.csv --target Level --model m", "Did you mean 'level'?"),
    ("fit cusum rank.csv --target level --model m", "rank.csv: No such file or directory. Did you mean 'ranks.csv'?"),
    ("fit cusum data/rank.csv --target level --model m", "There is no such folder."),
    ("fit intervals ranks.csv --target level --model m", "Did you mean 'disjoint-intervals'?"),
    ("fit cusum colours.csv --target level --model m", "Pass --one-hot colour."),
    ("fit cusum colours.csv --target level --model m --one-hot colour --fill meadian", "Did you mean 'median'?"),
    ("fit cusum gaps.csv --target level --model m --one-hot colour", "Pass --fill colour=most-frequent."),
    ("fit multiclass colours.csv --target colour --model m --set loss=absolute --stream", "order of the labels. y holds the strings"),
    ("fit cusum gaps.csv --target level --model m", "Pass --one-hot colour --fill colour=most-frequent."),
    ("fit cusum bad.svm --model m", "bad.svm is no svmlight file at line 2"),
    ("predict cusum.model narrow.csv", "narrow.csv has no column 'c'"),
    ("predict tags.model ranks.csv", "ranks.csv is read as csv, but the model was trained on conll or conllu"),
    ("evaluate cusum.model ranks.csv --target a", "labels that the model does not know"),
    ("evaluate cusum.model ranks.csv --target a", "it knows 1, 2, 3, 4. Name the column of right labels with --target"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, good and bad, and two models."""
    folder = tmp_path_factory.mktemp("mistakes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ranks = named.round(3).assign(level=y)
        ranks.to_csv("ranks.csv", index=False)
        ranks.assign(colour=colours["colour"]).to_csv("colours.csv", index=False)
        ranks.assign(colour=gaps["colour"]).to_csv("gaps.csv", index=False)
        ranks[["a", "b", "level"]].to_csv("narrow.csv", index=False)
        (folder / "head.csv").write_text("a,b,level\n")
        (folder / "bad.svm").write_text("1 1:2 2:3\n2 1:x\n")
        (folder / "tags.conllu").write_text("1\tthe\tthe\tDET\tD\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tN\t_\t0\troot\t_\t_\n\n")
        assert main(shlex.split("fit cusum ranks.csv --target level --model cusum.model --quiet")) == 0
        assert main(shlex.split("fit sequence tags.conllu --target upos --model tags.model --quiet")) == 0
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_the_examples_are_right_where_no_mistake_is_made(here):
    assert CuSumRank(plugins=["table"], plugin_options={"one_hot": ["colour"], "fill": {"colour": "most-frequent"}}).fit(gaps, y)
    assert CuSumRank(plugins=["table"], plugin_options={"one_hot": ["colour"], "fill": {"colour": "unknown"}}).fit(gaps, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("mistake", "words"), IN_PYTHON)
def test_a_mistake_in_python_is_answered_with_what_to_do(here, mistake, words):
    with pytest.raises(Exception) as caught:        # of any class: the sentence is what is tested
        eval(mistake, dict(NAMES))
    assert words in str(caught.value)


@pytest.mark.parametrize(("command", "words"), ON_THE_COMMAND_LINE)
def test_a_mistake_on_the_command_line_is_answered_with_what_to_do(here, run, command, words):
    code, out, err = run(*shlex.split(command))
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1


def test_a_level_that_looks_like_a_statistic_fills_its_column():
    table = pd.DataFrame({"side": ["medial", None, "lateral", "medial"], "size": [1.0, 2.0, 3.0, 4.0]})
    model = Engine("cusum", plugins=["table"], one_hot=["side"], fill={"side": "medial"}).fit(table, [1, 2, 1, 2])
    assert model.read(table).X[:, 0].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_rows_of_a_table_without_groups_are_sentences_of_one_token_with_a_warning(here, run):
    code, _, err = run("fit", "sequence", "ranks.csv", "--target", "level", "--model", "m")
    assert code == 0 and "each row of X is a sentence of one token" in err and "--group COLUMN" in err


def test_a_stream_of_rows_without_groups_warns_too(here, run):
    code, _, err = run("fit", "sequence", "ranks.csv", "--target", "level", "--model", "m", "--stream", "--classes", "1,2,3,4")
    assert code == 0 and "each row of X is a sentence of one token" in err


def test_rows_of_a_matrix_without_groups_are_sentences_of_one_token_with_a_warning():
    with pytest.warns(DataWarning, match="each row of X is a sentence of one token, .*. Pass groups or lengths"):
        Engine("sequence").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        Engine("sequence").fit(X, [y[start:start + 10] for start in range(0, 60, 10)], groups=queries)


def test_the_ending_of_an_export_names_its_format(here):
    engine.export("model.c")
    with open("model.c") as file:
        by_ending = file.read()
    engine.export("model.c", to="c")
    with open("model.c") as file:
        assert file.read() == by_ending


def test_a_model_notes_the_target_of_conllu(here, run):
    code, out, err = run("evaluate", "tags.model", "tags.conllu")
    assert (code, err) == (0, "") and "token accuracy" in out


def test_too_little_memory_is_told_from_an_open_quote(here, run, monkeypatch):
    def failing(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

    with open("cells.csv", "w") as file:               # numbers without quotes are read without pandas
        file.write('a,b,level\n"1",2,1\n3,4,2\n')
    with monkeypatch.context() as patch:
        patch.setattr(pd, "read_csv", failing)
        code, _, err = run("fit", "cusum", "cells.csv", "--target", "level", "--model", "m")
    assert code == 2 and "the memory of this machine does not suffice" in err and "fit --stream" in err and "quote" not in err
    with open("open.csv", "w") as file:
        file.write('a,b,level\n1,"2,1\n3,4,2\n')
    assert "look for a quote that is never closed" in run("fit", "cusum", "open.csv", "--target", "level", "--model", "m")[2]


def test_early_stopping_measures_groups():
    model = LatentRanker(epochs=3, random_state=0, plugins=[stopping := EarlyStopping(X, relevance, groups=queries)])
    model.fit(X, relevance, groups=queries)
    assert len(stopping.losses) == len(model.mistakes_)


def test_a_loss_between_levels_of_classes_follows_the_order_that_the_user_names():
    named = Engine("multiclass", loss="absolute", classes=["good", "bad"]).fit(X, texts)
    ordered = Engine("multiclass", loss="absolute").fit(X, pd.Categorical(texts, ["good", "bad"], ordered=True))

    assert list(named.classes_) == list(ordered.classes_) == ["good", "bad"]
    assert list(Engine("multiclass", loss="absolute").fit(X, y).classes_) == [1, 2, 3, 4]
    assert Engine("multiclass", loss="zero-one").fit(X, texts).cumulative_loss_ > 0


def test_a_ratio_of_scales_has_few_digits():
    with pytest.warns(ScaleWarning, match=r"column x\[1\] is \d\.\d+e\+\d+ times as large as column x\[0\]"):
        Engine("cusum").fit(X[:, :2] * [1.0, 1e100], y)


def test_records_of_the_history_hold_plain_labels():
    record = Engine("prank").fit(X, y, history=True).history_[0]
    assert (type(record.gold), type(record.said)) == (int, int)


def test_names_with_another_meaning_are_no_misspellings():
    with pytest.raises(Exception, match="loss='hinge' is unknown") as caught:
        StructuredClassifier(loss="hinge").fit(X, y)
    assert "Did you mean" not in str(caught.value)


def test_a_class_that_fails_by_itself_is_not_called_a_class_with_arguments():
    class Broken(EarlyStopping):
        def __init__(self):
            raise TypeError("a mistake in here")

    with pytest.raises(TypeError, match="a mistake in here"):
        Engine("cusum", plugins=[Broken])


def test_a_fit_that_does_not_depend_on_units_warns_of_no_scales():
    columns, ranks = X * [1.0, 1000.0, 1.0], np.resize([1, 2, 3, 1, 2], len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        Engine("prank", trainer="cumulative-logit").fit(columns, ranks)
    with pytest.warns(ScaleWarning, match="train with scale=True"):
        Engine("prank", trainer="cumulative-logit", penalty=1.0).fit(columns, ranks)


def test_weights_that_do_not_fit_into_memory_name_the_way_out():
    X = sparse.csr_matrix((np.ones(2), [0, 2**40], [0, 1, 2]), shape=(2, 2**41))
    with pytest.raises(MemoryError, match=r"the weights of 2199023255552 columns and 2 labels need more memory.*n_hashed=2\*\*20"):
        Engine("multiclass", scale=False).fit(X, [1, 2])
