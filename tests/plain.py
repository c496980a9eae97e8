"""The engine of the papers' plain algorithm, each step of which tests compute by hand."""

import structperc


class Engine(structperc.Engine):
    """One pass in file order, no scaling, no averaging: whatever differs, a test sets."""

    preset: str = "paper"
