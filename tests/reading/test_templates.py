"""Tests of templates: names from the cells of neighbouring tokens equal those of a twin, and invalid templates raise errors."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import named

from structperc.errors import DataError, OptionError
from structperc.reading.named import NamedReader
from structperc.reading.tokens import Template, default_template

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
CHUNKING = """# words
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]

# tags
U10:%x[-2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]

# labels
B
"""


def names_of(template, sentence, columns=None):
    """The features of each token, a dict from names to values."""
    reader = NamedReader(template=template, columns=columns)
    rows = named.rows_of(reader.learn([sentence]).X)
    return [{reader.feature_name(column): value for column, value in row.items()} for row in rows]


def assert_like_twin(template, sentences, columns=None):
    """Checks that the names, their order and the rows equal those of the twin, in learning and in reading."""
    reader, twin = NamedReader(template=template, columns=columns), named.Columns()
    expand = named.expanded(template, columns)
    rows = reader.learn(sentences)
    assert named.rows_of(rows.X) == twin.rows(sentences, expand)
    assert reader.vocabulary.names() == list(twin.column_of)
    half = sentences[::2]
    assert named.rows_of(reader.read(half).X) == twin.rows(half, expand)
    for other in (sentence[::-1] for sentence in sentences):
        assert named.rows_of(reader.read([other]).X) == twin.rows([other], expand)


# ---- the meaning of templates ----


def test_macros_read_neighbours():
    sentence = [("the", "DT"), ("dog", "NN")]
    assert names_of("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nU2:%x[+1,1]\nbias", sentence) == [
        {"U0:the": 1, "U1:_B-1/DT": 1, "U2:NN": 1, "bias": 1},
        {"U0:dog": 1, "U1:the/NN": 1, "U2:_B+1": 1, "bias": 1},
    ]


def test_beyond_the_sentence_tokens_are_counted():
    sentence = [("a",), ("b",)]
    template = "\n".join(f"{offset}=%x[{offset},0]" for offset in (-12, -2, -1, 0, 1, 2, 100))
    assert [set(token) for token in names_of(template, sentence)] == [
        {"-12=_B-12", "-2=_B-2", "-1=_B-1", "0=a", "1=b", "2=_B+1", "100=_B+99"},
        {"-12=_B-11", "-2=_B-1", "-1=a", "0=b", "1=_B+1", "2=_B+2", "100=_B+100"},
    ]


def test_columns_have_names_or_numbers():
    sentence = [("the", "DT"), ("dog", "NN")]
    by_number = names_of("A:%x[0,0]%x[-1,1]", sentence)
    assert by_number == [{"A:the_B-1": 1}, {"A:dogDT": 1}]
    assert names_of("A:%x[0,word]%x[-1,1]", sentence, ["word", "tag"]) == by_number
    assert names_of("A:%x[ 0 , word ]%x[ -1 , tag ]", sentence, ("word", "tag")) == by_number


def test_what_is_left_out():
    """Ignored lines are comments, blank lines and the bigram of labels. Line ends may be those of Windows."""
    template = "# %x[9,9]\r\n\r\n  U:%x[0,0]  \r\n   # more\r\nB\r\nB01\r\n%U%\r\nBias"
    assert names_of(template, [("x",)]) == [{"U:x": 1, "%U%": 1, "Bias": 1}]


def test_names_that_come_twice_are_added_up():
    assert names_of("%x[-1,0]\n%x[1,0]\n%x[0,0]", [("a",), ("b",), ("a",)])[1] == {"a": 2, "b": 1}


def test_other_alphabets():
    sentence = [("日本", "é"), ("\U0001f600", "e\u0301"), ("", "\0"), ("a" * 1000, "x")]
    assert_like_twin("字:%x[-1,0]|%x[0,1]\nü%x[1,1]", [sentence])


@st.composite
def corpora(draw):
    """A template, and sentences with its columns. There are few distinct cells, so names repeat."""
    n_columns = draw(st.integers(1, 3))
    cell = st.sampled_from([*draw(st.lists(TEXT, min_size=1, max_size=4)), "", "a", "é"])
    literal = st.text(st.sampled_from("ABx[]/,é|0"), max_size=4)
    macro = st.tuples(st.integers(-4, 4), st.integers(0, n_columns - 1)).map(lambda place: f"%x[{place[0]},{place[1]}]")
    line = st.lists(st.tuples(literal, macro).map("".join), min_size=1, max_size=3).map(lambda parts: "U" + "".join(parts))
    lines = draw(st.lists(st.one_of(line, line, st.just("constant")), max_size=12)) + [draw(line)]
    token = st.tuples(*[cell] * n_columns)
    sentences = draw(st.lists(st.lists(st.one_of(token, token.map(list)), max_size=6), max_size=6)) + [[draw(token)]]
    return "\n".join(lines), sentences


@given(corpora())
def test_expansion_is_that_of_the_twin(corpus):
    template, sentences = corpus
    assert_like_twin(template, sentences)


def test_a_large_template_and_a_long_sentence():
    template = "\n".join(f"{i}:%x[{i % 7 - 3},{i % 2}]/%x[{i % 5 - 2},{(i + 1) % 2}]" for i in range(150))
    sentence = [(f"w{t % 50}", f"p{t % 7}") for t in range(500)]
    assert_like_twin(template, [sentence, [], sentence[:1]])


@given(words=st.lists(TEXT, min_size=1, max_size=5))
def test_spellings_of_any_letters(words):
    template = "a%prefix[0,0,2]\nb%suffix[0,w,3]|%lower[-1,0]\nc%shape[0,0]/%shape[+1,0]\nd%digits[0,0]\n%lower is text%x[0,0]"
    assert_like_twin(template, [[(word,) for word in words]], ["w"])


def test_spellings():
    names, = names_of("%prefix[0,0,2] %suffix[0,0,3] %lower[0,0] %shape[0,0] %digits[0,0] %shape[1,0]", [("McCoy-75",)])
    assert names == {"Mc -75 mccoy-75 XxXx-d McCoy-00 _B+1": 1}


def test_hashed_columns():
    template, sentences = CHUNKING, [[("a", "X"), ("b", "Y")], [("b", "é")]]
    for n_hashed in (5, 1000, 2**35):
        reader, twin = NamedReader(template=template, n_hashed=n_hashed), named.Columns(n_hashed)
        rows = twin.rows(sentences, named.expanded(template))
        assert named.rows_of(reader.learn(sentences).X) == named.rows_of(reader.read(sentences).X) == rows


# ---- the default template ----


def test_default_template():
    assert default_template(1, spelling=False).split("\n") == [
        "U00:%x[-2,0]", "U01:%x[-1,0]", "U02:%x[0,0]", "U03:%x[1,0]", "U04:%x[2,0]", "U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]",
    ]  # fmt: skip
    lines = default_template(3, spelling=False).split("\n")
    assert default_template(3).startswith("\n".join(lines)) and default_template(3).count("%shape[0,0]") == 3
    assert len(lines) == len({line.split(":")[0] for line in lines}) == 7 + 12 + 12
    assert [line.split(":")[1] for line in lines[7:19]] == [
        "%x[-2,1]", "%x[-1,1]", "%x[0,1]", "%x[1,1]", "%x[2,1]",
        "%x[-2,1]/%x[-1,1]", "%x[-1,1]/%x[0,1]", "%x[0,1]/%x[1,1]", "%x[1,1]/%x[2,1]",
        "%x[-2,1]/%x[-1,1]/%x[0,1]", "%x[-1,1]/%x[0,1]/%x[1,1]", "%x[0,1]/%x[1,1]/%x[2,1]",
    ]  # fmt: skip
    assert_like_twin(default_template(2), [[(f"w{t % 3}", f"p{t % 2}") for t in range(7)]])
    with pytest.raises(OptionError, match="spelling is 1; expected True or False"):
        default_template(1, spelling=1)
    for wrong in (0, -1, 1.5, None, True):
        with pytest.raises(OptionError, match="n_columns is .*whole number from 1 on"):
            default_template(wrong)


# ---- errors ----


@pytest.mark.parametrize(("template", "columns", "message"), [
    ("U:%x[0,0]\nU:%x[0]", None, r"line 2 of the template, 'U:%x\[0\]', has a malformed macro at '%x\[0\]'; expected %x\[offset,column\]"),
    ("U:%x[a,0]", None, "malformed macro"),
    ("U:%suffix[0,0]", None, r"malformed macro at '%suffix\[0,0\]'; expected %suffix\[offset,column,letters\]"),
    ("U:%prefix[0,0,0]", None, "reads 0 letters; expected from 1 to 1000"),
    ("U:%shape[0,word]", None, "reads the column 'word', but no column has this name"),
    ("U:%x[0,0", None, "malformed macro"),
    ("U:%x 0,0]", None, "malformed macro"),
    ("U:%x[0.5,0]", None, "malformed macro"),
    ("U:%x", None, "malformed macro"),
    ("U:%x[0,-1]", None, "reads the column '-1', but no column has this name; give their names in columns="),
    ("U:%x[0,]", None, "reads the column '', but no column has this name"),
    ("U:%x[0,word]", None, "reads the column 'word', but no column has this name; give their names in columns="),
    ("U:%x[0,word]", ["words", "tags"], "reads the column 'word', but no column has this name; there are words, tags"),
    ("\n\nU:%x[0,2]", ["word", "tag"], r"line 3 .*reads column 2, which does not exist; columns are counted from 0"),
    ("U:%x[0,1000000]", None, "reads column 1000000, which does not exist"),
    ("U:%x[1000001,0]", None, "reads a token 1000001 tokens away; expected at most 1000000"),
    ("U:%x[-99999999999999999999,0]", None, "tokens away"),
    ("*:%x[0,0]", None, r"line 1 .*'\*:%x\[0,0\]', makes transitions depend on x, which this model has not; begin it with U"),
    ("U:%x[0,0]\nB1:%x[0,0]", None, r"line 2 .*'B1:%x\[0,0\]', makes transitions depend on x, which this model has not; begin it with U"),
    ("", None, "has no line with a macro"),
    ("# %x[0,0]\nB\nbias", None, "has no line with a macro"),
    ("template.txt", None, "Expected the text of a template, such as 'U:%x.0,0.', not the name of a file"),
    (None, None, "the template is None of type NoneType; expected the text"),
    (b"U:%x[0,0]", None, "of type bytes; expected the text"),
    ("U:\ud800%x[0,0]", None, "half of a surrogate pair"),
    ("U:%x[0,0]", "word", "columns is 'word'; expected a list of names"),
    ("U:%x[0,0]", ["word", 3], "expected a list of names"),
    ("U:%x[0,0]", ["word", "word"], "cannot name the column 'word'; names must differ"),
    ("U:%x[0,0]", ["word", "1"], "cannot name the column '1'"),
    ("U:%x[0,0]", ["word", ""], "cannot name the column ''"),
    ("U:%x[0,0]", ["a]"], "cannot name the column 'a]'"),
    ("U:%x[0,0]", [" a"], "cannot name the column ' a'"),
    ("U:%x[0,0]", 5, "columns is 5; expected a list of names"),
])  # fmt: skip
def test_templates_that_cannot_be_used(template, columns, message):
    with pytest.raises(OptionError, match=message):
        Template(template, columns)


TWO = [("the", "DT"), ("dog", "NN")]


@pytest.mark.parametrize(("sentences", "columns", "message"), [
    ([TWO, [("a", "b"), ("a",)]], None, r"^X\[1\]\[1\]: the token \('a',\) has 1 column; expected a tuple of 2 strings\.$"),
    ([TWO, [], [("a", "b", "c")]], None, r"^X\[2\]\[0\]: the token .* has 3 columns; expected a tuple of 2 strings"),
    ([TWO], ["word", "tag", "chunk"], r"^X\[0\]\[0\]: the token .* has 2 columns; expected a tuple of 3 strings \(word, tag, chunk\)\.$"),
    ([TWO, [("a", 3)]], None, r"^X\[1\]\[0\]: the token holds 3; expected strings only\.$"),
    ([TWO, [("a", None)]], None, "holds None"),
    ([TWO, [("a", b"b")]], None, "holds b'b'"),
    ([TWO, ["ab"]], None, r"X\[1\]\[0\]: the token 'ab' is of type str; expected a tuple of 2 strings"),
    ([TWO, [{"a": "b"}]], None, r"X\[1\]\[0\]: the token .* is of type dict; expected a tuple of 2 strings"),
    ([TWO, "ab"], None, r"X\[1\]: the sentence is 'ab' of type str; expected a list of tokens"),
    ([TWO, [("a", "\ud800")]], None, r"X\[1\]\[0\]: the text '\\ud800' contains half of a surrogate pair"),
    ([[("a",), ("b",)]], None, r"tokens have 1 column, but line 2 of the template, '2:%x\[0,1\]', reads column 1; columns are"),
    ([["a", "b"]], None, "is of type str; expected a tuple of 2 strings"),
])  # fmt: skip
def test_tokens_that_do_not_fit(sentences, columns, message):
    with pytest.raises(DataError, match=message):
        NamedReader(template="1:%x[0,0]\n2:%x[0,1]", columns=columns).learn(sentences)


def test_later_tokens_have_as_many_columns():
    reader = NamedReader(template="%x[0,0]")
    reader.learn([TWO])
    with pytest.raises(DataError, match=r"X\[0\]\[0\]: the token \('the',\) has 1 column; expected a tuple of 2"):
        reader.read([[("the",)]])


def test_templates_are_pickled():
    template = pickle.loads(pickle.dumps(Template(CHUNKING.replace(",1]", ",tag]"), ["word", "tag"])))
    assert (template.n_lines, template.n_columns, template.columns) == (8, 2, ("word", "tag"))
    assert Template(CHUNKING).n_columns == 2
