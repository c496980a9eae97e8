# Written by tests/typing/stubs.py from the table of names.
from structperc.files.datasets.fetch import data_home as data_home
from structperc.files.datasets.fetch import locate as locate
from structperc.files.datasets.load import Documents as Documents
from structperc.files.datasets.load import NumberTable as NumberTable
from structperc.files.datasets.load import Partition as Partition
from structperc.files.datasets.load import RankingFold as RankingFold
from structperc.files.datasets.load import TaggedSentences as TaggedSentences
from structperc.files.datasets.load import load_conll2000 as load_conll2000
from structperc.files.datasets.load import load_fables as load_fables
from structperc.files.datasets.load import load_letor_ohsumed as load_letor_ohsumed
from structperc.files.datasets.load import load_numbers as load_numbers
from structperc.files.datasets.load import load_partitions as load_partitions
from structperc.files.datasets.load import load_ud_english_ewt as load_ud_english_ewt
from structperc.files.datasets.sources import BINS as BINS
from structperc.files.datasets.sources import PARTITIONED as PARTITIONED
from structperc.files.datasets.sources import SOURCES as SOURCES
from structperc.files.datasets.sources import archived as archived
