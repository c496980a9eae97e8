"""What plugins need beside the base classes of `structperc.components`: labels, codes, checks and the trainer's tools.

Provisional: it may change in any minor version.

Wrong options in one error: `OptionErrors`. What parts can do: `is_additive`, `is_constrained`, `is_ordered`. Labels and gold outputs:
`class_weights`, `as_label_array`, `refuse_continuous`, `LabelCodes`, `codes_of`, `plain_labels`, `find_labels`, `ordered_categories`,
`is_listed`, `is_missing`, `is_nested`, `encode_nested`, `find_ends`, `interval_labels`,
`read_intervals`, `warn_of_open_ends`, `read_grades`. What a solver in Python returns: `as_structure`. Losses: `check_costs`,
`refuse_matrix`. Rules: `refuse_weights`, `check_whole_steps`. Readers: `read`, `read_alone`, `key_values`, `key_text`, `key_note`,
`of_keys`, `table_width`, `as_examples`, `as_sentences`, `refuse_not_finite`, `sample_weights`, `check_same`, `default_template`,
`has_typed_columns`, `learn_table`.
Trainers: `adapted`, `check_parts`, `check_search`, `generator`, `install_model`, `options_alone`, `engine_options`, and the words for why
training ended. Threads: `available_cores`. Ctrl-C in long compiled work: `raise_interruption`, `take_interruption`, `map_in_threads`; work
to be whole: `retry_on_interrupt`. Ordered labels: `cumulative_log_probabilities`. `restore`: `read_array`, `substate`, `check_starts`.
Columns: `variance_on_one_scale`. What data leave open: `Dependence` of columns, `one_hot_groups` and `compared` with their reference
levels, `separating` directions, and `undetermined`, which words it. Sparse rows as an array: `to_dense`. Names
that a package imports at their first use: `names_of`. BibTeX of
papers that several parts cite: `COLLINS`, `YU_JOACHIMS`.
"""

from structperc.basics.cores import available_cores
from structperc.basics.errors import OptionErrors
from structperc.basics.labels import (
    LabelCodes,
    as_label_array,
    codes_of,
    find_labels,
    is_listed,
    is_missing,
    is_nested,
    ordered_categories,
    plain_labels,
    refuse_continuous,
)  # fmt: skip
from structperc.basics.plain_arrays import table_width
from structperc.basics.rows_of_numbers import to_dense
from structperc.basics.saved_state import check_starts, read_array, substate
from structperc.basics.signals import map_in_threads, raise_interruption, retry_on_interrupt, take_interruption
from structperc.core.argmax import check_search
from structperc.core.citations import COLLINS, LATENT_PERCEPTRON, YU_JOACHIMS
from structperc.core.component import adapted, overrides
from structperc.core.features import is_constrained
from structperc.core.losses import check_costs, is_additive, refuse_matrix
from structperc.core.outputs import as_structure, is_ordered
from structperc.core.probabilities import cumulative_log_probabilities
from structperc.core.structures import encode_nested
from structperc.core.updates import check_whole_steps, refuse_weights
from structperc.fitting.assembly import check_parts, install_model, options_alone
from structperc.fitting.context import check_same
from structperc.fitting.dependence import Dependence
from structperc.fitting.options import engine_options, generator
from structperc.fitting.references import compared, one_hot_groups, undetermined
from structperc.fitting.scaling import variance_on_one_scale
from structperc.fitting.separation import separating
from structperc.fitting.trainers import CONVERGED, EARLY_STOPPED, INTERRUPTED, MAX_EPOCHS, STALLED
from structperc.fitting.weighing import class_weights
from structperc.later import names_of
from structperc.metrics.ranking import read_grades
from structperc.reading.frames import has_typed_columns
from structperc.reading.intervals import find_ends, interval_labels, read_intervals, warn_of_open_ends
from structperc.reading.keyed import key_note, key_text, key_values, of_keys
from structperc.reading.matrices import as_examples, read, read_alone, refuse_not_finite, sample_weights
from structperc.reading.other_libraries import as_sentences
from structperc.reading.table_reader import learn_table
from structperc.reading.tokens import default_template

__all__ = [
    "COLLINS", "CONVERGED", "EARLY_STOPPED", "INTERRUPTED", "LATENT_PERCEPTRON", "MAX_EPOCHS", "STALLED", "YU_JOACHIMS", "Dependence",
    "LabelCodes", "OptionErrors", "adapted", "as_examples", "as_label_array", "as_sentences", "as_structure", "available_cores",
    "check_costs", "check_parts",
    "check_same", "check_search", "check_starts", "check_whole_steps", "class_weights", "codes_of", "compared",
    "cumulative_log_probabilities",
    "default_template", "encode_nested", "engine_options", "find_ends", "find_labels", "generator", "has_typed_columns",
    "install_model", "interval_labels", "is_additive", "is_constrained", "is_listed", "is_missing", "is_nested", "is_ordered",
    "key_note", "key_text", "key_values", "learn_table", "map_in_threads", "names_of", "of_keys", "one_hot_groups", "options_alone",
    "ordered_categories", "overrides", "plain_labels", "raise_interruption", "read", "read_alone", "read_array", "read_grades",
    "read_intervals", "refuse_continuous", "refuse_matrix", "refuse_not_finite", "refuse_weights", "retry_on_interrupt", "sample_weights",
    "separating", "substate", "table_width", "take_interruption", "to_dense", "undetermined", "variance_on_one_scale",
    "warn_of_open_ends",
]  # fmt: skip
