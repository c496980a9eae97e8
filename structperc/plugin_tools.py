"""What plugins need beside the base classes of `structperc.components`: labels, codes, checks and the trainer's tools.

Labels and gold outputs: `class_weights`, `LabelCodes`, `find_labels`, `is_listed`, `is_missing`, `is_nested`, `encode_nested`,
`interval_labels`, `read_intervals`, `warn_of_open_ends`, `read_grades`. Losses: `check_costs`, `refuse_matrix`. Readers: `read`,
`read_alone`, `refuse_not_finite`, `check_same`, `default_template`. Trainers: `adapted`, `check_parts`, `check_search`, `generator`, `adopt`,
`engine_options`, and the words for why training ended. Ctrl-C in long compiled work: `raise_interruption`, `take_interruption`,
`map_in_threads`; work to be whole: `retry_on_interrupt`. Ordered labels: `cumulative_log_probabilities`. `restore`: `read_array`, `substate`,
`check_starts`.
BibTeX of papers that several parts cite: `COLLINS`, `YU_JOACHIMS`.
"""

from structperc.core.citations import COLLINS, YU_JOACHIMS
from structperc.core.component import adapted, overrides
from structperc.core.labels import LabelCodes, find_labels, is_listed, is_missing, is_nested
from structperc.core.losses import check_costs, refuse_matrix
from structperc.core.probabilities import cumulative_log_probabilities
from structperc.core.saved_state import check_starts, read_array, substate
from structperc.core.signals import retry_on_interrupt, map_in_threads, raise_interruption, take_interruption
from structperc.core.structures import encode_nested
from structperc.engine.assembly import adopt
from structperc.engine.compatibility import check_parts, check_same, check_search
from structperc.engine.options import engine_options, generator
from structperc.engine.trainers import CONVERGED, EARLY_STOPPED, INTERRUPTED, MAX_EPOCHS, STALLED
from structperc.engine.weighing import class_weights
from structperc.metrics.ranking import read_grades
from structperc.reading.intervals import interval_labels, read_intervals, warn_of_open_ends
from structperc.reading.matrices import read, read_alone, refuse_not_finite
from structperc.reading.tokens import default_template

__all__ = [
    "COLLINS", "CONVERGED", "EARLY_STOPPED", "INTERRUPTED", "MAX_EPOCHS", "STALLED", "YU_JOACHIMS", "LabelCodes", "adopt",
    "adapted", "check_costs", "check_parts", "check_same", "check_search", "check_starts", "class_weights", "retry_on_interrupt",
    "cumulative_log_probabilities", "default_template",
    "encode_nested",
    "engine_options", "find_labels", "generator", "interval_labels", "is_listed", "is_missing", "is_nested", "map_in_threads",
    "overrides", "raise_interruption", "read", "read_alone", "read_grades", "read_intervals", "refuse_matrix", "refuse_not_finite",
    "take_interruption", "taken", "warn_of_open_ends", "within",
]  # fmt: skip
