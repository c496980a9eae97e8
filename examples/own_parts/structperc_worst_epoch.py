"""An observer: the most mistakes of an epoch."""

import numpy as np

from structperc import hookimpl


class WorstEpoch:
    mistakes = 0

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.mistakes = max(self.mistakes, record.mistakes)

    def state(self):                    # a checkpoint has it
        return {"mistakes": np.array(self.mistakes)}

    def restore(self, state):
        self.mistakes = int(state["mistakes"])
