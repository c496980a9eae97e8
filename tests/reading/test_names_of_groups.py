"""Names of groups have one rule everywhere: an entry without a name belongs to no group and is an error."""

import numpy as np
import pandas as pd
import pytest

import structperc
from structperc import Engine, metrics
from structperc.cli import main
from structperc.errors import DataError
from structperc.estimators import LatentRanker, PRank, RankingScorer, RankingSVM, SequenceTagger, StructureConformal

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 2))
Y = (X[:, 0] > 0).astype(int)
RANKS = PRank(random_state=0).fit(X, Y)

UNNAMED = {
    "None": [None] * 12 + ["p"] * 12, "NaN": [1.0] * 12 + [np.nan] * 12, "empty": ["p"] * 12 + [""] * 12, "blank": ["p"] * 12 + [" "] * 12,
    "NA": pd.array(["p"] * 12 + [pd.NA] * 12, dtype="string"), "NaT": pd.to_datetime(["2020-01-01"] * 12 + [None] * 12),
    "categories": pd.Categorical(["p"] * 12 + [None] * 12),
}  # fmt: skip
DOORS = {
    "effects": lambda groups: structperc.effects(RANKS, X, Y, groups=groups, n_boot=39, random_state=0),
    "LatentRanker": lambda groups: LatentRanker(epochs=1).fit(X, Y, groups=groups),
    "RankingSVM": lambda groups: RankingSVM().fit(X, Y, groups=groups),
    "qid": lambda groups: RankingSVM().fit(X, Y, qid=groups),
    "measure": lambda groups: metrics.ndcg_at_k(Y, X[:, 0], groups=groups),
    "places": lambda groups: metrics.document_places(X[:, 0], groups=groups),
    "scorer": lambda groups: RankingScorer()(RankingSVM().fit(X, Y, lengths=[12, 12]), X, Y, groups=groups),
    "engine": lambda groups: Engine("sequence", epochs=1).fit(X, Y, groups=groups),
    "tagger": lambda groups: SequenceTagger(epochs=1).fit(X, Y, groups=groups),
    "sources": lambda groups: StructureConformal(RANKS).calibrate(X, Y, sources=groups),
    "folds": lambda groups: StructureConformal(PRank(random_state=0), folds=2, random_state=0).fit(X, Y, sources=groups),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::structperc.errors.DataWarning")
@pytest.mark.parametrize("door", DOORS)
def test_entries_without_a_name_belong_to_no_group(door):
    for kind, groups in UNNAMED.items():
        with pytest.raises(DataError, match=r"\[(0|12)\] is .*, which belongs to no group; fill it, or drop that row"):
            DOORS[door](groups)
            raise AssertionError(kind)
    DOORS[door](["p"] * 12 + [7] * 12)          # names of two types are names


@pytest.mark.parametrize("door", DOORS)
def test_floats_that_round_whole_numbers_name_no_group(door):
    with pytest.raises(DataError, match=r"\[0\] is 1.152921504606847e\+18, a float. From 2\*\*53 on floats round whole numbers"):
        DOORS[door](np.repeat([2.0**60, 2.0**60 + 1], 12))
    DOORS[door](np.repeat([2**60, 2**60 + 1], 12))


def test_sets_are_names_though_subsets_have_no_total_order():
    of_numbers, of_sets = np.arange(24) % 3, [frozenset([k % 3]) for k in range(24)]
    by_number, by_set = DOORS["effects"](of_numbers), DOORS["effects"](of_sets)
    assert by_number.lower.tolist() == by_set.lower.tolist() != DOORS["effects"](None).lower.tolist()
    assert DOORS["sources"](of_numbers).quantile_ == DOORS["sources"](of_sets).quantile_
    assert metrics.adjusted_rand_index(of_sets, of_numbers) == metrics.adjusted_rand_index(of_numbers, of_sets) == 1


@pytest.mark.parametrize("form", [[], ["--stream", "--rows", "9"]])
@pytest.mark.parametrize("name", ["1", "p"])
def test_the_command_names_the_row_of_an_empty_cell(name, form, tmp_path, capsys):
    rows = [f"{'' if i == 10 else name},{a},{y}" for i, (a, y) in enumerate(zip(X[:, 0], Y, strict=True))]
    (tmp_path / "queries.csv").write_text("\n".join(["q,a,y", *rows]))
    path, model = str(tmp_path / "queries.csv"), str(tmp_path / "m")
    code = main(["fit", "latent-ranking", path, "--target", "y", "--group", "q", "--model", model, *form])
    assert code == 2 and "row 11 has an empty cell in 'q', so it belongs to no group" in capsys.readouterr().err
