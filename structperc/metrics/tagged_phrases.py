"""Phrases in sequences of tags such as B-NP, I-NP, O: precision, recall and F1 of predicted ones, as conlleval counts.

A tag is a letter and, after the first "-", a type. O and "." are outside of phrases. I and M continue one, or begin one if none of their
type is open. B begins one, E and L end one, and S, U, "[" and "]" are one by themselves. So you
need not name the scheme: IOB1, IOB2, IOE1, IOE2, IOBES, BMES and BILOU are all read, with types or without.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable

import attrs

from structperc.basics.arguments import choice, whole_number
from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import python_values

SENTENCE = "the tags of one sentence, such as ['B-NP', 'I-NP', 'O']"
SENTENCES = "a list of sentences, each a list of tags"
OUTSIDE = frozenset("O.")
ALONE = frozenset("SU[]")
BEGINS = ALONE | {"B"}
ENDS = ALONE | {"E", "L"}
LETTERS = BEGINS | ENDS | {"I", "M"}
SCHEMES = {"iob1": "BIIB", "iob2": "BIIB", "iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}    # first, inside, last, single
MARKING = ({"B", "I"}, {"I", "O"}, {"B", "E"})      # tags without types are taken for phrases where two of these meet


@attrs.frozen
class PhraseCounts:
    """How many phrases there are, were predicted, and are right: same first token, same last token, same type."""
    # precision: float. correct / predicted; 0 where nothing was predicted.
    # recall: float. correct / true; 0 where there is nothing to find.
    # f1: float. 2 correct / (true + predicted), their harmonic mean; 0 where there is no phrase at all.

    true: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.correct / (self.true + self.predicted) if self.true + self.predicted else 0.0


@attrs.frozen
class PhraseScores(PhraseCounts):
    """The counts of all phrases, and of each type."""
    # true, predicted, correct, precision, recall, f1: As in `PhraseCounts`.
    # types: dict from str to PhraseCounts. Of every type that occurs, in alphabetical order.
    # token_accuracy: float. The share of tokens whose whole tag is right.

    types: dict[str, PhraseCounts]
    tokens: int
    correct_tokens: int

    @property
    def token_accuracy(self) -> float:
        return self.correct_tokens / self.tokens


def phrases(labels) -> list[tuple[int, int, str]]:
    """The phrases (chunks, entities) of one sentence from its BIO tags.

    A phrase ends before a token that is outside, begins a phrase or has another type. It also ends after a token that ends one. Every
    other token inside belongs to the open phrase or begins one. So I-X begins a phrase after O and after another type. This is the rule
    of conlleval for its letters B, I, E, O and ".". Schemes with both B and E have no rule there. An I of the same type after
    "[" or "]" begins a phrase here, and is none there. Cost: linear time.
    Raises `DataError` if a label is not text.
    Returns a list of (start, end, type). Tokens start to end - 1, in order. The type is empty if tags have none.
    See also `tags` (the inverse).

    Parameters
    ----------
    labels : sequence of str
        One tag for each token.

    Examples
    --------
    >>> from structperc.metrics import phrases
    >>> phrases(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-PP"])
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'VP'), (5, 6, 'PP')]
    """
    return find(check(labels, "labels"))


def phrase_scores(y_true, y_pred) -> PhraseScores:
    """Counts, precision, recall and F1 of phrases (chunks, entities), in total and of each type.
    Raises `DataError` if the two differ in length or have no token, or a tag is not text.

    Parameters
    ----------
    y_true, y_pred : sequence of sentences
        True and predicted tags; a sentence is a sequence of str.

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz: Introduction to the CoNLL-2000 shared task: chunking. Proceedings of CoNLL-2000 and LLL-2000,
    pages 127-132, 2000.

    Examples
    --------
    >>> from structperc.metrics import phrase_scores
    >>> scores = phrase_scores([["B-NP", "I-NP", "B-VP"]], [["B-NP", "I-NP", "I-NP"]])
    >>> scores.precision, scores.recall, scores.types["NP"]
    (0.0, 0.0, PhraseCounts(true=1, predicted=1, correct=0))
    """
    pairs, tokens, correct_tokens = check_pairs(y_true, y_pred)
    true, predicted, correct = Counter(), Counter(), Counter()
    for right, answer in pairs:
        right, answer = find(right), find(answer)
        true.update(kind for _, _, kind in right)
        predicted.update(kind for _, _, kind in answer)
        correct.update(kind for _, _, kind in set(right).intersection(answer))
    types = {kind: PhraseCounts(true[kind], predicted[kind], correct[kind]) for kind in sorted(true | predicted)}
    return PhraseScores(true.total(), predicted.total(), correct.total(), types, tokens, correct_tokens)


def phrase_f1(y_true, y_pred) -> float:
    """Entity-level F1 of all phrases, as CoNLL shared tasks report it. Raises `DataError` as in `phrase_scores`.
    Returns a float. From 0 to 1, not in percent; 0 if there is no phrase at all. See also `phrase_scores` (precision, recall and types).

    Parameters
    ----------
    y_true, y_pred : sequence of sentences
        As in `phrase_scores`.

    Examples
    --------
    >>> from structperc.metrics import phrase_f1
    >>> phrase_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "I-NP", "O"]])
    0.666...
    """
    return phrase_scores(y_true, y_pred).f1


def are_phrase_tags(labels) -> bool:
    """Whether labels look like tags of phrases, such as B-NP, I-NP and O.

    Parameters
    ----------
    labels : iterable
        All labels.

    Returns
    -------
    bool
        True if every label is O or a known letter with a type, and some have a type. Also for bare letters: B or O with I, or B with E.

    Examples
    --------
    >>> from structperc.metrics import are_phrase_tags
    >>> are_phrase_tags(["B-NP", "I-NP", "O"]), are_phrase_tags(["NOUN", "VERB", "X"])
    (True, False)
    """
    labels = entries(labels, "labels", "all labels")
    if not all(isinstance(label, str) for label in labels):
        return False
    labels = set(labels)
    parts = {label: label.partition("-") for label in labels}
    if not all(letter in LETTERS | OUTSIDE and bool(dash) == bool(kind) for letter, dash, kind in parts.values()):
        return False
    return any(kind for _, _, kind in parts.values()) or any(pair <= labels for pair in MARKING)


def tag_scheme(y) -> str:
    """The tagging scheme of phrases in sentences: IOB1, IOB2, IOBES, BILOU or BMES.

    Parameters
    ----------
    y : sequence of sentences
        A sentence is a sequence of tags. Entries that are not text are ignored.

    Returns
    -------
    str
        "bilou" if L or U occur; "bmes" if M occurs with E or S; "iobes" if E or S occur.
        Otherwise "iob1" if phrases begin with I and no B could be written as I, else "iob2".

    Examples
    --------
    >>> from structperc.metrics import tag_scheme
    >>> tag_scheme([["B-NP", "I-NP", "O"]]), tag_scheme([["I-NP", "I-NP", "B-NP"]]), tag_scheme([["B-NP", "E-NP", "S-VP"]])
    ('iob2', 'iob1', 'iobes')
    """
    letters, spared, needless = set(), False, False
    for i, labels in enumerate(entries(y, "y", SENTENCES)):
        open_kind = None                            # of the phrase that the token before belongs to
        for label in entries(labels, f"y[{i}]", SENTENCE):
            if not isinstance(label, str):
                open_kind = None
                continue
            inside, begins, ends, kind = parse(label)
            letters.add(label[:1])
            spared |= inside and not begins and kind != open_kind
            needless |= begins and kind != open_kind
            open_kind = kind if inside and not ends else None
    if letters & {"L", "U"}:
        return "bilou"
    if letters & {"E", "S"}:
        return "bmes" if "M" in letters else "iobes"
    return "iob1" if spared and not needless else "iob2"


def tags(phrases, n_tokens, scheme="iob2") -> list[str]:
    """The tags of one sentence from its phrases; the inverse of `phrases`.
    Raises `DataError` if phrases overlap, are out of order or go beyond the sentence.
    Returns a list of str. Bare letters if the type is empty.

    Parameters
    ----------
    phrases : iterable of (start, end, type)
        Disjoint phrases in order.
    n_tokens : int
        Number of tokens of the sentence.
    scheme : str, default "iob2"
        One of `SCHEMES`: "iob1", "iob2", "iobes", "bilou", "bmes".

    Examples
    --------
    >>> from structperc.metrics import tags
    >>> tags([(0, 2, "NP"), (2, 3, "NP"), (4, 5, "VP")], 5, "iobes")
    ['B-NP', 'E-NP', 'S-NP', 'O', 'S-VP']
    """
    first, inside, last, alone = SCHEMES[choice(scheme, "scheme", tuple(SCHEMES))]
    n_tokens = whole_number(n_tokens, "n_tokens")
    written, before, last_end = ["O"] * n_tokens, None, 0
    for i, phrase in enumerate(entries(phrases, "phrases", "phrases, each (start, end, type)")):
        phrase = tuple(entries(phrase, f"phrases[{i}]", "(start, end, type)"))
        if len(phrase) != 3 or not isinstance(phrase[2], str):
            raise DataError(f"phrases[{i}] is {shortened(phrase)}; expected (start, end, type).")
        start = whole_number(phrase[0], f"phrases[{i}][0]", last_end, n_tokens)
        end = last_end = whole_number(phrase[1], f"phrases[{i}][1]", start + 1, n_tokens)
        kind = phrase[2]
        dashed = f"-{kind}" if kind else ""
        letters = [first, *inside * (end - start - 2), last] if end - start > 1 else [alone]
        if scheme == "iob1" and before != (start, kind):            # B only parts two phrases of one type
            letters[0] = inside
        written[start:end] = [letter + dashed for letter in letters]
        before = end, kind
    return written


@functools.lru_cache(maxsize=4096)
def parse(label: str) -> tuple[bool, bool, bool, str]:
    """Whether a tag is inside a phrase, begins one and ends one; and the type."""
    letter, _, kind = label.partition("-")
    inside = letter not in OUTSIDE and (letter in LETTERS or kind != "")
    return inside, letter in BEGINS, letter in ENDS, kind


def find(labels) -> list[tuple[int, int, str]]:
    """The phrases of a sentence that has been checked."""
    phrases, start, open_kind = [], -1, ""
    for i, label in enumerate(labels):
        inside, begins, ends, kind = parse(label)
        if start >= 0 and (begins or not inside or kind != open_kind):
            phrases.append((start, i, open_kind))
            start = -1
        if inside and start < 0:
            start, open_kind = i, kind
        if ends:
            phrases.append((start, i + 1, kind))
            start = -1
    if start >= 0:
        phrases.append((start, len(labels), open_kind))
    return phrases


def entries(values, name, expected) -> list:
    """The entries of a list or another collection; text, and what has none, raises an error."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise DataError(f"{name} is {shortened(values)}; expected {expected}.")
    return python_values(list(values))


def check(labels, name) -> list:
    """The tags of a sentence; raises an error for what is no collection of texts."""
    labels = entries(labels, name, SENTENCE)
    for j, label in enumerate(labels):
        if not isinstance(label, str):
            raise DataError(f"{name}[{j}] is {shortened(label)}; expected a tag, such as B-NP or O.")
    return labels


def check_pairs(y_true, y_pred):
    """The sentences of both, the number of tokens, and of those whose tags are equal. Sentences that do not match raise an error."""
    y_true, y_pred = entries(y_true, "y_true", SENTENCES), entries(y_pred, "y_pred", SENTENCES)
    if len(y_true) != len(y_pred):
        raise DataError(f"y_true has {len(y_true)} sentences but y_pred has {len(y_pred)}; give one prediction for each.")
    tokens = correct = 0
    pairs = []
    for i, (right, answer) in enumerate(zip(y_true, y_pred, strict=True)):
        for labels, name in ((right, "y_true"), (answer, "y_pred")):
            if isinstance(labels, str):
                raise DataError(f"{name}[{i}] is {shortened(labels)}; expected sentences, each a list of tags; "
                                f"pass one sentence as [sentence].")
        right, answer = check(right, f"y_true[{i}]"), check(answer, f"y_pred[{i}]")
        if len(right) != len(answer):
            raise DataError(f"y_true[{i}] has {len(right)} tags but y_pred[{i}] has {len(answer)}; give one for each token.")
        pairs.append((right, answer))
        tokens += len(right)
        correct += sum(map(str.__eq__, right, answer))
    if tokens == 0:
        raise DataError("y_true has no tokens; at least one is needed to measure anything.")
    return pairs, tokens, correct
