"""Readers that have learned from parts, joined in order, know the names that one reader learns from all data."""

import numpy as np
import pytest
from structperc_segments.reader import SegmentReader

from structperc.errors import DataError
from structperc.reading.named import NamedReader
from structperc.reading.table_reader import TableReader

PARTS = [[[["a", "b"], ["b"]]], [[["c"], ["a", "d"]]], [[["e", "b"]], [["d"]]]]
VECTORS = [[[["a"]]], [[["b", np.ones(2)]]], [[["a", np.zeros(2)]]]]
CELLS = [[[("the", "D"), ("dog", "N")]], [[("a", "D"), ("cat", "N")]], [[("dog", "V")]]]


def pieces(sentence, start, stop):
    return ["".join(token[0] for token in sentence[start:stop])]


READERS = {
    "names": (NamedReader, PARTS),
    "vectors": (NamedReader, VECTORS),
    "templates": (lambda: NamedReader(template="U:%x[0,0]/%x[-1,1]"), CELLS),
    "segments": (lambda: SegmentReader(pieces, 2, n_hashed=None, min_count=1), PARTS),
    "behind a table": (lambda: TableReader(then=NamedReader()), PARTS),
}


@pytest.mark.parametrize("kind", READERS)
def test_joined_readers_know_what_one_learns_from_all(kind):
    make, parts = READERS[kind]
    whole, first = make(), make()
    whole.learn([sentence for part in parts for sentence in part])
    first.learn(parts[0])
    begun, states = first.state(), []
    for part in parts[1:]:
        reader = make()
        reader.restore(begun)
        reader.learn_more(part)
        states.append(reader.state())
    assert all(first.learn_names(state) for state in states)
    width = whole.read(parts[0]).n_features
    assert first.read(parts[0]).n_features == width
    assert [first.feature_name(j) for j in range(width)] == [whole.feature_name(j) for j in range(width)]


def test_readers_that_cannot_be_joined_say_so():
    hashed = NamedReader(n_hashed=8)
    hashed.learn(PARTS[0])
    assert not hashed.learn_names(hashed.state())
    one, other = NamedReader(), NamedReader()
    one.learn([[["a", np.ones(2)]]])
    other.learn([[["a", np.ones(3)]]])
    with pytest.raises(DataError, match="has 3 coordinates in one part of the data and 2 in another"):
        one.learn_names(other.state())
