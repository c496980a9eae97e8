"""What options are that nobody sets: the presets, what plugins recommend, and what the user has chosen."""

import pickle

import numpy as np
import pandas as pd
import pytest
from engine.models import EARLIER_MODELS

from structperc import Engine, Option, estimators, hookimpl
from structperc.components import PassiveAggressiveUpdate, ZeroOneLoss
