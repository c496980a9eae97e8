"""What travels between the caller and workers: parcels that nobody opens on the way, engines, and changes without their zeros."""

from __future__ import annotations

import pickle

import numpy as np

from structperc.basics.errors import OptionError
from structperc.engine.model_file import constructor_arguments
from structperc.extras import require


class Parcel:
    """A value for a worker. Dask's scheduler hands it on; left open, it would be made again there, and packed once more."""

    def __init__(self, value):
        self.value = value

    def open(self):
        return self.value

    def __reduce__(self):
        return Packed, packed(self.value)


class Packed:
    """A parcel that has been sent. Parameters as `packed` returns them."""

    def __init__(self, pickled, buffers):
        self.pickled, self.buffers = pickled, buffers

    def open(self):
        return pickle.loads(self.pickled, buffers=self.buffers)

    def __reduce__(self):
        return Packed, (self.pickled, [pickle.PickleBuffer(buffer) for buffer in self.buffers])


def packed(value) -> tuple:
    """A value as bytes and as buffers of its arrays, which are not copied. Functions and classes of a notebook work too."""
    dumps = require("distributed.protocol.pickle", "training on workers", "dask").dumps
    buffers = []
    return dumps(value, buffer_callback=buffers.append), buffers


def blueprint_of(engine, dumps, **changed) -> bytes:
    """An engine with its facts about the data and with changed options, as `dumps` pickles it. Observers stay with the caller."""
    kept = [plugin_argument for plugin_argument, plugin in zip(engine.plugins, engine.loaded_plugins[2:], strict=False)
            if not plugin.only_observes or plugin.options]
    twin = engine._like(**{**constructor_arguments(engine), **changed, "plugins": kept})
    twin.model, twin.chosen = engine.model, engine.chosen
    try:
        return dumps(twin)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise OptionError(f"the engine goes to workers as a pickle, and it has none: {error}. Its plugins and options must be values, or "
                          f"functions and classes of a module.") from error


def without_zeros(changes) -> dict:
    """Changes of weights. Only those that are not 0 are listed, and a bit for each weight of their rows marks their places."""
    rows, steps, sums = changes["rows"], changes["steps"], changes["sums"]
    told = steps != 0
    if sums is not None and sums.size:
        told |= sums != 0
        sums = sums[told]
    if not len(rows) or rows[-1] < 1 << 31:
        rows = rows.astype(np.int32)
    return {"n_visited": changes["n_visited"], "shape": steps.shape, "rows": rows, "told": np.packbits(told), "steps": steps[told],
            "sums": sums}


def with_zeros(message) -> dict:
    """The changes that a message is about."""
    shape = message["shape"]
    told = np.unpackbits(message["told"], count=shape[0] * shape[1]).view(bool).reshape(shape)
    return {"n_visited": message["n_visited"], "rows": message["rows"].astype(np.int64), "steps": spread(message["steps"], told),
            "sums": None if message["sums"] is None else spread(message["sums"], told)}


def spread(values, told):
    """An array that holds these values where it is told, and 0 elsewhere; without columns where there are none."""
    if values.ndim == 2:
        return values
    dense = np.zeros(told.shape, values.dtype)
    dense[told] = values
    return dense
