"""How often, how fast and by how few columns nearest counterfactuals are proved: python benchmarks/counterfactuals.py [patients] [others]

Ranks: five classes of equal size of total UPDRS from the voice measures of Parkinson's telemonitoring (Tsanas et al. 2010), `prank` with
update="logistic"; age, sex and day are fixed, values stay within those of the data, and the rank is to be one lower. Sentences: tags of
English EWT-like chains drawn from labels with 20 numbers a token, one tag is to go. Matchings: 6 to 6, one pair is to go.
"""

import csv
import json
import gzip
import sys
import time
from pathlib import Path

import numpy as np

import structperc
from structperc import Engine
from structperc.counterfactuals import Wanted
from structperc.files import datasets
from structperc.solvers import max_matching

FIXED = ["age", "sex", "test_time"]
