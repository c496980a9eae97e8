"""Real data sets for experiments: read from a folder of this machine, fetched into it once when they are not there.

Provisional: it may change in any minor version.

Each data set has its own folder under `data_home()`, with the files of its `Source`, compressed by gzip or plain:

    conll2000/train.txt.gz  test.txt.gz
    ud_english_ewt/en_ewt-ud-train.conllu.gz  en_ewt-ud-dev.conllu.gz  en_ewt-ud-test.conllu.gz
    regression/california.csv.gz
    chu_ghahramani/abalone.csv.gz  abalone_partitions.tar.gz  diabetes_partitions.tar.gz ...
    parkinsons/parkinsons_updrs.csv.gz
    lightgbm_lambdarank/rank.train.txt.gz  rank.test.txt.gz
    letor3_ohsumed/S1.txt.gz  S2.txt.gz  S3.txt.gz  S4.txt.gz  S5.txt.gz

Files that lie there are read as they are. What is fetched is brought into this form and compared with the checksums in `SOURCES` before
anything is kept.
`structperc.files.datasets.fetch.BASE_URL` may be set to a mirror, a server with the same paths.
`load_fables` needs no file: its sentences come with structperc.
Fetching needs requests: `pip install structperc[data]`.
"""

from structperc.later import names_of

MODULES = {
    "fetch": ("data_home", "locate"),
    "load": (
        "Documents", "NumberTable", "Partition", "RankingFold", "TaggedSentences", "load_conll2000", "load_fables",
        "load_letor_ohsumed", "load_numbers", "load_partitions", "load_ud_english_ewt",
    ),
    "sources": ("BINS", "PARTITIONED", "SOURCES", "archived"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
