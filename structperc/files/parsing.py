"""Text of CSV files as frames."""

from __future__ import annotations

from structperc.extras import require


def parse_csv(source, **options):
    """A frame of what a file in memory contains: `pandas.read_csv` with these options. No word means NaN. Numbers round to nearest."""
    # Before Python 3.12, pandas raises a ParserError for Ctrl-C, a ValueError.
    pandas = require("pandas", "reading CSV files", "cli")
    try:
        if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):         # later ones round to the nearest anyway
            options["float_precision"] = "round_trip"
        return pandas.read_csv(source, keep_default_na=False, **options)
    except pandas.errors.ParserError as error:
        if "Calling read" in str(error):        # memory can always be read
            raise KeyboardInterrupt from None
        raise
