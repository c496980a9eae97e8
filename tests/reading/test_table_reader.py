"""Data frames with categories, dates and gaps, through the engine and the part itself."""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.components import TableReader
from structperc.errors import DataError, DataWarning, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
SMOKER = ["never", "former", "current"]
OPTIONS = {"drop": ["patient"], "one_hot": ["sex"], "ordinal": {"smoker": SMOKER}, "date": ["visit"], "fill": "median",
           "missing_indicators": True}


def patients(n=40):
    i = np.arange(n)
    return pd.DataFrame({
        "patient": [f"p{j}" for j in i], "sex": np.array(["f", "m"])[i % 2], "smoker": np.array(["never", "current", "former"])[i % 3],
        "bmi": np.where(i % 7 == 3, np.nan, 20.0 + i % 11), "visit": [f"2024-01-{1 + j % 20:02d}" for j in i], "age": i % 5,
    })  # fmt: skip


def levels(n=40):
    return 1 + np.arange(n) % 3


class TestWhatColumnsBecome:
    def test_each_option_makes_its_columns(self):
        rows = TableReader(**OPTIONS).learn(patients())
        assert rows.feature_names == ("sex=f", "sex=m", "smoker", "bmi", "bmi missing", "visit", "age")
        median = np.nanmedian(patients()["bmi"])
        assert rows.X[3].tolist() == [0, 1, 0, median, 1, 3, 3] and rows.X[1].tolist() == [0, 1, 2, 21, 0, 1, 1]

    @pytest.mark.parametrize(("fill", "expected"), [
        ("mean", [7 / 3, 0]), ("median", [2, 0]), ("most-frequent", [1, 0]), (-1, [-1, None]), ({"a": 9, "c": "unknown"}, [9, 2]),
        ({"*": "mean", "c": "y"}, [7 / 3, 1]),
    ])  # fmt: skip
    def test_what_fills_missing_cells(self, fill, expected):
        table = pd.DataFrame({"a": [1.0, 4.0, None, 1.0 if fill == "most-frequent" else 2.0], "c": ["x", "y", "x", "x"]})
        later = pd.DataFrame({"a": [None], "c": ["x" if expected[1] is None else None]})
        reader = TableReader(one_hot=["c"], fill=fill)
        reader.learn(table)
        row = reader.read(later).X[0]
        assert row[0] == pytest.approx(expected[0])
        assert expected[1] is None or row[1:].tolist() == np.eye(len(row) - 1)[expected[1]].tolist()

    def test_a_mean_between_two_levels_stays_between_them_when_levels_come_later(self):
        def table(*sizes):
            return pd.DataFrame({"size": pd.Categorical(sizes, [s for s in ("XS", "S", "M", "L", "XL") if s in sizes], ordered=True)})

        reader, gap = TableReader(fill="mean"), table("S", None)
        reader.learn(table("S", "M", "M", "L", "L", None))
        for part, expected in [(table("S", "M", "L"), 1.2), (table("S", "M", "L", "XL"), 1.2), (table("XS", "S"), 2.2)]:
            reader.learn_more(part)
            assert reader.read(gap).X[1].tolist() == [pytest.approx(expected)]

    def test_an_empty_category_is_a_missing_cell(self):
        table = pd.DataFrame({"c": pd.Categorical(["a", "", "b", "a"], ["", "a", "b"])})
        rows = TableReader(fill="most-frequent").learn(table)
        assert rows.feature_names == ("c=a", "c=b") and rows.X[1].tolist() == [1, 0]
        with pytest.raises(DataError, match="1 empty cell"):
            TableReader().learn(table)

    def test_a_gap_among_levels_that_one_hot_does_not_name_is_none_of_them(self):
        table = pd.DataFrame({"c": ["C", "C", "A", "B", None]})
        with pytest.warns(DataWarning, match=r"'C' \(2 rows\)"):
            rows = TableReader(one_hot={"c": ["A", "B"]}, fill="most-frequent").learn(table)
        assert rows.X[4].tolist() == [0, 0]

    def test_whole_numbers_beyond_doubles_are_levels_in_tables_of_pyarrow_too(self):
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"id": [2**53, 2**53 + 1, None], "big": [2**60 + 1, 1, 2]})
        rows = TableReader(one_hot=["id"], fill="most-frequent").learn(table)
        assert rows.feature_names == (f"id={2**53}", f"id={2**53 + 1}", "big")
        assert rows.X.tolist() == [[1, 0, 2.0**60], [0, 1, 1], [1, 0, 2]]

    def test_types_tell_what_columns_hold(self):
        table = pd.DataFrame({
            "truth": [True, False, True], "count": pd.array([1, 2, 3], "Int64"),
            "day": pd.to_datetime(["2024-03-02", "2024-03-01", "2024-03-01"]),
            "colour": pd.Categorical(["red", "blue", "red"]), "size": pd.Categorical(["L", "S", "M"], ["S", "M", "L"], ordered=True),
            "text": ["1.5", " 2 ", "3"],
        })  # fmt: skip
        rows = TableReader().learn(table)
        assert rows.feature_names == ("truth", "count", "day", "colour=blue", "colour=red", "size", "text")
        assert rows.X.tolist() == [[1, 1, 1, 0, 1, 2, 1.5], [0, 2, 0, 1, 0, 0, 2], [1, 3, 0, 0, 1, 1, 3]]

    @pytest.mark.parametrize("library", ["polars", "pyarrow"])
    def test_every_library_gives_the_same_rows(self, library):
        polars = pytest.importorskip("polars")
        made = polars.DataFrame({name: column.where(column.notna(), None).tolist() for name, column in patients().items()})
        made = made.with_columns(polars.col("visit").str.to_date(), polars.col("smoker").cast(polars.Enum(SMOKER)))
        if library == "pyarrow":
            pytest.importorskip("pyarrow")
            made = made.to_arrow()
        reader = TableReader(**OPTIONS)
        expected = reader.learn(patients())
        later = reader.read(made)
        np.testing.assert_array_equal(later.X, expected.X)
        found = TableReader(drop=["patient"], one_hot=["sex"], fill="median", missing_indicators=True).learn(made)
        assert found.feature_names == expected.feature_names and (library == "pyarrow" or np.array_equal(found.X, expected.X))

    def test_columns_are_found_by_name(self):
        reader = TableReader(**OPTIONS)
        rows = reader.learn(patients())
        shuffled = patients()[["age", "visit", "bmi", "smoker", "sex"]].assign(further="text")
        np.testing.assert_array_equal(reader.read(shuffled).X, rows.X)

    def test_whole_numbers_and_texts_name_the_same_level(self):
        reader = TableReader(one_hot=["ward"])
        assert reader.learn(pd.DataFrame({"ward": [1, 2, 1]})).feature_names == ("ward=1", "ward=2")
        assert reader.read(pd.DataFrame({"ward": ["2", " 1"]})).X.tolist() == [[0, 1], [1, 0]]
        assert reader.read(pd.DataFrame({"ward": [2.0, 1.0]})).X.tolist() == [[0, 1], [1, 0]]

    def test_rows_of_one_example_come_as_a_table(self):
        reader = TableReader(one_hot=["c"])
        rows = reader.learn([pd.DataFrame({"c": ["a", "b"]}), pd.DataFrame({"c": ["b"]})])
        assert rows.n_examples == 2 and rows.sizes().tolist() == [2, 1] and rows.X.tolist() == [[1, 0], [0, 1], [0, 1]]

    def test_dates_of_another_form(self):
        rows = TableReader(date={"day": "%d.%m.%Y"}).learn(pd.DataFrame({"day": ["31.12.2023", "02.01.2024"]}))
        assert rows.X.tolist() == [[0], [2]]

    @pytest.mark.parametrize(("cells", "fill"), [
        (["True", "False"], "TRUE"), ([True, False], 1), ([1, 0], "True"), (["1", "2"], "1.0"), ([1.0, 2.0], 1), (["yes", "no"], "yes"),
    ])
    def test_what_fills_a_level_may_be_any_of_its_names(self, cells, fill):
        made = pd.DataFrame({"a": pd.Series([*cells, None], dtype=object)})
        levels = [f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in sorted(cells)]
        for options in ({"one_hot": ["a"]}, {"ordinal": {"a": levels}}):
            rows = TableReader(**options, fill={"a": fill}).learn(made)
            assert len(rows.feature_names) == (2 if "one_hot" in options else 1) and rows.X[2].tolist() == rows.X[0].tolist()

    @pytest.mark.parametrize(("fill", "expected"), [("median", 2), ("mean", 3), ({"day": "2024-03-06"}, 5)])
    def test_missing_dates_are_days_since_the_first(self, fill, expected):
        reader = TableReader(fill=fill)
        reader.learn(pd.DataFrame({"day": pd.to_datetime(["2024-03-03", "2024-03-01", "2024-03-08"])}))
        assert reader.read(pd.DataFrame({"day": pd.to_datetime([None, "2024-02-28"])})).X.tolist() == [[expected], [-2]]


class TestWhatIsKept:
    def test_a_model_answers_alike_after_a_save(self, tmp_path):
        engine = Engine("cusum", plugins=["table"], epochs=5, **OPTIONS).fit(patients(), levels())
        engine.save(tmp_path / "m")
        loaded = Engine.load(tmp_path / "m")
        assert loaded.predict(patients()).tolist() == engine.predict(patients()).tolist()
        assert loaded.parts_.reader.input_columns().codes == engine.parts_.reader.input_columns().codes
        assert loaded.feature_names_in_.tolist() == ["sex", "smoker", "bmi", "visit", "age"] and loaded.n_features_in_ == 5

    def test_explain_names_levels(self):
        engine = Engine("cusum", plugins=["table"], epochs=5, **OPTIONS).fit(patients(), levels())
        explanation = engine.explain(patients().iloc[3])
        assert "sex=m" in {c.feature for c in explanation.contributions}
        assert sum(c.value for c in explanation.contributions) == pytest.approx(explanation.total)

    def test_a_stream_goes_on_with_what_the_first_chunk_taught(self):
        engine = Engine("cusum", classes=[1, 2, 3], plugins=["table"], **OPTIONS).partial_fit(patients(20), levels(20))
        engine.partial_fit(patients(9), levels(9))
        assert engine.parts_.reader.input_columns().codes[1].levels == ("never", "former", "current")

    def test_estimators_take_tables(self):
        pytest.importorskip("sklearn")
        from sklearn.model_selection import cross_val_score

        from structperc.estimators import CuSumRank

        ranker = CuSumRank(plugins=["table"], plugin_options=OPTIONS, random_state=0)
        scores = cross_val_score(ranker, patients(), levels(), cv=3, error_score="raise")
        assert np.isfinite(scores).all()

    def test_an_option_brings_the_plugin_of_tables_to_estimators(self, tmp_path):
        pytest.importorskip("sklearn")
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        from structperc.estimators import CuSumRank, load

        table, y = patients(60), levels(60)
        ranker = CuSumRank(plugin_options=OPTIONS, random_state=0).fit(table, y)
        named = CuSumRank(plugins=["table"], plugin_options=OPTIONS, random_state=0).fit(table, y)
        expected = named.predict(table).tolist()
        assert ranker.predict(table[table.columns[::-1]]).tolist() == expected
        ranker.save(tmp_path / "ranks.model")
        for other in (load(tmp_path / "ranks.model"), clone(ranker).fit(table, y), make_pipeline(clone(ranker)).fit(table, y)):
            assert other.predict(table).tolist() == expected
        assert clone(ranker).get_params()["plugins"] == () and load(tmp_path / "ranks.model").get_params()["plugins"] == ()
        search = GridSearchCV(ranker, {"plugin_options__fill": ["median", "mean"]}, cv=3, error_score="raise").fit(table, y)
        assert search.best_params_["plugin_options__fill"] in ("median", "mean")


class TestRefusals:
    def test_all_columns_are_named_with_what_mends_them(self):
        with pytest.raises(DataError) as error:
            Engine("cusum", plugins=["table"]).fit(patients(), levels())
        advice = "drop=['patient'], one_hot=['sex', 'smoker'], date=['visit'], fill='median'"
        assert str(error.value).startswith("X has 5 columns that are not numbers throughout: 'patient': 40 texts, all different; 'sex': ")
        assert str(error.value).endswith(f" Pass {advice}.")
        eval(f"Engine('cusum', plugins=['table'], {advice})").fit(patients(), levels())

    def test_unknown_levels_are_zeros_with_a_warning(self):
        reader = TableReader(**OPTIONS)
        reader.learn(patients())
        with pytest.warns(DataWarning, match=r"'sex' holds levels that the model has not learned: 'x' \(2 rows\)"):
            rows = reader.read(patients(4).assign(sex=["x", "f", "x", "m"]))
        assert rows.X[:, :2].tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]

    @pytest.mark.parametrize(("change", "message"), [
        ({"smoker": "curent"}, "is 'curent'. Its levels are .*Did you mean 'current'"),
        ({"visit": "31/12/2024"}, "'31/12/2024'; expected a date as in ISO 8601"),
        ({"age": "old"}, r"'age': 1 text \('old'\).*Write numbers there, as in the training data"),
        ({"age": np.inf}, "'age': 4 infinite numbers"),
    ])  # fmt: skip
    def test_later_cells_that_do_not_fit(self, change, message):
        reader = TableReader(**OPTIONS)
        reader.learn(patients())
        with pytest.raises(DataError, match=message):
            reader.read(patients(4).assign(**change))

    def test_later_gaps_that_nothing_fills(self):
        reader = TableReader()
        reader.learn(pd.DataFrame({"a": [1.0, 2.0]}))
        with pytest.raises(DataError, match="'a': 1 empty cell, the first in row 1"):
            reader.read(pd.DataFrame({"a": [1.0, None]}))

    def test_other_columns(self):
        reader = TableReader(**OPTIONS)
        reader.learn(patients())
        with pytest.raises(DataError, match="no column 'bmi'"):
            reader.read(patients().drop(columns="bmi"))
        with pytest.raises(DataError, match="trained on a table with the columns 'sex'"):
            reader.read(np.zeros((2, 5)))
        with pytest.raises(DataError, match="no named columns, but the options name 'patient'"):
            TableReader(**OPTIONS).learn(np.zeros((2, 5)))
        with pytest.raises(DataError, match="two columns 'a', 0 and 1"):
            TableReader().learn(pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(DataError, match="column 1 of X is called 7"):
            TableReader().learn(pd.DataFrame([[1, 2]], columns=["a", 7]))
        with pytest.raises(DataError, match="two columns would be called 'a=b'"):
            TableReader(one_hot=["a"]).learn(pd.DataFrame({"a": ["b"], "a=b": [1]}))

    @pytest.mark.parametrize(("options", "message"), [
        ({"drop": "sex"}, "drop='sex'; expected a list"),
        ({"drop": ["sx"]}, "no column 'sx'.*Did you mean 'sex'"),
        ({"drop": ["sex"], "one_hot": ["sex"]}, "'sex' is in both drop and one_hot"),
        ({"ordinal": ["smoker"]}, "expected a dict"),
        ({"ordinal": {"smoker": ["never", "never"]}}, "two different levels"),
        ({"fill": True}, "expected one of median"),
        ({"fill": {"age": "old"}, **{k: OPTIONS[k] for k in ("drop", "one_hot", "ordinal", "date")}}, "for the numbers of column 'age'"),
        ({"missing_indicators": True}, "set fill too"),
        ({"date": [1]}, "expected a list of names"),
    ])  # fmt: skip
    def test_options_that_cannot_be(self, options, message):
        with pytest.raises(OptionError, match=message):
            TableReader(**options).learn(patients())

    def test_a_failed_fit_leaves_the_engine_as_it_was(self):
        engine = Engine("cusum", plugins=["table"], epochs=5, **OPTIONS).fit(patients(), levels())
        before = engine.predict(patients()).tolist()
        with pytest.raises(DataError):
            engine.fit(patients().assign(age="x"), levels())
        assert engine.predict(patients()).tolist() == before


def test_no_warning_for_known_levels():
    reader = TableReader(**OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reader.learn(patients())
        reader.read(patients(5))


def test_the_reader_of_the_problem_reads_what_a_table_becomes(tmp_path):
    random = np.random.default_rng(0)
    pairs = pd.DataFrame([(left, right) for _ in range(20) for left in range(2) for right in range(2)], columns=["left", "right"])
    pairs = pairs.assign(colour=random.choice(["red", "blue"], 80), x=np.where(random.random(80) < 0.1, np.nan, random.normal(size=80)))
    y, groups = [[0, 3]] * 20, np.repeat(np.arange(20), 4)
    engine = Engine("matching", epochs=3, plugins=["table"], one_hot=["colour"], fill="median", show="pairs").fit(pairs, y, groups=groups)
    numbers = np.column_stack([pairs[["left", "right"]], pairs.colour == "blue", pairs.colour == "red", pairs.x.fillna(pairs.x.median())])
    plain = Engine("matching", epochs=3, show="pairs").fit(numbers, y, groups=groups)
    assert np.array_equal(engine.coef_, plain.coef_) and engine.feature_names_in_.tolist() == ["left", "right", "colour", "x"]
    assert engine.predict(pairs, groups=groups).tolist() == plain.predict(numbers, groups=groups).tolist()
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")
    assert loaded.predict(pairs[["x", "left", "colour", "right"]], groups=groups).tolist() == plain.predict(numbers, groups=groups).tolist()
    with pytest.raises(DataError, match="which is the key of the row. Expected a finite number|X has 1 columns"):
        Engine("matching", plugins=["table"]).fit(pairs[["left"]], y, groups=groups)


def test_what_is_no_table_goes_to_the_reader_of_the_problem():
    words, tags = [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]
    tagger = Engine("sequence", epochs=3, plugins=["table"]).fit(words, tags)
    assert tagger.predict(words).tolist() == Engine("sequence", epochs=3).fit(words, tags).predict(words).tolist()


class TestCellsOfUnusualTypes:
    def test_categories_that_are_intervals_or_large_numbers_beside_a_gap(self):
        table = pd.DataFrame({"age": pd.cut(pd.Series([1.0, np.nan, 5, 8]), [0, 3, 6, 9]),
                              "ward": pd.Categorical([2**60 + 1, None, 2**60, 2**60])})
        rows = TableReader(fill="most-frequent").learn(table)
        assert rows.feature_names == ("age", f"ward={2**60}", f"ward={2**60 + 1}")
        assert rows.X[:, 0].tolist() == [0, 0, 1, 2] and rows.X[:, 2].tolist() == [1, 0, 0, 0]

    def test_arrow_types_in_pandas(self):
        arrow = pytest.importorskip("pyarrow")
        words = pd.Series(["b", None, "a"], dtype=pd.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.string())))
        table = pd.DataFrame({"word": words, "patient": pd.Series([2**60 + 1, 2**60, 2**60 + 2], dtype="int64[pyarrow]")})
        rows = TableReader(one_hot=["patient"], fill="most-frequent").learn(table)
        assert sorted(rows.feature_names[:2]) == ["word=a", "word=b"] and np.array_equal(rows.X[:, 2:], np.eye(3)[[1, 0, 2]])

    @pytest.mark.parametrize("large", [0, 2**60])
    def test_decimals_have_one_name_in_every_library(self, large):
        arrow, cells = pytest.importorskip("pyarrow"), [Decimal(large) + Decimal(text) for text in ("1.50", "3.00", "2")]
        tables = [pd.DataFrame({"dose": cells}), arrow.table({"dose": arrow.array(cells, arrow.decimal128(38, 2))}),
                  arrow.table({"dose": arrow.array(cells, arrow.decimal256(50, 2))})]
        names = {TableReader(one_hot=["dose"]).learn(table).feature_names for table in tables}
        assert names == {(f"dose={large + 1}.5", f"dose={large + 2}", f"dose={large + 3}")}

    def test_times_of_one_day_are_different_levels(self):
        times = pd.to_datetime(pd.Series(["2024-01-02", "2024-01-02 03:00", "2024-01-02 03:00:00.5"]), format="ISO8601")
        names = ("time=2024-01-02", "time=2024-01-02 03:00:00", "time=2024-01-02 03:00:00.500")
        for column in (times, times.astype("category"), times.astype(object), times.dt.tz_localize("UTC")):
            assert TableReader(one_hot=["time"]).learn(pd.DataFrame({"time": column})).feature_names == names

    @pytest.mark.parametrize("library", ["pyarrow", "polars"])
    def test_types_of_pandas_in_other_libraries(self, library):
        arrow = pytest.importorskip("pyarrow")
        read = arrow.Table.from_pandas if library == "pyarrow" else pytest.importorskip("polars").from_pandas
        months = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))
        for column in (months, months.astype("category"), pd.cut(pd.Series([1, 2, 5]), [0, 3, 6])):
            with pytest.raises(DataError, match="'month' of X holds intervals or periods of pandas.*astype"):
                TableReader(one_hot=["month"]).learn(read(pd.DataFrame({"month": column})))
            texts = read(pd.DataFrame({"month": column.astype(str)}))
            assert TableReader(one_hot=["month"]).learn(texts).feature_names

    def test_an_example_without_any_date_is_no_text(self):
        days = [datetime.date(2024, 1, 3), None, datetime.date(2024, 1, 1)]
        tables = [pd.DataFrame({"day": pd.Series([day, day], dtype=object)}) for day in days]
        rows = TableReader(fill="median").learn(tables)
        assert rows.X[:, 0].tolist() == [2, 2, 1, 1, 0, 0]
        assert TableReader(fill="median").learn(pd.concat(tables)).X.tolist() == rows.X.tolist()
