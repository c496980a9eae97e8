"""Explanations in words, tables, notebooks and pictures: for and against, escaped, small, and the same shapes for both kinds of drawing."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from pages import checked
from plain import Engine

from structperc import hookimpl
from structperc.components import Outputs
from structperc.engine.explanation import Contribution, Explanation
from structperc.errors import MissingExtra
from structperc.pictures import Arc, Arcs, Bars, Box, Display, Dot, Line, Picture, Ruler, Spans, Text, arc_levels, token_texts

mpl.use("Agg")
HOSTILE = "<script>alert('1')</script>&\"\x1b[31m\u202e"


@pytest.fixture(scope="module")
def models():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    labels = ["none", HOSTILE, "severe"]
    y = np.array(labels)[np.digitize(X @ [1, 2, 0] + random.normal(size=80), [-1, 1])]
    sentences, tags = [[["word=the"], ["word=dog"], ["word=barks"]], [["word=a"], ["word=cat"], ["word=sleeps"]]], [["D", "N", HOSTILE]] * 2
    words = [("dogs", "N"), (HOSTILE, "V"), ("loudly", "A")]
    found = {name: (Engine(name, epochs=3, classes=labels).fit(X, y), X[0]) for name in ("cusum", "prank", "multiclass")}
    found["sequence"] = Engine("sequence", epochs=5).fit(sentences, tags), sentences[0]
    found["segments"] = Engine("segments", epochs=5).fit(sentences, [[(0, 2, "NP")], [(0, 2, HOSTILE)]]), sentences[1]
    found["parsing"] = Engine("parsing", epochs=5, n_hashed=1 << 12).fit([words], [[(2, "nsubj"), (0, "root"), (2, HOSTILE)]]), words
    found["matching"] = Engine("disjoint-intervals", epochs=2).fit([np.array([[0, 2, 1.0], [1, 3, 2.0], [4, 5, 1.0]])], [[1]]), np.array(
        [[0, 2, 1.0], [1, 3, 2.0], [4, 5, 1.0]])
    return found


DRAWN = {"cusum": Ruler, "prank": Ruler, "multiclass": None, "sequence": Spans, "segments": Spans, "parsing": Arcs, "matching": None}


@pytest.mark.parametrize("name", DRAWN)
def test_explanations_are_drawn_alike_in_notebooks_and_by_matplotlib(name, models):
    engine, x = models[name]
    found = engine.explain(x)
    assert (type(found.picture) if found.picture is not None else None) is DRAWN[name]
    assert sum(c.value for c in found.contributions) == pytest.approx(found.total, abs=1e-12)
    html = found._repr_html_()
    texts = checked(html)
    assert "<script" not in html and "\x1b" not in html and "\u202e" not in html and any("beats" in text for text in texts)
    ax = found.plot()
    written = {shape.text for picture in (found.picture, found.bars()) if picture is not None for shape in picture.shapes()
               if isinstance(shape, Text)}
    assert {text.get_text() for text in ax.texts} == written
    ax.figure.canvas.draw()
    mpl.pyplot.close("all")
    for picture in (found.picture, found.bars()):
        if picture is not None:
            root = ET.fromstring(picture.svg())
            assert {"".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")} == written & {
                shape.text for shape in picture.shapes() if isinstance(shape, Text)}


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_words_agree_with_signs(problem):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 2))
    y = np.digitize(X @ [1, -2] + random.normal(size=60), [-1, 1])
    engine = Engine(problem, epochs=3, average=True).fit(X, y)
    for x in X[:12]:
        found = engine.explain(x, against=engine.explain(x).runner_up)
        for atom, side in found.sides.items():
            has = found.winner > int(atom[2:]) if problem != "multiclass" else found.winner == int(atom)
            assert side == ("for" if has else "against")
            sign = 1 if side == "for" else -1
            scores = engine.atom_scores([x])[0]
            assert found.atoms[atom] == pytest.approx(sign * scores[int(atom.removeprefix("> "))])
            assert f"{found.atoms[atom]:+.6g}  {side} {atom}\n" in f"{found}\n" or found.atoms[atom] == 0
        assert sum(row["value"] for row in found.rows()) == pytest.approx(found.margin, abs=1e-12)
        for row, c in zip(found.rows(), found.contributions, strict=True):
            assert row["side"] == c.side == found.sides[c.atom]
            assert row["speaks for"] == str(found.winner if c.value > 0 else found.runner_up if c.value < 0 else "")
        frame = found.to_frame()
        assert list(frame) == ["side", "atom", "feature", "value", "speaks for"] and frame["value"].sum() == pytest.approx(found.margin)
    tie = Engine("cusum", classes=[1, 2]).fit(np.zeros((1, 2)), [1]).explain([5.0, 1.0])
    assert list(tie.to_frame()) == list(frame) and tie.rows() == [] and checked(tie._repr_html_())


def test_the_reading_of_the_guide():
    found = Explanation("none", "mild", 0.32, {"> none": 0.32}, [Contribution("> none", "bmi", 0.32, "against", 0)], {"> none": "against"})
    assert str(found) == "none beats mild by 0.32\n  +0.32  against > none\n      +0.32  bmi"
    assert found.named(["body mass"]).contributions[0].feature == "body mass"
    axis, *shapes = found.bars().shapes()
    assert {"← for mild", "for none →", "against > none  +0.32"} <= {shape.text for shape in shapes if isinstance(shape, Text)}
    assert [shape.x for shape in shapes if isinstance(shape, Box)] == [axis.x1], "a bar for the winner begins at the line"


@pytest.mark.parametrize(("values", "shown"), [
    ((3.568, 0.9052, -0.00038), ("+3.57", "+0.91", "+0.00")),
    ((412.04, -0.5), ("+412", "+0")),
    ((-0.0312, 0.004), ("-0.0312", "+0.0040")),
    ((0.0, 0.0), ("+0.00", "+0.00")),
    ((3e-9, -1.04e-9), ("+3e-09", "-1.04e-09")),
    ((12345678.0, 1.5), ("+1.23e+07", "+1.5")),
])
def test_the_largest_value_has_three_digits_and_all_as_many_decimals(values, shown):
    bars = Bars("for 2", "for 1", [("score", [(str(i), value) for i, value in enumerate(values)])])
    assert tuple(line.split()[-1] for line in bars.lines()[2:]) == shown
    assert tuple(shape.text for shape in bars.shapes() if isinstance(shape, Text) and shape.text[0] in "+-") == shown


def test_to_frame_without_pandas_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="to_frame needs pandas"):
        Explanation(1, 2, 0.0, {}, []).to_frame()


def test_long_and_many_things_stay_small():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3000))
    found = Engine("multiclass").fit(X, np.array(["x" * 500, "y" * 500])[random.integers(0, 2, 40)]).explain(X[0])
    assert any("smaller ones" in text for text in checked(found._repr_html_()))
    sentence = [[f"w={t}{'z' * 99}"] for t in range(400)]
    tagger = Engine("sequence").fit([sentence], [["a", "b"] * 200])
    checked(tagger.explain(sentence)._repr_html_())
    words = [f"word{t}" for t in range(200)]
    arcs = Arcs(words, [(t, "label" * 9) for t in range(200)], [(max(0, t - 1), "x") for t in range(200)])
    assert len(arcs.svg()) < 40_000
    ET.fromstring(arcs.svg())


def test_a_plugin_draws_its_own_structures():
    class Chosen(Picture):
        def __init__(self, names):
            self.names = names

        def shapes(self):
            return [Box(0, 0, 30, 20), Text(4, 14, self.names)]

    class Choice(Display):
        def picture(self, given, x, scores, structures):
            return Chosen(f"{np.shape(given)} {len(scores)} {structures}")

    class Rows(Outputs):
        def enumerate(self, x):
            return [(), *((a,) for a in range(x.n_atoms))]

        def display(self):
            return Choice(self)

    class Problem:
        @hookimpl
        def structperc_outputs(self, context):
            return Rows()

        @hookimpl
        def structperc_features(self, context):
            from structperc.components import RowFeatures

            return RowFeatures(context.n_features)

        @hookimpl
        def structperc_argmax(self, context):
            from structperc.components import Argmax

            class Best(Argmax):
                def argmax(self, scores, x):
                    return (int(np.argmax(scores)),) if max(scores) > 0 else ()

            return Best()

    found = Engine(Problem()).fit([np.eye(2)], [(1,)]).explain(np.eye(2))
    assert found.picture.names == "(2, 2) 2 ((1,), ())" and "(2, 2) 2 ((1,), ())" in found._repr_html_()


def test_every_shape_moves_down_with_the_upper_edge():
    class Every(Picture):
        def shapes(self):
            return [Line(0, 1, 5, 2), Dot(3, 4), Arc(0, 9, 8, 2), Box(0, 6, 10, 5), Text(1, 7, "a")]

    def heights(top):
        ax = Figure().subplots()
        Every().draw(ax, top)
        line, dot, arc, head = (drawn.get_ydata() for drawn in ax.lines)
        return [*line, *dot, arc[0], arc[-1], *head, ax.patches[0].get_y(), ax.texts[0].get_position()[1]]

    assert heights(0.0) == pytest.approx([1, 2, 4, 8, 8, 8, 6, 7]) and heights(30.0) == pytest.approx([31, 32, 34, 38, 38, 38, 36, 37])


def test_rulers_place_the_score_in_the_winners_rank():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    engine = Engine("prank", epochs=5).fit(X, np.digitize(X @ [1, 2], [-1, 1]))
    for x in X[:10]:
        ruler = engine.explain(x).picture
        assert np.searchsorted(ruler.cuts, ruler.score, side="right") == ruler.winner == engine.predict([x])[0]
        assert np.diff(ruler.cuts) == pytest.approx(np.diff(engine.thresholds_))


def test_a_ruler_marks_where_the_way_to_the_score_begins():
    one, way = (Ruler(["low", "high"], [0.0], score=1.0, winner=1, rival=0, start=start) for start in (None, -2.0))
    assert "○" not in one.lines(40)[1] and way.lines(40)[1].index("○") < way.lines(40)[1].index("┼") < way.lines(40)[1].index("●")
    assert len(way.shapes()) == len(one.shapes()) + 2 and "score 1, from -2: high" in way.svg() and "score 1: high" in one.svg()


@pytest.mark.parametrize("shift", [0, 10, -10])
def test_lines_of_rulers_keep_distances(shift):
    rule = Ruler(["low", "middle", "high"], [shift - 1.0, shift + 1.0], score=shift + 0.2, winner=1, rival=2).lines(69)[1]
    assert [rule.index("┼"), rule.index("●"), rule.rindex("┼")] == [9, 39, 59]     # a unit has 25 columns, the room at each end 0.36 units


def test_tokens_are_called_as_users_wrote_them():
    assert token_texts([["word=dog", "cap"], {"len": 3, "word": "cat"}, ("the", "DT"), "x"], 4) == ["dog", "cat", "the", "x"]
    assert token_texts([[["a=b"], ["c"]]], 2) == ["b", "c"] and token_texts(np.zeros((2, 3)), 2) == ["0", "1"]
    assert token_texts([{3: 1.0}, set()], 2) == ["?", "?"]
    assert arc_levels([(1, 2), (2, 0), (3, 2), (4, 1)]) == [1, 0, 1, 2]
    assert arc_levels([(1, 2), (3, 1), (4, 1)]) == [1, 2, 3]


def test_colours_are_the_readers_own(models):
    html = models["cusum"][0].explain(models["cusum"][1])._repr_html_()
    assert "currentColor" in html and "prefers-color-scheme:dark" in html and not re.search(r"(?:fill|stroke)=\"#", html)
