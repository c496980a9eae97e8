"""Tables as people have them: categories, dates and missing cells become numbers, learned once and kept in the model."""

from structperc import Option, hookimpl
from structperc.components import TableReader

problem = "cusum"               # that `structperc check` lines it up with

options = {
    "drop": Option((), help="columns to leave out"),
    "one_hot": Option((), types=(dict, list, tuple), help="columns of categories: each level becomes a column of 0 and 1"),
    "ordinal": Option({}, types=(dict,), help="columns of ordered categories and their levels, lowest first"),
    "date": Option({}, types=(dict, list, tuple), help="columns of dates, which become days since the earliest, and their forms"),
    "fill": Option(None, types=(str, float, dict, type(None)), help="for missing cells: median, mean, most-frequent, a value, or these by "
                                                                    "column"),
    "number": Option((), types=(dict, list, tuple), help="columns of numbers with separators of thousands or a currency, and their decimal "
                                                       "character"),
    "missing": Option((), types=(dict, list, tuple), help="further texts that mean that nothing is known, or all of them by column"),
    "reference": Option({}, types=(dict,), help="the level of each column of categories with which models of log odds compare the others; "
                                                "default: the most frequent"),
    "missing_indicators": Option(False, help="add a column of 0 and 1 for each column that lacks cells in training"),
}


@hookimpl(wrapper=True)
def structperc_reader(context):
    return TableReader(**{name: context.options[name] for name in options}, then=(yield))
